"""A model read against a schema: what its price buys, and what is said before it is paid."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from fractions import Fraction

from train_people import FIXED, table


def test_a_weak_delta_and_other_limits_are_said_in_the_plan(curator):
    offer = curator.train(target="rich", examples=10**6, **FIXED | {"lot": 10**5}).plan()
    text = str(offer)
    assert "Note: delta = 2e-06 is not below 1/examples" in text
    assert "Stopping early refunds nothing" in text
    assert "Noise is exact, on integers: of delta, 1e-40 is for how far it is from real noise" in text
    device = str(curator.train(target="rich", examples=400, **FIXED, noise="device").plan())
    assert "of delta, 6.5971e-22 is for how far it is from real noise" in device
    assert "is a premise" in device
    assert "loss is private" in text
    assert "1/examples" not in str(curator.train(target="rich", examples=400, **FIXED).plan())


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


def test_a_price_that_takes_all_of_the_delta_says_so(curator):
    asked = curator.train(target="rich", examples=400, **FIXED)
    assert "takes all of the 2e-6 of 'models'" in str(asked.plan())
    assert "takes all of" not in str(asked.plan(delta=1e-6))
