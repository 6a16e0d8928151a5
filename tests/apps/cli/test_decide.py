"""`discreet releases decide`: from a stored release to a decision, at no cost."""

import json

import pytest

from discreet.apps.cli import main
from surfaces import command

COUNTIES = ("A1", "A2", "B1")
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


def plan(*words):
    return command("plan", "people.csv", "count", "--by", "county", "--epsilon", "0.1", *words)


def test_plans_are_tried_out_before_they_are_paid(folder):
    (folder / "sizes.csv").write_text("county,people\nA1,900\nA2,90\nB1,10\n")
    (folder / "groups.csv").write_text("county,coast\nA1,yes\nA2,no\nB1,no\n")
    said, code = plan("--assume", "sizes.csv", "--fund", "1000", "--decide-by", "groups.csv")
    assert code == 0, said
    assert said.startswith(plan()[0].rstrip())
    assert "would be misallocated: the true numbers would give it to others" in said
    assert "yes: 1 region" in said
    told = json.loads(plan("--assume", "sizes.csv", "--threshold", "50", "--json")[0])
    assert told["decision"]["columns"]["county"] == ["A1", "A2", "B1"]
    assert told["decision"]["simulated"] is True
    assert set(json.loads(plan("--json")[0])) == set(told) - {"decision"}
    tree = ["--levels", "state=1,county=2", "--epsilon", "2", "--assume", "sizes.csv"]
    said, code = command("tree", "plan", "people.csv", *tree, "--fund", "1000", "--decide-by", "state")
    assert code == 0, said
    assert "A: 2 regions" in said
    assert json.loads(command("ledger", "show", "--json")[0])["charges"] == []


@pytest.mark.parametrize(
    ("text", "words", "flag"),
    [
        ("county,people\nA1,9\nA2,9\n", ["--fund", "1"], "--assume"),  # none for B1
        ("county,people\nA1,9\nA2,9\nA1,8\n", ["--fund", "1"], "--assume"),
        ("county,people\nA1,9\nA2,few\nB1,8\n", ["--fund", "1"], "--assume"),
        ("county,people\nA1,9\nA2\nB1,8\n", ["--fund", "1"], "--assume"),
        ("county,people\nA1,-9\nA2,9\nB1,8\n", ["--fund", "1"], "--assume"),
        ("", ["--fund", "1"], "--assume"),
        (None, ["--fund", "1"], "--assume"),
        ("county,people\nA1,9\nA2,9\nB1,8\n", ["--fund", "0"], "--fund"),
        ("county,people\nA1,9\nA2,9\nB1,8\n", ["--fund", "1", "--decide-by", "stat"], "--decide-by"),
        ("county,people\nA1,9\nA2,9\nB1,8\n", [], "--assume"),
    ],
)
def test_what_is_assumed_must_fit(folder, capsys, text, words, flag):
    if text is not None:
        (folder / "sizes.csv").write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["plan", "people.csv", "count", "--by", "county", "--epsilon", "0.1", "--assume", "sizes.csv", *words])
    assert ended.value.code == 2
    assert f"`{flag}` must be" in capsys.readouterr().err


def test_a_file_without_a_header_is_noticed(folder, capsys):
    (folder / "sizes.csv").write_text("A1,9\nA2,9\nB1,8\n")
    asked = ["plan", "people.csv", "count", "--epsilon", "0.1", "--assume", "sizes.csv", "--fund", "1"]
    with pytest.raises(SystemExit):
        main([*asked, "--by", "county"])
    assert "with a header; got sizes.csv, whose first line is A1,9" in capsys.readouterr().err
    (folder / "sizes.csv").write_text("county,number\nA1,9\nA2,9\nB1,8\n")
    (folder / "groups.csv").write_text("A1,yes\nA2,no\nB1,no\n")
    with pytest.raises(SystemExit):
        main([*asked, "--by", "county", "--decide-by", "groups.csv"])
    assert "`--decide-by` must be" in (said := capsys.readouterr().err)
    assert "The first line of groups.csv is taken for its header: A1,yes." in said
    with pytest.raises(SystemExit):
        main(asked)
    assert "a question without groups" in capsys.readouterr().err


def test_a_decision_needs_numbers_that_are_assumed(folder, capsys):
    with pytest.raises(SystemExit):
        main(["plan", "people.csv", "count", "--by", "county", "--epsilon", "0.1", "--threshold", "5"])
    assert "`--assume` must be given with --threshold" in capsys.readouterr().err


def test_several_keys_name_a_region_together(folder):
    (folder / "both.csv").write_text("county,sex,people\n" + "".join(f"{c},{s},9\n" for c in COUNTIES for s in "fm"))
    (folder / "people.csv").write_text("county,sex\n" + "A1,f\nB1,m\nA2,f\n" * 9)
    (folder / "discreet.toml").write_text(SCHEMA + '[columns.sex]\ntype = "category"\nvalues = ["f", "m"]\n')
    said, code = plan("--by", "sex", "--assume", "both.csv", "--fund", "5", "--json")
    assert code == 0, said
    assert json.loads(said)["decision"]["columns"]["county, sex"][:2] == ["A1 / f", "A1 / m"]
