"""The default of a hierarchy, before and after: error of every level with another version's shares and estimates.

    git worktree add ../before 0aa4f3ce^     # shares and estimates as they were in 0.1
    python bench/hierarchy_default.py --data FOLDER --before ../before [--quick] [--json] [--only vtd,ri] [--draws 5]

Every version runs in a process of its own, on the same tables and with the same standard Laplace noise in every draw,
scaled to what its shares buy: differences are those of shares and estimates, hardly of luck. Noise here is of floats
and for measuring only. Of this version two ways are compared: regions with a single child asked once, as the default
does, or at each of their levels. Without --before, these two alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

EPSILONS = ("0.1", "1")


def standard(draw: int, level: int, totals: bool, shape: tuple[int, ...]) -> np.ndarray:
    """Laplace noise of scale one: the same for every version."""
    return np.random.default_rng([7, draw, level, totals]).laplace(size=shape)


def measure(tree, leaves: np.ndarray, epsilon: str, draw: int, way: str):
    """Noisy counts of all levels by the default shares of the version that is imported, with the given draw."""
    from fractions import Fraction

    from discreet.mechanisms import Laplace
    from discreet.trees import split as room
    from discreet.trees.measurement import Level, Measurement

    sums, cells = tree.sums(leaves), leaves.shape[1]
    shares = room.split(tree, cells, "auto")
    if hasattr(room, "sparse_splits"):  # the root's total settles it: it is far from any limit here
        deviation = Laplace.for_epsilon(shares[tree.depth - 1, False] * Fraction(epsilon)).variance ** 0.5
        others = room.sparse_splits(tree, cells, "auto", None)
        shares = next((other for limit, other in others if leaves.mean() < limit * deviation), shares)
    laws = {key: Laplace.for_epsilon(share * Fraction(epsilon)) for key, share in shares.items()}
    answers = {}
    for (level, totals), law in laws.items():
        exact = sums[level].sum(axis=1) if totals else sums[level]
        scale = np.full(tree.sizes[level], float(law.scale))
        if way == "once":
            scale = pooled_scales(tree, laws, level, totals)
        noise = standard(draw, level, totals, exact.shape)
        noise *= scale if totals else scale[:, None]
        answers[level, totals] = exact + np.rint(noise).astype(np.int64)
    if way == "once":
        share_answers(tree, laws, answers)
    levels = []
    for level in range(tree.depth):
        own = answers.get((level, False)), laws.get((level, False))
        levels.append(Level(*own, answers.get((level, True)), laws.get((level, True))))
    return Measurement(tree, tuple(levels))


def pooled_scales(tree, laws, level: int, totals: bool) -> np.ndarray:
    """The scale of every region's noise, where chains of single children are asked once."""
    from discreet.trees.shared_answers import Chains, pooled_law

    asked = sorted(one for one, kind in laws if kind == totals)
    begin = Chains.of_levels(tree, asked)[asked.index(level)].begin
    scales = {
        first: float(pooled_law([laws[one, totals] for one in asked if first <= one <= level]).scale)
        for first in np.unique(begin).tolist()
    }
    return np.array([scales[first] for first in begin.tolist()])


def share_answers(tree, laws, answers) -> None:
    """Regions with a single child get its answer."""
    from discreet.trees.shared_answers import Chains

    for totals in (False, True):
        asked = sorted(one for one, kind in laws if kind == totals)
        chains = Chains.of_levels(tree, asked)
        for above, below, chain in reversed(list(zip(asked, asked[1:], chains, strict=False))):
            single = chain.only >= 0
            answers[above, totals][single] = answers[below, totals][chain.only[single]]


def worker(table: Path, epsilon: str, draws: int, way: str) -> None:
    """Mean absolute errors by level, for each draw: totals, cells, and totals of regions with a single child."""
    from discreet.trees.bayes import bayes
    from discreet.trees.rules import Rules
    from discreet.trees.tree import Hierarchy

    stored = np.load(table, allow_pickle=True)
    names, codes, parents, leaves = (stored[name].tolist() for name in ("names", "codes", "parents", "leaves"))
    leaves = np.array(leaves, np.int64)
    tree = Hierarchy(tuple(names), tuple(map(tuple, codes)), tuple(np.array(one, np.int64) for one in parents))
    exact, found = tree.sums(leaves), []
    for draw in range(draws):
        estimate = bayes(measure(tree, leaves, epsilon, draw, way), Rules())
        off = [np.abs(counts - true) for counts, true in zip(estimate.counts, exact, strict=True)]
        totals = [np.abs(c.sum(axis=1) - t.sum(axis=1)) for c, t in zip(estimate.counts, exact, strict=True)]
        single = [tree.children(level) == 1 for level in range(tree.depth - 1)] + [np.zeros(tree.leaves, bool)]
        found.append(
            {
                "totals": [float(one.mean()) for one in totals],
                "cells": [float(one.mean()) for one in off],
                "single": [float(t[s].mean()) if s.any() else None for t, s in zip(totals, single, strict=True)],
            }
        )
    print(json.dumps(found))


def fresh(source: Path, table: Path, epsilon: str, draws: int, way: str) -> list[dict[str, list[float]]]:
    """All draws by the version whose source is in a folder, in a process of its own."""
    case = [str(table), epsilon, str(draws), way]
    path = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, __file__, "--one", *case], check=True, capture_output=True, text=True, env=path
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(report, case: str, names, before, after) -> None:
    """Errors before, and how far those after are from them, in percent, with the standard error of that."""
    for kind in ("totals", "cells", "single"):
        for level, name in enumerate(names):
            old, new = (np.array([one[kind][level] for one in draws], float) for draws in (before, after))
            if np.isnan(old).any():
                continue
            change = 100 * (new.mean() / old.mean() - 1)
            # Of a ratio of means over draws, as in surveys: residuals of the new about the ratio times the old.
            rest = new - new.mean() / old.mean() * old
            error = 100 * rest.std(ddof=1) / np.sqrt(len(old)) / old.mean() if len(old) > 1 else float("nan")
            what = f"totals {name}, single child" if kind == "single" else f"{kind} {name}"
            report.figure(case, f"MAE {what}", float(old.mean()), "before")
            report.figure(case, f"  change {what}", float(change), f"% (standard error {error:.1f})")


def main() -> None:
    from harness import HERE, Report, arguments
    from hierarchy_accuracy import SETS

    options = arguments(
        __doc__.splitlines()[0],
        before={"type": Path, "help": "a checkout of the version to compare with"},
        only={"help": "data sets, with commas: vtd, ri, made"},
        draws={"type": int, "default": 5, "help": "draws of the noise"},
    )
    report = Report("hierarchy_default", as_json=options.json)
    here, folder = HERE.parent / "src", options.data or HERE.parent / "data"
    present = [
        name
        for name, part in (("ri", "census-blocks-ri-2010"), ("vtd", "us_vtd_race_age_2020"))
        if (folder / part).exists()
    ]
    chosen = options.only.split(",") if options.only else (present or ["made"])
    draws = 2 if options.quick else options.draws
    with TemporaryDirectory() as place:
        for data in chosen[:1] if options.quick else chosen:
            tree, leaves = SETS[data](folder)
            table = Path(place) / f"{data}.npz"
            np.savez(table, **{name: stacked(values) for name, values in tables_of(tree, leaves).items()})
            for epsilon in EPSILONS:
                after = fresh(here, table, epsilon, draws, "once")
                apart = fresh(here, table, epsilon, draws, "apart")
                compare(report, f"{data}, epsilon {epsilon}, asked once", tree.names, apart, after)
                if options.before is not None:
                    before = fresh(options.before / "src", table, epsilon, draws, "apart")
                    compare(report, f"{data}, epsilon {epsilon}, before", tree.names, before, after)


def tables_of(tree, leaves) -> dict[str, list]:
    """What a tree and its leaves are made of."""
    return {"names": list(tree.names), "codes": list(tree.codes), "parents": list(tree.parents), "leaves": list(leaves)}


def stacked(values: list) -> np.ndarray:
    """A list of anything, as one object that files hold."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        worker(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        main()
