"""Whatever was asked for has a title, read from its record: of every kind, and of every version that is on ledgers."""

import json
import re
from pathlib import Path

import pytest

from discreet.curator import KINDS
from discreet.curator.title import title_of

GOLDEN = Path(__file__).parents[1] / "golden"


def charges(name):
    for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines():
        for found in re.findall(r"\{.*\}", line):
            try:
                record = json.loads(found.replace("''", "'"))
            except ValueError:
                continue
            if record.get("kind") == "charge":
                yield record["release"], record["query"]


@pytest.mark.parametrize("name", ["kinds_0_1.sql", "kinds_0_2.sql"])
def test_every_release_on_an_old_ledger_has_a_title(name):
    titles = {release: title_of(query) for release, query in charges(name)}
    assert len(titles) > 10
    assert all(title[:1].isupper() or title[:1].isdigit() for title in titles.values())
    assert titles["tree"] == "Hierarchical counts by state and county, each by sex"
    assert titles["synth"] == "Synthetic rows of sex, county and age"
    assert titles["train"] == "Logistic model of sex"
    assert titles["stream/2"] == "Number of rows by sex: period 2 by day"
    assert titles["batch"] == "Number of rows by sex; mean pay"
    assert titles["flows"] == "Flows from home to work by works"


def test_a_kind_without_words_of_its_own_is_named_by_its_noun():
    assert title_of({"census": {}}) == "Census"
    assert title_of({"synth": {"columns": ["a", "b", "c", "d", "e"], "where": None}}) == (
        "Synthetic rows of a, b, c and 2 more"
    )
    assert {title_of({kind.marks[0]: {}}) for kind in KINDS.values() if kind.marks} > {"Hierarchical counts"}
    assert title_of({"tree": {"levels": ["all", "county"], "measure": {"column": "cost"}}}) == (
        "Hierarchical sums of cost by county"
    )


def test_what_no_kind_reads_has_none():
    assert title_of({"fit": 1}) == ""
    assert title_of(None) == ""
