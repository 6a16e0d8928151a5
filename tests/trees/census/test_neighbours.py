"""Bugs planted in a census are found where the neighbour fuzzer runs it on the engine."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

import discreet.trees.census.part
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Unit
from discreet.curator import Curator
from discreet.trees.census.part import Part
from neighbours import trials
from seam import BrokenLawError
from world_jobs import ALLOTMENTS, Desk, Job, schema_of

BUGS = {
    "members of a household beyond the limit": (
        {"counts": "persons", "household": ["f"]},
        (Part, "cut", False),
    ),
    "a household that stays in its cell": (
        {"counts": "households", "by": ["f"]},
        (discreet.trees.census.part, "Sensitivity", lambda each, outputs: Sensitivity(each, 1)),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    table, (place, name, planted) = BUGS[bug]

    def kind(_: Any) -> Job:
        schema = schema_of(Unit())
        desk = Desk(schema, ALLOTMENTS["epsilon"])
        regions = {"h": ["11", "12", "21", "22"]}
        asked = Curator(desk).census(["h"], {"a": table}, household="o", geography=regions, most=1)  # type: ignore[arg-type]
        plan = asked.plan(epsilon=1).plan
        return Job(schema, plan.allotment, plan.cost, plan.measure, plan)

    with mock.patch.object(place, name, planted), pytest.raises(BrokenLawError):
        for _ in trials(kind, 300, seed=1):
            pass
