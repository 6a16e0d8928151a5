"""A spine for targets off the tree: error of targets and of levels, before and after, on the blocks of Rhode Island.

    python bench/spine.py [--quick] [--json] [--data FOLDER]

The block file names no places, so targets are made by a public rule: blocks in the order of their codes, cut at random
blocks (seed 4) into runs. A run is contiguous as codes are, and crosses block groups and tracts; 39 runs are about as
large as Rhode Island's cities and towns, 150 as large as its smaller districts. Every method gets the same epsilon.
"""

from __future__ import annotations

import csv
import gzip
import time
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from discreet import Budget
from discreet.data.column import Category, Text
from discreet.data.schema import Schema
from discreet.noise.bits import SystemBits
from discreet.query.price import Price
from discreet.trees.ask import TreeAsk
from discreet.trees.covariance import Covariance
from discreet.trees.methods import method_named
from discreet.trees.rules import Rules
from discreet.trees.spine import distances
from discreet.trees.targets import target_ends
from harness import Report, arguments

LEVELS = {"county": 5, "tract": 11, "group": 12, "block": 15}
RACES = ["white", "black", "hisp", "aian", "asian", "nhpi", "other", "two"]


def blocks(folder: Path) -> tuple[list[str], np.ndarray]:
    """Codes of blocks, and people by race."""
    path = folder / "census-blocks-ri-2010" / "ri_2010_block.csv.gz"
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    return [row["GEOID"] for row in rows], np.array(
        [[int(float(row[f"pop_{race}"])) for race in RACES] for row in rows]
    )


def runs(codes: list[str], many: int) -> dict[str, list[str]]:
    """Targets: runs of blocks in the order of codes."""
    ordered = sorted(codes)
    cuts = np.sort(np.random.default_rng(4).choice(np.arange(1, len(ordered)), many - 1, replace=False))
    names = [f"p{place:03d}" for place in np.searchsorted(cuts, np.arange(len(ordered)), side="right")]
    return {"block": ordered, "place": names}


def planned(codes: list[str], targets: dict[str, list[str]], spine: str, epsilon: Fraction):
    """The plan of a release by race."""
    schema = Schema("ri", {"block": Text(), "race": Category(RACES, nullable=False)})
    ask = TreeAsk(LEVELS, ["race"], geography=codes, targets=targets, spine=spine)
    allotment = Budget(epsilon=10**6).allotments[0]
    return ask.checked(schema).priced(allotment, Price.read(epsilon=epsilon))


def errors(plan, codes: list[str], people: np.ndarray, draws: int) -> dict[str, dict[str, float]]:
    """Mean absolute errors of totals and cells of targets and of the given levels; coverage and width of intervals."""
    tree = plan.counted.tree
    index = {code: place for place, code in enumerate(codes)}
    exact = people[[index[code] for code in tree.codes[-1]]]
    families = {one.name: one for one in plan.targets}
    sums = {
        level: (lambda leaves, cut=length: grouped(tree.codes[-1], cut, leaves)) for level, length in LEVELS.items()
    }
    sums["place"] = families["place"].sums
    found: dict[str, list[list[float]]] = {name: [] for name in sums}
    for _ in range(draws):
        measured = plan.noisy(exact, SystemBits())
        estimate = method_named("bayes", chain=False)(measured, Rules())
        for name, added in sums.items():
            true, seen = added(exact), added(estimate.counts[-1])
            row = [np.abs(seen.sum(axis=1) - true.sum(axis=1)).mean(), np.abs(seen - true).mean()]
            if name == "place":
                shown = SimpleNamespace(covariance=Covariance(measured), measured=measured, confidence=0.95, tree=tree)
                totals = seen.sum(axis=1)[:, None]
                low, high = target_ends(shown, families["place"], totals, totals=True)  # type: ignore[arg-type]
                inside = (low <= true.sum(axis=1)[:, None]) & (true.sum(axis=1)[:, None] <= high)
                row += [inside.mean(), (high - low).mean()]
            found[name].append(row)
    names = ("total", "cell", "coverage", "width")
    return {name: dict(zip(names, np.mean(rows, axis=0), strict=False)) for name, rows in found.items()}


def grouped(codes: tuple[str, ...], cut: int, leaves: np.ndarray) -> np.ndarray:
    """Sums by the beginnings of codes."""
    _, place = np.unique([code[:cut] for code in codes], return_inverse=True)
    out = np.zeros((place.max() + 1, leaves.shape[1]), leaves.dtype)
    np.add.at(out, place, leaves)
    return out


def main() -> None:
    given = arguments(__doc__)
    codes, people = blocks(given.data or Path("data"))
    report = Report("spine", as_json=given.json)
    for many in (39, 150):
        targets = runs(codes, many)
        for epsilon in ("0.1", "1"):
            for spine in ("given", "optimised"):
                case, began = f"{many} targets, epsilon {epsilon}, {spine}", time.process_time()
                plan = planned(codes, targets, spine, Fraction(epsilon))
                report.figure(case, "plan", time.process_time() - began, "CPU s")
                report.note(" > ".join(plan.counted.tree.names))
                places = next(one for one in plan.targets if one.name == "place")
                report.figure(case, "regions a target", float(distances(plan.counted.tree, places).mean()), "")
                for name, one in errors(plan, codes, people, 1 if given.quick else 5).items():
                    for what, value in one.items():
                        report.figure(case, f"{name}, {what}", float(value), "")


if __name__ == "__main__":
    main()
