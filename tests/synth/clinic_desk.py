"""Patients and their visits, made up by a known law: how many, to which ward, how long after the one before."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

import discreet
from discreet import Budget, Category, Date, Integer, Real, Schema, Unit
from discreet.curator import Curator

WARDS = ("day", "surgery", "care")
MOVES = np.array([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])
"""To which ward a patient goes next, from each."""
FIRST = {"young": (0.7, 0.2, 0.1), "old": (0.2, 0.4, 0.4)}
MEANS = (15, 15, 5)
"""Days until the next visit, by the ward that it is to."""
SCHEMA = Schema(
    "clinic",
    {
        "age": Integer(0, 99, nullable=False),
        "sex": Category(["f", "m"], nullable=True),
        "ward": Category(list(WARDS), nullable=False),
        "day": Date("2024-01-01", "2025-12-31", nullable=False),
        "cost": Real(0, 2000, nullable=True),
    },
    Unit("patient", groups=6, rows=1),
)


def visits(patients: int, seed: int = 1) -> pyarrow.Table:
    """Of the young 1 to 3 visits, of the old 3 to 8."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for place in range(patients):
        age, sex = int(rng.integers(0, 100)), (None, "f", "m")[int(rng.choice(3, p=[0.1, 0.5, 0.4]))]
        many = int(rng.integers(3, 9)) if age >= 60 else int(rng.integers(1, 4))
        ward = int(rng.choice(3, p=FIRST["old" if age >= 60 else "young"]))
        day = date(2024, 1, 1) + timedelta(int(rng.integers(0, 365)))
        for _ in range(many):
            cost = None if rng.random() < 0.05 else round(float(rng.gamma(4, 20 * (1 + 2 * ward))), 2)
            rows.append((f"p{place}", age, sex, WARDS[ward], day, cost))
            ward = int(rng.choice(3, p=MOVES[ward]))
            day += timedelta(int(rng.geometric(1 / MEANS[ward])))
    rng.shuffle(rows)
    names = ("patient", "age", "sex", "ward", "day", "cost")
    return pyarrow.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


def clinic(folder: Path, patients: int = 4000, schema: Schema = SCHEMA, **budget: Any) -> Curator:
    """A curator of the visits."""
    return discreet.open(
        visits(patients),
        schema,
        ledger=folder / "books.db",
        budget=Budget(**(budget or {"epsilon": 1000})),
        who="ann",
        create=True,
    )


def sequences(children: pyarrow.Table) -> dict[Any, list[dict[str, Any]]]:
    """The visits of every patient, as they stand in the table."""
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in children.to_pylist():
        found[row["patient"]].append(row)
    return found


def transitions(children: pyarrow.Table) -> np.ndarray:
    """Shares of wards after each ward."""
    table = np.zeros((3, 3))
    for rows in sequences(children).values():
        for one, two in pairwise(rows):
            table[WARDS.index(one["ward"]), WARDS.index(two["ward"])] += 1
    return table / table.sum(axis=1, keepdims=True)


def mean_gap(children: pyarrow.Table, ward: str | None = None) -> float:
    """Days between visits, to a ward or to any."""
    gaps = [
        (two["day"] - one["day"]).days
        for rows in sequences(children).values()
        for one, two in pairwise(rows)
        if ward in (None, two["ward"])
    ]
    return float(np.mean(gaps))
