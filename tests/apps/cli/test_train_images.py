"""`discreet train images` and `train baseline` as a person uses them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from shell import run

from discreet.ledger.ledger import Ledger

pytest.importorskip("jax")

TOML = """
[dataset]
name = "shapes"
[columns]
label = { type = "category", values = ["dark", "light"] }
size = { type = "integer", lower = 0, upper = 9 }
[budget]
epsilon = 8
delta = 1e-4
[budget.allotments.models]
kind = "plan"
epsilon = 8
delta = 1e-4
"""
PRICE = ["--examples", "400", "--lot", "200", "--epochs", "2", "--epsilon", "4", "--delta", "1e-5"]
ASKED = ["shapes", "--target", "label", "--net", "logistic", *PRICE]


@pytest.fixture
def folder(tmp_path):
    chance = np.random.default_rng(2)
    for name, many in (("shapes", 400), ("public", 60)):
        labels = chance.integers(0, 2, many)
        pixels = chance.integers(0, 100, (many, 8, 8)) + 100 * labels[:, None, None]
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "images.npy", pixels.astype(np.uint8))
        np.save(tmp_path / name / "labels.npy", labels)
    (tmp_path / "discreet.toml").write_text(TOML)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    return tmp_path


def test_images_are_trained_on_under_the_budget_with_a_curve(folder):
    run("ledger", "open", "--yes", cwd=folder)
    more = ["--test", "public", "--plot", "curve.svg", "--out", "weights.npz", "--id", "m", "--yes"]
    text = run("train", "images", *ASKED, *more, cwd=folder).stdout
    assert "epoch 1: " in text
    assert "epoch 2: " in text
    assert text.index("% of the public images, epsilon 2.") < text.index("% of the public images, epsilon 4")
    assert "epsilon at delta" in (folder / "curve.svg").read_text()
    assert (folder / "weights.npz").exists()
    charges = json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]
    assert len(charges) == 1
    again = run("train", "images", *ASKED, *more, cwd=folder).stdout
    assert "not trained again" in again
    assert len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) == 1


def test_what_is_wrong_is_said_before_anything_is_spent(folder):
    run("ledger", "open", "--yes", cwd=folder)
    for more, words in (
        (["--plot", "curve.svg"], "given with --test"),
        (["--net", "clasic"], "Did you mean `classic`"),
        (["--target", "size"], "a category, whose values are the classes"),
        (["--test", "nowhere"], "a folder of images"),
        (["--test", "./shapes"], "apart from those that are trained on"),
        (["--test", "shapes/dark"], "apart from those that are trained on"),
        ([], "Add --yes"),
    ):
        failed = run("train", "images", *ASKED, *more, cwd=folder, code=2)
        assert words in failed.stderr.replace("\n", " ")
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []


def test_a_baseline_is_for_public_images_and_says_that_it_is_not_private(folder):
    plain = ["train", "baseline", "shapes", "--classes", "dark,light", "--net", "logistic", "--epochs", "2"]
    assert "--public" in run(*plain, "--yes", cwd=folder, code=2).stderr
    assert "protects nobody" in run(*plain, "--public", "yes", "--yes", cwd=folder, code=2).stderr
    asked = [*plain, "--public", "shapes that  were drawn"]
    assert "Add --yes" in run(*asked, cwd=folder, code=2).stderr
    text = run(*asked, "--test", "public", "--out", "w.safetensors", "--plot", "curve.svg", "--yes", cwd=folder).stdout
    assert "NOT PRIVATE" in text
    assert "said to be public: shapes that were drawn" in text
    assert "epsilon" not in text.replace("epsilon by epoch", "")
    weights = (folder / "w.safetensors").read_bytes()
    assert b"NOT PRIVATE" in weights
    assert b'"public":"shapes that were drawn"' in weights.replace(b": ", b":")
    assert "not private: shapes that were drawn" in (folder / "curve.svg").read_text()
    found = json.loads(run(*asked, "--test", "public", "--json", "--yes", cwd=folder).stdout)
    assert (found["private"], found["public"]) == (False, "shapes that were drawn")
    assert found["said_by"]
    assert found["curve"][-1]["accuracy"] > 0.9
