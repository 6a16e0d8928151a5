"""Queries inside a level: what asking for kinds of people and for ages gains there, and what it costs elsewhere.

Kinds of people (8) and voting age (2) are the columns of 16 cells. The shares of levels are those of split="auto";
inside a level either cells and totals are asked, as it does, or the queries named. Laplace noise at epsilon, Gaussian
at rho. Blocks of Rhode Island, else a generated country.

python bench/hierarchy_queries.py [--quick] [--json] [--data FOLDER] [--draws N] [--prices epsilon=1,rho=0.5]
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes import bayes
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.measurement import Level, Margin, Measurement
from discreet.trees.queries import read_queries, share_queries
from discreet.trees.split import split
from discreet.trees.topdown import topdown
from harness import HERE, Report, arguments
from hierarchy_accuracy import generated, ri

COLUMNS = ("age", "kind")
ASKED = {
    "cells and totals": None,
    "kind 1, all 1": {"kind": 1, "all": 1},
    "total 1, kind 1, age 1, all 2": {"total": 1, "kind": 1, "age": 1, "all": 2},
}


def question(tree, shape, kind, price, queries) -> Measurement:
    """What is asked: levels with noise, no answers yet."""
    cells, noise_of = shape[0] * shape[1], Laplace.for_epsilon if kind == "epsilon" else Gaussian.for_rho
    shares, margins = split(tree, cells), {}
    if queries is not None:
        parts: dict[int, Fraction] = {}
        for (level, _), share in shares.items():
            parts[level] = parts.get(level, Fraction(0)) + share
        shares, margins = share_queries(read_queries(queries, tree, COLUMNS), parts, len(COLUMNS))
    levels = []
    for level, size in enumerate(tree.sizes):
        noise = {totals: noise_of(share * price) for (at, totals), share in shares.items() if at == level}
        zeros = np.zeros((size, cells), np.int64)
        levels.append(
            Level(
                zeros if False in noise else None,
                noise.get(False),
                zeros.sum(axis=1) if True in noise else None,
                noise.get(True),
                tuple(
                    Margin(axes, np.zeros((size, shape[axes[0]]), np.int64), noise_of(share * price))
                    for (at, axes), share in margins.items()
                    if at == level
                ),
            )
        )
    return Measurement(tree, tuple(levels), shape=shape)


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        draws={"type": int, "default": 0, "help": "draws of the noise"},
        prices={"help": "with commas: epsilon=0.1,rho=0.5"},
    )
    report = Report("hierarchy_queries", as_json=options.json)
    folder = options.data or HERE.parent / "data"
    real = (folder / "census-blocks-ri-2010").exists()
    tree, leaves = ri(folder) if real else generated(folder)
    shape, exact = (2, leaves.shape[1] // 2), tree.sums(leaves)
    views = {
        "totals": lambda table: table.sum(axis=1),
        "kinds": lambda table: table.reshape(len(table), *shape).sum(axis=1),
        "ages": lambda table: table.reshape(len(table), *shape).sum(axis=2),
        "cells": lambda table: table,
    }
    for text in (options.prices or ("epsilon=1" if options.quick else "epsilon=0.1,epsilon=1,rho=0.5")).split(","):
        kind, _, price = text.partition("=")
        for name, queries in ASKED.items():
            blank = question(tree, shape, kind, Fraction(price), queries)
            draws = range(options.draws or (1 if options.quick else 5))
            measured = [remeasure(blank, leaves, Replay(f"{text} {name} {draw}".encode())) for draw in draws]
            for method in (topdown, bayes):
                found = [method(one).counts for one in measured]
                case = f"{'Rhode Island' if real else 'generated'}, {text}, {method.__name__}: {name}"
                for what, view in views.items():
                    for level, label in list(enumerate(tree.names))[1:]:
                        errors = [np.abs(view(one[level]) - view(exact[level])).mean() for one in found]
                        report.figure(case, f"MAE {what} {label}", float(np.mean(errors)), "people")


if __name__ == "__main__":
    main()
