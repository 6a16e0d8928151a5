"""Estimators as scikit-learn knows them: charged first, nothing private kept, not even how many rows there were."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jax")

import subprocess
import sys
from dataclasses import asdict
from fractions import Fraction

import numpy as np
from estimator_rows import ADDITIVE, ALL, BAYES, CURVES, FOREST, GROVE, REGRESSION, TREES, open_ledger, rows
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import discreet.learn.estimators.descent as descent
from chance import mean_fits
from discreet.core.loss import LaplaceNoise
from discreet.core.unit import Metric, Unit
from discreet.errors import InputError
from discreet.learn.estimators import (
    DPPCA,
    DPAdditiveModel,
    DPAdditiveRegression,
    DPBoostedTrees,
    DPKMeans,
    DPLinearClassifier,
    DPLinearRegression,
    DPNaiveBayes,
    DPRandomForest,
    DPRandomForestRegressor,
    DPSGDClassifier,
)
from discreet.learn.estimators.sums import SumMeter
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

_DECLARED = "classes are declared, and the check brings others"
_FAILED = {
    "check_estimators_empty_data_messages": "wants the number of rows in the message",
    "check_dtype_object": "wants the cell that is not a number quoted; messages here never show one",
    "check_clustering": "wants labels_ of training rows, which are private and are not kept",
    "check_classifiers_classes": _DECLARED,
    "check_classifiers_train": _DECLARED,
    "check_decision_proba_consistency": _DECLARED,
}
FAILED = {
    "DPLinearRegression": ["check_dtype_object"],
    "DPPCA": ["check_dtype_object"],
    "DPKMeans": ["check_dtype_object", "check_clustering"],
    "DPBoostedTrees": [
        "check_dtype_object",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_decision_proba_consistency",
    ],
    "DPAdditiveModel": [
        "check_dtype_object",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_decision_proba_consistency",
    ],
    "DPAdditiveRegression": ["check_dtype_object"],
    "DPRandomForestRegressor": ["check_dtype_object"],
    "DPRandomForest": ["check_dtype_object", "check_classifiers_classes", "check_classifiers_train"],
    "DPNaiveBayes": ["check_dtype_object", "check_classifiers_classes", "check_classifiers_train"],
}


def _excused(estimator):
    return {name: _FAILED[name] for name in ("check_estimators_empty_data_messages", *FAILED[type(estimator).__name__])}


@parametrize_with_checks(ALL, expected_failed_checks=_excused)
def test_scikit_learn_knows_its_manners(estimator, check):
    check(estimator)


def test_a_failed_run_stays_spent_and_tells_nothing(tmp_path, monkeypatch):
    from discreet.errors import RunError
    from discreet.learn.estimators import naive_bayes

    ledger = open_ledger(tmp_path, Budget(epsilon=1))
    features, targets = rows()

    def fail(*_):
        raise ValueError("a secret")

    monkeypatch.setattr(naive_bayes, "sums", fail)
    model = DPNaiveBayes(epsilon=1, bounds=(-1, 1), classes=2, ledger=ledger, dataset="visits", who="ann")
    with pytest.raises(RunError) as caught:
        model.fit(features, targets)
    assert "secret" not in str(caught.value)
    assert ledger.remaining("visits").amount == 0


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_noise_is_known_before_a_fit(model):
    priced = clone(model).set_params(rho="1/50")
    expected = priced.expected_noise(3)
    assert all(size > 0 for size in expected.values())
    assert priced.fit(*rows()).noise_ == expected
    more = clone(model).set_params(rho="1/200").expected_noise(3)
    assert all(more[name] == pytest.approx(2 * size, rel=1e-4) for name, size in expected.items())


def test_nothing_private_is_kept():
    features, targets = rows(50_000)
    for model in ALL:
        fitted = clone(model).fit(features, targets)
        for name, value in vars(fitted).items():
            size = getattr(value, "size", 0)
            assert not isinstance(size, int) or size < 2000, name


def test_pipelines_and_clones_keep_the_ledger(tmp_path):
    ledger = open_ledger(tmp_path, Budget(epsilon=3))
    features, targets = rows()
    settings = {"epsilon": 1, "ledger": ledger, "dataset": "visits"}
    pipeline = make_pipeline(DPPCA(2, bounds=(-1, 1), **settings), DPNaiveBayes(bounds=(-2, 2), classes=2, **settings))
    copy = clone(pipeline)
    assert copy[0].ledger is ledger
    copy.fit(features, targets)
    assert set(copy.predict(features)) <= {0, 1}
    assert ledger.remaining("visits").amount == 1


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 1, "rho": 1}, "epsilon"),
        ({"epsilon": 1e-12}, "epsilon"),
        ({"epsilon": 1e-12, "delta": 1e-16}, "epsilon"),
        ({"epsilon": None, "rho": 1e-25}, "rho"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"bounds": (1, -1)}, "bounds"),
        ({"bounds": (-1, [1, 2])}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"bounds": (0, "wide")}, "bounds"),
        ({"malformed": "ignore"}, "malformed"),
        ({"dataset": "visits"}, "ledger"),
        ({"ledger": "books.db"}, "dataset"),
    ],
)
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_what_is_refused_before_anything_is_spent(model, settings, field):
    features, targets = rows()
    given = {"rho": None, "epsilon": 1, **settings}
    with pytest.raises(InputError) as caught:
        clone(model).set_params(**given).fit(features, targets)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("model", "settings", "field"),
    [
        (REGRESSION, {"target_bounds": None}, "target_bounds"),
        (REGRESSION, {"norm": 0}, "norm"),
        (REGRESSION, {"ridge": -1}, "ridge"),
        (REGRESSION, {"origin": 200}, "origin"),
        (BAYES, {"classes": None}, "classes"),
        (BAYES, {"classes": [1, 1]}, "classes"),
        (BAYES, {"classes": "ab"}, "classes"),
        (BAYES, {"classes": [0, 2]}, "y"),
        (BAYES, {"categories": {7: 2}}, "categories"),
        (BAYES, {"categories": [2]}, "categories"),
        (ALL[1], {"n_components": 4}, "n_components"),
        (ALL[1], {"n_components": 0}, "n_components"),
        (ALL[1], {"norm": -1}, "norm"),
        (ALL[1], {"norm": 0.01}, "norm"),
        (ALL[1], {"centered": "yes"}, "centered"),
        (TREES, {"rounds": 0}, "rounds"),
        (TREES, {"rate": 0}, "rate"),
        (TREES, {"leaves": 1}, "leaves"),
        (TREES, {"bins": 1.5}, "bins"),
        (ALL[3], {"n_clusters": 1025}, "n_clusters"),
        (ALL[1], {"examples": 0}, "examples"),
        (ALL[3], {"n_clusters": 0}, "n_clusters"),
        (ALL[3], {"steps": 0}, "steps"),
        (ADDITIVE, {"bins": 257}, "bins"),
        (ADDITIVE, {"rounds": 0}, "rounds"),
        (ADDITIVE, {"classes": None}, "classes"),
        (CURVES, {"target_bounds": None}, "target_bounds"),
        (GROVE, {"target_bounds": None}, "target_bounds"),
        (GROVE, {"max_depth": 0}, "max_depth"),
        (FOREST, {"n_estimators": 0}, "n_estimators"),
        (FOREST, {"max_depth": 17}, "max_depth"),
        (FOREST, {"n_estimators": 10_000, "max_depth": 16}, "max_depth"),
        (FOREST, {"examples": -1}, "examples"),
        (FOREST, {"random_state": 0.5}, "random_state"),
    ],
)
def test_what_else_is_refused(model, settings, field):
    features, targets = rows()
    with pytest.raises(InputError) as caught:
        clone(model).set_params(**settings).fit(features, targets)
    assert caught.value.field == field


@pytest.mark.parametrize("unit", [Unit("person"), Unit(neighbours="replace"), Metric("one load", Fraction(1), "MW")])
def test_an_account_that_protects_more_than_a_row_is_not_charged(unit, tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("people", Budget(rho=10**24), unit=unit, who="test")
    for model in ALL:
        with pytest.raises(InputError) as caught:
            clone(model).set_params(ledger=ledger, dataset="people").fit(*rows())
        assert caught.value.field == "dataset"
    assert not ledger.releases("people")


def test_an_account_of_a_schema_by_rows_is_charged(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("people", Budget(rho=10**24), unit=Unit(), who="test")
    clone(BAYES).set_params(ledger=ledger, dataset="people").fit(*rows())
    assert len(ledger.releases("people")) == 1


def test_importing_the_room_loads_neither_scikit_learn_nor_jax():
    code = "import sys, discreet.learn.estimators; sys.exit('sklearn' in sys.modules or 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_scikit_learn_the_extra_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from discreet.errors import MissingExtraError\n"
        "from discreet.learn import estimators\n"
        "try: estimators.DPPCA\n"
        "except MissingExtraError as e: sys.exit('sklearn' not in str(e) or 'discreet[learn]' not in str(e))\n"
        "sys.exit(2)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


SUMS = {"rho": 1, "bounds": (-1, 1)}
DESCENT = {"epsilon": 2, "delta": 1e-5, "bounds": (-1, 1), "classes": 2, "steps": 3}
MODELS = {
    "regression": DPLinearRegression(**SUMS, target_bounds=(0, 1)),
    "components": DPPCA(**SUMS),
    "components from the origin": DPPCA(**SUMS, centered=False),
    "bayes": DPNaiveBayes(**SUMS, classes=2),
    "k-means": DPKMeans(3, **SUMS),
    "trees": DPBoostedTrees(**SUMS, classes=2, rounds=2),
    "forest": DPRandomForest(**SUMS, classes=2),
    "forest regression": DPRandomForestRegressor(**SUMS, target_bounds=(0, 1)),
    "additive": DPAdditiveModel(**SUMS, classes=2),
    "additive regression": DPAdditiveRegression(**SUMS, target_bounds=(0, 1)),
    "linear": DPLinearClassifier(**DESCENT),
    "net": DPSGDClassifier(**DESCENT, hidden=(2,)),
}


class Drowned:
    """Noise under which a count vanishes: whatever it is added to becomes 100."""

    def __radd__(self, count):
        return 100


@pytest.fixture
def drowned(monkeypatch):
    """Everything that gets noise becomes a constant, so what is left shows what is published without any."""
    real = descent.train_losses

    def untrained(losses, params, data, recipe, **more):
        nothing = tuple(leaf[:0] for leaf in data)
        return real(losses, params, nothing, recipe, secret=bytes(32))

    monkeypatch.setattr(descent, "train_losses", untrained)
    monkeypatch.setattr(descent, "laplace", lambda scale, bits: Drowned())
    monkeypatch.setattr(SumMeter, "_noisy", lambda self, values, noise: np.full(np.shape(values), 100, dtype=np.int64))


def plain(value):
    match value:
        case np.ndarray():
            return value.tolist()
        case dict():
            return {name: plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case _ if hasattr(value, "__array__"):
            return np.asarray(value).tolist()
    return str(value)


def published(model, count, path):
    """The entry on the ledger and every fitted attribute, without what time and chance name."""
    ledger = Ledger.open(path / f"{count}.db", create=True)
    parts = [Allotment("all", "plan" if "steps" in vars(model) and "clip" in vars(model) else "zcdp", **PRICE)]
    ledger.create("visits", Budget(**PRICE, allotments=parts), who="test")
    features, targets = rows(count)
    model = clone(model).set_params(ledger=ledger, dataset="visits", allotment="all", who="ann", release="r")
    model.fit(features, targets)
    fitted = {name: plain(value) for name, value in vars(model).items() if name.endswith("_") and "__" not in name}
    records = [asdict(one) for one in ledger.records("visits")]
    entries = [{name: one[name] for name in one if name not in BY_TIME} for one in records]
    for entry in entries:  # a fingerprint under a fresh secret is random digits: test_account.py
        if isinstance(entry["detail"], dict) and "rows" in entry["detail"].get("data", {}):
            entry["detail"]["data"]["rows"] = "a fingerprint"
    return {"entries": entries, **fitted}


PRICE = {"epsilon": 20, "delta": "1e-5"}
BY_TIME = ("time", "hash", "previous", "totals", "accounts")  # hashes over records, which have a time


@pytest.mark.parametrize("name", MODELS)
def test_neighbours_publish_the_same_but_for_noise(name, drowned, tmp_path):
    whole = published(MODELS[name], 40, tmp_path)
    for count in (39, 41, 2, 400):
        assert published(MODELS[name], count, tmp_path) == whole


def test_an_exact_count_is_found_out(drowned, tmp_path, monkeypatch):
    """Planted: what 0.1 did. N, lot and divisor from the rows, and on the ledger."""

    class Counted(DPLinearClassifier):
        def fit(self, X, y):
            return self.set_params(examples=len(X))._fit(X, y)

        _fit = DPLinearClassifier.fit

    model = Counted(**DESCENT)
    assert published(model, 40, tmp_path) != published(model, 39, tmp_path)


@pytest.mark.statistical
def test_the_count_that_is_bought_has_the_noise_that_is_paid_for():
    features, targets = rows(300)
    model = clone(MODELS["linear"]).set_params(steps=1)
    found = [clone(model).fit(features, targets).recipe_.examples - 300 for _ in range(30)]
    (count,) = [one for one in model.fit(features, targets).loss_.losses if isinstance(one, LaplaceNoise)]
    assert count.scale == 25  # a fiftieth of epsilon = 2
    assert mean_fits(found, 0.0, 2 * 25**2)
    assert not mean_fits(np.array(found) + 80, 0.0, 2 * 25**2)


def test_a_declared_number_of_rows_is_taken_as_it_is_and_costs_nothing():
    features, targets = rows(300)
    model = clone(MODELS["net"]).set_params(examples=1000, lot=50, delta="1e-6").fit(features, targets)
    assert (model.recipe_.examples, model.recipe_.lot) == (1000, 50)
    assert model.loss_ == model.recipe_.cost
    with pytest.raises(InputError, match="declare about how many"):
        clone(model).set_params(examples=None).fit(features, targets)
    with pytest.raises(InputError, match="noisy count"):
        clone(model).set_params(examples=0).fit(features, targets)
    with pytest.raises(InputError, match="probability"):
        clone(model).set_params(probability="1/4").fit(features, targets)
    chance = clone(model).set_params(examples=None, lot=None, probability="1/4").fit(features, targets)
    assert chance.recipe_.probability * 4 == 1


def test_messages_do_not_hold_the_number_of_rows():
    features, targets = rows(317)
    with pytest.raises(InputError) as caught:
        DPNaiveBayes(**SUMS, classes=2).fit(features, targets[:316])
    assert "317" not in str(caught.value)
    assert "316" not in str(caught.value)
