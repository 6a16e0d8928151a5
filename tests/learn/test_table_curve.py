"""A model of a table with its accuracy on public rows by epoch: the same model, at the same price."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from train_people import BUDGET, FIXED, SCHEMA, charges, table

import discreet
from discreet.errors import InputError
from discreet.learn.table_curve import release_with_curve


def test_the_curve_ends_at_the_accuracy_and_the_price_of_the_model(curator):
    offer = curator.train(target="rich", examples=400, **FIXED).plan()
    public = table(80, seed=5)
    model, curve = release_with_curve(offer, public, release="first")
    told = [one == right for one, right in zip(model.predict(public), public["rich"].to_pylist(), strict=True)]
    labelled = [one for one, right in zip(told, public["rich"].to_pylist(), strict=True) if right is not None]
    last = curve.points[-1]
    assert last.step == offer.plan.recipe.steps
    assert last.accuracy == pytest.approx(sum(labelled) / len(labelled))
    assert last.epsilon == pytest.approx(float(offer.plan.charge.amount), rel=0.01)
    assert last.epsilon >= float(offer.plan.charge.amount) - 1e-6
    assert charges(curator.ledger) == 1
    assert curator.release("first").epsilon == model.epsilon
    assert "accuracy on public examples" in curve.picture().to_svg()


def test_a_number_has_no_accuracy_and_an_offer_of_something_else_no_curve(curator):
    offer = curator.train(target="age", examples=400, **FIXED).plan()
    with pytest.raises(InputError, match="a column of classes"):
        release_with_curve(offer, table(5))
    with pytest.raises(InputError, match="the offer of one model"):
        release_with_curve(curator.train(target="rich", examples=400, **FIXED), table(5))
    assert charges(curator.ledger) == 0


def test_the_private_table_itself_is_not_taken_for_public_rows(tmp_path):
    private = table()
    desk = discreet.open(private, SCHEMA, ledger=tmp_path / "ledger.db", budget=BUDGET, who="someone", create=True)
    offer = desk.train(target="rich", examples=400, **FIXED).plan()
    with pytest.raises(InputError, match="a table of public rows"):
        release_with_curve(offer, private)
    assert charges(desk.ledger) == 0
