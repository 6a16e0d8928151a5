"""A released hierarchy adds up and is read again for free."""

from __future__ import annotations

import pyarrow
import pyarrow.parquet
import pytest
from tree_desk import COUNTIES, SCHEMA, add_up, table

import discreet
from discreet import Budget, Category, Rules, Schema, Text
from discreet.errors import InputError


@pytest.mark.parametrize("method", ["bayes", "topdown", "exact"])
def test_every_parent_is_the_sum_of_its_children(curator, method):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method=method).release()
    add_up(release)
    counties, states = release["county"], release["state"]
    assert counties.keys == ("state", "county", "sex")
    assert len(counties) == 16
    assert sum(counties["count"]) == sum(states["count"]) == release["all"]["count"][0] + release["all"]["count"][1]
    assert all(low <= high for low, high in zip(counties["count_lower"], counties["count_upper"], strict=True))
    assert abs(sum(counties["count"]) - 4000) < 300
    assert sum(release.totals("county")["count"]) == sum(counties["count"])
    assert release.totals("state").keys == ("state",)


def test_intervals_go_by_their_names_and_earlier_names_are_known(curator):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release()
    assert release.table("county", intervals="each").columns == release["county"].columns
    assert release.table("county", intervals="typical").columns["count"] == release["county"].columns["count"]
    for before, now in (("region", "each"), ("average", "typical")):
        for tables in (release.table, release.totals):
            with pytest.raises(InputError, match=f"each, typical; got '{before}'. Did you mean `{now}`") as caught:
                tables("county", intervals=before)
            assert caught.value.field == "intervals"
    page = release.map(intervals="typical").content
    assert page["kinds"][page["kind"]] == "typical"
    assert release.map().content["kind"] == 0


def test_a_release_is_read_again_without_the_data(curator, tmp_path):
    first = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release(release="census")
    left = curator.standing()[0].left
    other = discreet.open(table(10, seed=9), SCHEMA, ledger=tmp_path / "books.db", who="bob", create=True)
    second = other.release("census")
    for level in first.levels:
        assert first[level].columns == second[level].columns
    with pytest.warns(UserWarning, match="may describe earlier data"):
        third = other.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release(release="census")
    assert "may describe earlier data" in third.notes[0]
    assert [note.kind for note in third["county"].notes] == ["data", "outside", "outside"]
    assert third["county"].columns == first["county"].columns
    assert other.standing()[0].left == left
    with pytest.raises(InputError, match="this one answers another question"):
        other.tree(["state", "county"]).plan(epsilon=1).release(release="census")
    with pytest.raises(InputError, match="stored release"):
        other.release("nothing")


@pytest.mark.parametrize("method", ["exact", "topdown"])
def test_a_public_number_of_groups_is_the_first_cumulative_count_in_bounds_and_intervals(tmp_path, method):
    # The mutant: it was read as the sum over all sizes, and 20 groups were said to be fewer than 3 x 10.
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = {"county": [code for code in COUNTIES for _ in range(60)], "house": [f"{i // 3}" for i in range(480)]}
    curator = discreet.open(
        pyarrow.table(rows), schema, ledger=tmp_path / "b.db", budget=Budget(9), who="ann", create=True
    )
    rules = Rules(lower={"county": 10}, totals={"county": [20] * 8})
    question = curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, rules=rules)
    release = question.plan(epsilon="1/2", method=method).release()
    for level, known in (("all", 160), ("county", 20)):
        table = release[level]
        assert {table[column][0] for column in ("at_least", "at_least_lower", "at_least_upper")} == {known}
        ends = zip(table["at_least_lower"], table["at_least"], table["at_least_upper"], strict=True)
        assert all(low <= count <= high for low, count, high in ends)
    fewer = Rules(lower={"county": [[0, 21, 0]] * 8}, totals={"county": [20] * 8})
    with pytest.raises(InputError, match="never rise"):
        curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, rules=fewer).plan(epsilon="1/2")


def test_rules_are_on_record_and_used_again(curator):
    rules = Rules(upper={"county": [[9999, 0]] * 8}, totals={"all": [4000], "state": [3700, -1]})
    question = curator.tree(["state", "county"], by=["sex"], rules=rules)
    question.plan(epsilon=1, method="topdown").release(release="census")
    read = curator.release("census")
    assert read.rules.totals["state"].tolist() == [3700, -1]
    for release in (read, read.again("exact"), read.again("bayes").again("topdown")):
        assert release.totals("all")["count"] == [4000]
        assert release.totals("state")["count"] == [3700, 300]
        assert not any(release["county"]["count"][1::2])
    free = read.again("topdown", rules=Rules())
    assert any(free["county"]["count"][1::2])
    assert not free.rules.upper
