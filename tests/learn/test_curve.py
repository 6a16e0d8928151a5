"""Accuracy on public examples and epsilon by epoch: of any run on arrays, and never before it has ended."""

from __future__ import annotations

import numpy as np
import pytest
from jax import numpy as jnp

from discreet import Allotment, Budget
from discreet.errors import InputError
from discreet.learn.curve import Curve, accuracy_of
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.trainer import train
from discreet.ledger.ledger import Ledger

RECIPE = Recipe(examples=200, lot=50, steps=10, bound=1.0, multiplier=2, rate=2.0)
DELTA = "1e-4"


def apply(params, x):
    return x @ params["w"]


@pytest.fixture
def rows():
    x = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
    return x, (x[:, 0] > 0).astype(np.int32)


def start():
    return {"w": jnp.zeros((3, 2))}


@pytest.fixture
def ledger(tmp_path):
    opened = Ledger.open(tmp_path / "books.db", create=True)
    budget = Budget(epsilon=20, delta=1e-3, allotments=[Allotment("models", "plan", epsilon=20, delta=1e-3)])
    opened.create("rows", budget, who="ann")
    yield opened
    opened.close()


def test_a_point_for_every_epoch_and_the_last_step(rows):
    curve = Curve(*rows, delta=DELTA)
    trained = train(apply, cross_entropy, start(), rows, RECIPE, curve=curve)
    assert [point.step for point in curve.points] == [4, 8, 10]
    assert [point.epoch for point in curve.points] == [1, 2, 2.5]
    assert curve.points[-1].accuracy == accuracy_of(apply, trained.params, *rows)
    spent = [point.epsilon for point in curve.points]
    assert spent == sorted(spent)
    assert spent[-1] == float(RECIPE.epsilon(DELTA))
    assert all(spent[at] >= float(RECIPE.epsilon(DELTA, steps)) - 1e-9 for at, steps in enumerate((4, 8, 10)))


def test_under_a_ledger_a_curve_can_be_read_when_the_model_is_recorded_and_not_before(rows, ledger, monkeypatch):
    public = tuple(array[::-1] for array in rows)
    curve = Curve(*public, delta=DELTA)
    seen = []
    look = Curve.after

    def spy(self, state):
        look(self, state)
        seen.append(self.points)

    monkeypatch.setattr(Curve, "after", spy)
    where = {"ledger": ledger, "dataset": "rows", "delta": DELTA, "release": "model"}
    released = train(apply, cross_entropy, start(), rows, RECIPE, curve=curve, **where)
    assert seen == [()] * RECIPE.steps
    assert curve.points[-1].accuracy == accuracy_of(apply, released.params, *rows)
    again = Curve(*public, delta=DELTA)
    assert train(apply, cross_entropy, start(), rows, RECIPE, curve=again, **where).replayed
    assert again.points == ()
    with pytest.raises(InputError, match="without points"):
        again.picture()


@pytest.mark.parametrize("many", [200, 20])
def test_under_a_ledger_the_rows_that_are_trained_on_are_not_taken_for_public_ones(rows, ledger, many):
    curve = Curve(*(array[:many] for array in rows), delta=DELTA)
    with pytest.raises(InputError, match="a curve of public examples"):
        train(
            *(apply, cross_entropy, start(), rows, RECIPE),
            **{"curve": curve, "ledger": ledger, "dataset": "rows", "delta": DELTA, "release": "model"},
        )
    assert ledger.remaining("rows", "models").amount == 20
    others = tuple(array[many // 2 :] for array in rows)
    kept = Curve(*(array[: many // 2] for array in rows), delta=DELTA)
    train(apply, cross_entropy, start(), others, RECIPE, curve=kept, ledger=ledger, dataset="rows", delta=DELTA)
    assert kept.points


def test_a_run_that_fails_leaves_nothing_to_read(rows):
    curve = Curve(*rows, delta=DELTA)

    def stop(state):
        if state.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(apply, cross_entropy, start(), rows, RECIPE, curve=curve, after=stop)
    assert curve.points == ()
    assert curve._seen == []


def test_with_a_checkpoint_there_is_a_curve_too(rows, tmp_path):
    curve = Curve(*rows)
    train(apply, cross_entropy, start(), rows, RECIPE, curve=curve, checkpoint=tmp_path / "run")
    assert [(point.step, point.epsilon) for point in curve.points] == [(4, None), (8, None), (10, None)]


def test_a_curve_is_drawn_into_a_file(rows, tmp_path):
    curve = Curve(*rows, delta=DELTA)
    train(apply, cross_entropy, start(), rows, RECIPE, curve=curve)
    text = curve.save(tmp_path / "curve.svg", "a model").read_text()
    assert text.count("<circle") == 2 * len(curve.points)
    for word in ("a model", "epoch", "accuracy on public examples", "epsilon at delta 1e-4"):
        assert word in text
    assert curve.to_dict()[0]["step"] == 4


def test_examples_without_their_labels_are_refused(rows):
    with pytest.raises(InputError, match="as many examples as labels"):
        Curve(rows[0], rows[1][:5])
    with pytest.raises(InputError, match="a score for each class"):
        accuracy_of(lambda params, x: x[:, 0], {}, *rows)
