"""People with jobs whose names would be markup, and questions about them."""

from __future__ import annotations

import numpy as np
import pyarrow

from discreet import Boolean, Category, Integer, Real, Schema, Unit

EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(2)>"


SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 99, nullable=False),
        "sex": Category(["f", "m"], nullable=True),
        "works": Boolean(nullable=False),
        "pay": Real(0, 100_000, nullable=True),
        f"job {EVIL}": Category([EVIL, "VP", "a\"'&<b>", *(f"job {place}" for place in range(20))], nullable=False),
    },
    Unit(),
)


JOB = f"job {EVIL}"


ASKS = [
    "age >= 25 and sex = 'f'",
    f"age >= 25 and sex = 'f' and \"{JOB}\" = 'VP'",
    f"mean(pay) where age >= 25 and sex = 'f' and \"{JOB}\" = 'VP'",
    "mean(age) where works",
]


def table(rows: int = 3000, seed: int = 1) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    works = (age > 18) & (age < 66)
    return pyarrow.table(
        {
            "age": age,
            "sex": [None if one < 0.1 else "f" if one < 0.6 else "m" for one in rng.random(rows)],
            "works": works,
            "pay": np.where(works, rng.gamma(4, 8000, rows), 0).round(2),
            JOB: rng.choice(SCHEMA.columns[JOB].values, rows),
        }
    )
