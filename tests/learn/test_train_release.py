"""A model from plan to release: what it charges and refuses, its digest and its card."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("jax")


from train_people import FIXED, charges, table

from discreet.core.plan import Plan
from discreet.errors import BudgetError, InputError
from discreet.learn.card import Card
from discreet.learn.encoding import STEPS
from discreet.learn.model import Model, model_named
from discreet.learn.recipe import Recipe


def test_a_plan_is_calibrated_to_its_price_and_charged_once(curator):
    offer = curator.train(target="rich", examples=400, lot=200, steps=2).plan(epsilon=2)
    assert isinstance(offer.plan, Plan)
    assert offer.plan.delta == Fraction(1, 10**6)  # half of the allotment's, like epsilon
    assert Fraction(19, 10) < offer.plan.charge.amount <= 2
    assert charges(curator.ledger) == 0
    model = offer.release(release="first")
    assert curator.ledger.remaining("people", "models").amount == 4 - offer.plan.charge.amount
    with pytest.warns(UserWarning, match="may describe earlier data"):
        again = offer.release(release="first")
    assert [len(each.notes) for each in (model, again)] == [0, 1]
    assert all(np.array_equal(a, b) for a, b in zip(model.weights, again.weights, strict=True))
    assert charges(curator.ledger) == 1
    stored = curator.release("first")
    assert stored.predict(table(20)) == model.predict(table(20))
    assert set(stored.predict(table(20))) <= {"no", "yes"}
    with pytest.raises(InputError, match="left out: there is none"):
        curator.release("first", "weights")
    with pytest.raises(InputError, match="stored release"):
        curator.release("second")


def test_over_budget_nothing_is_read_or_spent(curator):
    offer = curator.train(target="rich", examples=400, **FIXED | {"multiplier": "1/2"}).plan()
    assert offer.plan.charge.amount > 4
    assert "would be refused" in str(offer)
    with pytest.raises(BudgetError, match="Nothing was spent"):
        offer.release()
    assert charges(curator.ledger) == 0


def test_a_count_is_bought_where_none_is_declared(curator):
    offer = curator.train("mlp", target="pay", hidden=[4], probability="1/4", steps=3, multiplier=4).plan()
    assert offer.plan.count == Fraction(1, 50)
    assert "number of examples is counted" in str(offer)
    assert (
        offer.plan.charge.amount
        > curator.train(target="pay", examples=400, probability="1/4", steps=3, multiplier=4).plan().plan.charge.amount
    )
    model = offer.release()
    assert model.recipe.probability == Fraction(1, 4)
    assert model.counted
    assert all(0 <= value <= 100_000 for value in model.predict(table(10)))


def test_a_model_of_ones_own_is_used_with_its_function(curator):
    def lines(params, x):
        return x @ params["w"]

    mine = Model(lines, {"w": np.zeros((8, 2), np.float32)}, name="mine")
    model = curator.train(mine, target="rich", examples=400, **FIXED).plan().release(release="own")
    assert model.params["w"].shape == (8, 2)
    stored = curator.release("own")
    with pytest.raises(InputError, match="using"):
        stored.predict(table(3))
    assert stored.using(mine).predict(table(9)) == model.predict(table(9))


def test_the_digest_follows_what_is_computed(curator):
    def plan(**more):
        return curator.train(target="rich", examples=400, **FIXED | more).plan().plan.digest

    def twice(params, x):
        return 2 * (x @ params)

    def once(params, x):
        return x @ params

    digests = {plan(), plan(rate=0.5), plan(noise="device"), plan(where="age > 3"), plan(features=["age"])}
    assert len(digests) == 5
    assert plan() in digests
    zeros = np.zeros((8, 2), np.float32)
    own = [
        curator.train(Model(apply, zeros), target="rich", examples=400, **FIXED).plan().plan.digest
        for apply in (once, twice)
    ]
    assert own[0] != own[1]


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
    with pytest.raises(InputError, match="plain values"):
        card.with_audit({"x": object()})
    place = model.save(tmp_path / "model.npz")
    assert json.loads(place.with_suffix(".json").read_text())["release"] == "carded"
    assert sorted(np.load(place)) == ["0/b", "0/w"]
    with pytest.raises(InputError, match="npz"):
        model.save(tmp_path / "model.bin")


def test_a_search_is_charged_whole_and_keeps_one(curator):
    question = curator.train(target="rich", examples=400, lot=200, steps=2)
    offer = question.search([{"rate": 0.1}, {"rate": 2.0, "steps": 3}], epsilon=3)
    assert isinstance(offer.plan, Plan)
    assert Fraction(28, 10) < offer.plan.charge.amount <= 3
    assert offer.plan.search.choice == Fraction(3, 10)
    assert "2 runs, all charged" in str(offer)
    model = offer.release(release="best")
    assert charges(curator.ledger) == 1
    assert model.recipe.rate in (0.1, 2.0)
    assert "2 runs, all charged" in curator.release("best").card().tuning


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"settings": [{"rate": 1}]}, "at least two"),
        ({"settings": [{"rate": 1}, {"multiplier": 1}]}, "changes to the recipe"),
        ({"settings": [{"rate": 1}, {"pace": 1}]}, "settings of a Recipe"),
        ({"settings": [{"rate": 1}, {"rate": -1}]}, "more than zero"),
        ({"held_out": 1}, "less than 1"),
        ({"choice": 0}, "private too"),
        ({"choice": 2}, "of the choice"),
        ({"epsilon": 0}, "more than zero"),
        ({"delta": 1}, "less than 1"),
        ({"delta": "1e-3"}, "at most the delta of the allotment"),
        ({"allotment": "questions"}, "kind plan"),
    ],
)
def test_a_bad_search_of_settings_is_refused(curator, given, said):
    asked = {"settings": [{"rate": 1}, {"rate": 2}], "epsilon": 1} | given
    with pytest.raises(InputError, match=said):
        curator.train(target="rich", examples=400).search(asked.pop("settings"), **asked)


def test_a_price_that_takes_all_of_the_delta_says_so(curator):
    asked = curator.train(target="rich", examples=400, **FIXED)
    assert "takes all of the 2e-6 of 'models'" in str(asked.plan())
    assert "takes all of" not in str(asked.plan(delta=1e-6))


def test_a_delta_on_a_card_is_as_written():
    recipe = Recipe(examples=50, lot=20, steps=1, bound=1, multiplier=4)
    assert Card.of_recipe(recipe, "1/1000000", name="m", dataset="d").delta == "1e-6"
    assert Card.of_recipe(recipe, Fraction(10**9 + 1, 10**15), name="m", dataset="d").delta == "1.0001e-6"


def test_models_by_name():
    assert model_named("mlp").hidden == (64,)
    assert model_named("logistic").hidden == ()
    assert STEPS == 2**20
