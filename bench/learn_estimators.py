"""Private estimators against the same without privacy, and against diffprivlib, on two tables.

    python bench/learn_estimators.py [--quick] [--json] [--no-peers] [--data FOLDER] [--runs N] [--only a,b]

FOLDER/adult/adult.csv.gz and FOLDER/loans/loans.csv.gz hold ADULT and LOANS as integer codes. Four fifths of the rows
are fitted, the rest is scored (k-means is scored on what it was fitted to). Numbers are scaled to [-1, 1] by their
declared bounds. Without data a table is made up, and targets do not apply. Classifiers are compared on five tables, at
three prices, by bench/learn_tables.py (`--only tables` for that alone, `--only descent` for those by descent).
"""

from __future__ import annotations

import csv
import gzip
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from discreet.learn.estimators import (
    DPPCA,
    DPAdditiveRegression,
    DPBoostedTrees,
    DPKMeans,
    DPLinearClassifier,
    DPLinearRegression,
    DPNaiveBayes,
    DPRandomForestRegressor,
    DPSGDClassifier,
)
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes, peer
from learn_tables import Classes, classify, descend, small_tables

EPSILONS = (0.1, 1.0)
DELTA = 1e-6
CLUSTERS = 5


@dataclass(frozen=True)
class Table:
    """A table of integer codes: sizes of its number and category columns, which one is a level to be predicted by a
    line, and which one is a yes (code 1) or no to be predicted by classifiers."""

    name: str
    numbers: dict[str, int]
    categories: dict[str, int]
    level: str
    label: str

    @property
    def names(self) -> list[str]:
        return [*self.numbers, *self.categories]

    @property
    def places(self) -> dict[int, int]:
        """Category columns by place."""
        return {len(self.numbers) + place: size for place, size in enumerate(self.categories.values())}

    @property
    def upper(self) -> np.ndarray:
        return np.array([*self.numbers.values(), *self.categories.values()], dtype=float) - 1

    def wide(self, codes: np.ndarray) -> np.ndarray:
        """Numbers in [-1, 1], categories one-hot: a fixed function of each row."""
        found = [2 * codes[:, : len(self.numbers)] / self.upper[: len(self.numbers)] - 1]
        found += [np.eye(size)[codes[:, place].astype(np.int64)] for place, size in self.places.items()]
        return np.concatenate(found, axis=1)

    def columns(self, folder: Path | None) -> dict[str, np.ndarray]:
        """Codes by column."""
        if folder is not None:
            with gzip.open(folder / self.name / f"{self.name}.csv.gz", "rt") as file:
                lines = list(csv.reader(file))
            values = np.array(lines[1:], dtype=np.int64)
            return dict(zip(lines[0], values.T, strict=True))
        chance = np.random.default_rng(0)
        hidden, made = chance.normal(size=20_000), {}
        for name, size in {**self.numbers, **self.categories, self.label: 2}.items():
            mixed = hidden * chance.uniform(0, 1.5) + chance.normal(size=len(hidden))
            made[name] = np.clip(((mixed / 6 + 0.5) * size).astype(np.int64), 0, size - 1)
        return made

    def parts(self, folder: Path | None) -> dict[str, np.ndarray]:
        """Everything that is fitted and scored."""
        columns = self.columns(folder)
        order = np.random.default_rng(1).permutation(len(columns[self.label]))
        cut = len(order) * 4 // 5
        codes = np.column_stack([columns[name] for name in self.names]).astype(float)
        label = (columns[self.label] == 1).astype(np.int64)
        scaled = {name: 2 * columns[name] / (size - 1) - 1 for name, size in self.numbers.items()}
        others = [values for name, values in scaled.items() if name != self.level]
        whole = {
            "codes": codes,
            "label": label,
            "wide": self.wide(codes),
            "numbers": np.column_stack(list(scaled.values())),
            "predictors": np.column_stack([*others, 2 * label - 1]),
            "level": scaled[self.level],
        }
        found = {name: values[order[:cut]] for name, values in whole.items()}
        return found | {f"{name}_test": values[order[cut:]] for name, values in whole.items()}


ADULT = Table(
    "adult",
    {"age": 85, "fnlwgt": 100, "education-num": 16, "capital-gain": 100, "capital-loss": 100, "hours-per-week": 99},
    {
        "workclass": 9,
        "marital-status": 7,
        "occupation": 15,
        "relationship": 6,
        "race": 5,
        "sex": 2,
        "native-country": 42,
    },
    "hours-per-week",
    "income>50K",
)
LOANS = Table(  # facts known when a loan is asked for; the label is whether it runs for five years rather than three
    "loans",
    {"loan_amnt": 101, "int_rate": 101, "annual_inc": 101, "dti": 101, "open_acc": 62, "total_acc": 101},
    {"emp_length": 12, "home_ownership": 6, "verification_status": 4, "purpose": 15, "addr_state": 51},
    "int_rate",
    "term",
)


class Jobs:
    """Each estimator's fit and its figure, private (with a price) and plain (without)."""

    def __init__(self, table: Table, data: dict[str, np.ndarray]) -> None:
        self.table, self.data = table, data
        self.sides = {"classes": 2, "bounds": (0, table.upper)}

    def auc(self, model, features) -> float:
        return float(roc_auc_score(self.data["label_test"], model.predict_proba(features)[:, 1]))

    def kept(self, model) -> float:
        rows = self.data["numbers_test"] - self.data["numbers_test"].mean(axis=0)
        return float(((rows @ model.components_.T) ** 2).sum() / (rows**2).sum())

    def inertia(self, model) -> float:
        rows, centres = self.data["numbers"], model.cluster_centers_
        return float(np.min([((rows - centre) ** 2).sum(axis=1) for centre in centres], axis=0).mean())

    def regression(self, price):
        d = self.data
        model = DPLinearRegression(**price, bounds=(-1, 1), target_bounds=(-1, 1)) if price else LinearRegression()
        model.fit(d["predictors"], d["level"])
        return lambda: model.score(d["predictors_test"], d["level_test"])

    def additive_regression(self, price):
        d = self.data
        model = DPAdditiveRegression(**price, bounds=(-1, 1), target_bounds=(-1, 1)).fit(d["predictors"], d["level"])
        return lambda: model.score(d["predictors_test"], d["level_test"])

    def forest_regression(self, price):
        d = self.data
        model = DPRandomForestRegressor(**price, bounds=(-1, 1), target_bounds=(-1, 1), examples=len(d["level"]))
        model.fit(d["predictors"], d["level"])
        return lambda: model.score(d["predictors_test"], d["level_test"])

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
        model = DPNaiveBayes(**price, **self.sides) if price else GaussianNB()
        model.fit(d["codes"], d["label"])
        return lambda: self.auc(model, d["codes_test"])

    def bayes_categories(self, price):
        d = self.data
        model = DPNaiveBayes(**price, **self.sides, categories=self.table.places)
        model.fit(d["codes"], d["label"])
        return lambda: self.auc(model, d["codes_test"])

    def trees(self, price):
        d = self.data
        model = DPBoostedTrees(**price, **self.sides, categories=self.table.places)
        model.fit(d["codes"], d["label"])
        return lambda: self.auc(model, d["codes_test"])

    def logistic(self, price):
        d = self.data
        if not price:
            model = LogisticRegression(max_iter=500).fit(d["wide"], d["label"])
            return lambda: self.auc(model, d["wide_test"])
        model = DPLinearClassifier(**price, **self.sides, features=self.table.wide).fit(d["codes"], d["label"])
        return lambda: self.auc(model, d["codes_test"])

    def net(self, price):
        d = self.data
        model = DPSGDClassifier(**price, **self.sides, features=self.table.wide).fit(d["codes"], d["label"])
        return lambda: self.auc(model, d["codes_test"])


# name, what is measured, whether less is better, has a plain twin, can be pure
CASES = (
    ("regression", "R2", False, True, True),
    ("additive_regression", "R2", False, False, True),
    ("forest_regression", "R2", False, False, True),
    ("pca", "variance kept", False, True, True),
    ("kmeans", "inertia", True, True, True),
    ("bayes", "AUC", False, True, True),
    ("bayes_categories", "AUC", False, False, True),
    ("logistic", "AUC", False, True, False),
    ("trees", "AUC", False, False, True),
    ("net", "AUC", False, False, False),
)


_SLOW = ("logistic", "net")  # searches for noise and compiling take longer than all else: not in --quick


def measured(work, price, runs: int) -> tuple[float, float, float]:
    """The median and the standard deviation of a figure over runs, and the least CPU seconds of a fit."""
    figures, spent = [], []
    for _ in range(runs):
        start = time.process_time()
        figure = work(price)
        spent.append(time.process_time() - start)
        figures.append(figure())
    return float(np.median(figures)), float(np.std(figures)), float(np.min(spent))


def rivals(report: Report, table: Table, data: dict[str, np.ndarray], epsilon: float, runs: int) -> dict:
    """The same figures by diffprivlib, whose prices are pure."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "job.npz"
        given = {**data, "upper": table.upper, "clusters": CLUSTERS}
        np.savez(path, **given, epsilon=epsilon, runs=runs)
        requirements = ["diffprivlib==0.6.*", "scikit-learn<1.6", "numpy<2.1"]
        return peer("diffprivlib", requirements, "learn_diffprivlib.py", str(path), report=report) or {}


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        runs={"type": int, "default": 10},
        only={
            "default": ",".join([*(case[0] for case in CASES), "tables", "descent"]),
            "help": "names of cases, with commas between",
        },
    )
    report = Report("learn_estimators", as_json=options.json)
    folder = options.data or (ENVIRONMENTS / "data" if (ENVIRONMENTS / "data" / "adult").exists() else None)
    known = (ADULT,) if options.quick or folder is None else (ADULT, LOANS)
    only = set(options.only.split(","))
    comparison = bool(only - {"tables", "descent"})
    if comparison:
        for table in known:
            compared(report, table, folder, options)
    if only & {"tables", "descent"}:
        large = [] if options.quick or folder is None else [whole(table, folder) for table in known]
        tables = [*small_tables()[: 1 if options.quick else None], *large]
        if "tables" in only:
            classify(report, tables, quick=options.quick, peers=not options.no_peers, runs=options.runs)
        if not options.quick:
            descend(report, tables, runs=options.runs)
    if not options.quick and comparison:
        images(report, folder)
    report.figure("whole benchmark", "memory", peak_megabytes(), "MB")


def whole(table: Table, folder: Path) -> Classes:
    """All rows of a table, for the comparison of classifiers."""
    columns = table.columns(folder)
    codes = np.column_stack([columns[name] for name in table.names]).astype(float)
    return Classes(table.name, codes, (columns[table.label] == 1).astype(np.int64), table.upper, table.places)


def compared(report: Report, table: Table, folder: Path | None, options) -> None:
    """All estimators on one table."""
    data = table.parts(folder)
    jobs = Jobs(table, data)
    runs = 2 if options.quick else options.runs
    plain = {}
    left_out = _SLOW if options.quick else ()
    cases = [case for case in CASES if case[0] in options.only.split(",") and case[0] not in left_out]
    for name, metric, _, twin, _ in cases:
        if twin:
            plain[name], _, seconds = measured(getattr(jobs, name), {}, 1)
            report.figure(f"{table.name}: {name}, not private", metric, plain[name], "")
            report.figure(f"{table.name}: {name}, not private", "fit", seconds, "CPU s")
    for epsilon in EPSILONS[-1:] if options.quick else EPSILONS:
        others = {} if options.no_peers or options.quick else rivals(report, table, data, epsilon, runs)
        for name, metric, less, _, can_be_pure in cases:
            prices = {"delta 1e-6": {"epsilon": epsilon, "delta": DELTA}}
            if can_be_pure:
                prices["pure"] = {"epsilon": epsilon}
            rival = others.get(name)
            for kind, price in prices.items():
                value, spread, seconds = measured(getattr(jobs, name), price, runs)
                case = f"{table.name}: {name}, epsilon {epsilon:g}, {kind}"
                goal = {}
                if rival is not None:
                    goal = {"at_most" if less else "at_least": rival["value"]}
                elif name == "trees" and epsilon == 1 and kind != "pure" and folder is not None and "logistic" in plain:
                    goal = {"at_least": plain["logistic"]}
                report.figure(case, metric, value, "", **goal)
                report.figure(case, "spread", spread, "")
                report.figure(case, "fit", seconds, "CPU s")
            if rival is not None:
                case = f"{table.name}: {name}, epsilon {epsilon:g}, diffprivlib"
                report.figure(case, metric, rival["value"], "")
                report.figure(case, "fit", rival["cpu"], "CPU s")


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
