"""`discreet train release --test`: a curve of public rows, at the price of the model alone."""

import json
import shutil

import pytest
from shell import run

from discreet.ledger.ledger import Ledger

pytest.importorskip("jax")

TOML = """
[dataset]
name = "people"
[columns]
age = { type = "integer", lower = 0, upper = 100 }
hours = { type = "integer", lower = 0, upper = 80 }
works = { type = "boolean" }
[budget]
epsilon = 4
delta = 1e-6
[budget.allotments.models]
kind = "plan"
epsilon = 4
delta = 1e-6
"""
ASKED = ["people.csv", "--target", "works", "--examples", "2000", "--lot", "500", "--steps", "20"]
PAID = ["train", "release", *ASKED, "--multiplier", "4", "--rate", "4", "--yes"]


@pytest.fixture
def folder(tmp_path):
    rows = [f"{age % 100},{35 * (18 <= age % 100 < 66)},{str(18 <= age % 100 < 66).lower()}" for age in range(2000)]
    (tmp_path / "people.csv").write_text("\n".join(["age,hours,works", *rows]) + "\n")
    (tmp_path / "discreet.toml").write_text(TOML)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    return tmp_path


def charges(at):
    return json.loads(run("ledger", "show", "--json", cwd=at).stdout)["charges"]


def test_accuracy_and_epsilon_are_told_and_drawn_by_epoch(folder):
    shutil.copy(folder / "people.csv", folder / "public.csv")  # a copy cannot be told: these rows are invented anyway
    curve = ["--test", "public.csv", "--plot", "curve.svg"]
    made = json.loads(run(*PAID, "--id", "m", *curve, "--json", cwd=folder).stdout)
    points = made["curve"]
    assert [point["step"] for point in points] == [4, 8, 12, 16, 20]
    spent = [point["epsilon"] for point in points]
    assert spent == sorted(spent)
    assert "epsilon at delta" in (folder / "curve.svg").read_text()
    told = run("train", "predict", "m", "public.csv", "--json", cwd=folder).stdout
    truth = [line.rsplit(",", 1)[1] for line in (folder / "public.csv").read_text().splitlines()[1:]]
    right = sum(str(one).lower() == other for one, other in zip(json.loads(told)["works"], truth, strict=True))
    assert points[-1]["accuracy"] == pytest.approx(right / len(truth))
    assert len(charges(folder)) == 1

    (folder / "curve.svg").unlink()
    again = run(*PAID, "--id", "m", *curve, cwd=folder).stdout
    assert "was not trained again" in again
    assert not (folder / "curve.svg").exists()
    assert len(charges(folder)) == 1


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--test", "people.csv"], "--test"),  # what it is trained on
        (["--test", "./people.csv"], "--test"),
        (["--test", "nothing.csv"], "--test"),
        (["--test", "other.csv"], "--test"),
        (["--plot", "curve.svg"], "--plot"),
        (["--test", "other.csv", "--plot", "curve.gif"], "--plot"),
    ],
)
def test_a_curve_that_could_not_be_is_refused_before_anything_is_spent(folder, words, field):
    (folder / "other.csv").write_text("height\n180\n")
    assert field in run(*PAID, *words, cwd=folder, code=2).stderr
    assert charges(folder) == []


def test_a_model_that_was_asked_for_without_one_has_no_curve(folder):
    assert "curve" not in json.loads(run(*PAID, "--id", "m", "--json", cwd=folder).stdout)
    assert "--test" not in run("train", "show", "--help").stdout
