"""Every classifier on five tables at three prices, beside diffprivlib's: what the guide's advice rests on.

Part of bench/learn_estimators.py, which calls it. DIGITS, CANCER and WINE come with scikit-learn; bounds of the last
two are round numbers above the ranges that their descriptions list. None of the five was used to choose a constant of
`DPRandomForest` or `DPAdditiveModel`.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import roc_auc_score

from discreet.learn.estimators import (
    DPAdditiveModel,
    DPBoostedTrees,
    DPLinearClassifier,
    DPNaiveBayes,
    DPRandomForest,
    DPSGDClassifier,
    RepeatedFitWarning,
)
from harness import Report, peer

EPSILONS = (0.5, 1.0, 4.0)
DELTA = 1e-6
_LARGE = 10_000  # rows from which two fits a figure are enough
_CANCER = [30, 40, 200, 3000, 0.2, 0.4, 0.5, 0.3, 0.4, 0.1, 3, 5, 30, 600, 0.04, 0.2, 0.4, 0.06, 0.1, 0.03]
_CANCER += [40, 50, 300, 5000, 0.3, 2, 2, 0.3, 0.7, 0.3]
_WINE = [15, 6, 4, 30, 200, 4, 6, 1, 4, 15, 2, 4, 2000]


@dataclass(frozen=True)
class Classes:
    """Features within 0 and `upper`, the codes of category columns by place, and labels 0, 1, ..."""

    name: str
    features: np.ndarray
    labels: np.ndarray
    upper: np.ndarray
    categories: dict[int, int]

    @property
    def many(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def metric(self) -> str:
        return "AUC" if self.many == 2 else "accuracy"

    def split(self, seed: int) -> tuple[np.ndarray, ...]:
        """Four fifths to fit, the rest to score."""
        order = np.random.default_rng(seed).permutation(len(self.labels))
        cut = len(order) * 4 // 5
        parts = [(self.features[rows], self.labels[rows]) for rows in (order[:cut], order[cut:])]
        return (*parts[0], *parts[1])

    def wide(self, features: np.ndarray) -> np.ndarray:
        """Numbers in [-1, 1] and categories one-hot: a fixed function of each row."""
        numbers = [place for place in range(len(self.upper)) if place not in self.categories]
        parts = [2 * features[:, numbers] / self.upper[numbers] - 1]
        parts += [np.eye(size)[features[:, place].astype(np.int64)] for place, size in self.categories.items()]
        return np.concatenate(parts, axis=1)

    def figure(self, model, features: np.ndarray, labels: np.ndarray) -> float:
        if self.many > 2:
            return float(model.score(features, labels))
        return float(roc_auc_score(labels, model.predict_proba(features)[:, 1]))


def small_tables() -> list[Classes]:
    """Those that come with scikit-learn."""
    digits, cancer, wine = (load(return_X_y=True) for load in (load_digits, load_breast_cancer, load_wine))
    return [
        Classes("digits", *digits, np.full(64, 16.0), {}),
        Classes("cancer", *cancer, np.array(_CANCER), {}),
        Classes("wine", *wine, np.array(_WINE, dtype=float), {}),
    ]


MODELS = {  # name: (class, settings, can be pure)
    "bayes": (DPNaiveBayes, {}, True),
    "forest": (DPRandomForest, {}, True),
    "additive": (DPAdditiveModel, {}, True),
    "trees": (DPBoostedTrees, {}, True),
    "linear": (DPLinearClassifier, {"features": True}, False),
    "net": (DPSGDClassifier, {"features": True}, False),
}


def scored(table: Classes, name: str, price: dict, runs: int) -> tuple[float, float]:
    """The median and the standard deviation over runs, each with a split of its own."""
    kind, settings, _ = MODELS[name]
    figures = []
    for seed in range(runs):
        features, labels, others, known = table.split(seed)
        shared = {**price, "classes": table.many, "bounds": (0, table.upper)}
        if settings.get("features"):
            model = kind(**shared, features=table.wide, examples=len(labels))
        else:
            model = kind(**shared, categories=table.categories)
            if name == "forest":
                model.set_params(examples=len(labels), random_state=seed)
        figures.append(table.figure(model.fit(features, labels), others, known))
    return float(np.median(figures)), float(np.std(figures))


def rivals(report: Report, table: Classes, runs: int) -> dict:
    """The same by diffprivlib, at every price: {name: {epsilon: figure}}."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "job.npz"
        names = ("features", "labels", "others", "known")
        parts = {
            f"{name}{seed}": part for seed in range(runs) for name, part in zip(names, table.split(seed), strict=True)
        }
        np.savez(path, **parts, runs=runs, upper=table.upper, many=table.many, epsilons=np.array(EPSILONS))
        requirements = ["diffprivlib==0.6.*", "scikit-learn<1.6", "numpy<2.1"]
        return peer("diffprivlib", requirements, "learn_diffprivlib_tables.py", str(path), report=report) or {}


def classify(report: Report, tables: list[Classes], *, quick: bool, peers: bool, runs: int) -> None:
    """By one look or a few. The goal of the forest at a pure price is diffprivlib's forest."""
    warnings.simplefilter("ignore", RepeatedFitWarning)
    epsilons = EPSILONS[:1] if quick else EPSILONS
    for table in tables:
        many = _runs(table, quick, runs)
        others = rivals(report, table, many) if peers and not quick else {}
        for name, figures in others.items():
            for epsilon, value in figures.items():
                report.figure(f"{table.name}: {name}, epsilon {float(epsilon):g}, diffprivlib", table.metric, value, "")
        for epsilon in epsilons:
            for name in (name for name, (_, _, pure) in MODELS.items() if pure):
                goal = {"at_least": others["forest"][str(epsilon)]} if name == "forest" and "forest" in others else {}
                _told(report, table, name, {"epsilon": epsilon}, many, goal)
                _told(report, table, name, {"epsilon": epsilon, "delta": DELTA}, many, {})


def descend(report: Report, tables: list[Classes], *, runs: int) -> None:
    """By descent, at every price: not in --quick, for noise is searched for and steps are compiled."""
    warnings.simplefilter("ignore", RepeatedFitWarning)
    for table in tables:
        for epsilon in EPSILONS:
            for name in (name for name, (_, _, pure) in MODELS.items() if not pure):
                _told(report, table, name, {"epsilon": epsilon, "delta": DELTA}, min(_runs(table, False, runs), 3), {})


def _runs(table: Classes, quick: bool, runs: int) -> int:
    return 2 if quick or len(table.labels) > _LARGE else runs


def _told(report: Report, table: Classes, name: str, price: dict, runs: int, goal: dict) -> None:
    value, spread = scored(table, name, price, runs)
    case = f"{table.name}: {name}, epsilon {price['epsilon']:g}, {'delta 1e-6' if 'delta' in price else 'pure'}"
    report.figure(case, table.metric, value, "", **goal)
    report.figure(case, "spread", spread, "")
