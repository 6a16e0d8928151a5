"""Jobs of every kind on a small world, and the integers that their mechanisms are handed."""

from __future__ import annotations

import functools
import random
from typing import Any

from discreet.core.unit import Unit
from discreet.data.source import Connection
from discreet.learn.encoding import Encoding
from discreet.learn.matrix import examples_of
from discreet.noise.bits import words
from discreet.query.aggregate import (
    correlation,
    count,
    covariance,
    distinct,
    intercept,
    mean,
    people,
    share,
    slope,
    std,
    total,
    variance,
)
from discreet.query.discovery import compile_discovery
from discreet.query.quantile import median
from seam import Tape, captured
from world_jobs import ALLOTMENTS, KINDS, Desk, Job, schema_of
from worlds import World, world

FEW = Unit("p", groups=2, rows=2)


def of_groups(**outputs: Any) -> Job:
    schema = schema_of(FEW)
    plan = Desk(schema, ALLOTMENTS["epsilon"]).table().group_by("n").agg(**outputs).plan(epsilon=1).plan
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def every_aggregate(_: random.Random) -> Job:
    asked = {"a": count(), "b": count("x"), "c": total("y"), "d": mean("x"), "e": variance("n"), "f": std("y")}
    pairs = {"v": covariance("x", "y"), "c": correlation("n", "x"), "s": slope("y", "n"), "i": intercept("x", "n")}
    both = {f"two_{name}": output for name, output in pairs.items()}
    return of_groups(**asked, **both, g=people(), h=share("x > 0 or f"), different=distinct("n"))


def different_values(_: random.Random) -> Job:
    """The values of every type of column. They take longer to compile than all other aggregates together."""
    return of_groups(**{f"different_{name}": distinct(name) for name in ("n", "x", "f", "d", "s", "l", "t", "o")})


def vectors(_: random.Random) -> Job:
    """Vectors of columns: most are longer than counts, and most persons have more rows."""
    schema = schema_of(FEW)
    asked = Desk(schema, ALLOTMENTS["rho"]).table().group_by("n").agg(**mean(["x", "y", "n"], norm="3.5"))
    plan = asked.plan(rho=1).plan
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def times(_: random.Random) -> Job:
    """Instants and local times as keys, in conditions and in what is computed."""
    schema = schema_of(FEW)
    asked = Desk(schema, ALLOTMENTS["epsilon"]).table().where("hour(s) < 20 or s is null").group_by("hour(l)")
    outputs = {"a": count("s"), "b": total("minute(s)"), "c": mean("epoch(l) - epoch(s)"), "d": people(where="l < s")}
    plan = asked.agg(**outputs, e=median("l")).plan(epsilon=1).plan
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def drawn_rows(_: random.Random) -> Job:
    """A few rows of each person over all groups."""
    asked = {"a": count(), "b": total("y"), "c": mean("x"), "d": people(), "e": median("n")}
    schema = schema_of(FEW)
    table = Desk(schema, ALLOTMENTS["epsilon"]).table().limits(groups=3, rows=2, rows_total=4)
    plan = table.group_by("g").agg(**asked).plan(epsilon=1).plan
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def discoveries(chance: random.Random) -> Job:
    """What is counted of every key there is: which of them are shown is up to coins, in no order of the keys."""
    job = KINDS["discoveries"](chance)
    plan = job.plan

    def run(data: Connection, bits: Any) -> Any:
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
        found = data.values(compile_discovery(plan.question, plan.schema, plan.measures, data.table, salt))
        return sorted(zip(*found.values(), strict=True), key=repr)

    return Job(job.schema, job.allotment, job.cost, run, plan)


def training(_: random.Random) -> Job:
    """The matrix that a model sees: integers that no mechanism is handed as they are."""
    schema = schema_of(FEW)
    encoding = Encoding.of(schema, "g", ["n", "x", "y", "f", "d", "o"])

    def run(data: Connection, bits: Any) -> Any:
        return [one.tolist() for one in examples_of(encoding, schema, data, bits)]

    part = ALLOTMENTS["epsilon"]
    return Job(schema, part, None, run)  # type: ignore[arg-type]


ALL = {
    **KINDS,
    "every aggregate": every_aggregate,
    "different values": different_values,
    "drawn rows": drawn_rows,
    "times": times,
    "vectors": vectors,
    "discoveries": discoveries,
    "training": training,
}


@functools.cache
def job_of(kind: str, turn: int = 0) -> Job:
    """A job of a kind that protects persons, of whom not everything counts."""
    found = (ALL[kind](random.Random(f"same {kind} {turn} {again}")) for again in range(100))
    return next(job for job in found if job.schema.unit.column is not None)


def integers(data: Connection, job: Job) -> list[Any]:
    """What the mechanisms are handed in one run. The noise is the same each time: adaptive jobs stay together."""
    bits = Tape("salt")
    with captured(bits) as steps:
        answer = job.run(data, bits)
    return [*steps] or [answer]


@functools.cache
def small(ids: str) -> World:
    chance = random.Random(11)
    several = [world(chance, ids) for _ in range(6)]
    rows, beside = (tuple(row for one in several for row in getattr(one, side)) for side in ("rows", "beside"))
    return World(ids, rows, beside)
