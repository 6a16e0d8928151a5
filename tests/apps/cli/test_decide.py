"""`discreet releases decide`: from a stored release to a decision, at no cost."""

import json

import pytest

from surfaces import command

SCHEMA = """
[dataset]
name = "people"
[columns.county]
type = "category"
values = ["A1", "A2", "B1"]
nullable = false
[budget]
epsilon = 10
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("county\n" + "A1\nB1\nA2\n" * 9)
    (tmp_path / "discreet.toml").write_text(SCHEMA)
    assert command("ledger", "create")[1] == 0
    return tmp_path


def test_tables_and_hierarchies_decide(folder):
    assert command("ask", "people.csv", "count", "--by", "county", "--epsilon", "1", "--id", "q", "--yes")[1] == 0
    tree = ["--levels", "state=1,county=2", "--epsilon", "2", "--id", "t", "--yes"]
    assert command("tree", "release", "people.csv", *tree)[1] == 0
    before = command("ledger", "show", "--json")[0]
    (folder / "groups.csv").write_text("county,coast\nA1,yes\nA2,no\nB1,no\n")
    files = ["--out", "fund.csv", "--picture", "fund.svg"]
    said, code = command("releases", "decide", "q", "--fund", "1000", "--by", "groups.csv", *files)
    assert code == 0, said
    assert "yes: 1 region" in said
    assert (folder / "fund.csv").read_text().startswith("county,published,allotted")
    assert "<svg" in (folder / "fund.svg").read_text()
    said, code = command("releases", "decide", "t", "--threshold", "5", "--by", "state", "--json")
    assert code == 0, said
    assert [group["group"] for group in json.loads(said)["groups"]] == ["A", "B"]
    assert command("releases", "decide", "t", "--fund", "1", "--level", "state", "--blend", "0.5")[1] == 0
    assert command("ledger", "show", "--json")[0] == before


def test_what_does_not_fit_is_refused(folder):
    assert command("ask", "people.csv", "count", "--by", "county", "--epsilon", "1", "--id", "q", "--yes")[1] == 0
    (folder / "wrong.csv").write_text("county\nA1\n")
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00" * 9)
    for words in (
        ["--fund", "0"],
        ["--fund", "1", "--level", "state"],
        ["--fund", "1", "--by", "none.csv"],
        ["--fund", "1", "--by", "wrong.csv"],
        ["--fund", "1", "--by", "binary.csv"],
        ["--fund", "1", "--out", "fund.txt"],
        ["--fund", "1", "--picture", "fund.svg"],
        [],
    ):
        said, code = command("releases", "decide", "q", *words)
        assert code == 2, said
