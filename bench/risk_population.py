"""People alone in a population, estimated from samples of it: populations whose truth is known, made up and real.

python bench/risk_population.py [--quick] [--data FOLDER]

Prints two tables. For each population and part sampled, over several samples: how often a range was given, how often it
held the truth, the same for the bounds without a model, and how far off Dankar's rule is. Then the same over all. With
--data, ADULT and LOANS are populations, too, each by several sets of columns.
"""

from __future__ import annotations

import csv
import gzip
import time
from collections import Counter
from pathlib import Path

import numpy as np

from discreet.risk.population import estimate_population
from discreet.risk.records import CodedColumn, classes_of
from harness import arguments

SHARES = (0.01, 0.02, 0.05, 0.1, 0.3)
REAL = {
    "adult": (
        ("age", "sex", "race", "education-num", "marital-status"),
        ("age", "sex", "native-country"),
        ("age", "sex", "race", "occupation", "relationship", "hours-per-week"),
        ("age", "workclass", "education-num", "occupation", "hours-per-week", "native-country"),
    ),
    "loans": (
        ("addr_state", "emp_length", "home_ownership"),
        ("zip_code", "purpose", "grade"),
        ("zip_code", "emp_length", "home_ownership", "annual_inc"),
    ),
}


def made_up() -> dict[str, np.ndarray]:
    """The cell of each person, by law."""
    draw = np.random.default_rng(0)
    lognormal = np.exp(2 * draw.normal(size=20_000))
    mild = np.exp(draw.normal(size=20_000))
    slide = 1 + draw.negative_binomial(0.5, 0.1, 9000)
    gamma = draw.poisson(draw.gamma(0.3, 15, 12_000))
    lone = np.concatenate([np.arange(20_000), 20_000 + np.arange(30_000) // 20])
    households = np.repeat(np.arange(21_000), draw.choice([1, 2, 3, 4, 5], 21_000, p=[0.28, 0.35, 0.15, 0.13, 0.09]))
    return {
        "Zipf 1.5": draw.zipf(1.5, 50_000),
        "Zipf 2": draw.zipf(2.0, 50_000),
        "20,000 cells, lognormal 2": draw.choice(20_000, 50_000, p=lognormal / lognormal.sum()),
        "20,000 cells, lognormal 1": draw.choice(20_000, 50_000, p=mild / mild.sum()),
        "30,000 even cells": draw.integers(0, 30_000, 50_000),
        "slide negative binomial": np.repeat(np.arange(9000), slide),
        "Poisson-gamma": np.repeat(np.arange(12_000), gamma),
        "20,000 alone, the rest in twenties": lone,
        "households of 1 to 5": households,
        "pairs": np.arange(50_000) // 2,
    }


def real(folder: Path) -> dict[str, np.ndarray]:
    """The cell of each row of a data set, by columns."""
    found = {}
    for name, sets in REAL.items():
        with gzip.open(folder / name / f"{name}.csv.gz", "rt") as lines:
            rows = list(csv.DictReader(lines))
        for columns in sets:
            cells = np.unique(
                np.array([[int(row[one]) for one in columns] for row in rows]), axis=0, return_inverse=True
            )
            found[f"{name.upper()}: {', '.join(columns)}"] = np.ravel(cells[1])
    return found


def measure(name: str, cells: np.ndarray, samples: int, total: Counter) -> None:
    """One line for each part sampled."""
    cells = np.ravel(np.unique(cells, return_inverse=True)[1])
    truth = int((np.bincount(cells) == 1).sum())
    for share in SHARES:
        told = held = bound = given = 0
        off, last = [], "none"
        for seed in range(samples):
            pick = np.random.default_rng(seed).permutation(len(cells))[: int(share * len(cells))]
            start = time.process_time()
            found = estimate_population(classes_of([CodedColumn.of(cells[pick], "cell")]), len(cells))
            total["cpu"] += time.process_time() - start
            total["fits"] += 1
            if found.alone_range is not None:
                low, high = found.alone_range
                told, held, last = told + 1, held + (low <= truth <= high), f"{low:,.0f} - {high:,.0f}"
            if found.bounds is not None:
                given, bound = given + 1, bound + (found.bounds[0] <= truth <= found.bounds[1])
            if found.rule and truth:
                off.append(found.models[found.rule]["alone"] / truth)
        total.update(told=told, held=held, bounds=given, bound=bound)
        total.update(rules=len(off), near=sum(1 / 1.5 <= one <= 1.5 for one in off))
        rule = f"{np.median(off):.2f}" if off else "none"
        cells_shown = [name, f"{truth:,}", f"{share:.0%}", f"{told} of {samples}", f"{held} of {told}", last]
        print(f"| {' | '.join([*cells_shown, f'{bound} of {given}', rule])} |", flush=True)


def main() -> None:
    """Made-up populations, then real ones where their folder is named."""
    options = arguments(__doc__.splitlines()[0])
    samples, total = (2 if options.quick else 10), Counter()
    print("| population | alone | sample | a range | holds | the last | bounds hold | Dankar's rule / truth |")
    print("|---|---|---|---|---|---|---|---|")
    for name, cells in {**made_up(), **(real(options.data) if options.data else {})}.items():
        measure(name, cells, samples, total)
    print(
        f"\n{total['held']} of {total['told']} ranges and {total['bound']} of {total['bounds']} bounds hold the truth."
    )
    print(f"Dankar's rule is within a factor of 1.5 in {total['near']} of {total['rules']} samples.")
    print(f"{total['cpu'] / total['fits']:.3f} CPU s for an estimate.")


if __name__ == "__main__":
    main()
