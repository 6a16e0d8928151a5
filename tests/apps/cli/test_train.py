"""`discreet train` as a person uses it."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from shell import run

from discreet.apps.cli import train
from discreet.apps.cli.train import progress_line, read_rows
from discreet.ledger.ledger import Ledger

pytest.importorskip("jax")

TOML = """
[dataset]
name = "people"
[columns]
age = { type = "integer", lower = 0, upper = 100 }
sex = { type = "category", values = ["f", "m"], nullable = true }
hours = { type = "integer", lower = 0, upper = 80 }
works = { type = "boolean" }
[budget]
epsilon = 5
delta = 2e-6
[budget.allotments.questions]
kind = "zcdp"
epsilon = 1
delta = 1e-6
[budget.allotments.models]
kind = "plan"
epsilon = 4
delta = 1e-6
"""
ASKED = ["people.csv", "--target", "works", "--examples", "2000", "--lot", "500", "--steps", "20"]
FIXED = [*ASKED, "--multiplier", "4", "--rate", "4"]


@pytest.fixture
def folder(tmp_path):
    chance = np.random.default_rng(2)
    rows = [["age", "sex", "hours", "works"]]
    for age in chance.integers(0, 100, 2000):
        works = 18 <= age < 66
        rows.append([str(age), chance.choice(["f", "m", ""]), str(int(works) * 35), str(works).lower()])
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    (tmp_path / "discreet.toml").write_text(TOML)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    return tmp_path


def test_plan_run_show_card_predict(folder):
    text = run("train", "plan", *ASKED, "--epsilon", "2", cwd=folder).stdout
    for word in ("model of 'works'", "5 inputs from 3 columns", "20 steps", "refunds nothing", "privacy loss distrib"):
        assert word in text
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []

    paid = [*FIXED, "--id", "m", "--yes", "--report-loss", "2", "--checkpoint", "run.ckpt"]
    made = json.loads(run("train", "run", *paid, "--out", "model.npz", "--json", cwd=folder).stdout)
    assert made["weights"] == 12
    assert len(made["losses"]) == 20
    assert made["card"]["steps"] == 20
    assert not (folder / "run.ckpt").exists()
    assert sorted(np.load(folder / "model.npz")) == ["0/b", "0/w"]
    assert "Model card" in (folder / "model.md").read_text()
    assert json.loads((folder / "model.json").read_text()) == made["card"]

    shown = run("train", "show", "m", "--out", "again.npz", cwd=folder).stdout
    assert "Release m" in shown
    assert np.array_equal(np.load(folder / "again.npz")["0/w"], np.load(folder / "model.npz")["0/w"])
    assert "| steps (T) | 20 |" in run("train", "card", "m", cwd=folder).stdout
    run("train", "predict", "m", "people.csv", "--out", "told.csv", cwd=folder)
    told = list(csv.DictReader((folder / "told.csv").read_text().splitlines()))
    truth = list(csv.DictReader((folder / "people.csv").read_text().splitlines()))
    right = np.mean([a["works"].lower() == b["works"] for a, b in zip(told, truth, strict=True)])
    assert right > 0.8
    assert len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) == 1


def test_the_card_has_accuracy_by_group_of_public_rows_and_of_private_ones_for_a_price(folder):
    run("train", "run", *FIXED, "--id", "m", "--yes", cwd=folder)
    by = ["train", "card", "m", "--group", "sex"]
    public = json.loads(run(*by, "--public", "people.csv", "--json", cwd=folder).stdout)["accuracy_by_group"]
    right = {one["group"]: one["accuracy"] for one in public}
    assert {"f", "m"} <= set(right)
    assert min(right["f"], right["m"]) > 0.8  # a file calls the class true, the model True

    def spent():
        return len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) - 1

    private = [*by, "--private", "people.csv", "--dataset", "people", "--allotment", "questions", "--rho", "0.02"]
    assert "--groups" in run(*private, "--yes", cwd=folder, code=2).stderr
    asked = run(*private, "--groups", "f,m", cwd=folder, code=2).stderr
    assert "Right and wrong answers of 'm' by sex, 2 groups" in asked
    assert "Nothing was spent" in asked
    assert "left out" in run(*private, "--public", "people.csv", cwd=folder, code=2).stderr
    assert spent() == 0
    paid = [*private, "--groups", "f,m", "--id", "by-sex", "--yes"]
    found = json.loads(run(*paid, "--json", cwd=folder).stdout)["accuracy_by_group"]
    assert [one["group"] for one in found] == ["f", "m"]
    assert all(abs(one["accuracy"] - right[one["group"]]) < 0.1 for one in found)
    assert "private rows, paid: rho = 0.02" in run(*paid, cwd=folder).stdout  # the same id again: free
    assert spent() == 1


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([*FIXED, "--out", "model.bin"], 2, "ends in .npz"),
        ([*FIXED, "--checkpoint", "run"], 2, "given with --checkpoint"),
        ([*FIXED, "--allotment", "questions", "--yes"], 2, "kind = 'plan'"),
        ([*ASKED, "--multiplier", "0.4", "--yes"], 3, "Nothing was spent"),
        (["people.csv", "--target", "works", "--epsilon", "1", "--yes"], 2, "the true number of rows is private"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_spent(folder, words, code, told):
    assert told.lower() in run("train", "run", *words, cwd=folder, code=code).stderr.lower()


MINE = """
import jax.numpy as jnp
import optax
from discreet.learn import Model

def apply(params, x):
    return x @ params["w"] + params["b"]

net = Model(apply, lambda inputs, outputs: {"w": jnp.zeros((inputs, outputs)), "b": jnp.zeros(outputs)}, name="mine")
pace = optax.sgd(optax.cosine_decay_schedule(4.0, 20))
"""


def test_a_model_of_ones_own_is_trained_by_its_name(folder):
    (folder / "mine.py").write_text(MINE)
    own = ["--model", "mine:net", "--optimizer", "mine:pace"]
    paid = [*ASKED, "--multiplier", "4", *own, "--id", "own", "--yes", "--out", "own.safetensors"]
    run("train", "release", *paid, cwd=folder)
    content = (folder / "own.safetensors").read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert header["w"]["shape"] == [5, 2]
    assert header["__metadata__"]["release"] == "own"
    assert "mine" in (folder / "own.md").read_text()
    refused = run("train", "predict", "own", "people.csv", cwd=folder, code=2).stderr
    assert "--model" in refused
    run("train", "predict", "own", "people.csv", "--model", "mine:net", "--out", "told.csv", cwd=folder)
    assert len((folder / "told.csv").read_text().splitlines()) == 2001
    said = run("train", "release", *FIXED, "--model", "mine:nothing", "--yes", cwd=folder, code=2).stderr
    assert "--model" in said
    assert "has no attribute" in said


@pytest.mark.parametrize("cell", [b"\xff\xfe", b"\xe2", b"x" * 200_000, b"\x00"], ids=["bytes", "half", "long", "nul"])
def test_no_cell_of_private_rows_makes_reading_them_fail(tmp_path, cell):
    """They are read before anything is charged: a row that stopped it would be told for free."""
    path = tmp_path / "held.csv"
    path.write_bytes(b"area,rich\nn,yes\n" + cell + b",no\ns,yes\n")
    usual = csv.field_size_limit()
    rows = read_rows(path)
    assert csv.field_size_limit() == usual  # which others count on
    assert rows["rich"] == ["yes", "no", "yes"]
    assert [rows["area"][place] for place in (0, 2)] == ["n", "s"]


def test_a_limit_of_cells_would_tell_a_row_before_the_charge(tmp_path, monkeypatch):
    path = tmp_path / "held.csv"
    path.write_bytes(b"area,rich\n" + b"x" * 200_000 + b",no\n")
    monkeypatch.setattr(train, "_ANY", csv.field_size_limit())  # the planted bug
    with pytest.raises(csv.Error):
        read_rows(path)


def test_progress_says_what_is_public():
    assert progress_line("training: step 1 of 9", 0.5, 0, 0, 0.1).endswith("epsilon so far at most 0.5")
    assert progress_line("training: step 1 of 9", 0.81241, 0, 0, 0.1).endswith("at most 0.8125")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--rows", "abc"], "`--rows` must be a whole number; got 'abc'."),
        (["--rows=1.5"], "`--rows` must be a whole number; got '1.5'."),
        (["--warmup", "21"], "`--warmup` must be at most the 20 steps of the run; got 21."),
    ],
)
def test_what_is_wrong_with_a_number_is_said_in_words(folder, words, says):
    found = run("train", "plan", *FIXED, *words, cwd=folder, code=2)
    assert says in found.stderr
    assert "Traceback" not in found.stderr


def test_notes_name_options_as_they_are_typed(folder):
    text = run("train", "plan", *FIXED, "--noise", "device", cwd=folder).stdout
    assert "--report-loss ... shows" in text
    assert "--noise exact needs none" in text
    assert "report_loss=" not in text
