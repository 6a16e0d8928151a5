"""`discreet risk`, as people run it."""

import json

from risky import (
    files_fixture,  # noqa: F401
    run,
)


def test_risk_measures_coarsens_links_and_writes(files, tmp_path, capsys):
    patients, voters = files
    ask = ("risk", patients, "--quasi", "age,zip,sex", "--sensitive", "diagnosis")
    code, out, _ = run(capsys, *ask)
    assert code == 0
    assert "look like nobody else" in out
    assert "does not promise" in out
    safe = tmp_path / "safe.csv"
    code, out, err = run(capsys, *ask, "--k", 4, "--out", safe, "--register", voters, "--redact", 0.05)
    assert code == 0
    assert "Written" in err
    assert "0 of 200 people" in out
    code, out, _ = run(capsys, "risk", safe, "--quasi", "age,zip,sex", "--json")
    assert json.loads(out)["before"]["k"] >= 4


def test_wrong_words_are_named(files, capsys):
    patients, _ = files
    assert run(capsys, "risk", patients, "--quasi", "shoe")[0] == 2
    code, _, err = run(capsys, "risk", patients, "--quasi", "age", "--out", "x.csv")
    assert (code, "--k" in err) == (2, True)
    assert run(capsys, "attack", "difference", "--people", 1)[0] == 2
    assert run(capsys, "attack", "reconstruct", "--people", 50, "--picture", "x.gif")[0] == 2
