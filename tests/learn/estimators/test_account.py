"""A fit on a ledger: its id answers for its rows alone, and the record tells nothing of them."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jax")

import pickle
from fractions import Fraction

import numpy as np
from estimator_rows import open_ledger, rows
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from discreet.core.version import DataVersion
from discreet.errors import BudgetError, InputError
from discreet.learn.array_data import ArrayData
from discreet.learn.estimators import DPAdditiveModel, DPLinearClassifier, DPNaiveBayes, DPRandomForest, DPSGDClassifier
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

X, Y = rows(60)
KEY = bytes(range(32))


def bayes(ledger, release="bayes-1", **more):
    account = {"ledger": ledger, "dataset": "visits", "who": "ann", "release": release}
    return DPNaiveBayes(epsilon=0.5, bounds=(-1, 1), classes=2, privacy=account, **more)


def test_the_same_rows_give_the_stored_model_and_others_are_refused(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=3))
    first = bayes(ledger).fit(X, Y)
    again = bayes(ledger).fit(X.tolist(), Y.tolist())  # the same values in another container
    assert np.array_equal(first.theta_, again.theta_)
    assert ledger.remaining("visits").amount == Fraction(5, 2)
    other = X.copy()
    other[0, 0] += 1e-9
    for features, targets in ((other, Y), (X, 1 - Y), (X[:-1], Y[:-1]), (X[::-1], Y[::-1])):
        with pytest.raises(InputError, match="paid for other rows") as caught:
            bayes(ledger).fit(features, targets)
        assert caught.value.field == "release"
    with pytest.raises(InputError, match="answers another question"):
        bayes(ledger).set_params(epsilon=0.4).fit(X, Y)
    assert ledger.remaining("visits").amount == Fraction(5, 2)
    assert bayes(ledger, "bayes-2").fit(other, Y).privacy_.release == "bayes-2"
    assert ledger.verify().problems == ()


def test_a_trained_net_comes_back_for_its_rows_alone(tmp_path):
    budget = Budget(epsilon=2, delta=1e-5, allotments=[Allotment("models", "plan", epsilon=2, delta=1e-5)])
    ledger = open_ledger(tmp_path, budget)
    account = {"ledger": ledger, "dataset": "visits", "release": "line"}
    model = DPLinearClassifier(epsilon=1, delta=1e-6, bounds=(-1, 1), classes=2, steps=2, examples=60, privacy=account)
    first, again = clone(model).fit(X, Y), clone(model).fit(X, Y)
    assert np.array_equal(first.coef_, again.coef_)
    with pytest.raises(InputError, match="paid for other rows"):
        clone(model).fit(X, 1 - Y)


def test_a_release_of_an_earlier_version_comes_back_with_a_warning(tmp_path, monkeypatch):
    ledger = open_ledger(tmp_path, Budget(epsilon=1))
    with monkeypatch.context() as patch:
        patch.setattr(ArrayData, "version", lambda self, key: DataVersion())  # what was recorded before
        first = bayes(ledger).fit(X, Y)
    with pytest.warns(UserWarning, match="may describe earlier data"):
        assert np.array_equal(bayes(ledger).fit(X, Y).theta_, first.theta_)


def test_arguments_of_their_own_mean_the_same(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=2))
    apart = DPNaiveBayes(epsilon=1, bounds=(-1, 1), classes=2, ledger=ledger, dataset="visits", release="a").fit(X, Y)
    grouped = {"ledger": ledger, "dataset": "visits", "release": "a"}
    together = DPNaiveBayes(epsilon=1, bounds=(-1, 1), classes=2, privacy=grouped).fit(X, Y)
    assert np.array_equal(apart.theta_, together.theta_)
    assert ledger.remaining("visits").amount == 1
    assert clone(together).privacy["ledger"] is ledger


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"privacy": "books.db"}, "privacy"),
        ({"privacy": {"leger": "books.db"}}, "privacy"),
        ({"privacy": {"ledger": "books.db"}}, "dataset"),
        ({"privacy": {"dataset": "visits"}}, "ledger"),
        ({"privacy": {"ledger": "books.db", "dataset": "visits"}, "dataset": "visits"}, "dataset"),
        ({"privacy": {"ledger": 3, "dataset": "visits"}}, "ledger"),
    ],
)
def test_half_an_account_is_refused(settings, field):
    with pytest.raises(InputError) as caught:
        DPNaiveBayes(epsilon=1, bounds=(-1, 1), classes=2, **settings).fit(X, Y)
    assert caught.value.field == field


MODELS = {
    "sums": DPNaiveBayes(epsilon=1, bounds=(-1, 1), classes=2),
    "forest": DPRandomForest(epsilon=1, bounds=(-1, 1), classes=2),
    "additive": DPAdditiveModel(epsilon=1, bounds=(-1, 1), classes=2),
    "descent": DPSGDClassifier(epsilon=1, delta=1e-5, bounds=(-1, 1), classes=2, steps=2, hidden=(2,), examples=60),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_pickled_model_predicts_the_same(name):
    fitted = clone(MODELS[name]).fit(X, Y)
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.predict_proba(X), fitted.predict_proba(X))
    assert str(copied.privacy_) == str(fitted.privacy_)
    assert copied.fit(X, Y).loss_ == fitted.loss_


def test_an_open_ledger_is_not_pickled_and_a_path_is(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=2))
    for model in (bayes(ledger), DPNaiveBayes(epsilon=1, classes=2, ledger=ledger, dataset="visits")):
        with pytest.raises(InputError, match="path or address"):
            pickle.dumps(model)
    named = pickle.loads(pickle.dumps(bayes(str(tmp_path / "books.db"), release=None)))
    named.fit(X, Y)
    assert ledger.remaining("visits").amount == Fraction(3, 2)


def test_folds_in_other_processes_are_charged(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=2))
    cross_val_score(bayes(str(tmp_path / "books.db"), release=None), X, Y, cv=2, n_jobs=2)
    assert Ledger.open(tmp_path / "books.db").remaining("visits").amount == 1
    ledger.close()


def test_how_many_fits_a_budget_pays_for_is_known_before(tmp_path):
    """The budget of the guide: six pure fits of a half, by the plain sum of epsilons, and far more with a delta."""
    ledger = open_ledger(tmp_path, Budget(epsilon=3, delta=1e-6))
    model = bayes(ledger, release=None)
    assert model.fits_left() == 6
    assert clone(model).set_params(delta=1e-7).fits_left() > 20
    for left in (5, 4, 3, 2, 1, 0):
        model.fit(X, Y)
        assert model.fits_left() == left
    with pytest.raises(BudgetError):
        model.fit(X, Y)
    assert ledger.verify().problems == ()
    with pytest.raises(InputError, match="ledger"):
        MODELS["sums"].fits_left()


def test_fits_of_a_net_are_counted_in_its_allotment(tmp_path):
    budget = Budget(epsilon=3, delta=1e-5, allotments=[Allotment("models", "plan", epsilon=3, delta=1e-5)])
    account = {"ledger": open_ledger(tmp_path, budget), "dataset": "visits"}
    model = clone(MODELS["descent"]).set_params(delta=2e-6, privacy=account)
    assert model.fits_left() == 3
    model.fit(X, Y)
    assert model.fits_left() == 2
