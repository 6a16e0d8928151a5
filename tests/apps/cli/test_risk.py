"""`discreet risk`, as people run it."""

import json

from risky import (
    files_fixture,  # noqa: F401
    run,
)


def test_risk_measures_coarsens_links_and_writes(files, tmp_path, capsys):
    patients, voters = files
    ask = ("risk", "measure", patients, "--quasi", "age,zip,sex", "--sensitive", "diagnosis")
    code, out, _ = run(capsys, *ask)
    assert code == 0
    assert "look like nobody else" in out
    assert "does not promise" in out
    safe = tmp_path / "safe.csv"
    code, out, err = run(capsys, *ask, "--k", 4, "--out", safe, "--register", voters, "--redact", 0.05)
    assert code == 0
    assert "Written" in err
    assert "0 of 200 people" in out
    assert "Even so, 0 rows" not in out
    code, out, _ = run(capsys, "risk", "measure", safe, "--quasi", "age,zip,sex", "--json")
    assert json.loads(out)["before"]["k"] >= 4


def test_wrong_words_are_named(files, capsys):
    patients, _ = files
    assert run(capsys, "risk", "measure", patients, "--quasi", "shoe")[0] == 2
    code, _, err = run(capsys, "risk", "measure", patients, "--quasi", "age", "--out", "x.csv")
    assert (code, "--k" in err) == (2, True)
    assert run(capsys, "attack", "difference", "--people", 1)[0] == 2
    assert run(capsys, "attack", "reconstruct", "--people", 50, "--picture", "x.gif")[0] == 2


def test_a_report_without_options_is_text_a_page_a_table_and_json(files, tmp_path, capsys):
    patients, voters = files
    page, coarse = tmp_path / "risk.html", tmp_path / "coarse.csv"
    code, out, err = run(capsys, "risk", "report", patients, "--seconds", 0.5, "--html", page, "--out", coarse)
    assert code == 0
    assert "not a release" in " ".join(out.split())
    assert "What attackers reach" in out
    assert err.count("Written") == 2
    assert "not a release" in page.read_text()
    code, out, _ = run(
        capsys, "risk", "report", patients, "--seconds", 0.5, "--register", voters, "--population", 400, "--json"
    )
    found = json.loads(out)
    assert (code, found["report"], found["proposal"]["after"]["k"] >= 5) == (0, "risk", True)
    assert found["presence"]["people"] == 200
    code, out, _ = run(capsys, "risk", "measure", coarse, "--quasi", "age,zip,sex", "--json")
    assert json.loads(out)["before"]["k"] >= 5


def test_a_report_that_cannot_be_written_is_refused_before_the_search(files, tmp_path, capsys):
    patients, _ = files
    for option in ("--html", "--out"):
        code, _, err = run(capsys, "risk", "report", patients, option, tmp_path / "none" / "x.html")
        assert (code, option in err) == (2, True)
    assert run(capsys, "risk", "report", tmp_path / "none.csv")[0] == 2
    assert run(capsys, "risk", "report", patients, "--person", "shoe")[0] == 2
