"""What is no table of numbers is refused before anything is spent: by name, and without a cell of it."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jax")

import numpy as np
import pandas
import scipy.sparse
from estimator_rows import open_ledger, rows
from sklearn.base import clone, is_classifier

from discreet.errors import InputError
from discreet.learn import estimators
from discreet.learn.estimators.form import refuse_form
from discreet.ledger.budget import Budget

X, Y = rows(30)
SUMS = {"epsilon": 1, "bounds": (-1, 1)}
DESCENT = {"epsilon": 2, "delta": 1e-5, "bounds": (-1, 1), "classes": 2, "steps": 2}
MODELS = [
    estimators.DPLinearRegression(**SUMS, target_bounds=(0, 1)),
    estimators.DPPCA(**SUMS),
    estimators.DPNaiveBayes(**SUMS, classes=2),
    estimators.DPKMeans(2, **SUMS),
    estimators.DPBoostedTrees(**SUMS, classes=2, rounds=2),
    estimators.DPRandomForest(**SUMS, classes=2),
    estimators.DPRandomForestRegressor(**SUMS, target_bounds=(0, 1)),
    estimators.DPAdditiveModel(**SUMS, classes=2),
    estimators.DPAdditiveRegression(**SUMS, target_bounds=(0, 1)),
    estimators.DPLinearClassifier(**DESCENT),
    estimators.DPSGDClassifier(**DESCENT, hidden=(2,)),
]
SECRET = 0.123456789


def holding(value):
    """The features with one cell that must not be shown, and another one."""
    features = X.copy().astype(object if isinstance(value, str) else float)
    features[3, 1], features[2, 2] = value, SECRET
    return features


FEATURES = {
    "NaN": holding(np.nan),
    "infinity": holding(np.inf),
    "a word": holding("a word"),
    "a word in a frame": pandas.DataFrame(holding("a word")),
    "one dimension": holding(0.5)[:, 0],
    "three dimensions": holding(0.5)[:, :, None],
    "a number": SECRET,
    "nothing": None,
    "text": "abc",
    "complex": holding(0.5) + 1j,
    "dates": X.astype("datetime64[s]"),
    "sparse": scipy.sparse.csr_matrix(X),
    "rows of unequal length": [[1, 2], [SECRET]],
    "a dictionary": {"a": [1]},
    "no rows": X[:0],
    "no columns": X[:, :0],
}
SUPERVISED = [model for model in MODELS if not isinstance(model, (estimators.DPPCA, estimators.DPKMeans))]
TARGETS = {
    "none": None,
    "fewer": Y[:5],
    "two columns": np.stack([Y, Y], axis=1),
    "NaN": np.where(Y > 0, np.nan, 0.0),
    "words": np.array(["no", SECRET] * 15),
    "complex": Y + 1j,
}
LABELS = {"out of range": Y + 5, "below zero": Y - 1, "numbers": Y + SECRET, "lists": [[1], [2, 3]] * 15}


def labels_for(features):
    return Y[: len(features)] if hasattr(features, "__len__") and not scipy.sparse.issparse(features) else Y


def refused(model, features, targets, field):
    with pytest.raises(InputError) as caught:
        clone(model).fit(features, targets)
    assert caught.value.field == field
    text = str(caught.value)
    assert "12345" not in text
    assert "HistGradientBoosting" not in text
    return text


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", FEATURES)
def test_features_of_another_form_are_refused(model, name):
    refused(model, FEATURES[name], labels_for(FEATURES[name]), "X")


@pytest.mark.parametrize("model", SUPERVISED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", TARGETS)
def test_targets_of_another_form_are_refused(model, name):
    refused(model, X, TARGETS[name], "y")


@pytest.mark.parametrize("model", [*filter(is_classifier, SUPERVISED)], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", LABELS)
def test_labels_that_are_not_declared_are_refused(model, name):
    refused(model, X, LABELS[name], "y")


def test_nothing_is_spent_on_what_is_refused(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=1))
    model = estimators.DPNaiveBayes(**SUMS, classes=2, privacy={"ledger": ledger, "dataset": "visits"})
    for name, features in FEATURES.items():
        with pytest.raises(InputError):
            model.fit(features, labels_for(features))
        assert ledger.remaining("visits").amount == 1, name
    assert not ledger.releases("visits")


def test_advice_on_missing_values_is_to_absorb_them():
    text = refused(MODELS[2], FEATURES["NaN"], Y, "X")
    assert 'malformed="absorb"' in text
    clone(MODELS[2]).set_params(malformed="absorb").fit(FEATURES["NaN"], Y)


def test_advice_on_missing_labels_is_to_leave_their_rows_out():
    assert "left out" in refused(MODELS[2], X, np.where(Y > 0, Y, np.nan), "y")


def test_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match=r"different names; got 'a'"):
        refuse_form(pandas.DataFrame(X[:, :2], columns=["a", "a"]))


def test_one_class_in_the_rows_is_not_told():
    """Which of the declared classes occur is private: a fit goes on."""
    assert clone(MODELS[2]).fit(X, np.zeros(len(X), int)).classes_.tolist() == [0, 1]


def test_a_table_of_numbers_passes():
    refuse_form(X)
    refuse_form(pandas.DataFrame(X))
    refuse_form(X > 0)
