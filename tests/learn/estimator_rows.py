"""What the tests of estimators share: settings, rows, and a meter that writes down what it was asked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.learn.estimators import (
    DPPCA,
    DPAdditiveModel,
    DPAdditiveRegression,
    DPBoostedTrees,
    DPKMeans,
    DPLinearRegression,
    DPNaiveBayes,
    DPRandomForest,
    DPRandomForestRegressor,
)
from discreet.learn.estimators.sums import SumMeter
from discreet.ledger.ledger import Ledger

CERTAIN = {"rho": 10**24}  # noise that is zero: for what must hold apart from noise
BOUNDS = (-100, 100)
REGRESSION = DPLinearRegression(**CERTAIN, bounds=BOUNDS, target_bounds=BOUNDS)
BAYES = DPNaiveBayes(**CERTAIN, bounds=BOUNDS, classes=[0, 1, 2])
TREES = DPBoostedTrees(**CERTAIN, bounds=BOUNDS, classes=[0, 1, 2], bins=400, rounds=4)
FOREST = DPRandomForest(**CERTAIN, bounds=BOUNDS, classes=[0, 1, 2], n_estimators=8, max_depth=5)
ADDITIVE = DPAdditiveModel(**CERTAIN, bounds=BOUNDS, classes=[0, 1, 2], bins=200)
CURVES = DPAdditiveRegression(**CERTAIN, bounds=(-4, 4), target_bounds=(-4, 4))
GROVE = DPRandomForestRegressor(**CERTAIN, bounds=(-4, 4), target_bounds=(-4, 4), n_estimators=40, max_depth=5)
ALL = [
    REGRESSION,
    DPPCA(**CERTAIN, bounds=BOUNDS),
    BAYES,
    DPKMeans(2, **CERTAIN, bounds=BOUNDS),
    TREES,
    FOREST,
    ADDITIVE,
    CURVES,
    GROVE,
]
NO_NUMBERS = {
    "huge": 10**400,
    "huge and below zero": -(10**400),
    "huge fraction": Fraction(10**400, 3),
    "near the end": 1.7e308,
    "a word": "secret",
    "bytes": b"secret",
    "nothing": None,
    "complex": 1 + 2j,
    "short complex": np.complex64(1 + 2j),
    "a list": [1, 2],
    "an array": np.ones(1),
    "not a number": float("nan"),
    "infinite": float("inf"),
    "wider than a float": np.longdouble("1e4000"),
}


class Spy(SumMeter):
    """Gives exact values, or those of a transcript, and keeps every question: exact values and declared norms."""

    def __init__(self, price, transcript=None):
        super().__init__(price)
        self.asked, self._transcript = [], list(transcript or [])

    def _tell(self, values):
        place = len(self.asked) - 1
        return self._transcript[place] if place < len(self._transcript) else np.array(values)

    def sums(self, values, *, share, l1, l2_squared):
        self._pay(share)
        self.asked.append((np.array(values), l1, l2_squared))
        return self._tell(values)

    def moments(self, values, *, share, squared):
        self._pay(share)
        size = len(values)
        weights = np.triu(np.full((size, size), 2), 1) + np.eye(size, dtype=np.int64)
        self.asked.append((np.array(values), (size + 1) * squared / 2, squared**2, weights))
        return self._tell(values)


class _TakenError(Exception):
    pass


def measuring(estimator, features, targets=None):
    """The measuring function of a fit, and the rows it would be given."""
    taken = []

    def take(measure, settings, rows):
        taken.append((measure, rows))
        raise _TakenError

    estimator._fitted = take
    try:
        estimator.fit(features, targets)
    except _TakenError:
        pass
    finally:
        del estimator._fitted
    return taken[0]


def farthest(estimator, features, targets=None, removed=0):
    """How far removing one row moves what the meter is asked, as shares of the norms declared: (L1, L2 squared).

    The second run is told what the first was told, so both are asked the same questions.
    """
    price = estimator._price()
    measure, rows = measuring(estimator, features, targets)
    first = Spy(price)
    measure(rows, first)
    told = [one[0] for one in first.asked]
    fewer = [np.delete(one, removed, axis=0) if one is not None else None for one in (features, targets)]
    measure, rows = measuring(estimator, *fewer)
    second = Spy(price, told)
    measure(rows, second)
    assert len(first.asked) == len(second.asked) > 0
    worst = np.zeros(2)
    for here, there in zip(first.asked, second.asked, strict=True):
        apart = (here[0] - there[0]).astype(object)
        weights = here[3].astype(object) if len(here) == 4 else np.ones(apart.shape, dtype=object)
        l1 = (np.abs(apart) * (weights > 0)).sum()
        worst = np.maximum(worst, [l1 / here[1], (weights * apart * apart).sum() / here[2]])
    return worst


def rows(count=300, seed=0):
    chance = np.random.default_rng(seed)
    features = chance.uniform(-1, 1, size=(count, 3))
    return features, (features[:, 0] > 0).astype(int)


def open_ledger(tmp_path, budget):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", budget, who="test")
    return ledger
