"""A published experiment on sizes of groups: four mechanisms at three epsilons, error at each of three levels.

python bench/hierarchy_paper.py [--quick] [--json] [--data FOLDER] [--runs N]

Noise is ours: discrete Laplace, scale 2L/epsilon for groups of exactly s members and L/epsilon for groups of at least s
(L = 3 levels). The error of a level is the sum of |published - true| over its regions and sizes, in thousands of groups
of exactly s members. CV counts broken promises: numbers that are not the sum of their parts, negative numbers, and
groups of at least s that are fewer than those of at least s + 1.
"""

from __future__ import annotations

import csv
import gzip
import time
from itertools import product
from pathlib import Path

import numpy as np

from discreet.mechanisms import Laplace
from discreet.trees.bayes.solve import bayes
from discreet.trees.chain.isotonic import isotonic
from discreet.trees.chain.solve import at_least, exact_chain, exactly, relaxed_chain, sizes, topdown_chain
from discreet.trees.estimate import Estimate
from discreet.trees.exact.solve import exact
from discreet.trees.measurement import Level, Measurement
from discreet.trees.relaxed import relaxed, violations
from discreet.trees.rules import Rules
from discreet.trees.topdown.solve import topdown
from discreet.trees.tree import Hierarchy
from harness import ENVIRONMENTS, Report, arguments, peak_megabytes

EPSILONS = ("0.1", "0.5", "1")
LARGEST_BLOCK = 1_000

# Error at levels 1, 2 and 3 and number of violated constraints, as published. Units were not stated.
PUBLISHED = {
    ("taxi", "0.1", "M_H^r"): (25.4, 158.7, 904.4, 18206),
    ("taxi", "0.1", "M_H^dp"): (26.6, 121.9, 915.7, 0),
    ("taxi", "0.1", "M_c^r"): (47.9, 153.2, 551.6, 19460),
    ("taxi", "0.1", "M_c^dp"): (19.9, 65.6, 644.3, 0),
    ("taxi", "0.5", "M_H^r"): (8.6, 81.2, 364.2, 18591),
    ("taxi", "0.5", "M_H^dp"): (5.5, 31.0, 408.9, 0),
    ("taxi", "0.5", "M_c^r"): (46.7, 153.5, 450.7, 19531),
    ("taxi", "0.5", "M_c^dp"): (4.0, 16.4, 352.9, 0),
    ("taxi", "1", "M_H^r"): (7.7, 77.2, 279.0, 18085),
    ("taxi", "1", "M_H^dp"): (3.1, 19.8, 328.5, 0),
    ("taxi", "1", "M_c^r"): (47.1, 154.2, 447.1, 19706),
    ("taxi", "1", "M_c^dp"): (2.0, 8.7, 307.8, 0),
    ("census", "0.1", "M_H^r"): (40.3, 54.3, 802.1, 1966),
    ("census", "0.1", "M_H^dp"): (10.3, 38.4, 825.4, 0),
    ("census", "0.1", "M_c^r"): (23.1, 64.5, 632.2, 1715),
    ("census", "0.1", "M_c^dp"): (0.9, 23.2, 550.6, 0),
    ("census", "0.5", "M_H^r"): (39.4, 37.9, 216.3, 1990),
    ("census", "0.5", "M_H^dp"): (2.4, 9.4, 230.8, 0),
    ("census", "0.5", "M_c^r"): (23.1, 61.0, 494.2, 1718),
    ("census", "0.5", "M_c^dp"): (0.2, 5.8, 159.1, 0),
    ("census", "1", "M_H^r"): (40.7, 39.2, 130.0, 1989),
    ("census", "1", "M_H^dp"): (1.2, 5.1, 128.8, 0),
    ("census", "1", "M_c^r"): (24.1, 63.0, 494.5, 1728),
    ("census", "1", "M_c^dp"): (0.1, 3.2, 91.0, 0),
}


def taxi(folder: Path) -> tuple[Hierarchy, np.ndarray]:
    """Manhattan, its two parts, 28 neighbourhoods: how many groups of s pickups, s from 1 to 4,919."""
    counts = np.zeros((28, 4919), np.int64)
    towns = {}
    with gzip.open(folder / "nyc_taxi_groupsizes" / "nyc_taxi_groupsizes.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            counts[int(row["region"]), int(row["size"]) - 1] += int(row["groups"])
            towns[int(row["region"])] = row["town"]
    tree = Hierarchy.from_columns({"town": [towns[i] for i in range(28)], "hood": [f"{i:02d}" for i in range(28)]})
    return tree, counts[[int(code) for code in tree.codes[-1]]]


def census(folder: Path) -> tuple[Hierarchy, np.ndarray]:
    """Rhode Island, its 5 counties, its 244 tracts. A group is a census block that has people, its size their number.

    Blocks of more than LARGEST_BLOCK people are counted as of that size: a limit set beforehand, not read off the data.
    """
    tracts, people = [], []
    with gzip.open(folder / "census-blocks-ri-2010" / "ri_2010_block.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            tracts.append(row["GEOID"][:11])
            people.append(int(row["pop"]))
    tree = Hierarchy.from_prefixes(sorted(set(tracts)), {"county": 5, "tract": 11})
    places = {code: i for i, code in enumerate(tree.codes[-1])}
    counts = np.zeros((tree.leaves, LARGEST_BLOCK), np.int64)
    for tract, size in zip(tracts, people, strict=True):
        if size:
            counts[places[tract], min(size, LARGEST_BLOCK) - 1] += 1
    return tree, counts


def invented() -> tuple[Hierarchy, np.ndarray]:
    """Where there are no data: 24 regions in 3, groups whose sizes fall off."""
    chance = np.random.default_rng(7)
    tree = Hierarchy.from_columns({"town": [str(i // 8) for i in range(24)], "hood": [f"{i:02d}" for i in range(24)]})
    return tree, chance.poisson(40 * 0.97 ** np.arange(200), (24, 200))


def asked(tree: Hierarchy, leaves: np.ndarray, noise: Laplace, *, chain: bool) -> Measurement:
    """Noisy counts of all levels."""
    levels = (Level(noise.release(x.ravel()).reshape(x.shape), noise) for x in tree.sums(leaves))
    return Measurement(tree, tuple(levels), chain)


def pooled(measured: Measurement, rules: Rules) -> Estimate:
    """Order restored in each region by itself, then the optimum on groups of exactly s: two exact steps, not one."""
    levels = []
    for level in measured.levels:
        rows = [isotonic(row, lower=[0] * measured.cells) for row in level.counts.tolist()]
        levels.append(Level(exactly(np.array(rows)), level.noise))
    return exact(Measurement(measured.tree, tuple(levels)), rules)


MECHANISMS = {  # name: (whether it asks for groups of at least s, what it makes of the noisy answers)
    "M_H^r": (False, relaxed),
    "M_H^dp": (False, exact),
    "M_c^r": (True, relaxed_chain),
    "M_c^dp": (True, exact_chain),
    "plain, topdown": (False, topdown),
    "plain, bayes": (False, bayes),
    "ordered, pooled, exact": (True, pooled),
    "ordered, topdown": (True, topdown_chain),
}


def broken(tree: Hierarchy, estimate: Estimate, *, chain: bool) -> int:
    rises = sum(int((np.diff(level, axis=1) > 0).sum()) for level in estimate.counts) if chain else 0
    return violations(tree, estimate.counts) + rises


def experiment(report: Report, data: str, tree: Hierarchy, leaves: np.ndarray, runs: int, *, quick: bool) -> dict:
    """Every mechanism at every epsilon, `runs` times, the number of all groups public or not: errors, CV, CPU time."""
    true = tree.sums(leaves)
    known = {"": Rules(), ", G public": Rules(totals={tree.names[0]: [int(leaves.sum())]})}
    found: dict = {}
    for epsilon, run in product(EPSILONS[::2] if quick else EPSILONS, range(runs)):
        noisy = {
            False: asked(tree, leaves, Laplace.for_epsilon(epsilon, 2 * tree.depth), chain=False),
            True: asked(tree, at_least(leaves), Laplace.for_epsilon(epsilon, tree.depth), chain=True),
        }
        for (public, rules), (name, (chain, method)) in product(known.items(), MECHANISMS.items()):
            if (method is bayes and (quick or public or run)) or (method is pooled and public):
                continue  # bayes takes half a minute here and has no totals to work with: once is enough
            start = time.process_time()
            estimate = method(noisy[chain], rules)
            spent = time.process_time() - start
            ordered = chain and method is not pooled
            groups = sizes(estimate) if ordered else estimate
            pairs = list(zip(groups.counts, true, strict=True))
            errors = [float(abs(a - b).sum()) / 1000 for a, b in pairs]
            tails = [float(abs(at_least(a) - at_least(b)).sum()) / 1000 for a, b in pairs]
            row = (*errors, broken(tree, estimate, chain=ordered), spent, *tails)
            found.setdefault((epsilon, name + public), []).append(row)
        report.note(f"{data}, epsilon {epsilon}: run {run + 1} of {runs}")
    return {key: np.array(rows) for key, rows in found.items()}


def table(report: Report, data: str, found: dict, depth: int) -> None:
    """The figures, and the published ones beside them for people."""
    lines = ["| epsilon | mechanism | L1 / L2 / L3 | CV | CPU s | published | L1 / L2 / L3 of groups of at least s |"]
    lines.append("|---|---|---|---|---|---|---|")
    for (epsilon, name), rows in found.items():
        means = rows.mean(axis=0).tolist()
        case = f"{data}, epsilon {epsilon}, {name}"
        for level in range(depth):
            report.figure(case, f"error of level {level + 1}", means[level], "thousand groups")
        promises = {} if "^r" in name else {"at_most": 0}
        report.figure(case, "broken promises", means[depth], "", **promises)
        report.figure(case, "CPU time", means[depth + 1], "s")
        theirs = PUBLISHED.get((data, epsilon, name.removesuffix(", G public")))
        said = "" if theirs is None else f"{theirs[0]} / {theirs[1]} / {theirs[2]}, {theirs[3]}"
        levels = " / ".join(f"{x:.1f}" for x in means[:depth])
        tails = " / ".join(f"{x:.1f}" for x in means[depth + 2 :])
        row = (epsilon, name, levels, f"{means[depth]:,.0f}", f"{means[depth + 1]:.2f}", said, tails)
        lines.append("| " + " | ".join(row) + " |")
    report.note("\n".join(lines))


def shapes(report: Report, data: str, found: dict, depth: int) -> None:
    """What the published table says in words, as ratios of ours: M_c^dp is the best of the four at upper levels."""
    for epsilon, public in product(dict.fromkeys(epsilon for epsilon, _ in found), ("", ", G public")):
        ours = {
            name: found[epsilon, name + public].mean(axis=0).tolist() for name in ("M_H^r", "M_H^dp", "M_c^r", "M_c^dp")
        }
        case = f"{data}, epsilon {epsilon}{public}"
        for level in range(depth):
            others = min(ours[name][level] for name in ("M_H^r", "M_H^dp", "M_c^r"))
            target = {"at_most": 1} if level < 2 and data != "invented" else {}
            report.figure(
                case, f"M_c^dp / best other, level {level + 1}", ours["M_c^dp"][level] / others, "x", **target
            )
        report.figure(case, "CPU, M_H^r / M_H^dp", ours["M_H^r"][depth + 1] / ours["M_H^dp"][depth + 1], "x")
        report.figure(case, "CPU, M_c^r / M_c^dp", ours["M_c^r"][depth + 1] / ours["M_c^dp"][depth + 1], "x")


def units(report: Report, data: str, found: dict, depth: int) -> None:
    """Published figure / ours for the two exact mechanisms: if only the unit differed, all would be the same."""
    for name, public, level in product(("M_H^dp", "M_c^dp"), ("", ", G public"), range(depth)):
        for epsilon in dict.fromkeys(epsilon for epsilon, _ in found):
            ours = float(found[epsilon, name + public].mean(axis=0)[level])
            ratio = PUBLISHED[data, epsilon, name][level] / ours
            report.figure(
                f"{data}, {name}{public}, epsilon {epsilon}", f"published / ours, level {level + 1}", ratio, "x"
            )


def main() -> None:
    options = arguments(__doc__.splitlines()[0], runs={"type": int, "help": "runs to average (5; 1 with --quick)"})
    report = Report("hierarchy_paper", as_json=options.json)
    runs = options.runs or (1 if options.quick else 5)
    folder = options.data or ENVIRONMENTS / "data"
    sources = {}
    for name, read in (("taxi", taxi), ("census", census)):
        try:
            sources[name] = read(folder)
        except FileNotFoundError as problem:
            report.note(f"{name}: no data ({problem.filename}); see --data")
    if not sources:
        sources["invented"] = invented()
    for name, (tree, leaves) in sources.items():
        if options.quick and name == "census":
            continue
        found = experiment(report, name, tree, leaves, runs, quick=options.quick)
        table(report, name, found, tree.depth)
        shapes(report, name, found, tree.depth)
        if name == "taxi":
            units(report, name, found, tree.depth)
    report.figure("whole run", "peak memory", peak_megabytes(), "MB")


if __name__ == "__main__":
    main()
