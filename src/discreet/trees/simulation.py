"""What a plan would do to small regions, tried on a made-up table of the expected size. Nothing private is read.

Noise that exceeds counts moves people: some are placed in regions that are empty, and large regions among small ones
come out too small. How far depends on the plan alone, once about how many people there are is public. So a plausible
table is drawn (a few regions of the tree, sizes with a long tail, some of them empty; in proportion to the covariate if
there is one), measured with the plan's noise and published by its method.

A release knows more: a table that might be the true one is drawn from its noisy counts, as for its typical intervals.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.release import number
from discreet.errors import InputError
from discreet.noise.bits import words
from discreet.noise.replay import Replay
from discreet.trees.measurement import Measurement
from discreet.trees.methods import method_named
from discreet.trees.rules import Rules
from discreet.trees.shared_answers import Question, draw_answers
from discreet.trees.tree import Hierarchy

if TYPE_CHECKING:
    from discreet.trees.plan import TreePlan
    from discreet.trees.release import TreeRelease

__all__ = ["Simulation", "cell_mix", "measure_made_up", "scattered", "simulate", "simulate_release"]

Array = NDArray[np.int64]

_NUMBERS = 32_000  # leaf cells that are tried out: a fraction of a second
_LEAVES, _DRAWS = 1000, 25  # leaves that are looked at, at least, unless that takes more tables
_EMPTY = 0.3  # the part of leaves that are taken to be empty
_SHAPE = 0.7  # of the gamma law of the others: the smaller, the longer the tail
_STRAY = 0.3  # how far true sizes are taken to stray from a covariate, as a ratio
_MANY = 500.0  # from which on Poisson's law is taken to be normal
_CLASSES = (1, 10, 100, 1000, 10**12)
_LAST = _CLASSES[-1] - 1


@dataclass(frozen=True, slots=True)
class Simulation:
    """The part of people placed in empty leaves; and by size of a leaf (from, to, how many, bias as a part of it).

    Over all tables that were tried. Of a release, `misplaced` is less than it is where counts are below their noise:
    a plausible table then has fewer empty leaves than the true one.
    """

    misplaced: float
    classes: tuple[tuple[int, int, int, float], ...]
    leaf: str = "region"
    """What a leaf is called."""
    unit: float = 1
    """What one of its sizes stands for."""

    @property
    def sizes(self) -> tuple[str, ...]:
        """The classes of sizes in words."""
        return tuple(
            number(low * self.unit) + (" and more" if high == _LAST else f" to {number(high * self.unit)}")
            for low, high, _, _ in self.classes
        )

    def __str__(self) -> str:
        if not self.classes:
            return "nobody is there."
        biases = ", ".join(f"{off:+.0%} at {size}" for size, (*_, off) in zip(self.sizes, self.classes, strict=True))
        return (
            f"{self.misplaced:.1%} are placed in a {self.leaf} that is empty; a {self.leaf} is off on average by "
            f"{biases} of its size."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values: parts of people, and of the size of a leaf."""
        classes = [
            {"from": low * self.unit, "to": None if high == _LAST else high * self.unit, "leaves": many, "bias": off}
            for low, high, many, off in self.classes
        ]
        return {"leaf": self.leaf, "misplaced": self.misplaced, "classes": classes}


def simulate(plan: TreePlan, expected: float) -> Simulation:
    """Try a plan out on a plausible table of `expected` people, or units. The same plan always gives the same."""
    from scipy.special import gammaincinv, ndtri

    tree, cells = plan.counted.tree, plan.counted.cells
    part = _first_leaves(tree, min(tree.leaves, max(50, _NUMBERS // cells)))
    bits = Replay(b"what a plan would do")
    public = plan.rules.covariates(tree, cells)
    if public is None:
        size = gammaincinv(_SHAPE, _uniform(bits, part.leaves)) / _SHAPE * (_uniform(bits, part.leaves) >= _EMPTY)
        covariate, scale = None, expected / tree.leaves / (1 - _EMPTY)
    else:
        covariate = public[-1].sum(axis=1)[: part.leaves]
        size = covariate * np.exp(_STRAY * ndtri(_uniform(bits, part.leaves)))
        scale = expected / max(float(public[-1].sum()), 1e-9)
    means = np.minimum(size * scale, 1e12)[:, None] * cell_mix(cells)

    def once() -> tuple[Array, Array]:
        leaves = scattered(means, bits)
        measured = measure_made_up(plan, part, leaves, bits)
        return leaves.sum(axis=1), method_named(plan.method)(measured, Rules(covariate=covariate)).totals[-1]

    return _compared(once, part.leaves, tree.names[-1], float(plan.rounding))


def measure_made_up(plan: TreePlan, part: Hierarchy, leaves: Array, bits: Bits) -> Measurement:
    """What a plan would measure of a made-up table: counts of the leaves of its tree, or of a part of it."""
    from discreet.trees.plan import measured_as

    several, sums, asked = plan.grain * plan.fine, part.sums(leaves), []
    for measure in plan.measures:
        true = measure.of(sums[measure.level], plan.counted.shape)
        asked.append(Question(measure.level, measure.kind, measure.noise, true * several))
    answers = draw_answers(part, asked, bits, pooled=plan.pooled)
    return measured_as(replace(plan.counted, tree=part), plan.measures, answers, several, pooled=plan.pooled)


def cell_mix(cells: int) -> NDArray[np.float64]:
    """How people are taken to be spread over cells, where nothing is known: with a long tail."""
    mix = 1 / np.arange(1, cells + 1)
    return np.asarray(mix / mix.sum())


def simulate_release(release: TreeRelease) -> Simulation:
    """Try the method of a release out on a table that might be the true one, with fresh noise of the same law.

    Nothing but the release is read and all randomness follows from it: the same release always gives the same. Of a
    large tree a sample of subtrees is simulated.
    """
    from discreet.trees.intervals.each import known_bounds
    from discreet.trees.intervals.posterior import draw_table
    from discreet.trees.intervals.sample import Part, parts_of
    from discreet.trees.intervals.typical import key_of, remeasure

    if release.cumulative or release.magnitude is not None:
        raise InputError("simulation", release.output, "left out unless rows are counted")
    measured, rules, tree = release.measured, release.rules, release.tree
    part = Part(measured, rules, range(tree.depth), np.arange(tree.leaves))
    if release.method in ("bayes", "topdown"):
        part = next(parts_of(measured, rules, known_bounds(measured, rules), _NUMBERS // measured.cells))
    bits = Replay(key_of(measured, "simulation"))

    def once() -> tuple[Array, Array]:
        leaves = draw_table(part.measured, release.estimate.counts[-1][part.chosen], part.rules, bits, empty=True)
        again = method_named(release.method)(remeasure(part.measured, leaves, bits), part.rules)
        return leaves.sum(axis=1), again.totals[-1]

    return _compared(once, part.measured.tree.leaves, tree.names[-1])


def _compared(once: Callable[[], tuple[Array, Array]], leaves: int, leaf: str, unit: float = 1) -> Simulation:
    """Totals of leaves as they are and as they come out; small trees are tried out several times."""
    draws = [once() for _ in range(min(max(_LEAVES // max(leaves, 1), 1), _DRAWS))]
    true, found = (np.concatenate(one) for one in zip(*draws, strict=True))
    classes = []
    for low, high in itertools.pairwise(_CLASSES):
        here = (true >= low) & (true < high)
        if here.any():
            off = float((found[here] - true[here]).sum() / true[here].sum())
            classes.append((low, high - 1, int(here.sum()), off))
    return Simulation(float(found[true == 0].sum() / max(int(found.sum()), 1)), tuple(classes), leaf, unit)


def _uniform(bits: Bits, many: int) -> NDArray[np.float64]:
    """Numbers between 0 and 1, of public bits."""
    found: NDArray[np.float64] = ((words(bits, many) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    return found


def scattered(means: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
    """Whole numbers scattered about their means as Poisson's are; as normal ones where they are many."""
    from scipy.special import ndtri, pdtrik

    uniform = _uniform(bits, means.size).reshape(means.shape)
    small = np.ceil(np.nan_to_num(pdtrik(uniform, np.clip(means, 1e-9, _MANY))))
    large = np.rint(means + np.sqrt(means) * ndtri(uniform))
    found = np.where(means < _MANY, np.where(uniform <= np.exp(-np.minimum(means, _MANY)), 0, small), large)
    return np.maximum(found, 0).astype(np.int64)


def _first_leaves(tree: Hierarchy, many: int) -> Hierarchy:
    """The first so many leaves, and what they lie in."""
    sizes = [many]
    for level in range(tree.depth - 1, 0, -1):
        sizes.insert(0, int(tree.parents[level][sizes[0] - 1]) + 1)
    codes = tuple(level[:size] for level, size in zip(tree.codes, sizes, strict=True))
    return Hierarchy(tree.names, codes, tuple(level[:size] for level, size in zip(tree.parents, sizes, strict=True)))
