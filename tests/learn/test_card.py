"""Model cards say what there is to know, exactly."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import json
from fractions import Fraction

import numpy as np
from train_people import FIXED

from discreet.audit import OneRun
from discreet.core.exact import as_written
from discreet.errors import InputError
from discreet.learn.attack_risk import AttackRisk
from discreet.learn.card import Card
from discreet.learn.recipe import Recipe


def test_a_card_says_what_there_is_to_know(curator, tmp_path):
    model = curator.train(target="rich", examples=400, **FIXED, report_loss=3).plan().release(release="carded")
    assert len(model.losses) == 6
    card = model.card()
    entry = json.loads(card.to_json())
    assert entry["steps"] == 6
    assert entry["noise_multiplier"] == "3"
    assert entry["sampling"] == "Poisson"
    assert entry["audit"] is None
    assert float(entry["epsilon"]) >= float(model.epsilon)
    assert "dp-accounting" in entry["accountant"]
    text = card.with_audit({"epsilon at least": 0.1}).with_tuning("3 runs, all charged").to_markdown()
    assert "epsilon at least: 0.1" in text
    assert "3 runs, all charged" in text
    assert "| protects | one row, added or removed |" in text
    assert "Noise is exact" in text
    assert "1e-40 for the law of the noise" in text
    shown, whole = card._repr_html_(), model._repr_html_()
    assert "<dt>protects</dt><dd>one row, added or removed</dd>" in shown
    assert "<li>The charge is for the whole plan." in shown
    assert "Noisy loss by step" in whole
    assert "<dt>protects</dt>" in whole
    assert repr(model).startswith("[model 'logistic' of 'rich'")
    with pytest.raises(InputError, match="plain values"):
        card.with_audit({"x": object()})
    place = model.save(tmp_path / "model.npz")
    assert json.loads(place.with_suffix(".json").read_text())["release"] == "carded"
    assert sorted(np.load(place)) == ["0/b", "0/w"]
    with pytest.raises(InputError, match="npz"):
        model.save(tmp_path / "model.bin")


def test_a_delta_on_a_card_is_as_written():
    recipe = Recipe(examples=50, lot=20, steps=1, bound=1, multiplier=4)
    assert Card.of_recipe(recipe, "1/1000000", name="m", dataset="d").delta == "1e-6"
    assert Card.of_recipe(recipe, Fraction(10**9 + 1, 10**15), name="m", dataset="d").delta == "1.0001e-6"


def test_a_card_says_what_an_attack_could_gain_and_what_canaries_showed():
    own = Recipe(examples=1000, lot=100, steps=50, bound=1, multiplier=1, noise="exact")
    card = Card.of_recipe(own, "1e-6", name="m", dataset="d")
    assert "attack risk | whoever guesses at 50:50" in card.to_markdown()
    claim = AttackRisk.of(as_written(card.epsilon, "epsilon"), Fraction("1e-6"))
    assert card.attack_risk.advantage < claim.advantage  # the loss of the run says more than its epsilon
    assert card.to_dict()["attack_risk"] == card.attack_risk.to_dict()
    # Where more was paid for than this run, only the claim is about all of it.
    assert card.with_tuning("2 runs, all charged").attack_risk == claim
    audited = card.with_canaries(OneRun(canaries=1000, guesses=200, correct=180))
    assert audited.audit == {"canaries": 1000, "guesses": 200, "right": 180, "epsilon at least": 1.79}
    assert "No audit was made" not in " ".join(audited.limits)
    assert "0.1% false alarms" in card.to_markdown()


def test_names_on_a_card_are_text_and_no_markup():
    recipe = Recipe(examples=50, lot=20, steps=1, bound=1, multiplier=4)
    told = {"name": "<script>x</script>", "target": "a\n\n| protects | everyone |"}
    text = Card.of_recipe(recipe, "1/1000000", dataset="d", **told).to_markdown()
    assert "<script>" not in text.replace("\\<", "")
    assert "\n| protects | everyone |" not in text
