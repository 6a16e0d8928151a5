"""`discreet attack`, as people run it."""

import json

import pytest
from risky import (
    files_fixture,  # noqa: F401
    run,
)


def test_attacks_end_with_the_budget_holding(files, tmp_path, capsys):
    patients, voters = files
    code, out, _ = run(capsys, "attack", "link", patients, voters, "--on", "age,zip,sex", "--sensitive", "diagnosis")
    assert code == 0
    assert "one-to-one" in out
    drawn = tmp_path / "bits.svg"
    code, out, _ = run(capsys, "attack", "reconstruct", "--people", 200, "--picture", drawn, "--json")
    found = json.loads(out)
    assert found[0]["right"] > 0.95
    assert found[-1]["right"] < 0.7
    assert drawn.read_text().startswith("<svg")
    code, out, _ = run(capsys, "attack", "difference", "--people", 2000, "--epsilon", 0.1, "--json")
    assert json.loads(out)["right_exact"] == 1
    assert json.loads(out)["right_noisy"] < 0.6
    code, out, _ = run(capsys, "attack", "census", "--blocks", 3, "--people", 6, "--json")
    found = json.loads(out)
    assert (found["blocks"], found["people"]) == (3, 18)
    # Of so few people no comparison of the two is beyond chance: eleven or so, give or take four, against one.
    assert 0 <= found["unique"] <= 3
    assert 0 <= found["right"] <= 18
    assert found["right_noisy"] < 18


def test_models_and_rows_give_members_away_without_a_budget_only(tmp_path, capsys):
    pytest.importorskip("jax")
    code, out, _ = run(capsys, "attack", "membership", "--people", 200, "--json", "--picture", tmp_path / "roc.svg")
    found = json.loads(out)
    assert found["plain"]["advantage"] > 0.3
    assert found["private"]["area"] < found["plain"]["area"]
    code, out, _ = run(capsys, "attack", "membership", "--of", "rows", "--people", 200)
    assert code == 0
    assert "No attack has an advantage" in out
    assert run(capsys, "attack", "membership", "--of", "shoes")[0] == 2


def test_faces_come_out_of_the_weights_without_a_budget_only(tmp_path, capsys):
    pytest.importorskip("jax")
    drawn = tmp_path / "faces.svg"
    code, out, _ = run(capsys, "attack", "inversion", "--people", 6, "--json", "--picture", drawn)
    found = json.loads(out)
    assert code == 0
    assert found["like_plain"] > 0.5  # 0.85, give or take 0.04: eight deviations
    assert found["like_private"] < 0.4
    assert drawn.read_text().startswith("<svg")
    assert run(capsys, "attack", "inversion", "--people", 1)[0] == 2
