"""Regions with a single child are asked once: they equal it, and one answer with both shares has less noise than two.

A chain is a region and its only descendant on each of the next levels that are asked the same. Its number is drawn
once, with noise of the rates (1 / scale) of all its levels together, and stands in the rows of all of them. Laplace
noise only: at a rho, two answers of least squares are worth as much as one at both prices; there is nothing to gain.

Guarantee
    With Laplace noise and pure epsilon, what is charged for every level apart covers it: a chain's answer costs what
    its levels' answers would have. It does not hold for rho, under which two small losses cost less than their sum.
    Methods take the rows of a chain for independent answers with the noise of their levels. The variances they state
    are then at least the true ones, for every linear estimate. Proofs: docs/proofs/hierarchy.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.tree import Hierarchy

__all__ = ["COUNTS", "TOTALS", "Chains", "Question", "chains_of", "draw_answers", "pooled_law"]

Array = NDArray[np.int64]
Noise = Laplace | Gaussian

COUNTS, TOTALS = "counts", "totals"
"""Kinds of questions; that for a margin is called by its columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question to all regions of a level: what `kind` (cells, totals, a margin), its noise and its exact answers."""

    level: int
    kind: Hashable
    noise: Noise
    exact: Any


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Of every region of a level: the level on which its chain begins, and its only descendant, or -1."""

    level: int
    begin: Array
    only: Array

    @property
    def any(self) -> bool:
        """Whether any of the regions shares its answer."""
        return bool((self.begin < self.level).any() or (self.only >= 0).any())

    @classmethod
    def of_levels(cls, tree: Hierarchy, levels: Sequence[int]) -> list[Chains]:
        """The chains through levels that are asked the same, root first.

        >>> tree = Hierarchy.from_prefixes(["11", "21", "22"], {"county": 1, "tract": 2})
        >>> counties, tracts = Chains.of_levels(tree, [1, 2])
        >>> counties.only.tolist(), tracts.begin.tolist()  # tract 11 is all of county 1
        ([0, -1], [1, 2, 2])
        """
        begins = [np.full(tree.sizes[level], level, np.int64) for level in levels]
        only = [np.full(tree.sizes[level], -1, np.int64) for level in levels]
        for index in range(1, len(levels)):
            above = tree.ancestors(levels[index], levels[index - 1])
            single = (np.bincount(above, minlength=len(only[index - 1])) == 1)[above]
            only[index - 1][above[single]] = np.flatnonzero(single)
            begins[index] = np.where(single, begins[index - 1][above], begins[index])
        return [cls(*one) for one in zip(levels, begins, only, strict=True)]


def pooled_law(laws: Sequence[Laplace]) -> Laplace:
    """The noise of one answer that costs, in pure epsilon, what answers with these laws cost together.

    >>> pooled_law([Laplace(10), Laplace(15)]).scale
    Fraction(6, 1)
    """
    return Laplace(1 / sum((1 / law.scale for law in laws), Fraction()))


def chains_of(tree: Hierarchy, questions: Sequence[Question]) -> dict[tuple[Hashable, int], Chains]:
    """The chains of every question, by kind and level, whose answers are worth pooling."""
    kinds: dict[Hashable, list[Question]] = {}
    for one in questions:
        kinds.setdefault(one.kind, []).append(one)
    found = {}
    for kind, asked in kinds.items():
        if all(isinstance(one.noise, Laplace) and one.noise.scale > 0 for one in asked):
            levels = sorted(one.level for one in asked)
            found.update(
                {(kind, level): one for level, one in zip(levels, Chains.of_levels(tree, levels), strict=True)}
            )
    return {key: one for key, one in found.items() if one.any}


def draw_answers(tree: Hierarchy, questions: Sequence[Question], bits: Bits, *, pooled: bool) -> list[Any]:
    """The noisy answers to questions, in their order; if `pooled`, regions with a single child are asked once."""
    chains = chains_of(tree, questions) if pooled else {}
    answers = {}
    for one in questions:
        chain = chains.get((one.kind, one.level))
        if chain is None:
            answers[one.kind, one.level] = one.noise.release(one.exact.ravel(), bits=bits).reshape(one.exact.shape)
            continue
        answers[one.kind, one.level] = noisy = np.zeros(one.exact.shape, np.int64)
        for first in np.unique(chain.begin).tolist():
            # What goes on below is drawn there: nothing is drawn twice.
            here = (chain.begin == first) & (chain.only < 0)
            alike = [other for other in questions if other.kind == one.kind and first <= other.level <= one.level]
            laws = [other.noise for other in alike if isinstance(other.noise, Laplace)]
            exact = one.exact[here]
            noisy[here] = pooled_law(laws).release(exact.ravel(), bits=bits).reshape(exact.shape)
    for kind, level in sorted(chains, key=lambda key: key[1], reverse=True):
        goes_on = chains[kind, level].only >= 0
        if goes_on.any():
            below = min(one.level for one in questions if one.kind == kind and one.level > level)
            answers[kind, level][goes_on] = answers[kind, below][chains[kind, level].only[goes_on]]
    return [answers[one.kind, one.level] for one in questions]
