"""A table of groups: what was published of each, its files, and what it says of itself."""

import json

import pyarrow.parquet
import pytest
from group_desk import DETAILS, GROUPS, ask, curator

from discreet.errors import InputError

LIMITS = {"sex": 5, "sex by age": 12}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    desk = curator(tmp_path_factory.mktemp("groups"))
    return ask(desk).plan(epsilon=10**5, thresholds=LIMITS).release(release="groups")


def test_each_group_has_the_detail_of_its_size(made):
    """With hardly any noise: 60 rows, of which 24 are a alone and 12 a with others."""
    sizes = {(row["level"], row["region"], row["group"]): row["count"] for row in made.rows() if row["cell"] == "total"}
    assert sizes["all", "all", "a alone"] == 24
    assert sizes["all", "all", "a with others"] == 36
    for pair, detail in made.details.items():
        assert detail == ("total" if sizes[pair] < 5 else "sex" if sizes[pair] < 12 else "sex by age")
    assert len(sizes) == (1 + 6 + 12) * len(GROUPS)


def test_cells_add_up_and_a_pair_is_read_by_name(made):
    for pair, detail in made.details.items():
        cells = made.pair(*pair)
        assert len(cells) == {"total": 1, "sex": 3, "sex by age": 5}[detail]
        if detail != "total":
            assert sum(count for cell, (count, *_) in cells.items() if cell != "total") == cells["total"][0]
    with pytest.raises(InputError, match="`group` must be"):
        made.pair("tract", "00", "nobody")
    with pytest.raises(InputError, match="a region of county"):
        made.pair("county", "00", "a alone")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_say_what_they_hold(made, tmp_path, kind):
    written = {path.name: path for path in made.save(tmp_path, kind=kind)}
    assert {f"groups.{kind}", "dictionary.md", "README.json"} <= set(written)
    text = written["dictionary.md"].read_text()
    assert all(f"| {name} |" in text for name in made.columns)
    assert "need not add up" in text
    assert json.loads(written["README.json"].read_text())["files"][f"groups.{kind}"]["columns"] == list(made.columns)
    if kind == "csv":
        beside = json.loads(written["groups.csv-metadata.json"].read_text())
        assert beside["tableSchema"]["primaryKey"] == list(made.keys)
    else:
        assert pyarrow.parquet.read_table(written["groups.parquet"]).to_pydict() == dict(made.columns)
    with pytest.raises(InputError, match="kind"):
        made.save(tmp_path, kind="xls")


def test_numbers_have_flags(made):
    flags = dict(zip(zip(made["level"], made["group"], made["cell"], strict=True), made["count_quality"], strict=True))
    assert flags["all", "a alone", "total"] == "reliable"


def test_a_plan_says_the_chance_of_each_detail_by_size(tmp_path):
    offer = ask(curator(tmp_path)).plan(epsilon=1)
    text, facts = str(offer), offer.explained.facts
    assert "First 10% of the price" in text
    assert "of 1,000: " in text
    assert list(facts["cells"]) == list(DETAILS)
    for chances in facts["chances"].values():
        assert chances["0"]["total"] > 0.9
        assert chances["1000000"]["sex by age"] == pytest.approx(1)
    assert {error.output for error in offer.expected} >= {"all, county, tract, total alone"}


def test_levels_that_repeat_another_are_measured_once(tmp_path):
    offer = curator(tmp_path).detail({"state": 1, "tract": 2}, geography=["00", "01"], groups=GROUPS, details=DETAILS)
    plan = offer.plan(epsilon=10**5).plan
    assert [stage.level for stage in plan.stages] == [1, 2]
    made = offer.plan(epsilon=10**5).release()
    assert made.pair("all", "all", "a alone") == made.pair("state", "0", "a alone")
