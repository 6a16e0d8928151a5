"""The tables of the synthesis benchmarks, what is asked of them, and how far made rows are off."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Attribute, Domain
from discreet.query.key import Key


@dataclass(frozen=True)
class Source:
    """Where a table lies in the data folder, which columns have an order (the files do not say), what is predicted.

    `target` is a column and the least code that counts as a yes; without one no AUC is measured.
    """

    folder: str
    unordered: frozenset[str] = frozenset()
    ordered: frozenset[str] = frozenset()
    target: tuple[str, int] | None = None


def _names(text: str) -> frozenset[str]:
    return frozenset(one.strip() for one in text.split(","))


# Which of them methods were tuned on, and which are held out, stands in docs/benchmarks/synth.md.
SOURCES = {
    "adult": Source(
        "adult",
        unordered=_names(
            "workclass, marital-status, occupation, relationship, race, sex, native-country, income>50K",
        ),
        target=("income>50K", 1),
    ),
    "loans": Source(
        "loans",
        unordered=_names(
            "term, home_ownership, verification_status, loan_status, purpose, zip_code, addr_state,"
            "debt_settlement_flag, settlement_status",
        ),
        target=("loan_status", 1),
    ),
    "salary": Source(
        "nist-bench",
        unordered=_names("pay-rate, system, organization-name, first-name"),
        target=("overtime-earning", 1),
    ),
    "nist-taxi": Source(
        "taxi-chicago",
        unordered=_names("company_id, pickup_community_area, dropoff_community_area, payment_type"),
        target=("tips", 2),
    ),
    "titanic": Source("nist-bench", unordered=_names("Sex, Cabin, Embarked, Survived"), target=("Pclass", 2)),
    "stroke": Source(
        "nist-bench",
        ordered=_names(
            "AGE, RSBP, RDELAY, RDATE, HOURLOCAL, MINLOCAL, EXPD6, EXPD14, EXPDD, ONDRUG, TD, FLASTD, FU1_COMP,"
            "DALIVED, DDEADD, DMAJNCHD, DPED, DRSHD, DRSISCD, DRSUNKD, DSIDED, FDEADD",
        ),
        target=("RCONSC", 1),
    ),
    "fire": Source(
        "nist-bench",
        ordered=_names(
            "Call Date, Watch Date, Available DtTm, Dispatch DtTm, Entry DtTm, Hospital DtTm, On Scene DtTm,"
            "Received DtTm, Response DtTm, Transport DtTm, Location - Lat, Location - Lng, Number of Alarms,"
            "Unit sequence in call dispatch",
        ),
        target=("ALS Unit", 1),
    ),
    "msnbc": Source("nist-bench", ordered=_names("none of them"), target=("site_1", 1)),
}
SIZES = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)  # ADULT's, for a table made up
CELLS = 1_000_000  # a marginal of the workload has at most so many, and at most as many as there are rows


@functools.cache
def table(folder: Path | None, name: str) -> tuple[Domain, np.ndarray]:
    """A table as codes; made up where there is none of that name."""
    source = SOURCES.get(name)
    if folder is None or source is None or not (folder / source.folder / f"{name}-domain.json").exists():
        return invented()
    sizes = json.loads((folder / source.folder / f"{name}-domain.json").read_text())
    with gzip.open(folder / source.folder / f"{name}.csv.gz", "rt") as file:
        names = next(file).strip().split(",")
        # The domain's order, in which published workloads are drawn; the files of some tables have another.
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64, usecols=[names.index(name) for name in sizes])
    unordered = source.unordered if not source.ordered else frozenset(sizes) - source.ordered
    return domain_of(sizes, unordered), codes


def invented(rows: int = 48_842, sizes: tuple[int, ...] = SIZES) -> tuple[Domain, np.ndarray]:
    """Columns of ADULT's sizes, each of which leans on the one before."""
    chance = np.random.default_rng(11)
    codes = np.zeros((rows, len(sizes)), dtype=np.int64)
    before = chance.random(rows)
    for column, size in enumerate(sizes):
        before = np.clip(0.7 * before + 0.3 * chance.random(rows) ** 3, 0, 1 - 1e-9)
        codes[:, column] = before * size
    return domain_of({f"c{column}": size for column, size in enumerate(sizes)}, frozenset()), codes


def domain_of(sizes: dict[str, int], unordered: frozenset[str]) -> Domain:
    return Domain(
        tuple(Attribute(one, Key(one), tuple(range(size)), one not in unordered, False) for one, size in sizes.items())
    )


def workload(domain: Domain, rows: int, columns: int) -> list[tuple[int, ...]]:
    """64 random marginals of so many columns, none with more cells than there are rows; of two columns all such."""
    fit = min(rows, CELLS)
    if columns == 2:
        return [one for one in itertools.combinations(range(len(domain)), 2) if domain.cells(one) <= fit]
    if len(domain) > 50 and columns > 3:  # 110 columns have 122 million fives: draw columns instead of listing them
        chance = np.random.RandomState(0)
        found: dict[tuple[int, ...], None] = {}
        while len(found) < 64:
            one = tuple(sorted(chance.choice(len(domain), columns, replace=False).tolist()))
            if domain.cells(one) <= fit:
                found[one] = None
        return list(found)
    every = [one for one in itertools.combinations(range(len(domain)), columns) if domain.cells(one) <= fit]
    if len(every) <= 64:
        return every
    return [every[place] for place in np.random.RandomState(0).choice(len(every), 64, replace=False)]


def rho_for(epsilon: float, rows: int) -> Fraction:
    """The zCDP that (epsilon, 1/rows^2) allows."""
    low, high = 0.0, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        enough = epsilon_of_zcdp(Fraction(middle), Fraction(1, rows**2)) <= Fraction(epsilon)
        low, high = (middle, high) if enough else (low, middle)
    return Fraction(low)


def errors(domain: Domain, codes: np.ndarray, made: np.ndarray, marginals: list) -> tuple[float, float]:
    """The largest error of a cell, and the mean over marginals of half the L1 distance, as parts of all rows."""
    true, found = ArrayCounts(domain, codes), ArrayCounts(domain, made)
    most, halves = 0.0, []
    for columns in marginals:
        off = np.abs(true.marginal(columns) / len(codes) - found.marginal(columns) / max(len(made), 1))
        most = max(most, float(off.max()))
        halves.append(float(off.sum()) / 2)
    return most, float(np.mean(halves))


LEARNT = 50_000  # rows a classifier is trained on, at most; as many are tested


def auc(name: str, domain: Domain, codes: np.ndarray, made: np.ndarray | None) -> float | None:
    """Gradient boosting trained on made rows (on real ones: None), tested on a fifth of the real rows.

    None without scikit-learn, without a target, or where all that was made has one answer. The rows were made from the
    whole table, the fifth included: what privacy costs is all that kept the made rows from leaning on it.
    """
    source = SOURCES.get(name)
    names = [one.name for one in domain.attributes]
    if source is None or source.target is None or source.target[0] not in names:
        return None
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.metrics import roc_auc_score
    except ImportError:
        return None
    place = names.index(source.target[0])
    order = np.random.default_rng(5).permutation(len(codes))
    tested, learnt = codes[order[: len(codes) // 5]][:LEARNT], codes[order[len(codes) // 5 :]]
    learnt = (learnt if made is None else made[np.random.default_rng(6).permutation(len(made))])[:LEARNT]
    known = [column for column in range(len(domain)) if column != place]
    answers = learnt[:, place] >= source.target[1]
    if answers.all() or not answers.any():
        return None
    model = HistGradientBoostingClassifier(random_state=0).fit(learnt[:, known], answers)
    return float(roc_auc_score(tested[:, place] >= source.target[1], model.predict_proba(tested[:, known])[:, 1]))
