"""Sums over groups: intervals that hold, for totals and for cells, whatever was chosen by noise."""

import numpy as np
import pytest
from group_desk import GROUPS, ask, curator

from chance import at_most
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.trees.detail.measurement import GroupMeasurement, asked_to
from discreet.trees.detail.sums import parse_groups, sum_groups

LIMITS = {"sex": 5, "sex by age": 12}
COUNTIES = {"county": ["0", "1"]}


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """With hardly any noise."""
    desk = curator(tmp_path_factory.mktemp("groups"))
    return ask(desk).plan(epsilon=10**5, thresholds=LIMITS).release(release="groups")


def test_sums_are_those_of_the_table_where_there_is_no_noise(exact):
    rows = [row for row in exact.rows() if row["cell"] == "total"]
    for level, regions in (("county", ["0", "1"]), ("tract", ["00", "01", "10"])):
        for groups in (None, ["a alone"], ["a alone", "b with others"]):
            named = list(GROUPS) if groups is None else groups
            true = sum(
                row["count"]
                for row in rows
                if row["level"] == level and row["region"] in regions and row["group"] in named
            )
            found = exact.sum({level: regions}, groups)
            assert (found.value, found.lower, found.upper) == (true, true, true)
    assert exact.sum(groups="a alone").value == 24
    cells = exact.pair("all", "all", "a alone")
    for cell in list(cells)[1:]:
        assert exact.sum(groups="a alone", cells=cell).value == cells[cell][0]


def test_intervals_hold_for_sums_of_totals_and_of_cells(tmp_path):
    """A hundred draws; groups near the thresholds, so that noise decides what is measured of them."""
    plan = ask(curator(tmp_path), groups={"all": "age >= 0"}).plan(epsilon=1, confidence=0.9).plan
    stage = plan.stages[-1]
    sizes = np.array([0, stage.thresholds[0] - 5, stage.thresholds[0] + 5, sum(stage.thresholds) // 2] * 3)
    true = np.stack([sizes // 4, sizes // 4, sizes // 4, sizes - 3 * (sizes // 4)], axis=1)[:, None, :]
    asked = asked_to(plan.counted.finest.tree, plan.stages)
    many, regions = 150, plan.counted.finest.tree.codes[-1]
    missed, covered, shares, none = 0, 0, [], {"tract": list(regions[:1])}
    cells = ["sex=f, age=0..40", "sex=m, age=40..80"]
    asked_cells = missed_cells = 0
    for _ in range(many):
        found = GroupMeasurement.read(asked, plan.query["detail"], plan.noisy(true, SystemBits()))
        whole = sum_groups(found, {"tract": list(regions)}, None, None, 0.9)
        missed += not whole.lower <= sizes.sum() <= whole.upper
        covered += sum_groups(found, none, None, None, 0.9).lower == 0
        shares.append(whole.value)
        finest = [code for code, chosen in zip(regions, found.looks[-1].choice, strict=True) if chosen == 2]
        if finest:
            labels = found.labels[1]
            place = [labels.index(cell) for cell in cells] if set(cells) <= set(labels) else [0, 3]
            here = [regions.index(code) for code in finest]
            part = sum_groups(found, {"tract": finest}, None, [labels[one] for one in place], 0.9)
            asked_cells += 1
            missed_cells += not part.lower <= true[here, 0][:, place].sum() <= part.upper
    assert at_most(missed, many, 0.1)
    assert at_most(many - covered, many, 0.1)  # nobody is there
    assert asked_cells > many / 4
    assert at_most(missed_cells, asked_cells, 0.1)
    spread = 3 * np.std(shares) / np.sqrt(many)
    assert abs(np.mean(shares) - sizes.sum()) < spread + 1  # no bias, though published numbers are cut at zero


def test_intervals_are_no_wider_than_need_be(tmp_path):
    plan = ask(curator(tmp_path), groups={"all": "age >= 0"}).plan(epsilon=1, confidence=0.9).plan
    asked = asked_to(plan.counted.finest.tree, plan.stages)
    true = np.full((12, 1, 4), 500)
    inside = 0
    for _ in range(100):
        found = GroupMeasurement.read(asked, plan.query["detail"], plan.noisy(true, SystemBits()))
        whole = sum_groups(found, {"tract": list(found.tree.codes[-1])}, None, None, 0.5)
        inside += whole.lower <= true.sum() <= whole.upper
    assert 25 < inside < 75


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"regions": {"county": ["0"], "tract": ["00"]}}, "one level"),
        ({"regions": {"county": ["9"]}}, "regions.county"),
        ({"regions": {"town": ["9"]}}, "regions"),
        ({"groups": ["nobody"]}, "groups"),
        ({"groups": []}, "groups"),
        ({"cells": ["sex=x"]}, "cells"),
        ({"regions": {"tract": ["51"]}, "cells": ["sex=f"]}, "has others"),
    ],
)
def test_what_cannot_be_added_up_is_refused(exact, given, said):
    with pytest.raises(InputError, match=said):
        exact.sum(**given)


def test_a_line_of_text_says_the_same(exact):
    read = parse_groups(exact.known, "county=0, 1; group=a alone; cell=sex=f, age=0..40")
    assert read == {"regions": {"county": ["0", "1"]}, "groups": ["a alone"], "cells": ["sex=f, age=0..40"]}
    assert parse_groups(exact.known, "") == {}
    for wrong in ("county", "town=1", "group=a; group=b"):
        with pytest.raises(InputError, match="`sum` must be"):
            parse_groups(exact.known, wrong)
