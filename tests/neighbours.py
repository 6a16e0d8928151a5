"""Runs a job on a table and on its neighbours, and compares what each mechanism was handed with what was charged."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import ibis

import discreet.marginals.engine
import discreet.query.compile
import discreet.query.discovery_plan
import discreet.query.mode_plan
import discreet.query.quantile_plan
import discreet.query.range_search
import discreet.query.stream_step
import discreet.trees.count
import discreet.trees.detail.count
from discreet.data.code_table import CodeTable
from discreet.data.pool import fixed_settings
from discreet.data.source import Connection
from discreet.query.compile import GROUP, measure_name
from discreet.query.discovery import PEOPLE
from seam import BrokenLawError, Step, Tape, captured, noise_loss, within
from world_jobs import Job
from worlds import IDS, World, neighbours, world

_NAMES = itertools.count()  # of tables that are kept
_BUILDERS = [
    (discreet.query.compile, "compile_query"),
    (discreet.query.stream_step, "compile_query"),
    (discreet.trees.count, "compile_query"),
    (discreet.trees.detail.count, "compile_members"),
    (discreet.query.quantile_plan, "compile_tally"),
    (discreet.query.mode_plan, "compile_values"),
    (discreet.query.range_search, "compile_tally"),
    (discreet.query.discovery_plan, "compile_discovery"),
]


class Recorder(Connection):
    """A connection that remembers statements: a job that hears the same answers sends the same ones, in turn."""

    def __init__(self, backend: Any, table: Any, statements: list[str] | None, *, keeps: bool = True) -> None:
        super().__init__(backend, table)
        self._replayed, self._keeps = statements, keeps
        self.statements: list[str] = []
        self.kept: list[str] = []
        self.tables: list[dict[str, list[Any]]] = []

    def _statement(self, expression: Any) -> str:
        turn = len(self.statements)
        sql: str = self._backend.compile(expression) if self._replayed is None else self._replayed[turn]
        self.statements.append(sql)
        return sql

    def _fetch(self, expression: Any) -> tuple[list[str], list[Any]]:
        sql = self._statement(expression)
        answer = self._backend.con.execute(sql)
        return [column[0] for column in answer.description], answer.fetchall()

    def integers(self, expression: Any) -> Any:
        import numpy as np

        names, rows = self._fetch(expression)
        found = np.array(rows, dtype=np.int64).reshape(-1, len(names))
        return {name: found[:, place] for place, name in enumerate(names)}

    def counted(self, shape: str, compiled: Any, salt: Any) -> Any:
        return self.integers(compiled(self.table, salt))

    def store(self, codes: Any) -> CodeTable | None:
        """A table of codes that the engine keeps, as a source's own connection has it; or none: counts are statements.

        Every other run keeps none, as engines do that are not DuckDB.
        """
        if not self._keeps:
            return None
        name = f"kept_{next(_NAMES)}"
        self.kept.append(name)
        self._backend.con.execute(f"CREATE TEMP TABLE {name} AS {self._statement(codes)}")
        return CodeTable(self._backend, name, limited="many" in codes.columns)

    def values(self, expression: Any) -> dict[str, list[Any]]:
        names, rows = self._fetch(expression)
        self.tables.append({name: [row[place] for row in rows] for place, name in enumerate(names)})
        return self.tables[-1]


def _turn(data: Recorder) -> Callable[..., int]:
    """In place of an expression: which statement of the first run it is."""
    return lambda *_: len(data.statements)


class Engine:
    """A DuckDB with one table and one beside it, filled anew for every run."""

    def __init__(self) -> None:
        self.backend = ibis.duckdb.connect()
        for name, value in fixed_settings().items():
            if "{" not in str(value):
                self.backend.raw_sql(f"SET {name} = {value}")
        self.backend.raw_sql("SET threads = 1")
        for ids in IDS:
            empty = World(ids, ())
            for name, table in ((f"rows_{ids}", empty.arrow()), (f"beside_{ids}", empty.other())):
                self.backend.con.register("given", table)
                self.backend.raw_sql(f"CREATE TABLE {name} AS SELECT * FROM given")
        self.seen = {ids: (self.backend.table(f"rows_{ids}"), self.backend.table(f"beside_{ids}")) for ids in IDS}

    def run(
        self, job: Job, there: World, salt: str, first: tuple[Recorder, list[Step]] | None = None, *, keeps: bool = True
    ) -> tuple[Recorder, list[Step]]:
        """One run: the connection, and what mechanisms were handed. With `first`, its answers and statements again.

        `keeps` says whether the engine keeps tables of codes.
        """
        tables = [(f"rows_{there.ids}", there.arrow())]
        if job.schema.joins:
            tables.append((f"beside_{there.ids}", there.other()))
        for name, table in tables:
            self.backend.con.register("given", table)
            self.backend.con.execute(f"DELETE FROM {name}")
            self.backend.con.execute(f"INSERT INTO {name} SELECT * FROM given")
        table, beside = self.seen[there.ids]
        built = first is None or hasattr(job.plan, "levels")  # parents and child rows are built anew every time
        if job.view is not None and built:
            table = job.view(table, {"beside": beside})
        data = Recorder(self.backend, table, None if first is None else first[0].statements, keeps=keeps)
        bits = Tape(salt)
        with contextlib.ExitStack() as stack:
            if first is not None and not hasattr(job.plan, "periods"):  # a stream builds upon what is compiled
                for module, name in _BUILDERS:
                    stack.enter_context(mock.patch.object(module, name, _turn(data)))
            heard = (
                None if first is None or hasattr(job.plan, "selection") else first[1]
            )  # discovered keys are compared by name
            steps = stack.enter_context(captured(bits, heard))
            job.run(data, bits)
        for name in data.kept:  # a table is of one run
            self.backend.con.execute(f'DROP TABLE IF EXISTS "{name}"')
        return data, steps


def compare(job: Job, first: tuple[Recorder, list[Step]], second: tuple[Recorder, list[Step]]) -> None:
    """Refuse neighbours that are told apart by more than the cost, in all steps or in one with a price of its own."""
    within(job.allotment, job.cost, first[1], second[1])
    noises, moved = getattr(job.plan, "noises", ()), getattr(job.plan, "moved", ())
    if len(noises) == len(first[1]) and isinstance(moved, tuple):
        for noise, each, a, b in zip(noises, moved, first[1], second[1], strict=True):
            within(job.allotment, noise.loss(each), [a], [b])


def compare_discovered(job: Job, first: Recorder, second: Recorder) -> None:
    """The same for keys that nobody listed: which there are, how many units have each, and what is measured."""
    plan, sides = job.plan, []
    for side in (first, second):
        (found,) = side.tables
        names = [name for name in found if name == GROUP or name.startswith("k")]
        size = len(found[PEOPLE])
        measured = [PEOPLE, *(measure_name(i) for i in range(len(plan.measures)))]
        sides.append({tuple(str(found[n][i]) for n in names): [found[m][i] for m in measured] for i in range(size)})
    keys = sorted({*sides[0], *sides[1]})
    nothing = [0] * (1 + len(plan.measures))
    moves = [
        [abs(a - b) for a, b in zip(sides[0].get(k, nothing), sides[1].get(k, nothing), strict=True)] for k in keys
    ]
    if sum(move[0] for move in moves) > plan.selection.keys or any(move[0] > 1 for move in moves):
        raise BrokenLawError(f"units of keys moved by {[move[0] for move in moves]}")
    for place, (noise, moved) in enumerate(zip(plan.noises, plan.moved, strict=True), 1):
        far = [move[place] for move in moves]
        seen, charged = job.allotment.price(noise_loss(noise, far)), job.allotment.price(noise.loss(moved))
        if not seen.within(charged):
            raise BrokenLawError(f"charged {float(charged.amount):.6g}, and told apart by {float(seen.amount):.6g}")


def trials(kind: Callable[[random.Random], Job], pairs: int, seed: int, engine: Engine | None = None) -> Iterator[int]:
    """Try random pairs of a kind until there were so many; gives how many there were so far."""
    engine = engine or Engine()
    tried, turn = 0, 0
    while tried < pairs:
        turn += 1
        name = f"{seed} {turn}"
        chance = random.Random(name)
        job = kind(chance)
        for again in range(3):  # to write a question out for the engine takes as long as to ask it of a whole table
            whole = world(chance, chance.choice(list(IDS)))
            keeps = again != 1
            first = engine.run(job, whole, f"{name} {again}", keeps=keeps)
            for other in neighbours(chance, whole, job.schema.unit):
                try:
                    second = engine.run(job, other, f"{name} {again}", first, keeps=keeps)
                    if hasattr(job.plan, "selection"):
                        compare_discovered(job, first[0], second[0])
                    else:
                        compare(job, first, second)
                except BrokenLawError as problem:
                    problem.add_note(f"seed {name!r}; {job.schema.unit}; {job.plan}; {whole}; {other}")
                    raise
                tried += 1
                yield tried
