"""Releases that add up: error of every level by method, coverage of the intervals, bias, time.

Real data, if --data has it: voting districts of 49 states (16 cells) and the census blocks of Rhode Island. Else, and
for --quick without data, a generated country. Every method gets the same total epsilon.

python bench/hierarchy_accuracy.py [--quick] [--json] [--data FOLDER] [--only vtd,ri] [--methods bayes] [--errors]
"""

from __future__ import annotations

import csv
import gzip
import importlib
import time
from operator import attrgetter
from pathlib import Path

import numpy as np

from bias import bias
from discreet.mechanisms import Laplace
from discreet.trees.estimate import Estimate
from discreet.trees.intervals import with_each, with_typical
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.split import sparse_splits, split
from discreet.trees.topdown.rounding import spread
from discreet.trees.tree import Hierarchy
from harness import HERE, Report, arguments, peak_megabytes

ENOUGH = 200  # numbers from which on a mean error is more than luck
MANY = 1000  # and a coverage

# What a prototype reached on the same data (specification): MAE of totals and of cells, below the root.
PROTOTYPE = {
    ("vtd", 0.1, "topdown"): ((181, 155, 112), (40.1, 31.4, 17.9)),
    ("vtd", 0.1, "bayes"): ((115, 104, 86.5), (39.3, 25.7, 13.1)),
    ("vtd", 1.0, "topdown"): ((18.2, 16.4, 14.8), (4.01, 3.61, 2.76)),
    ("vtd", 1.0, "bayes"): ((11.7, 11.1, 9.95), (3.90, 3.53, 2.66)),
    ("ri", 0.1, "topdown"): ((239, 140, 102, 35.6), (46.9, 26.3, 17.2, 2.97)),
    ("ri", 0.1, "bayes"): ((160, 121, 91, 30.1), (43.0, 20.7, 12.3, 2.24)),
    ("ri", 1.0, "topdown"): ((25.0, 17.7, 15.3, 8.45), (5.00, 3.70, 3.09, 0.88)),
    ("ri", 1.0, "bayes"): ((16.8, 13.2, 12.5, 7.92), (4.50, 3.53, 2.79, 0.81)),
}
SLACK = 1.05  # chance: the prototype's figures come from other draws


def raw(measured, rules):
    """The noisy counts as they are: unbiased, negative, adding up to nothing."""
    return Estimate(measured.tree, tuple(level.counts for level in measured.levels))


def plain(measured, rules):
    """Top-down without least squares: every level fitted to its own noisy counts alone."""
    tree = measured.tree
    counts = [np.maximum(measured.levels[0].counts, 0)]
    for level in range(1, tree.depth):
        none = np.zeros((tree.sizes[level], measured.cells), np.int64)
        targets = measured.levels[level].counts
        counts.append(spread(tree, level - 1, counts[-1], targets, 1.0, none, none + 2**53))
    return Estimate(tree, tuple(counts))


def of_room(name):
    """A method of the library, or None if it is not there."""
    try:
        return getattr(importlib.import_module(f"discreet.trees.{name}"), name)
    except (ImportError, AttributeError):
        return None


# name: (method, how the price is split, whether it gives intervals)
METHODS = {
    "raw": (raw, "equal", False),
    "plain": (plain, "equal", False),
    "exact": (of_room("exact"), "equal", True),
    "topdown": (of_room("topdown"), "equal", True),
    "topdown, totals asked": (of_room("topdown"), "auto", True),
    "bayes": (of_room("bayes"), "auto", True),
}


def rows_of(path):
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))


def tree_of(columns, cells):
    """A tree and the leaves' counts in its order."""
    tree = Hierarchy.from_columns(columns)
    leaves = list(columns.values())[-1]
    place = {code: number for number, code in enumerate(leaves)}
    return tree, np.array(cells, np.int64)[[place[code] for code in tree.codes[-1]]]


def vtd(folder: Path):
    rows = rows_of(folder / "us_vtd_race_age_2020" / "us_vtd_race_age_2020.csv.gz")
    names = [name for name in rows[0] if name[:2] in ("a_", "c_")]
    county = [row["county"] for row in rows]
    district = [f"{row['county']}/{row['geoid']}/{number}" for number, row in enumerate(rows)]
    columns = {"state": [code[:2] for code in county], "county": county, "district": district}
    return tree_of(columns, [[int(row[name]) for name in names] for row in rows])


def ri(folder: Path):
    rows = rows_of(folder / "census-blocks-ri-2010" / "ri_2010_block.csv.gz")
    names = [name[4:] for name in rows[0] if name.startswith("vap_")]
    codes = [row["GEOID"] for row in rows]
    columns = {
        name: [code[:length] for code in codes]
        for name, length in (("county", 5), ("tract", 11), ("group", 12), ("block", 15))
    }
    adults = [[int(row[f"vap_{name}"]) for name in names] for row in rows]
    minors = [[int(row[f"pop_{name}"]) - int(row[f"vap_{name}"]) for name in names] for row in rows]
    return tree_of(columns, np.hstack([adults, minors]))


def generated(_folder: Path):
    """A small country: long-tailed regions, every third leaf empty, kinds of people unevenly mixed."""
    random = np.random.default_rng(11)
    size = 20_000
    columns = {
        "county": [f"{one // 4000:02}" for one in range(size)],
        "tract": [f"{one // 100:04}" for one in range(size)],
        "block": [f"{one:06}" for one in range(size)],
    }
    people = random.gamma(0.7, 70, size) * (random.random(size) < 0.7)
    base = np.array([30, 10, 8, 3, 2, 1, 0.3, 0.05] * 2)
    local = np.repeat(random.dirichlet(base / 4, 200), 100, axis=0)
    return tree_of(columns, random.poisson(people[:, None] * local))


SETS = {"vtd": vtd, "ri": ri, "made": generated}


def questions(tree, cells, epsilon, how, mean=float("inf")):
    """What is asked: levels with noise, no answers yet. `mean` is that of a leaf's cell: the root's total tells it."""
    shares = split(tree, cells, how)
    deviation = Laplace.for_epsilon(shares[tree.depth - 1, False] * epsilon).variance ** 0.5
    others = sparse_splits(tree, cells, how, None)
    shares = next((other for limit, other in others if mean < limit * deviation), shares)
    levels = []
    for level, size in enumerate(tree.sizes):
        own, totals = shares.get((level, False)), shares.get((level, True))
        levels.append(
            Level(
                None if own is None else np.zeros((size, cells), np.int64),
                None if own is None else Laplace.for_epsilon(own * epsilon),
                None if totals is None else np.zeros(size, np.int64),
                None if totals is None else Laplace.for_epsilon(totals * epsilon),
            )
        )
    return Measurement(tree, tuple(levels), pooled=True)


def errors(report, case, tree, exact, estimates, target):
    """Mean absolute error of every level below the root, and of the root."""
    for kind, place in (("totals", 0), ("cells", 1)):
        for level, name in enumerate(tree.names):
            found = []
            for estimate in estimates:
                counts, true = estimate.counts[level], exact[level]
                off = counts - true if kind == "cells" else counts.sum(axis=1) - true.sum(axis=1)
                found.append(np.abs(off).mean())
            goal = {}
            if target and level and tree.sizes[level] >= ENOUGH:
                goal = {"at_most": round(target[place][level - 1] * SLACK, 3)}
            report.figure(case, f"MAE {kind} {name}", float(np.mean(found)), "people", **goal)


GOALS = {"each": (0.94, 0.97), "typical": (0.93, 0.97)}  # coverage in every class of true sizes
SIZES = ((0, 0), (1, 9), (10, 99), (100, 999), (1000, 10**12))


def coverage(report, case, tree, exact, estimates, kind_of):
    """How many true numbers lie in their intervals of a kind: by level, and by published and true size."""
    goals, ends = GOALS[kind_of], attrgetter(kind_of)
    for level, name in enumerate(tree.names):
        true = exact[level]
        for kind, truth, parts in (
            ("cells", true, [(e.counts[level], ends(e).lower[level], ends(e).upper[level]) for e in estimates]),
            (
                "totals",
                true.sum(axis=1),
                [(e.totals[level], ends(e).total_lower[level], ends(e).total_upper[level]) for e in estimates],
            ),
        ):
            inside = np.array([(low <= truth) & (truth <= high) for _, low, high in parts])
            mean = float(inside.mean())
            report.figure(case, f"coverage {kind} {name}", mean, f"of {inside.size:,}")
            width = float(np.mean([(high - low).mean() for _, low, high in parts]))
            report.figure(case, f"  mean width {kind} {name}", width, "people")
            published = np.array([counts for counts, _, _ in parts])
            for label, size in (("published", published), ("true", np.broadcast_to(truth, inside.shape))):
                for least, most in SIZES:
                    part = inside[(size >= least) & (size <= most)]
                    if part.size >= ENOUGH:
                        text = f"  {label} {least}" + (f" to {most}" if least < most < 10**9 else "")
                        text += " and more" if most >= 10**9 else ""
                        found, of = float(part.mean()), f"of {part.size:,} {kind} {name}"
                        goal = {}
                        if label == "true" and part.size >= MANY:
                            goal = {"at_most": goals[1]} if found > 0.95 else {"at_least": goals[0]}
                        report.figure(case, text, found, of, **goal)


def biases(report, case, estimate, measured):
    for row in bias(estimate, measured):
        if row.what == "totals":
            text = f"bias totals {row.level}"
            error = "" if np.isnan(row.standard_error) else f" (standard error {row.standard_error:.3g})"
            report.figure(case, text, row.mean, f"people{error}")


def run(report, data, folder, epsilons, draws, wanted, *, intervals_too=True):
    tree, leaves = SETS[data](folder)
    exact, cells = tree.sums(leaves), leaves.shape[1]
    report.note(f"{data}: {' > '.join(f'{n:,}' for n in tree.sizes)} regions, {cells} cells, {leaves.sum():,} people")
    for epsilon in epsilons:
        for name, (method, how, intervals) in METHODS.items():
            if method is None or (wanted and name.split(",")[0] not in wanted):
                continue
            case = f"{data}, epsilon {epsilon:g}, {name}"
            blank = questions(tree, cells, epsilon, how, leaves.mean())
            draws_of = [remeasure(blank, leaves, Replay(f"{data} {epsilon} {draw}".encode())) for draw in range(draws)]
            estimates, seconds = [], []
            for measured in draws_of:
                start = time.process_time()
                estimates.append(method(measured, Rules()))
                seconds.append(time.process_time() - start)
            errors(report, case, tree, exact, estimates, PROTOTYPE.get((data, epsilon, name)))
            report.figure(case, "method", min(seconds), "CPU s")
            if intervals and intervals_too:
                start = time.process_time()
                pairs = zip(estimates, draws_of, strict=True)
                part = name != "exact"  # which is tried out on whole trees
                found = [with_typical(e, measured, Rules(), method, sampled=part) for e, measured in pairs]
                report.figure(case, "intervals", (time.process_time() - start) / draws, "CPU s")
                pairs = zip(found, draws_of, strict=True)
                found = [with_each(estimate, measured, Rules(), 0.95) for estimate, measured in pairs]
                for kind in GOALS:
                    coverage(report, f"{case}, {kind}", tree, exact, found, kind)
                biases(report, case, found[-1], draws_of[-1])
            report.figure(case, "peak memory so far", peak_megabytes(), "MB")


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        only={"help": "data sets, with commas: vtd, ri, made"},
        methods={"help": "methods, with commas"},
        epsilons={"help": "epsilons, with commas: 0.1,0.5,1"},
        draws={"type": int, "default": 0, "help": "draws of the noise for each case"},
        errors={"action": "store_true", "help": "errors of estimates alone, without intervals"},
    )
    report = Report("hierarchy_accuracy", as_json=options.json)
    folder = options.data or HERE.parent / "data"
    wanted = options.methods.split(",") if options.methods else []
    present = [
        name
        for name, part in (("vtd", "us_vtd_race_age_2020"), ("ri", "census-blocks-ri-2010"))
        if (folder / part).exists()
    ]
    chosen = options.only.split(",") if options.only else (present or ["made"])
    if options.quick and not options.only:
        chosen = ["ri" if "ri" in present else "made"]
    epsilons = [float(one) for one in options.epsilons.split(",")] if options.epsilons else [0.1, 0.5, 1.0]
    for name in chosen:
        draws = options.draws or (1 if options.quick else 2 if name == "vtd" else 6)
        chosen_epsilons = (0.1, 1.0) if options.quick else epsilons
        run(report, name, folder, chosen_epsilons, draws, wanted, intervals_too=not options.errors)


if __name__ == "__main__":
    main()
