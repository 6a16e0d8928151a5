"""Classifiers by descent: they learn, cost what they say, are charged first, and refuse what cannot be trained."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jax")

from fractions import Fraction

import jax
import numpy as np
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_estimator_cloneable,
    check_estimators_pickle,
    check_fit2d_predict1d,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

from discreet.core.unit import Unit
from discreet.errors import BudgetError, InputError, LossError
from discreet.learn.estimators import DPLinearClassifier, DPSGDClassifier
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

SETTINGS = {"epsilon": 3, "delta": 1e-5, "bounds": (-1, 1), "classes": 2, "steps": 20}
LINEAR = DPLinearClassifier(**SETTINGS)
NET = DPSGDClassifier(**SETTINGS, hidden=(8,))


def rows(count=2000):
    chance = np.random.default_rng(0)
    features = chance.uniform(-1, 1, size=(count, 3))
    return features, (features[:, 0] > features[:, 1] / 2).astype(int)


@pytest.mark.parametrize("model", [LINEAR, NET], ids=["linear", "net"])
@pytest.mark.parametrize(
    "check",
    [
        check_estimator_cloneable,
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
    ],
    ids=lambda check: check.__name__,
)
def test_scikit_learn_knows_its_manners(model, check):
    """The checks that train nothing: every other would be a run with noise of its own, on rows it outweighs."""
    check(type(model).__name__, clone(model))


@pytest.mark.parametrize("check", [check_estimators_pickle, check_fit2d_predict1d], ids=lambda check: check.__name__)
def test_scikit_learn_knows_its_manners_once_trained(check):
    check("DPLinearClassifier", clone(LINEAR).set_params(classes=3, bounds=(-10, 10), steps=20, delta=1e-5))


def test_it_learns_and_says_what_it_cost():
    features, targets = rows()
    model = clone(LINEAR).fit(features, targets)
    assert model.score(features, targets) > 0.9
    assert 2.9 < model.privacy_.claim.epsilon <= 3
    assert model.privacy_.claim.delta == Fraction(1, 100_000)
    assert model.loss_.losses[0] == model.recipe_.cost
    assert model.recipe_.noise == "exact"  # a small model on a CPU
    assert model.recipe_.multiplier == model.recipe(2000).multiplier
    assert model.coef_.shape == (2, 3)
    assert np.allclose(model.predict_proba(features).sum(axis=1), 1)


def test_the_rate_is_free_and_by_default_goes_with_the_clip():
    large = clone(LINEAR).set_params(epsilon=8, steps=5)
    assert large.recipe(60_000).rate == 8
    narrow = clone(large).set_params(clip=0.1)
    # As far as noise allows; a limit of 8 would leave a linear model on short gradients where it began.
    noise = float(narrow.recipe(60_000).multiplier) * 0.1 / 60_000
    assert narrow.recipe(60_000).rate == pytest.approx(min(0.012 / noise, 800))
    assert narrow.recipe(60_000).rate > 100
    falling = clone(narrow).set_params(schedule="linear").recipe(60_000)
    assert falling.schedule == "linear"
    assert falling.rate == pytest.approx(1.5 * narrow.recipe(60_000).rate)
    assert clone(narrow).set_params(rate=1000.0).recipe(60_000).rate == 1000


@pytest.mark.parametrize("schedule", ["constant", "linear"])
@pytest.mark.parametrize("clip", [1.0, 0.1])
def test_the_default_rate_learns_from_rows_of_length_one(clip, schedule):
    chance = np.random.default_rng(3)
    middles, labels = chance.standard_normal((4, 20)), chance.integers(0, 4, 4000)
    features = middles[labels] + chance.standard_normal((4000, 20))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    model = clone(LINEAR).set_params(classes=4, clip=clip, schedule=schedule, ema=0.9 if schedule == "constant" else 0)
    assert model.fit(features[:3000], labels[:3000]).score(features[3000:], labels[3000:]) > 0.95


def test_any_model_and_any_fixed_features():
    features, targets = rows()
    three = targets + (features[:, 2] > 0.5)
    model = clone(NET).set_params(classes=3, features=lambda x: np.concatenate([x, x**2], axis=1))
    assert model.fit(features, three).score(features, three) > 0.6
    assert model.params_[0]["w"].shape == (6, 8)
    weights = {"w": np.zeros((3, 2), dtype=np.float32)}
    own = clone(NET).set_params(model=(lambda params, x: x @ params["w"], weights))
    assert own.fit(features, targets).score(features, targets) > 0.8
    exact = clone(LINEAR).set_params(noise="exact").fit(features, targets)
    assert exact.predict(features).shape == (2000,)


def test_the_run_is_charged_before_it_starts(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    parts = [Allotment("models", "plan", epsilon=4, delta="1e-5"), Allotment("rest", "zcdp", epsilon=1, delta="1e-6")]
    ledger.create("visits", Budget(epsilon=5, delta="2e-5", allotments=parts), who="test")
    features, targets = rows()
    model = clone(LINEAR).set_params(ledger=ledger, dataset="visits", allotment="models", who="ann")
    model.fit(features, targets)
    assert ledger.remaining("visits", "models").amount == 4 - model.privacy_.claim.epsilon
    with pytest.raises(BudgetError):
        clone(model).fit(features, targets)
    with pytest.raises(LossError):  # random lots have no zCDP statement
        clone(model).set_params(allotment="rest", examples=2000, lot=200).fit(features, targets)
    assert len(ledger.releases("visits")) == 1


def _called_back(params, x):
    same = jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(x.shape, x.dtype), x @ params["w"] @ params["w"].T)
    return same @ params["w"]


WEIGHTS = {"w": np.zeros((3, 2), dtype=np.float32)}
UNSOUND = {
    "batch norm": (lambda params, x: (x - x.mean(axis=0)) @ params["w"], WEIGHTS),
    "integers": (lambda params, x: x @ params["w"] + params["n"], {**WEIGHTS, "n": np.zeros(2, dtype=np.int32)}),
    "plain numbers": (lambda params, x: x @ params["w"] + params["n"], {**WEIGHTS, "n": 0.0}),
    "nothing to train": (lambda params, x: x[:, :2], {}),
    "no gradient": (_called_back, WEIGHTS),
}


@pytest.mark.parametrize("model", UNSOUND.values(), ids=UNSOUND.keys())
@pytest.mark.parametrize("noise", ["device", "exact"])
def test_a_model_that_cannot_be_trained_is_refused_before_the_charge(model, noise, tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    parts = [Allotment("models", "plan", epsilon=4, delta="1e-5")]
    ledger.create("visits", Budget(epsilon=4, delta="1e-5", allotments=parts), who="test")
    paying = {"ledger": ledger, "dataset": "visits", "allotment": "models", "who": "ann", "noise": noise}
    with pytest.raises(InputError):
        clone(NET).set_params(model=model, **paying).fit(*rows())
    assert not ledger.releases("visits")


@pytest.mark.parametrize("unit", [Unit("person"), Unit(neighbours="replace")])
def test_an_account_that_protects_more_than_a_row_is_not_charged(unit, tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    parts = [Allotment("models", "plan", epsilon=4, delta="1e-5")]
    ledger.create("visits", Budget(epsilon=4, delta="1e-5", allotments=parts), unit=unit, who="test")
    with pytest.raises(InputError) as caught:
        clone(LINEAR).set_params(ledger=ledger, dataset="visits", allotment="models").fit(*rows())
    assert caught.value.field == "dataset"
    assert not ledger.releases("visits")


@pytest.mark.parametrize("cell", [10**400, -(10**400), 1.7e308, "secret", None, 1j, float("nan"), float("inf"), [1]])
def test_no_cell_whatever_raises_where_it_is_absorbed(cell):
    model = clone(LINEAR).set_params(malformed="absorb", steps=1, features=lambda x: 1e300 * x)
    model.set_params(delta=1e-9).fit([[cell, 1.0], [0.0, cell], [1.0, -1.0]], [1, cell, 0])
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"delta": None}, "delta"),
        ({"rho": 1}, "delta"),
        ({"classes": None}, "classes"),
        ({"bounds": None}, "bounds"),
        ({"lot": 3000, "examples": 2000}, "lot"),
        ({"lot": 300}, "examples"),
        ({"probability": 2}, "probability"),
        ({"steps": 0}, "steps"),
        ({"clip": 0}, "bound"),
        ({"noise": "none"}, "noise"),
        ({"schedule": "up"}, "schedule"),
        ({"rate": 0}, "rate"),
        ({"features": 3}, "features"),
        ({"features": lambda x: x[:, 0]}, "features"),
        ({"hidden": ()}, "hidden"),
        ({"hidden": (0,)}, "hidden"),
        ({"model": 3}, "model"),
        ({"model": (lambda params, x: x, 0.0)}, "model"),
    ],
)
def test_what_is_refused(settings, field):
    features, targets = rows()
    with pytest.raises(InputError) as caught:
        clone(NET).set_params(**settings).fit(features, targets)
    assert caught.value.field == field


def test_rows_that_are_malformed():
    features, targets = rows()
    with pytest.raises(InputError, match="classes"):
        clone(LINEAR).fit(features, targets + 1)
    features[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clone(LINEAR).fit(features, targets)
    model = clone(LINEAR).set_params(malformed="absorb").fit(features, targets + 1)
    assert 1 <= model.recipe_.examples < 2000  # about half of the labels are known
    with pytest.warns(UserWarning, match="1/examples"):
        clone(LINEAR).set_params(delta=0.001, steps=1).fit(features[1:], targets[1:])
