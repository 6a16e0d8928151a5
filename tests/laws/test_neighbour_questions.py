"""Bugs planted in questions about a table are found on random neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

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
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Question
from discreet.query.aggregate import count, distinct, people, total
from discreet.query.modes import mode
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.union import Union, UnionPart
from neighbour_bugs import DRAWS, OTHER, PERSON, ROW, SEVERAL, asked, find_bug, patched
from world_jobs import ALLOTMENTS, Desk, Job, schema_of


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


def half(measure, unit, groups):
    """A sensitivity half as large as it is, where it can be halved."""
    moved = SENSITIVITY(measure, unit, groups)
    return Sensitivity(max(1, moved.each // 2), moved.outputs)


def replaced_as_removed(measure, unit, groups):
    return SENSITIVITY(measure, replace(unit, neighbours=Neighbours.ADD_REMOVE), groups)


def one_group_more(rows, sums, kept, width, salt, whole):
    return PICKED(rows, sums, kept + 1, width, salt, whole=whole)


def picked_by_all(rows, sums, kept, width, salt, whole):
    """A person's groups ranked by how many rows of everybody they have."""
    import ibis

    crowd = rows.count().over(ibis.window(group_by="group"))
    rows = rows.mutate(crowd=crowd)
    rows = rows.mutate(place=ibis.dense_rank().over(ibis.window(group_by="person", order_by=["crowd", "group"])))
    return rows.filter(rows["place"] < kept).drop("crowd", "place")


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
    """Rows without a name, as where persons keep several groups."""
    with mock.patch.object(discreet.query.contribution, "joins_quickly", return_value=False):
        return PICKED(rows, sums, kept, width, salt, whole=False)


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


def parts_of(*conditions: str) -> Callable[[Any], Job]:
    """A union of counts, one for each condition."""

    def made(_: Any) -> Job:
        schema = schema_of(Unit())
        parts = tuple(UnionPart(Query().where(each).agg(o=count())) for each in conditions)
        plan = Question(Desk(schema, ALLOTMENTS["epsilon"]), Union(parts)).plan(epsilon=1).plan
        return Job(schema, plan.allotment, plan.cost, plan.measure, plan)

    return made


BUGS: dict[str, tuple[Callable[[Any], Job], Callable[[], Any]]] = {
    "clipping removed": (asked(ROW, total("y")), patched((discreet.query.compile, "bounded"), by=unclipped)),
    "NaN not caught": (asked(ROW, total("x")), patched((discreet.query.compile, "bounded"), by=nan_inside)),
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
    "a row of several persons": (
        visits_of_persons,
        patched((discreet.query.person_rows, "identity"), by=everybody),
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
    "a join in no order": (
        asked(PERSON, total("w"), joined=True),
        patched((discreet.data.join, "sort_key"), by=text_or_nothing),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    find_bug(*BUGS[bug])
