"""Neighbouring tables are told apart by no more than was charged: random tables, random questions of every kind.

For every pair of neighbours the integers that each mechanism is handed are captured (tests/seam.py); the loss that
their change makes of the noise that is added must be within the cost of the job, exactly: these are fractions. Bugs
planted in every part of the way are found.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest import mock

import duckdb
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
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Curator, Question
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts, moved_by
from discreet.marginals.meter import Meter
from discreet.noise.bits import words
from discreet.query.aggregate import count, distinct, people, total
from discreet.query.modes import mode
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.union import Union, UnionPart
from discreet.synth.relations.codes import encode_levels
from discreet.synth.relations.level_spikes import find_level_spikes
from neighbours import trials
from seam import BrokenLawError
from world_jobs import ALLOTMENTS, GEOGRAPHY, KINDS, Desk, Job, both_levels, schema_of

PAIRS = {
    "sums": 200,
    "expressions": 60,
    "persons": 60,
    "unions": 80,
    "joins": 80,
    "quantiles": 140,
    "modes": 110,
    "private bounds": 60,
    "top": 180,
    "batches": 45,
    "streams": 45,
    "trees": 120,
    "magnitudes": 80,
    "groups": 60,
    "censuses": 80,
    "flows": 115,
    "commuters": 45,
    "synthesis": 20,
    "relations": 30,
    "discoveries": 150,
}


def test_every_kind_is_tried():
    assert set(PAIRS) == set(KINDS)
    assert sum(PAIRS.values()) >= 1400


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_differ_by_no_more_than_is_charged(kind):
    for _ in trials(KINDS[kind], PAIRS[kind], seed=1):
        pass


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_neighbours_do_so_too(kind, seed):
    for _ in trials(KINDS[kind], 6 * PAIRS[kind], seed):
        pass


# --- planted bugs ----------------------------------------------------------------------------------------------------


def unclipped(raw, low, high, *, inside, below, above, missing):
    """Numbers as they are stored, as far as the engine can hold them."""
    import ibis

    number = raw.cast("float64")
    near = (number > -1e6) & (number < 1e6)
    return ibis.cases((near, inside(number)), (number < low, below), (number.isnan(), missing), else_=above)


def nan_inside(raw, low, high, *, inside, below, above, missing):
    """NaN taken for a number within the bounds."""
    import ibis

    number = raw.cast("float64")
    within = ((number >= low) & (number <= high)) | number.isnan()
    return ibis.cases((within, inside(number)), (number < low, below), (number > high, above), else_=missing)


def without_row_limit(measure, unit):
    low, high = CONTRIBUTION(measure, unit)
    return low * 1000, high * 1000


COMPUTED = discreet.data.columns.with_expressions
CONTRIBUTION = discreet.query.measure.contribution
SENSITIVITY = discreet.query.measure.sensitivity
PICKED = discreet.query.contribution._picked
LIMITED = discreet.query.tally._limited
MOVED = discreet.query.mode_plan.moved_cells
LIMIT = discreet.query.contribution.limited
COUNT_VALUES = discreet.query.cardinality.count_values
DRAWN = discreet.query.contribution.drawn
ONE_EACH = discreet.trees.sizes._one_each
MOVED_SUMS = discreet.trees.count.moved_sums


def half(measure, unit, groups):
    """A sensitivity half as large as it is, where it can be halved."""
    moved = SENSITIVITY(measure, unit, groups)
    return Sensitivity(max(1, moved.each // 2), moved.outputs)


def replaced_as_removed(measure, unit, groups):
    return SENSITIVITY(measure, replace(unit, neighbours=Neighbours.ADD_REMOVE), groups)


def one_group_more(rows, sums, kept, *rest):
    return PICKED(rows, sums, kept + 1, *rest)


def picked_by_all(rows, sums, kept, width, salt, whole):
    """A person's groups ranked by how many rows of everybody they have."""
    import ibis

    crowd = rows.count().over(ibis.window(group_by="group"))
    rows = rows.mutate(crowd=crowd)
    rows = rows.mutate(place=ibis.dense_rank().over(ibis.window(group_by="person", order_by=["crowd", "group"])))
    return rows.filter(rows["place"] < kept).drop("crowd", "place")


def tied_by_row_order(rows, names, unit, salt):
    """Of a person's cells those that the engine happens to read first."""
    import ibis

    numbered = rows.mutate(at=ibis.row_number().over(ibis.window(order_by=ibis.null("int64"))))
    cells = numbered.group_by(["person", *names]).aggregate(many=numbered.count(), order=numbered["at"].min() // 3)
    cells = cells.mutate(place=ibis.row_number().over(ibis.window(group_by="person", order_by="order")))
    kept = cells.filter(cells["place"] < unit.groups)
    return kept.select(*names, many=ibis.least(kept["many"], unit.rows).cast("int32"))


def never_raised(measure, unit):
    """What rows add, though bounds on a person's sum may raise it."""
    return unit.most_total * max(-measure.lowest, measure.highest)


def one_row(measure, unit, groups):
    return SENSITIVITY(measure, Unit(), groups)


def spread_out(measure, unit, groups):
    """Each of a person's rows in another group."""
    return Sensitivity(1, min(unit.rows, groups))


def counted_by_rows(measure, found, values, unit):
    """A person as often as rows of theirs meet the condition."""
    return found if getattr(measure, "person", None) == (0, 1) else LIMIT(measure, found, values, unit)


def alone_uncut(rows, sums, kept, width, salt, whole):
    return PICKED(rows, sums, kept, width, salt, False)


def drawn_beyond(rows, keys, values, unit, salt):
    return DRAWN(rows, keys, values, replace(unit, rows_total=unit.rows_total + 1), salt)


def drawn_by_all(rows, keys, values, unit, salt):
    """A person's rows ranked by how many rows of everybody their groups have."""
    import ibis

    rows = rows.mutate(crowd=rows.count().over(ibis.window(group_by=keys)))
    order = ibis.window(group_by="person", order_by=["crowd", *keys, *values])
    return rows.mutate(taken=ibis.row_number().over(order)).filter(lambda row: row["taken"] < unit.rows_total)


def without_total(measure, unit, groups):
    """A sensitivity for the noise of a person's rows in one group, where they may be in several."""
    moved = SENSITIVITY(measure, unit, groups)
    return Sensitivity(moved.each)


def tally_unlimited(rows, unit, *rest):
    return LIMITED(rows, replace(unit, rows=unit.rows + 1), *rest)


def cells_as_groups(unit, groups, values):
    """Rows of a group that have other values taken for one and the same cell."""
    return MOVED(unit, groups, 1)


def one_end(unit, groups, values):
    return MOVED(replace(unit, neighbours=Neighbours.ADD_REMOVE), groups, values)


def a_value_more(rows, keys, name, unit, *rest):
    return COUNT_VALUES(rows, keys, name, replace(unit, rows=unit.rows + 1), *rest)


def values_picked_by_all(rows, keys, name, unit, *rest):
    """A person's values ranked by how many rows of everybody have them, and all those counted that tie."""
    import ibis

    value = f"{name} value"
    rows = rows.filter(rows[value].notnull())
    rows = rows.mutate(crowd=rows.count().over(ibis.window(group_by=[*keys, value])))
    rows = rows.mutate(place=ibis.dense_rank().over(ibis.window(group_by=["person", *keys], order_by=["crowd", value])))
    rows = rows.filter(rows["place"] < unit.rows)
    return rows.group_by(list(keys)).aggregate(**{name: rows[value].nunique().cast("int64")})


def compared_with_others(expressions, table, columns):
    """How far a row is from the mean of all."""
    import ibis

    made = COMPUTED(expressions, table, columns)
    apart = {name: (made[name] - made[name].mean().over(ibis.window())).round().cast("int64") for name in expressions}
    return made.mutate(**apart)


def text_or_nothing(raw):
    """The order that joins had once: text, which non-whole numbers have none of. Ties are broken by the engine."""
    import ibis

    return ibis.desc(discreet.data.read.as_text(raw), nulls_first=True)


def everybody(raw):
    """One row for all persons together."""
    import ibis

    return ibis.literal(0, "int64")


def visits_of_persons(_: Any) -> Job:
    """How many persons have how many rows."""
    schema = schema_of(Unit("p", groups=1, rows=3))
    desk = Desk(schema, ALLOTMENTS["epsilon"])
    made = desk.table().per_person(b="least(count(*), 9)").group_by("b").agg(o=count()).plan(epsilon=1).plan
    return Job(schema, made.allotment, made.cost, made.measure, made)


def sizes_of_groups(_: Any) -> Job:
    """Groups by how many persons they have, where persons are in more groups than the one that counts."""
    schema = schema_of(PERSON)
    asked = Curator(Desk(schema, ALLOTMENTS["epsilon"])).tree(["h"], geography={"h": ["11"]}, sizes="n", largest=3)  # type: ignore[arg-type]
    plan = asked.plan(epsilon=1).plan
    return Job(
        schema, plan.allotment, plan.cost, lambda data, bits: plan.noisy(plan.counted.count(data, bits), bits), plan
    )


def parts_of(*conditions: str) -> Callable[[Any], Job]:
    """A union of counts, one for each condition."""

    def made(_: Any) -> Job:
        schema = schema_of(Unit())
        parts = tuple(UnionPart(Query().where(each).agg(o=count())) for each in conditions)
        plan = Question(Desk(schema, ALLOTMENTS["epsilon"]), Union(parts)).plan(epsilon=1).plan
        return Job(schema, plan.allotment, plan.cost, plan.measure, plan)

    return made


def patched(*places: tuple[Any, str], by: Any) -> Callable[[], Any]:
    @contextlib.contextmanager
    def planted() -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for place, name in places:
                stack.enter_context(mock.patch.object(place, name, by))
            yield

    return planted


def asked(
    unit: Unit, output: Any, keys: tuple[str, ...] = (), *, joined: bool = False, way: str = "epsilon"
) -> Callable[[Any], Job]:
    """One question, for a bug that shows in it: every turn has new tables."""
    schema = schema_of(unit, joined=joined)
    plan = functools.partial(Desk(schema, ALLOTMENTS[way]).table().group_by(*keys).agg(o=output).plan, **{way: 1})

    def kind(_: Any) -> Job:
        made = plan().plan
        return Job(schema, made.allotment, made.cost, made.measure, made)

    return kind


ROW, PERSON = Unit(), Unit("p", groups=1, rows=1)
SEVERAL = Unit(rows=3)
DRAWS = Unit("p", groups=3, rows=1, rows_total=2)
OTHER = Unit("p", Neighbours.REPLACE, groups=1, rows=1)


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


def sums_by_region(unit: Unit) -> Callable[[Any], Job]:
    """Sums of a column with bounds, of leaves and of what they lie in."""
    schema = schema_of(unit)

    def kind(_: Any) -> Job:
        asked = Curator(Desk(schema, ALLOTMENTS["epsilon"])).tree(["state", "h"], geography=GEOGRAPHY, measure="y")
        plan = asked.plan(epsilon=1, split="leaves" if unit.column is None else "equal").plan
        return Job(
            schema, plan.allotment, plan.cost, lambda data, bits: plan.noisy(plan.counted.count(data, bits), bits)
        )

    return kind


def as_if_counted(unit, cells, outputs, most=1):
    """Sums charged as if each row added one."""
    return MOVED_SUMS(unit, cells, outputs)


def a_row_as_one(measure, unit, groups):
    return SENSITIVITY(discreet.query.measure.Rows(), unit, groups)


BUGS: dict[str, tuple[Callable[[Any], Job], Callable[[], Any]]] = {
    "clipping removed": (asked(ROW, total("y")), patched((discreet.query.compile, "bounded"), by=unclipped)),
    "NaN not caught": (asked(ROW, total("x")), patched((discreet.query.compile, "bounded"), by=nan_inside)),
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
    "rows limit ignored": (
        asked(PERSON, total("n"), ("g",)),
        patched((discreet.query.contribution, "contribution"), by=without_row_limit),
    ),
    "a single row beyond what a person may add": (
        asked(PERSON, total("y", person=(0, 2)), ("n",)),
        patched((discreet.query.contribution, "_picked"), by=alone_uncut),
    ),
    "a person counted with every row that meets a condition": (
        asked(PERSON, people(where="n >= 0"), ("g",)),
        patched((discreet.query.contribution, "limited"), by=counted_by_rows),
    ),
    "one group too many": (
        asked(PERSON, people(), ("n",)),
        patched((discreet.query.contribution, "_picked"), by=one_group_more),
    ),
    "groups picked by others' rows": (
        asked(PERSON, people(), ("n",)),
        patched((discreet.query.contribution, "_picked"), by=picked_by_all),
    ),
    "half the sensitivity": (asked(PERSON, total("n")), patched((discreet.query.plan, "sensitivity"), by=half)),
    "replace charged as add/remove": (
        asked(OTHER, count(), ("n",)),
        patched((discreet.query.plan, "sensitivity"), by=replaced_as_removed),
    ),
    "a value too many": (
        asked(PERSON, distinct("n")),
        patched((discreet.query.compile, "count_values"), by=a_value_more),
    ),
    "values picked by others' rows": (
        asked(PERSON, distinct("n")),
        patched((discreet.query.compile, "count_values"), by=values_picked_by_all),
    ),
    "a row too many in a histogram": (
        asked(PERSON, median("y", method="tree", grid=4)),
        patched((discreet.query.tally, "_limited"), by=tally_unlimited),
    ),
    "a row too many in a mode": (
        asked(PERSON, mode("n")),
        patched((discreet.query.tally, "_limited"), by=tally_unlimited),
    ),
    "cells of a mode charged as groups": (
        asked(OTHER, mode("n")),
        patched((discreet.query.mode_plan, "moved_cells"), by=cells_as_groups),
    ),
    "a mode of others charged as one removed": (
        asked(OTHER, mode("n"), ("f",), way="rho"),
        patched((discreet.query.mode_plan, "moved_cells"), by=one_end),
    ),
    "a sum raised to its bounds charged by its rows": (
        asked(DRAWS, total("n", person=(300, 500)), ("n",)),
        patched((discreet.query.measure, "_total"), by=never_raised),
    ),
    "several rows charged as one": (
        asked(SEVERAL, count(), ("n",)),
        patched((discreet.query.plan, "sensitivity"), by=one_row),
    ),
    "several rows charged as one to a group": (
        asked(SEVERAL, count(), ("n",), way="rho"),
        patched((discreet.query.plan, "sensitivity"), by=spread_out),
    ),
    "a row too many over all groups": (
        asked(DRAWS, count(), ("n",)),
        patched((discreet.query.contribution, "drawn"), by=drawn_beyond),
    ),
    "rows drawn by others' rows": (
        asked(DRAWS, total("n"), ("n",)),
        patched((discreet.query.contribution, "drawn"), by=drawn_by_all),
    ),
    "rows of one group charged": (
        asked(DRAWS, count(), ("n",)),
        patched((discreet.query.plan, "sensitivity"), by=without_total),
    ),
    "a tie broken by row order": (
        cells_of_persons,
        patched((discreet.marginals.engine, "_limited"), by=tied_by_row_order),
    ),
    "a row of several persons": (
        visits_of_persons,
        patched((discreet.query.person_rows, "identity"), by=everybody),
    ),
    "a person in a group too many": (
        sizes_of_groups,
        patched((discreet.trees.sizes, "_one_each"), by=lambda rows, most, salt: ONE_EACH(rows, most + 1, salt)),
    ),
    "parts that share rows charged as if they did not": (
        parts_of("f", "n >= 0"),
        patched((discreet.query.union, "_exclude"), by=lambda a, b, schema: True),
    ),
    "an expression that looks at other rows": (
        asked(PERSON, total("n + 1")),
        patched((discreet.data.columns, "with_expressions"), by=compared_with_others),
    ),
    "what is left open taken for false": (
        parts_of(*["n > 0 and not (x > 0) and f is null"] * 2),
        patched((discreet.query.union, "_OPEN"), by=frozenset({False})),
    ),
    "sums of regions charged as counts": (
        sums_by_region(Unit("p", groups=2, rows=2)),
        patched((discreet.trees.count, "moved_sums"), by=as_if_counted),
    ),
    "sums of leaves charged as counts": (
        sums_by_region(ROW),
        patched((discreet.trees.count, "sensitivity"), by=a_row_as_one),
    ),
    "clipping removed where regions are summed": (
        sums_by_region(ROW),
        patched((discreet.query.compile, "bounded"), by=unclipped),
    ),
    "a join in no order": (
        asked(PERSON, total("w"), joined=True),
        patched((discreet.data.join, "sort_key"), by=text_or_nothing),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    """By a run that differs too much, or by one that a row makes fail."""
    kind, planted = BUGS[bug]
    with planted(), pytest.raises((BrokenLawError, duckdb.Error)):
        for _ in trials(kind, 400, seed=1):
            pass
