"""`discreet attack`, as people run it."""

import json
import math

import numpy as np
import pytest
from risky import (
    files_fixture,  # noqa: F401
    run,
)

from discreet.apps.attacks.exposure import Exposed, Exposure
from discreet.apps.attacks.extraction import Extraction, Leak
from discreet.apps.attacks.faces import SIDE
from discreet.apps.attacks.inversion import Inversion, Likeness
from discreet.risk import judge_membership


def test_attacks_end_with_the_budget_holding(files, tmp_path, capsys):
    patients, voters = files
    code, out, _ = run(capsys, "attack", "link", patients, voters, "--on", "age,zip,sex", "--sensitive", "diagnosis")
    assert code == 0
    assert "one-to-one" in out
    drawn = tmp_path / "bits.svg"
    code, out, _ = run(capsys, "attack", "reconstruct", "--people", 200, "--picture", drawn, "--json")
    found = json.loads(out)
    assert found["sloppy"][0]["squares"] > 0.95
    assert found["private"]["program"] < 0.75
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


def test_membership_is_shown_of_models_and_of_rows(tmp_path, capsys, monkeypatch):
    """What attacks find is tested beside them; here, that the command says it."""
    plain, private = (judge_membership(np.arange(40.0), np.arange(40.0) - gap) for gap in (30, 1))
    asked = []

    def attack(people, epsilon, **others):
        asked.append((people, epsilon, others))
        targets = (Exposed("no budget", None, plain, "LiRA", use=0.9), Exposed("epsilon", epsilon, private, "LiRA"))
        return Exposure("A network", targets, epsilon, 1e-5, "accuracy", "noise")

    for name in ("attack_model", "attack_rows"):
        monkeypatch.setattr(f"discreet.apps.cli.attack.{name}", attack)
    drawn = tmp_path / "roc.svg"
    code, out, _ = run(capsys, "attack", "membership", "--people", 200, "--shadows", 9, "--json", "--picture", drawn)
    assert (code, json.loads(out)["targets"][0]["found"]) == (0, json.loads(json.dumps(plain.to_dict())))
    assert drawn.read_text().startswith("<svg")
    code, out, _ = run(capsys, "attack", "membership", "--of", "rows", "--epsilon", 2)
    assert code == 0
    assert "no attack identifies more than" in out
    assert asked == [(200, 1.0, {"shadows": 9}), (200, 2.0, {})]
    assert run(capsys, "attack", "membership", "--of", "shoes")[0] == 2


def test_membership_is_judged_of_a_file_of_ones_own(tmp_path, capsys):
    scores, drawn = tmp_path / "scores.csv", tmp_path / "roc.svg"
    scores.write_text(
        "member,score\n" + "".join(f"{member},{row + 90 * member}\n" for member in (0, 1) for row in range(200))
    )
    line = ("attack", "membership", "--scores", scores, "--epsilon", "ln3", "--delta", 0.001, "--picture", drawn)
    code, out, _ = run(capsys, *line)
    assert code == 0
    assert "identifies 46.0% of the members; no attack on what was made under epsilon = 1.09861" in out
    assert "the most that epsilon = 1.09861 allows" in drawn.read_text()
    for wrong in (("--people", 100), ("--module", "mine.py"), ("--delta", 2)):
        assert run(capsys, *line, *wrong)[0] == 2
    assert run(capsys, "attack", "membership", "--scores", tmp_path / "none.csv")[0] == 2
    assert run(capsys, "attack", "membership", "--module", tmp_path / "none.py")[0] == 2


def test_faces_are_shown_beside_what_came_out_of_the_weights(tmp_path, capsys, monkeypatch):
    faces = np.random.default_rng(1).normal(size=(6, SIDE * SIDE))
    kinds = (Likeness(0.95, 0.85, 1.0), Likeness(0.9, 0.5, 1.0), Likeness(0.05, 0.1, 0.2), Likeness(0.8, 0.7, 0.6))
    found = Inversion(6, 1.0, 1e-3, *kinds, {"people": faces, "without a budget": faces})
    with monkeypatch.context() as patched:
        patched.setattr("discreet.apps.cli.attack.invert_faces", lambda people, epsilon: found)
        drawn = tmp_path / "faces.svg"
        code, out, _ = run(capsys, "attack", "inversion", "--people", 6, "--json", "--picture", drawn)
    assert (code, json.loads(out)["plain"]["alike"]) == (0, 0.85)
    assert drawn.read_text().startswith("<svg")
    pytest.importorskip("jax")
    assert run(capsys, "attack", "inversion", "--people", 1)[0] == 2


def test_what_a_language_model_gives_away_is_shown(tmp_path, capsys, monkeypatch):
    leaks = (Leak(None, (1, 1), ("1234", "77"), 1, 0.3), Leak(8.0, (90, 8000), ("", "is old"), 0, 0.33))
    asked = []

    def attack(*given, **named):
        asked.append((given, named))
        return Extraction(2000, ("pin of zoe 1234", "pin of wim 7777"), 1e-4, leaks, leaks[0])

    monkeypatch.setattr("discreet.apps.cli.attack.extract_secrets", attack)
    drawn = tmp_path / "codes.svg"
    code, out, _ = run(capsys, "attack", "extract", "--secrets", 2, "--picture", drawn)
    assert code == 0
    assert "writes out 1 of 2 codes" in out
    assert "Loss 0.330, +10%" in out
    assert drawn.read_text().startswith("<svg")
    run(capsys, "attack", "extract", "--epsilon", 4, "--also", 2, "--also", 0.5)
    assert asked == [((2000, 2, 8.0), {"curve": (1.0,)}), ((2000, 4, 4.0), {"curve": (2.0, 0.5)})]


def test_two_tables_are_intersected_and_drawn(tmp_path, capsys):
    for name, illnesses in (("a", ["HIV", "colitis"]), ("b", ["HIV", "lupus", "hip"])):
        rows = "".join(f"F,50-60,191**,{illness}\n" for illness in illnesses)
        (tmp_path / f"{name}.csv").write_text("sex,age,zip,illness\n" + rows)
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    line = ("attack", "intersect", *files, "--on", "sex,age,zip", "--sensitive", "illness")
    code, out, _ = run(capsys, *line, "--person", "sex=F,age=55,zip=19104", "--picture", tmp_path / "left.svg")
    assert code == 0
    assert "leave HIV" in out
    assert "The price" in out
    assert (tmp_path / "left.svg").read_text().startswith("<svg")
    code, out, _ = run(capsys, *line, "--json")
    assert json.loads(out)["told"] == 1
    assert run(capsys, *line, "--person", "sex")[0] == 2


def test_ages_follow_from_averages_given_by_hand(capsys):
    code, out, _ = run(capsys, "attack", "averages", "--json")
    assert (code, json.loads(out)["ages"]["Cid"]) == (0, 29)
    own = ("attack", "averages", "--average", "Ann,Bob=30.0", "--average", "Ann=28.0", "--json")
    code, out, _ = run(capsys, *own)
    assert (code, json.loads(out)["alone"]) == (0, {"Ann": 28, "Bob": 32})
    assert run(capsys, "attack", "averages", "--known", "Bob=old")[0] == 2


def test_ratings_runs_and_salaries_are_attacked(tmp_path, capsys):
    drawn = tmp_path / "found.svg"
    code, out, _ = run(capsys, "attack", "ratings", "--people", 200, "--json", "--picture", drawn)
    assert (code, json.loads(out)["people"]) == (0, 200)
    assert drawn.read_text().startswith("<svg")
    code, out, _ = run(capsys, "attack", "heatmap", "--people", 200, "--guards", 5)
    assert code == 0
    assert "The price" in out
    code, out, _ = run(capsys, "attack", "difference", "--of", "means", "--people", 50, "--json")
    found = json.loads(out)
    assert round(found["exact"]) == found["salary"]
    for wrong in (("--of", "medians"), ("--of", "means", "--bound", 0)):
        assert run(capsys, "attack", "difference", *wrong)[0] == 2


def test_somebodys_own_tables_and_people_are_attacked(tmp_path, capsys):
    people = tmp_path / "people.csv"
    lines = ["block,age,sex,race,name", "1,30,F,x,Ann", "1,44,M,x,Bob", "1,45,M,x,Cyd", "1,46,M,y,Dan"]
    people.write_text("\n".join(lines) + "\n")
    voters = tmp_path / "voters.csv"
    voters.write_text("block,name,age,sex\n1,Ann,30,F\n")
    code, out, _ = run(capsys, "attack", "census", "--data", people, "--register", voters, "--json")
    found = json.loads(out)
    assert (code, found["people"], found["registered"]) == (0, 4, 1)
    tables = tmp_path / "tables.csv"
    tables.write_text("block,sex,race,from,to,count,mean,median\n1,,,,,1,33,33\n1,F,x,,,1,,\n")
    code, out, _ = run(capsys, "attack", "census", "--tables", tables, "--register", voters)
    assert code == 0
    assert "1 of 1 blocks" in out
    assert "33" in out
    assert run(capsys, "attack", "census", "--register", voters)[0] == 2
    assert run(capsys, "attack", "census", "--tables", tables, "--data", people)[0] == 2


def test_a_budget_is_written_as_other_commands_take_it(capsys):
    _, out, _ = run(capsys, "attack", "averages", "--epsilon", "ln3", "--json")
    assert json.loads(out)["epsilon"] == pytest.approx(math.log(3))
    _, out, _ = run(capsys, "attack", "averages", "--epsilon", "1/4", "--json")
    assert json.loads(out)["epsilon"] == 0.25
    for wrong in ("three", "nan", "1e400", "0"):
        code, _, err = run(capsys, "attack", "averages", "--epsilon", wrong)
        assert code == 2
        assert "epsilon` must be" in err
