"""People alone in a population, estimated from samples of it: made-up populations and ADULT. Prints a table."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from discreet.risk.population import estimate_population
from discreet.risk.records import CodedColumn, classes_of

ADULT = {
    "age, sex, race, education, marital status": ["age", "sex", "race", "education-num", "marital-status"],
    "age, sex, native country": ["age", "sex", "native-country"],
    "age, sex, race, occupation, relationship, hours": [
        "age",
        "sex",
        "race",
        "occupation",
        "relationship",
        "hours-per-week",
    ],
}


def measure(name: str, cells: np.ndarray) -> None:
    """One line: the truth, and the range from samples of 1, 5 and 10%."""
    draw = np.random.default_rng(5)
    told = [f"{int((np.unique(cells, return_counts=True)[1] == 1).sum()):,}"]
    for share in (0.01, 0.05, 0.1):
        pick = draw.permutation(len(cells))[: int(share * len(cells))]
        found = estimate_population(classes_of([CodedColumn.of(cells[pick], "cell")]), len(cells)).alone_range
        told.append("none" if found is None else f"{found[0]:,.0f} - {found[1]:,.0f}")
    print(f"| {name} | " + " | ".join(told) + " |", flush=True)


def main() -> None:
    """Made-up populations, then ADULT if its CSV is named on the command line."""
    draw = np.random.default_rng(0)
    measure("made up: Zipf 1.5", draw.zipf(1.5, 50_000))
    weights = np.exp(2 * draw.normal(size=20_000))
    measure("made up: 20,000 cells, lognormal", draw.choice(20_000, 50_000, p=weights / weights.sum()))
    measure("made up: 30,000 even cells", draw.integers(0, 30_000, 50_000))
    if len(sys.argv) > 1:
        import pandas

        table = pandas.read_csv(Path(sys.argv[1]))
        for name, columns in ADULT.items():
            measure(f"ADULT: {name}", table.groupby(columns).ngroup().to_numpy())


if __name__ == "__main__":
    main()
