"""Maps of a hierarchy: titled by what is counted, every cell on them, other releases beside it."""

from __future__ import annotations

import pytest

from discreet.errors import InputError
from discreet.show.map.content import numbers_of
from discreet.trees import atlas
from discreet.trees.atlas import map_title


@pytest.fixture
def release(curator):
    return curator.tree(["state", "county"], by=["sex"], where="age >= 18").plan(epsilon=1, method="topdown").release()


def test_a_map_is_titled_by_what_is_counted(curator, release):
    assert release.map().title == "people: counts by state and county, by sex, where age >= 18"
    assert map_title(curator.tree(["state"]).plan(epsilon=0.1, method="topdown").release()) == "people: counts by state"
    assert release.map(title="Adults").title == "Adults"


def test_every_cell_of_every_level_is_on_the_map_with_both_intervals(release):
    content = release.map().content
    assert content["outputs"] == ["total", "f", "m"]
    assert content["kinds"] == ["each", "typical"]
    for level, part in zip(release.levels, content["layers"], strict=True):
        rows = [numbers_of(part, output)[0] for output in (1, 2)]
        assert [list(pair) for pair in zip(*rows, strict=True)] == release.estimate.counts[
            release.tree.level(level)
        ].tolist()
        values, down, _ = numbers_of(part, 0)
        assert [value - below for value, below in zip(values, down, strict=True)] == release.totals(level)[
            "count_lower"
        ]


def test_a_page_that_is_too_large_leaves_out_a_level_and_no_cell(release, monkeypatch):
    monkeypatch.setattr(atlas, "MOST_NUMBERS", 60)  # three levels of 11 regions, 3 numbers, 5 of each
    content = release.map().content
    assert [part["name"] for part in content["layers"]] == ["all", "state"]
    assert content["outputs"] == ["total", "f", "m"]
    assert "leaves out the level county" in content["privacy"]


def test_releases_are_compared_by_name(curator, release):
    other = release.again("exact")
    content = release.map(label="topdown", compare={"exact": other}).content
    assert content["editions"] == ["topdown", "exact"]
    counties = content["layers"][-1]
    for edition, one in enumerate((release, other)):
        assert numbers_of(counties, 0, edition)[0] == one.totals("county")["count"]
    assert release.map(compare={"exact": other}).content["editions"] == [release.id, "exact"]
    narrower = curator.tree(["state"], by=["sex"]).plan(epsilon=0.1, method="topdown").release()
    for wrong in ({"b": narrower}, {"b": release.again("topdown", confidence=0.5)}, {"b": 7}, [release]):
        with pytest.raises(InputError) as refused:
            release.map(compare=wrong)
        assert refused.value.field == "compare"
