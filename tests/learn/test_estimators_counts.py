"""No fit publishes how many rows there are: what neighbours publish differs through noise alone."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jax")

from dataclasses import asdict

import numpy as np
from sklearn.base import clone

import discreet.learn.estimators.descent as descent
from chance import mean_fits
from discreet.core.loss import LaplaceNoise
from discreet.errors import InputError
from discreet.learn.estimators import (
    DPPCA,
    DPBoostedTrees,
    DPKMeans,
    DPLinearClassifier,
    DPLinearRegression,
    DPNaiveBayes,
    DPSGDClassifier,
)
from discreet.learn.estimators.sums import SumMeter
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

SUMS = {"rho": 1, "bounds": (-1, 1)}
DESCENT = {"epsilon": 2, "delta": 1e-5, "bounds": (-1, 1), "classes": 2, "steps": 3}
MODELS = {
    "regression": DPLinearRegression(**SUMS, target_bounds=(0, 1)),
    "components": DPPCA(**SUMS),
    "components from the origin": DPPCA(**SUMS, centered=False),
    "bayes": DPNaiveBayes(**SUMS, classes=2),
    "k-means": DPKMeans(3, **SUMS),
    "trees": DPBoostedTrees(**SUMS, classes=2, rounds=2),
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


def rows(count):
    chance = np.random.default_rng(0)
    features = chance.uniform(-1, 1, size=(count, 3))
    return features, (features[:, 0] > 0).astype(int)


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
    found = [clone(model).fit(features, targets).recipe_.examples - 300 for _ in range(60)]
    (count,) = [one for one in model.fit(features, targets).loss_.losses if isinstance(one, LaplaceNoise)]
    assert count.scale == 25  # a fiftieth of epsilon = 2
    assert mean_fits(found, 0.0, 2 * 25**2)
    assert not mean_fits(np.array(found) + 60, 0.0, 2 * 25**2)


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


def test_components_from_the_origin_buy_a_count_or_take_the_declared_one():
    features, _ = rows(300)
    bought = DPPCA(rho=1, bounds=(-1, 1), centered=False).fit(features)
    assert bought.n_rows_ == pytest.approx(300, abs=100)
    declared = DPPCA(rho=1, bounds=(-1, 1), centered=False, examples=300).fit(features)
    assert declared.n_rows_ == 300
    assert declared.noise_["diagonal"] < bought.noise_["diagonal"]
    assert declared.explained_variance_[0] == pytest.approx(1 / 3, abs=0.15)


def test_messages_do_not_hold_the_number_of_rows():
    features, targets = rows(317)
    with pytest.raises(InputError) as caught:
        DPNaiveBayes(**SUMS, classes=2).fit(features, targets[:316])
    assert "317" not in str(caught.value)
    assert "316" not in str(caught.value)
