"""Bugs planted in tables of codes, kept or not, and in parents and child rows are found on random neighbours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet.data.columns
import discreet.data.join
import discreet.data.read
import discreet.marginals.engine
import discreet.marginals.meter
import discreet.query.cardinality
import discreet.query.compile
import discreet.query.contribution
import discreet.query.grid
import discreet.query.measure
import discreet.query.mode_plan
import discreet.query.person_rows
import discreet.query.plan
import discreet.query.tally
import discreet.query.union
import discreet.synth.relations.codes
import discreet.synth.relations.level_spikes
import discreet.synth.relations.plan
import discreet.trees.count
import discreet.trees.sizes
import world_jobs
from discreet.core.loss import Pure
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Curator
from discreet.data.code_table import CodeTable
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts, moved_by
from discreet.marginals.meter import Meter
from discreet.noise.bits import words
from discreet.synth.relations.codes import encode_levels
from discreet.synth.relations.level_spikes import find_level_spikes
from neighbour_bugs import OTHER, PERSON, find_bug, patched
from world_jobs import ALLOTMENTS, Desk, Job, both_levels, schema_of


def tied_by_row_order(rows, names, unit, salt):
    """Of a person's cells those that the engine happens to read first."""
    import ibis

    numbered = rows.mutate(at=ibis.row_number().over(ibis.window(order_by=ibis.null("int64"))))
    cells = numbered.group_by(["person", *names]).aggregate(many=numbered.count(), order=numbered["at"].min() // 3)
    cells = cells.mutate(place=ibis.row_number().over(ibis.window(group_by="person", order_by="order")))
    kept = cells.filter(cells["place"] < unit.groups)
    return kept.select(*names, many=ibis.least(kept["many"], unit.rows).cast("int32"))


def cells_of_persons(_: Any) -> Job:
    """One marginal of codes, where persons have more cells than the one that counts."""
    schema = schema_of(PERSON)
    domain = Domain.of(schema, ["g", "f", "o", "x"], 4)

    def run(data: Any, bits: Any) -> None:
        meter = Meter(EngineCounts(domain, schema, data, bits), moved_by(PERSON), "epsilon", Fraction(1), bits)
        meter.measure((0, 3), Fraction(1))

    return Job(schema, ALLOTMENTS["epsilon"], Pure(1), run)


CODED = discreet.synth.relations.codes._coded
CHILD_MOVED = discreet.synth.relations.codes.child_moved


def child_rows(unit: Unit, order: str | None) -> Callable[[Any], Job]:
    """Parents and child rows of one code each: a bug shows in the first counts."""
    schema = schema_of(unit)

    def kind(_: Any) -> Job:
        asked = Curator(Desk(schema, ALLOTMENTS["epsilon"])).relate(["o"], ["f"], order=order, limit=2)
        plan = asked.plan(epsilon=1).plan
        return Job(schema, plan.allotment, plan.cost, functools.partial(both_levels, plan), plan)

    return kind


def searched_levels(_: Any) -> Job:
    """The search for values that many child rows share, by itself."""
    schema = schema_of(PERSON)
    plan = Curator(Desk(schema, ALLOTMENTS["epsilon"])).relate(["o"], ["x"], limit=2).plan(epsilon=1).plan

    def run(data: Any, bits: Any) -> None:
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]

        def encode(levels: Any) -> Any:
            return encode_levels(levels, schema, data.table, salt)

        find_level_spikes(plan.levels, PERSON, plan.currency, plan.parts, data, encode, bits)

    return Job(schema, plan.allotment, Pure(plan.parts.parents + plan.parts.children), run)


def no_child_limit(levels, schema, table, salt, condition=None):
    return ENCODED(replace(levels, limit=levels.limit + 1), schema, table, salt, condition)


ENCODED = encode_levels


def nobody(levels, schema, table, condition):
    """Everybody's rows taken for one person's."""
    rows, above, below = CODED(levels, schema, table, condition)
    return rows.mutate(person=rows.person.count().over()), above, below


def one_child(unit, steps):
    return CHILD_MOVED(unit, 1)


def own_row(levels, schema, table, condition):
    """A parent for every row: its codes instead of those of all its rows."""
    rows, above, below = CODED(levels, schema, table, condition)
    return rows.mutate(person=rows[below[0]].fill_null(9)), above, below


def merged_cells(_: Any) -> Job:
    """Marginals of codes put together, where every person has one cell."""
    schema = schema_of(PERSON)
    domain = Domain.of(schema, ["g", "f", "o", "x"], 4)

    def run(data: Any, bits: Any) -> None:
        meter = Meter(EngineCounts(domain, schema, data, bits), moved_by(PERSON), "epsilon", Fraction(1), bits)
        meter.merged([np.arange(size) // 2 for size in domain.sizes]).measure((0, 3), Fraction(1))

    return Job(schema, ALLOTMENTS["epsilon"], Pure(1), run)


TALLY, MAPPED = CodeTable.tally, CodeTable.mapped


def counted_twice(self, columns, sizes):
    """Cells of a table that is kept, with every row counted twice."""
    cells, counts = TALLY(self, columns, sizes)
    return cells, 2 * counts


def doubled(self, maps):
    """Codes put together in a table that is kept, each row once for every row with its first code."""
    kept = MAPPED(self, maps)
    crowd = f"SELECT a.* FROM {kept._name} a JOIN {kept._name} b ON a.c0 = b.c0"
    self._backend.raw_sql(f"CREATE TEMP TABLE {kept._name}_crowd AS {crowd}")
    return CodeTable(self._backend, f"{kept._name}_crowd", limited=kept._limited)


BUGS: dict[str, tuple[Callable[[Any], Job], Callable[[], Any]]] = {
    "rows of a kept table counted twice": (cells_of_persons, patched((CodeTable, "tally"), by=counted_twice)),
    "rows of kept child rows counted twice": (
        child_rows(PERSON, None),
        patched((CodeTable, "tally"), by=counted_twice),
    ),
    "rows of a kept table put together with those of others": (
        merged_cells,
        patched((CodeTable, "mapped"), by=doubled),
    ),
    "child rows charged as one": (
        child_rows(PERSON, None),
        patched((discreet.synth.relations.plan, "child_moved"), by=one_child),
    ),
    "values of child rows looked for as if a person had one": (
        searched_levels,
        patched((discreet.synth.relations.level_spikes, "child_moved"), by=one_child),
    ),
    "a child row too many": (
        child_rows(PERSON, "d"),
        patched((world_jobs, "encode_levels"), by=no_child_limit),
    ),
    "child rows of a replaced person charged as removed": (
        child_rows(OTHER, None),
        patched(
            (discreet.synth.relations.plan, "child_moved"),
            by=lambda unit, steps: CHILD_MOVED(replace(unit, neighbours=Neighbours.ADD_REMOVE), steps),
        ),
    ),
    "a parent for every value of its rows": (
        child_rows(PERSON, "n"),
        patched((discreet.synth.relations.codes, "_coded"), by=own_row),
    ),
    "a first row that others' rows decide": (
        child_rows(PERSON, "n"),
        patched((discreet.synth.relations.codes, "_coded"), by=nobody),
    ),
    "a tie broken by row order": (
        cells_of_persons,
        patched((discreet.marginals.engine, "_limited"), by=tied_by_row_order),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    find_bug(*BUGS[bug])
