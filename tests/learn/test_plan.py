"""A priced run: charged once and whole, refused over budget, its digest follows what is computed."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from dataclasses import replace
from fractions import Fraction

import numpy as np
from train_people import FIXED, charges, table

from discreet.core.plan import Plan, as_paid
from discreet.errors import BudgetError, InputError
from discreet.learn.model import Model
from discreet.learn.run import Run


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


# Losses so small that the noise was more, and the steps fewer, on a grid as wide as it was.
SMALL = {"epsilon": "1/50", "delta": "1e-6"}


@pytest.mark.parametrize(("knob", "former", "now"), [("steps", "14.9609", "14.9029"), ("multiplier", 44, 54)])
def test_what_was_paid_with_noise_or_steps_of_before_is_read_and_published(curator, knob, former, now):
    fixed = {"steps": {"steps": 3}, "multiplier": {"multiplier": 60}}[knob]
    found = {"steps": "multiplier", "multiplier": "steps"}[knob]
    offer = curator.train(target="rich", examples=400, lot=20, noise="exact", **fixed).plan(**SMALL)
    (before,) = offer.plan.former
    assert (getattr(before.recipe, found), getattr(offer.plan.recipe, found)) == (Fraction(former), Fraction(now))
    assert before.former == ()
    assert as_paid(offer.plan, before.digest).digest == before.digest != offer.plan.digest
    first = replace(offer, plan=before).release(release="old")
    with pytest.warns(UserWarning, match="may describe earlier data"):
        again = offer.release(release="old")
    assert all(np.array_equal(a, b) for a, b in zip(first.weights, again.weights, strict=True))
    assert getattr(again.recipe, found) == Fraction(former)
    assert curator.publish("old").recipe == first.recipe
    assert charges(curator.ledger) == 1
    assert curator.ledger.verify().ok


def test_a_run_of_before_goes_on_from_its_checkpoint(curator, tmp_path, monkeypatch):
    asked = curator.train(target="rich", examples=400, lot=20, steps=3, noise="exact")
    offer = asked.plan(**SMALL, checkpoint=tmp_path / "run")
    (before,) = offer.plan.former
    with monkeypatch.context() as patched:
        patched.setattr(Run, "go", stopped)
        with pytest.raises(KeyboardInterrupt):
            replace(offer, plan=before).release(release="old")
    assert before.checkpoint.exists()
    assert offer.release(release="old").recipe.multiplier == before.recipe.multiplier
    assert charges(curator.ledger) == 1
    assert not before.checkpoint.exists()


def stopped(run, examples, watch=None):
    raise KeyboardInterrupt


def test_a_price_that_no_noise_of_before_was_enough_for_has_no_plan_of_before(curator):
    offer = curator.train(target="rich", examples=400, lot=20, steps=3).plan(**SMALL)

    def none():
        raise InputError("epsilon", 1, "larger")

    assert replace(offer.plan, earlier=none).former == ()
    assert replace(offer.plan, earlier=None).former == ()
    assert curator.train(target="rich", examples=400, **FIXED).plan().plan.former == ()
