"""Training without privacy: for public data alone, and labelled so."""

from __future__ import annotations

import numpy as np
import pytest
from jax import numpy as jnp

from discreet.errors import InputError
from discreet.learn.baseline import train_baseline
from discreet.learn.curve import Curve, accuracy_of


def apply(params, x):
    return x @ params["w"]


ROWS = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
LABELS = (ROWS[:, 0] > 0).astype(np.int32)
WORD = "two made-up clouds"
START = {"w": jnp.zeros((3, 2))}


def test_it_learns_says_that_it_is_not_private_and_has_a_curve_without_epsilon():
    curve = Curve(ROWS, LABELS)
    found = train_baseline(apply, START, ROWS, LABELS, public=WORD, lot=20, epochs=4, rate=0.5, curve=curve)
    assert found.label.startswith("NOT PRIVATE")
    assert found.label.endswith(f"said to be public: {WORD}")
    assert accuracy_of(apply, found.params, ROWS, LABELS) > 0.95
    assert [(point.step, point.epoch, point.epsilon) for point in curve.points] == [
        (10, 1, None),
        (20, 2, None),
        (30, 3, None),
        (40, 4, None),
    ]
    assert found.steps == 40


@pytest.mark.parametrize("word", [True, False, None, 1, "", " ", "yes", "Public", "2024", "x" * 201])
def test_nothing_is_done_unless_the_data_that_is_public_is_named(word):
    with pytest.raises(InputError, match="protects nobody"):
        train_baseline(apply, START, ROWS, LABELS, public=word)


def test_the_same_seed_gives_the_same_weights_and_an_augmentation_is_used():
    def run(seed, augment=None):
        found = train_baseline(apply, START, ROWS, LABELS, public=WORD, epochs=1, seed=seed, augment=augment)
        return np.asarray(found.params["w"])

    assert np.array_equal(run(1), run(1))
    assert not np.array_equal(run(1), run(2))
    assert np.array_equal(run(1, lambda key, batch: (0 * batch[0], batch[1])), np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("name", "value"), [("lot", 0), ("lot", -1), ("epochs", 0), ("epochs", float("inf")), ("rate", float("nan"))]
)
def test_amounts_that_are_none_are_refused_by_name(name, value):
    with pytest.raises(InputError) as caught:
        train_baseline(apply, START, ROWS, LABELS, public=WORD, **{name: value})
    assert caught.value.field == name


def test_examples_without_labels_are_refused():
    with pytest.raises(InputError, match="as many examples as labels"):
        train_baseline(apply, START, ROWS, LABELS[:3], public=WORD)


def test_decay_draws_weights_to_zero_and_is_never_negative():
    def size(decay):
        found = train_baseline(apply, START, ROWS, LABELS, public=WORD, lot=20, epochs=4, rate=0.5, decay=decay)
        return float(np.abs(np.asarray(found.params["w"])).max())

    assert size(0.5) < 0.5 * size(0.0)
    with pytest.raises(InputError, match="zero or more"):
        train_baseline(apply, START, ROWS, LABELS, public=WORD, decay=-1)
