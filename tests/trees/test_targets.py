"""Regions that are none of the tree's: read from a public table, published as sums of leaf regions, with intervals."""

import numpy as np
import pytest
from tree_desk import COUNTIES

from chance import at_most
from discreet import Rules
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.measurement import Level, Measurement
from discreet.trees.release import TreeRelease
from discreet.trees.targets import Family, read_targets, target_ends
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_levels({"state": ["01", "02"], "county": COUNTIES})
PLACES = ["n", "n", None, "s", "s", "", "s", "n"]


def test_a_table_says_which_leaf_regions_a_target_has():
    (found,) = read_targets({"county": COUNTIES, "place": PLACES, "state": ["x"] * 8}, TREE, "county", TREE.names)
    assert (found.name, found.codes, found.places.tolist()) == ("place", ("n", "s"), [0, 0, -1, 1, 1, -1, 1, 0])
    assert found.sums(np.arange(8)[:, None]).ravel().tolist() == [0 + 1 + 7, 3 + 4 + 6]
    again = Family.from_dict(found.to_dict())
    assert (again.name, again.codes, again.places.tolist()) == (found.name, found.codes, found.places.tolist())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"place": ["n"]}, "the column 'county'"),
        ({"county": COUNTIES}, "a column of names"),
        ({"county": "01000", "place": "n"}, "the column 'county'"),
        ({"county": ["99"], "place": ["n"]}, "codes of a county"),
        ({"county": ["01000", "01000"], "place": ["n", "s"]}, "each region once"),
        ({"county": ["01000"], "place": [1]}, "as text"),
        ({"county": ["01000"], "place": [""]}, "some of the regions"),
        ({"county": ["01000"], "count": ["n"]}, "no other column"),
    ],
)
def test_what_is_no_table_of_targets_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        read_targets(given, TREE, "county", (*TREE.names, "count"))


def ask(curator, **how):
    targets = {"county": COUNTIES, "place": PLACES}
    return curator.tree(["state", "county"], by=["sex"], targets=targets, **how)


@pytest.mark.parametrize("spine", ["given", "optimised"])
def test_tables_of_targets_agree_with_those_of_leaf_regions(curator, spine, tmp_path):
    made = ask(curator, spine=spine).plan(epsilon=1).release(release="r")
    assert "place" in [one.name for one in made.targets]
    counties = made["county"]
    rows = zip(counties["county"], counties["sex"], counties["count"], strict=True)
    inside = {county: place for county, place in zip(COUNTIES, PLACES, strict=True) if place}
    expected = {}
    for county, sex, many in rows:
        if county in inside:
            expected[inside[county], sex] = expected.get((inside[county], sex), 0) + many
    found = made.target("place")
    assert dict(zip(zip(found["place"], found["sex"], strict=True), found["count"], strict=True)) == expected
    totals = made.target("place", totals=True)
    assert sum(totals["count"]) == sum(found["count"])
    for one in (found, totals):
        ends = zip(one["count_lower"], one["count"], one["count_upper"], strict=True)
        assert all(0 <= low <= value <= high for low, value, high in ends)
    assert {"place", "place-totals"} <= set(made.tables())
    assert {"place.csv", "place-totals.csv"} <= {path.name for path in made.save(tmp_path, "csv")}
    assert curator.release("r").target("place").columns == found.columns
    with pytest.raises(InputError, match="`target` must be"):
        made.target("county")


def test_levels_that_are_split_are_published_as_targets(curator):
    geography = {"county": COUNTIES, "part": ["a"] * 4 + ["b"] * 4}
    targets = {"county": COUNTIES, "place": ["n"] * 5 + ["s", "n", "s"]}
    made = curator.tree(["part", "county"], geography=geography, targets=targets, spine="optimised")
    offer = made.plan(epsilon=1)
    assert "place, off the tree (2): made of 1.5 regions" in str(offer)
    plain = curator.tree(["part", "county"], geography=geography, targets=targets).plan(epsilon=1)
    widths = {row["name"]: (row["total"], row["given"]) for row in offer.explained.facts["spine"]}
    assert list(widths) == ["place", "all", "part", "county"]
    given = {row["level"]: row["total"] for row in plain.explained.facts["levels"]}
    for level in ("all", "part", "county"):
        assert widths[level][1] == given[level]  # what the same price buys by the tree as given
    assert widths["part"][0] > widths["part"][1]  # what is split pays
    assert (
        f"part, split along borders of targets (2): made of 1.5 regions on average; a total +-{widths['part'][0]:.3g}"
        in (offer.explain())
    )
    assert "(+-" in offer.explain()
    assert "spine" not in plain.explained.facts
    release = offer.release()
    assert release.levels == ("all", "part part", "county")
    assert [one.name for one in release.targets] == ["place", "part"]
    parts = release.target("part")
    assert parts["part"] == ["a", "b"]
    assert sum(parts["count"]) == release["all"]["count"][0]


def test_shares_by_names_of_the_new_levels_have_nothing_to_compare_with(curator):
    geography = {"county": COUNTIES, "part": ["a"] * 4 + ["b"] * 4}
    targets = {"county": COUNTIES, "place": ["n"] * 5 + ["s", "n", "s"]}
    made = curator.tree(["part", "county"], geography=geography, targets=targets, spine="optimised")
    offer = made.plan(epsilon=1, split={"part part": 1, "county": 1})
    assert offer.plan.given is None
    assert "tree as given" not in offer.explain()


@pytest.mark.parametrize("queries", [{"sex": 1, "all": 2}, {"county": {"sex": 1, "all": 2}}])
def test_queries_are_read_anew_for_the_tree_as_given(curator, queries):
    # A level whose regions all have one child is asked with the next; in the two trees it is another one.
    geography = {"county": COUNTIES[:3], "part": ["a"] * 3, "half": ["c", "c", "d"]}
    targets = {"county": COUNTIES[:3], "place": ["n", "s", "n"]}
    known = {"geography": geography, "targets": targets, "by": ["sex", "age"], "queries": queries}
    split = curator.tree(["part", "half", "county"], **known, spine="optimised").plan(epsilon=1).plan
    plain = curator.tree(["part", "half", "county"], **known).plan(epsilon=1).plan
    assert {one.level for one in split.measures} != {one.level for one in plain.measures}
    asked = [[(one.level, one.kind, one.noise) for one in plan.measures] for plan in (split.given, plain)]
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"spine": "best"}, "given"),
        ({"sizes": "county", "largest": 3, "by": []}, "by size"),
    ],
)
def test_what_cannot_be_asked_is_refused(curator, how, words):
    asked = {"by": ["sex"], "targets": {"county": COUNTIES, "place": PLACES}, **how}
    with pytest.raises(InputError, match=words):
        curator.tree(["state", "county"], **asked)
    with pytest.raises(InputError, match="given where spine is optimised"):
        curator.tree(["state", "county"], spine="optimised")


def test_intervals_of_targets_hold_as_often_as_they_say():
    """Best linear estimates of targets, against the truth: nothing of the method is in the way."""
    truth, noise, draws = np.random.default_rng(3).integers(0, 60, (8, 2)), Laplace(8), 200
    (family,) = read_targets({"county": COUNTIES, "place": PLACES}, TREE, "county", TREE.names)
    exact, missed = family.sums(truth), np.zeros((2, 2), int)
    for _ in range(draws):
        levels = [noise.release(level.ravel()).reshape(level.shape) for level in TREE.sums(truth)]
        measured = Measurement(TREE, tuple(Level(level, noise) for level in levels))
        release = TreeRelease.__new__(TreeRelease)
        for name, value in {"measured": measured, "confidence": 0.9, "rules": Rules()}.items():
            object.__setattr__(release, name, value)
        low, high = target_ends(release, family, exact * 0 + 10**6, totals=False)[0], None
        high = target_ends(release, family, exact * 0, totals=False)[1]
        missed += (low > exact) | (high < exact)
    assert all(at_most(int(many), draws, 0.1) for many in missed.ravel())
