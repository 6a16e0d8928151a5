"""A release beside what was published of the TopDown algorithm: same budget, same invariant, other places.

The 2020 Census' settings for redistricting data (levels, queries, shares, scale of the noise) are public, and so are
errors of a 2010 demonstration file in New Jersey. Here they stand beside releases of Rhode Island's blocks of 2010 with
the same noise: with the shares of these settings, and with ours. A generated country without --data.

python bench/hierarchy_published.py [--quick] [--json] [--data FOLDER] [--draws N]
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.mechanisms import Gaussian
from discreet.trees.bayes import bayes
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.measurement import Level, Margin, Measurement
from discreet.trees.rules import Rules
from discreet.trees.split import split
from discreet.trees.topdown import topdown
from harness import HERE, Report, arguments
from hierarchy_accuracy import generated, ri

# github.com/uscensusbureau/DAS_2020_Redistricting_Production_Code: person_default.ini (global_scale), person_US.ini
# (geolevel_budget_prop), strategy ProductionCandidate20210527US_mult8_add02_dsepJune3 (shares of queries).
SCALE = Fraction(339, 542)
RHO = 1 / (2 * SCALE**2)  # of adding or removing a person; of changing one, as their neighbours do, twice that: 2.56
LEVELS = {"nation": 104, "state": 1440, "county": 447, "tract": 687, "group": 1256, "block": 165}
TOTAL, KINDS, AGE, CELLS = "total", "kinds", "age", "cells"
QUERIES = {  # in order: total; race, Hispanic, both; voting age; voting age by either or both, detailed
    "state": {TOTAL: 3773, KINDS: 6 + 6 + 12, AGE: 6, CELLS: 12 + 6 + 34 + 230},
    "county": {TOTAL: 3126, KINDS: 10 + 10 + 28, AGE: 10, CELLS: 28 + 10 + 101 + 754},
    "tract": {TOTAL: 1567, KINDS: 8 + 5 + 1933, AGE: 5, CELLS: 20 + 5 + 67 + 482},
    "group": {TOTAL: 1705, KINDS: 3 + 3 + 1055, AGE: 3, CELLS: 9 + 3 + 24 + 1288},
    "block": {TOTAL: 5, KINDS: 9 + 5 + 21, AGE: 5, CELLS: 21 + 5 + 71 + 3945},
}
WHOLE = {"state": 4097, "county": 4097, "tract": 4102, "group": 4099, "block": 4097}
AXES = {AGE: (0,), KINDS: (1,)}

# 2010 DHC Demonstration Data (2022-08-25) against Summary File 1, New Jersey: regions, mean absolute error of totals.
# github.com/andrewswiniarski-hue/Census_Uncertainty_Analysis, notebooks/04-privacy-noise-das-demo.ipynb, cell 5.
NEW_JERSEY = {"county": (21, 1.714), "tract": (2010, 1.950), "group": (6320, 16.897), "block": (169588, 4.265)}


def settings(level: str) -> dict[str, Fraction]:
    """The part of the whole budget that each query of a level has in the published settings."""
    part = Fraction(LEVELS[level], sum(LEVELS.values()))
    return {name: part * Fraction(share, WHOLE[level]) for name, share in QUERIES[level].items()}


def ours(tree, cells) -> list[dict[str, Fraction]]:
    """The same, as `split="auto"` shares it among levels."""
    shares = split(tree, cells, kind="gaussian")
    named = {False: CELLS, True: TOTAL}
    return [{named[t]: share for (at, t), share in shares.items() if at == level} for level in range(tree.depth)]


def question(tree, shape, shares) -> Measurement:
    """What is asked: levels with noise, no answers yet."""
    cells, levels = shape[0] * shape[1], []
    for size, parts in zip(tree.sizes, shares, strict=True):
        noise = {name: Gaussian.for_rho(part * RHO) for name, part in parts.items()}
        margins = tuple(
            Margin(AXES[name], np.zeros((size, shape[AXES[name][0]]), np.int64), noise[name])
            for name in (AGE, KINDS)
            if name in noise
        )
        zeros = np.zeros((size, cells), np.int64)
        levels.append(Level(zeros, noise[CELLS], zeros.sum(axis=1), noise[TOTAL], margins))
    return Measurement(tree, tuple(levels), shape=shape)


def errors(report, case, tree, exact, shape, estimates):
    """Mean absolute error of every level: of totals, of kinds of people, of cells."""
    for name, true, *counts in zip(tree.names, exact, *(one.counts for one in estimates), strict=True):
        for what, taken in (
            ("totals", lambda table: table.sum(axis=1)),
            ("kinds", lambda table: table.reshape(len(table), *shape).sum(axis=1)),
            ("cells", lambda table: table),
        ):
            found = [np.abs(taken(one) - taken(true)).mean() for one in counts]
            report.figure(case, f"MAE {what} {name}", float(np.mean(found)), "people")


def main() -> None:
    options = arguments(__doc__.splitlines()[0], draws={"type": int, "default": 0, "help": "draws of the noise"})
    report = Report("hierarchy_published", as_json=options.json)
    for level, (regions, error) in NEW_JERSEY.items():
        report.figure("published: New Jersey, 2022-08-25", f"MAE totals {level}", error, f"people, {regions:,} regions")
        spread = float(SCALE) / float(settings(level)[TOTAL]) ** 0.5
        report.figure("published settings of 2020", f"noise on totals {level}", spread, "people, one deviation")
    folder = options.data or HERE.parent / "data"
    real = (folder / "census-blocks-ri-2010").exists()
    tree, leaves = ri(folder) if real else generated(folder)
    place, exact = "Rhode Island" if real else "a generated country", tree.sums(leaves)
    shape = (2, leaves.shape[1] // 2)
    report.note(f"{place}: {' > '.join(f'{n:,}' for n in tree.sizes)} regions, {leaves.shape[1]} cells")
    rules = Rules(totals={tree.names[0]: [int(leaves.sum())]})
    theirs = [settings({"all": "state"}.get(name, name)) for name in tree.names]
    for shares_of, shares in (("published shares", theirs), ("our shares", ours(tree, leaves.shape[1]))):
        blank = question(tree, shape, shares)
        draws = range(options.draws or (1 if options.quick else 5))
        measured = [remeasure(blank, leaves, Replay(f"{shares_of} {draw}".encode())) for draw in draws]
        for method in (topdown, bayes):
            case = f"{place}, {shares_of}, {method.__name__}"
            errors(report, case, tree, exact, shape, [method(one, rules) for one in measured])


if __name__ == "__main__":
    main()
