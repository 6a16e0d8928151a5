"""Private estimators against the same without privacy, and against diffprivlib, on ADULT.

    python bench/learn_estimators.py [--quick] [--json] [--no-peers] [--data FOLDER] [--runs N]

FOLDER/adult/adult.csv.gz holds ADULT as integer codes. Four fifths of the rows are fitted, the rest is scored (k-means
is scored on what it was fitted to). Numbers are scaled to [-1, 1] by their declared bounds. Without data a table is
made up, and targets do not apply.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from discreet.learn.estimators import (
    DPPCA,
    DPBoostedTrees,
    DPKMeans,
    DPLinearClassifier,
    DPLinearRegression,
    DPNaiveBayes,
    DPSGDClassifier,
)
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes, peer

EPSILONS = (0.1, 1.0)
DELTA = 1e-6
CLUSTERS = 5
SIZES = {"age": 85, "workclass": 9, "fnlwgt": 100, "education-num": 16, "marital-status": 7, "occupation": 15}
SIZES |= {"relationship": 6, "race": 5, "sex": 2, "capital-gain": 100, "capital-loss": 100, "hours-per-week": 99}
SIZES |= {"native-country": 42, "income>50K": 2}
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
NAMES = [name for name in SIZES if name != "income>50K"]
CATEGORIES = {place: SIZES[name] for place, name in enumerate(NAMES) if name not in NUMBERS}
UPPER = np.array([SIZES[name] - 1.0 for name in NAMES])


def table(folder: Path | None) -> dict[str, np.ndarray]:
    """Codes by column."""
    if folder is not None:
        with gzip.open(folder / "adult" / "adult.csv.gz", "rt") as file:
            lines = list(csv.reader(file))
        values = np.array(lines[1:], dtype=np.int64)
        return dict(zip(lines[0], values.T, strict=True))
    chance = np.random.default_rng(0)
    hidden = chance.normal(size=20_000)
    made = {}
    for name, size in SIZES.items():
        mixed = hidden * chance.uniform(0, 1.5) + chance.normal(size=len(hidden))
        made[name] = np.clip(((mixed / 6 + 0.5) * size).astype(np.int64), 0, size - 1)
    return made


def wide(codes: np.ndarray) -> np.ndarray:
    """Numbers in [-1, 1], categories one-hot: a fixed function of each row."""
    parts = [
        np.eye(CATEGORIES[place])[column.astype(np.int64)] if place in CATEGORIES else (2 * column / top - 1)[:, None]
        for place, (column, top) in enumerate(zip(codes.T, UPPER, strict=True))
    ]
    return np.concatenate(parts, axis=1)


def parts(folder: Path | None) -> dict[str, np.ndarray]:
    """Everything that is fitted and scored."""
    columns = table(folder)
    order = np.random.default_rng(1).permutation(len(columns["age"]))
    cut = len(order) * 4 // 5
    codes = np.column_stack([columns[name] for name in NAMES]).astype(float)
    scaled = {name: 2 * columns[name] / (SIZES[name] - 1) - 1 for name in SIZES}
    predictors = [name for name in NUMBERS if name != "hours-per-week"] + ["sex", "income>50K"]
    whole = {
        "codes": codes,
        "income": columns["income>50K"],
        "wide": wide(codes),
        "numbers": np.column_stack([scaled[name] for name in NUMBERS]),
        "predictors": np.column_stack([scaled[name] for name in predictors]),
        "hours": scaled["hours-per-week"],
    }
    found = {name: values[order[:cut]] for name, values in whole.items()}
    return found | {f"{name}_test": values[order[cut:]] for name, values in whole.items()}


class Jobs:
    """Each estimator's fit and its figure, private (with a price) and plain (without)."""

    def __init__(self, data: dict[str, np.ndarray]) -> None:
        self.data = data

    def auc(self, model, features) -> float:
        return float(roc_auc_score(self.data["income_test"], model.predict_proba(features)[:, 1]))

    def kept(self, model) -> float:
        rows = self.data["numbers_test"] - self.data["numbers_test"].mean(axis=0)
        return float(((rows @ model.components_.T) ** 2).sum() / (rows**2).sum())

    def inertia(self, model) -> float:
        rows, centres = self.data["numbers"], model.cluster_centers_
        return float(np.min([((rows - centre) ** 2).sum(axis=1) for centre in centres], axis=0).mean())

    def regression(self, price):
        d = self.data
        model = DPLinearRegression(**price, bounds=(-1, 1), target_bounds=(-1, 1)) if price else LinearRegression()
        model.fit(d["predictors"], d["hours"])
        return lambda: model.score(d["predictors_test"], d["hours_test"])

    def pca(self, price):
        model = DPPCA(2, **price, bounds=(-1, 1)) if price else PCA(2)
        model.fit(self.data["numbers"])
        return lambda: self.kept(model)

    def kmeans(self, price):
        model = DPKMeans(CLUSTERS, **price, bounds=(-1, 1)) if price else KMeans(CLUSTERS, n_init=5, random_state=0)
        model.fit(self.data["numbers"])
        return lambda: self.inertia(model)

    def bayes(self, price):
        d = self.data
        model = DPNaiveBayes(**price, classes=2, bounds=(0, UPPER)) if price else GaussianNB()
        model.fit(d["codes"], d["income"])
        return lambda: self.auc(model, d["codes_test"])

    def bayes_categories(self, price):
        d = self.data
        model = DPNaiveBayes(**price, classes=2, bounds=(0, UPPER), categories=CATEGORIES)
        model.fit(d["codes"], d["income"])
        return lambda: self.auc(model, d["codes_test"])

    def trees(self, price):
        d = self.data
        model = DPBoostedTrees(**price, classes=2, bounds=(0, UPPER + 1), categories=CATEGORIES)
        model.fit(d["codes"], d["income"])
        return lambda: self.auc(model, d["codes_test"])

    def logistic(self, price):
        d = self.data
        if not price:
            model = LogisticRegression(max_iter=500).fit(d["wide"], d["income"])
            return lambda: self.auc(model, d["wide_test"])
        model = DPLinearClassifier(**price, classes=2, bounds=(0, UPPER), features=wide).fit(d["codes"], d["income"])
        return lambda: self.auc(model, d["codes_test"])

    def net(self, price):
        d = self.data
        model = DPSGDClassifier(**price, classes=2, bounds=(0, UPPER), features=wide).fit(d["codes"], d["income"])
        return lambda: self.auc(model, d["codes_test"])


# name, what is measured, whether less is better, has a plain twin, can be pure
CASES = (
    ("regression", "R2", False, True, True),
    ("pca", "variance kept", False, True, True),
    ("kmeans", "inertia", True, True, True),
    ("bayes", "AUC", False, True, True),
    ("bayes_categories", "AUC", False, False, True),
    ("logistic", "AUC", False, True, False),
    ("trees", "AUC", False, False, True),
    ("net", "AUC", False, False, False),
)


def measured(work, price, runs: int) -> tuple[float, float, float]:
    """The median and the standard deviation of a figure over runs, and the least CPU seconds of a fit."""
    figures, spent = [], []
    for _ in range(runs):
        start = time.process_time()
        figure = work(price)
        spent.append(time.process_time() - start)
        figures.append(figure())
    return float(np.median(figures)), float(np.std(figures)), float(np.min(spent))


def rivals(report: Report, data: dict[str, np.ndarray], epsilon: float, runs: int) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "job.npz"
        given = {**data, "numbers": data["numbers"], "upper": UPPER, "clusters": CLUSTERS}
        np.savez(path, **given, epsilon=epsilon, runs=runs)
        requirements = ["diffprivlib==0.6.*", "scikit-learn<1.6", "numpy<2.1"]
        return peer("diffprivlib", requirements, "learn_diffprivlib.py", str(path), report=report) or {}


def main() -> None:
    options = arguments(__doc__.splitlines()[0], runs={"type": int, "default": 10})
    report = Report("learn_estimators", as_json=options.json)
    folder = options.data or (ENVIRONMENTS / "data" if (ENVIRONMENTS / "data" / "adult").exists() else None)
    data = parts(folder)
    jobs = Jobs(data)
    runs = 2 if options.quick else options.runs
    plain = {}
    for name, metric, _, twin, _ in CASES:
        if twin:
            plain[name], _, seconds = measured(getattr(jobs, name), {}, 1)
            report.figure(f"{name}, not private", metric, plain[name], "")
            report.figure(f"{name}, not private", "fit", seconds, "CPU s")
    for epsilon in EPSILONS[-1:] if options.quick else EPSILONS:
        others = {} if options.no_peers or options.quick else rivals(report, data, epsilon, runs)
        for name, metric, less, _, can_be_pure in CASES:
            prices = {"delta 1e-6": {"epsilon": epsilon, "delta": DELTA}}
            if can_be_pure:
                prices["pure"] = {"epsilon": epsilon}
            rival = others.get(name)
            for kind, price in prices.items():
                value, spread, seconds = measured(getattr(jobs, name), price, runs)
                case = f"{name}, epsilon {epsilon:g}, {kind}"
                goal = {}
                if rival is not None:
                    goal = {"at_most" if less else "at_least": rival["value"]}
                elif name == "trees" and epsilon == 1 and kind != "pure" and folder is not None:
                    goal = {"at_least": plain["logistic"]}
                report.figure(case, metric, value, "", **goal)
                report.figure(case, "spread", spread, "")
                report.figure(case, "fit", seconds, "CPU s")
            if rival is not None:
                report.figure(f"{name}, epsilon {epsilon:g}, diffprivlib", metric, rival["value"], "")
                report.figure(f"{name}, epsilon {epsilon:g}, diffprivlib", "fit", rival["cpu"], "CPU s")
    if not options.quick:
        images(report, folder)
    report.figure("whole benchmark", "memory", peak_megabytes(), "MB")


def images(report: Report, folder: Path | None) -> None:
    """784 features to 60, as for MNIST's classic experiment: how long it takes, and what is kept."""
    path = None if folder is None else folder / "mnist" / "train-images-idx3-ubyte.gz"
    if path is None or not path.exists():
        return
    rows = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=16).reshape(-1, 784) / 255.0
    for epsilon in EPSILONS:
        model = DPPCA(60, epsilon=epsilon, delta=1e-5, bounds=(0, 1), origin=0, norm=5.0, centered=False)
        start = time.process_time()
        model.fit(rows)
        seconds = time.process_time() - start
        kept = ((rows @ model.components_.T) ** 2).sum() / (rows**2).sum()
        report.figure(f"MNIST 784 to 60, epsilon {epsilon:g}", "second moment kept", float(kept), "")
        report.figure(f"MNIST 784 to 60, epsilon {epsilon:g}", "fit", seconds, "CPU s")


if __name__ == "__main__":
    main()
