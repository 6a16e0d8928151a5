"""Bugs planted in hierarchies are found on random neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from discreet.core.unit import Unit
from discreet.curator import Curator
from neighbour_bugs import PERSON, ROW, find_bug, patched
from world_jobs import ALLOTMENTS, GEOGRAPHY, Desk, Job, schema_of


def unclipped(raw, low, high, *, inside, below, above, missing):
    """Numbers as they are stored, as far as the engine can hold them."""
    import ibis

    number = raw.cast("float64")
    near = (number > -1e6) & (number < 1e6)
    return ibis.cases((near, inside(number)), (number < low, below), (number.isnan(), missing), else_=above)


SENSITIVITY = discreet.query.measure.sensitivity
ONE_EACH = discreet.trees.sizes._one_each
MOVED_SUMS = discreet.trees.count.moved_sums


def sizes_of_groups(_: Any) -> Job:
    """Groups by how many persons they have, where persons are in more groups than the one that counts."""
    schema = schema_of(PERSON)
    asked = Curator(Desk(schema, ALLOTMENTS["epsilon"])).tree(["h"], geography={"h": ["11"]}, sizes="n", largest=3)  # type: ignore[arg-type]
    plan = asked.plan(epsilon=1).plan
    return Job(
        schema, plan.allotment, plan.cost, lambda data, bits: plan.noisy(plan.counted.count(data, bits), bits), plan
    )


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
    "a person in a group too many": (
        sizes_of_groups,
        patched((discreet.trees.sizes, "_one_each"), by=lambda rows, most, salt: ONE_EACH(rows, most + 1, salt)),
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
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    find_bug(*BUGS[bug])
