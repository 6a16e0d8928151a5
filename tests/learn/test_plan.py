"""A priced run: charged once and whole, refused over budget, its digest follows what is computed."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from fractions import Fraction

import numpy as np
from train_people import FIXED, charges, table

from discreet.core.plan import Plan
from discreet.errors import BudgetError, InputError
from discreet.learn.model import Model


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
    with pytest.raises(InputError, match="left out"):
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
