"""A spine for targets: the tree in which places and the levels themselves are made of few regions.

A target's error grows with the number of regions that must be added or subtracted to make it. Splitting regions along
the borders of targets, from some level down, makes targets of few regions, and those regions of their parts. Which
level is best follows from public geography alone: no count is looked at, private or noisy, so it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.trees.targets import Family
from discreet.trees.tree import Hierarchy

__all__ = ["Spine", "distances", "optimise", "unchanged"]

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Spine:
    """A tree, the targets by its leaves, and levels of the given tree that are not in it: targets by now."""

    tree: Hierarchy
    families: tuple[Family, ...]
    split: tuple[Family, ...]
    regions: int
    """How many regions the given tree has."""

    @property
    def off(self) -> tuple[Family, ...]:
        """All that is published beside the levels."""
        return (*self.families, *self.split)

    @property
    def burden(self) -> float:
        """What grows with the errors of targets and of given regions: roots of how many regions of the tree they take.

        A mean over targets and one over given regions, which are mostly small ones, times how many levels are asked.
        """
        asked = len(set(self.tree.distinct))
        targets = [float(np.sqrt(distances(self.tree, one)).mean()) for one in self.families]
        parts = [np.sqrt(distances(self.tree, one)) for one in self.split]
        whole = self.regions - sum(len(one) for one in parts)  # regions of the tree themselves
        mean = (whole + math.fsum(float(one.sum()) for one in parts)) / self.regions
        return asked * (math.fsum(targets) / len(targets) + mean)


def distances(tree: Hierarchy, family: Family) -> Whole:
    """For every target the least number of regions that must be added or subtracted to make it.

    Going up, for every region that has leaves of a target: how many it takes to make its part of the target from
    nothing, and from the whole region. Either is the sum over its children, or one more than the other one.

    >>> tree = Hierarchy.from_prefixes(["11", "12", "13", "21"], {"county": 1, "tract": 2})
    >>> distances(tree, Family("place", ("a", "b"), np.array([0, 0, 1, 1]))).tolist()  # a: county 1 without 13
    [2, 2]
    """
    many = len(family.codes)
    region = np.flatnonzero(family.places >= 0)
    target = family.places[region]
    nothing, whole = np.ones(len(region), np.int64), np.zeros(len(region), np.int64)
    for level in range(tree.depth - 1, 0, -1):
        pairs, place = np.unique(tree.parents[level][region] * many + target, return_inverse=True)
        region, target = np.divmod(pairs, many)
        added = np.bincount(place, nothing, len(pairs)).astype(np.int64)
        kept = np.bincount(place, whole, len(pairs)).astype(np.int64)
        # A child without leaves of the target is taken off the whole at once.
        kept += tree.children(level - 1)[region] - np.bincount(place, minlength=len(pairs))
        nothing, whole = np.minimum(added, 1 + kept), np.minimum(kept, 1 + added)
    found = np.zeros(many, np.int64)
    found[target] = nothing
    return found


def optimise(tree: Hierarchy, families: Sequence[Family]) -> Spine:
    """The best of the given tree and of those whose regions are split along the borders of targets, from a level down.

    No level is added: a further one would take a share of the price from all others.
    """
    found = [unchanged(tree, families)]
    found += [_split(tree, families, level) for level in range(1, tree.depth - 1)]
    given = _taken(found[0])
    better = [one for one in found[1:] if _taken(one) < given]  # a change that helps no target is none
    return min([found[0], *better], key=lambda one: one.burden)


def unchanged(tree: Hierarchy, families: Sequence[Family]) -> Spine:
    """The tree as it is given."""
    return Spine(tree, tuple(families), (), sum(tree.sizes))


def _taken(spine: Spine) -> int:
    """How many regions make all targets."""
    return sum(int(distances(spine.tree, one).sum()) for one in spine.families)


def _split(tree: Hierarchy, families: Sequence[Family], first: int) -> Spine:
    """The tree with regions from level `first` down split, but for leaves."""
    ways = np.stack([family.places for family in families], axis=1)
    kinds, part = np.unique(ways, axis=0, return_inverse=True)
    part = part.reshape(-1)
    labels = [_label(families, row) for row in kinds]
    columns: dict[str, list[str]] = {}
    split: dict[str, list[str]] = {}
    for level in range(1, tree.depth):
        at = _places(tree, level)
        codes = [tree.codes[level][place] for place in at.tolist()]
        name = tree.names[level]
        if level < first or level == tree.depth - 1:
            columns[name] = codes
            continue
        pairs = np.unique(np.stack([at, part], axis=1), axis=0)
        several = np.bincount(pairs[:, 0], minlength=tree.sizes[level]) > 1
        if not several.any():
            columns[name] = codes
            continue
        named = zip(codes, part.tolist(), several[at].tolist(), strict=True)
        parts = [f"{code}: {labels[kind]}" if apart else code for code, kind, apart in named]
        split[name] = codes
        columns[_name(f"{name} part", tree, families)] = parts
    made = Hierarchy.from_columns(columns, root=tree.names[0])
    old = {code: place for place, code in enumerate(tree.codes[-1])}
    order = np.array([old[code] for code in made.codes[-1]])
    moved = tuple(Family(one.name, one.codes, one.places[order]) for one in families)
    others = [_as_family(name, [codes[place] for place in order]) for name, codes in split.items()]
    return Spine(made, moved, tuple(others), sum(tree.sizes))


def _places(tree: Hierarchy, level: int) -> Whole:
    """For every leaf the region of a level that it lies in."""
    at = np.arange(tree.leaves)
    for below in range(tree.depth - 1, level, -1):
        at = tree.parents[below][at]
    return at


def _label(families: Sequence[Family], row: Whole) -> str:
    inside = [one.codes[place] for one, place in zip(families, row.tolist(), strict=True) if place >= 0]
    return " and ".join(inside) or "elsewhere"


def _name(name: str, tree: Hierarchy, families: Sequence[Family]) -> str:
    taken = {*tree.names, *(one.name for one in families)}
    while name in taken:
        name += "s"
    return name


def _as_family(name: str, codes: Sequence[str]) -> Family:
    listed = tuple(sorted(set(codes)))
    index = {code: place for place, code in enumerate(listed)}
    return Family(name, listed, np.array([index[code] for code in codes]))
