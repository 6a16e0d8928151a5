"""What is known without asking: bounds, structural zeros, public totals, weights. Rules are public.

They are checked against each other before anything is spent: a region whose parts cannot fit into it is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase, kind_of
from discreet.trees.tree import Hierarchy

__all__ = ["NO_BOUND", "Bounds", "Rules", "whole_numbers"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

NO_BOUND = 2**53
"""Stands for "no upper bound": far above any count, and far enough below 2**63 that sums are checked, not wrapped."""


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """Public facts about the true counts, by level name. All of them are optional.

    `lower` and `upper` give, for a level, a whole number or an array that broadcasts to (regions, cells). A structural
    zero is an upper bound of 0. `totals` gives, for a level, the public total over all cells of each region, with -1
    where it is not public: {"all": [1_052_567]}. `weights` says how much the squared error of a level counts, as a
    whole number or an array of them; the noise decides (1 / variance) where none is given.

    `covariate` are public numbers about the leaf regions that may go with their counts, such as housing units: one a
    leaf, or one a leaf and cell. They bind nothing: `bayes` learns how much they say.

    Where regions and cells have names, numbers may be given by code, {"county": {"44001": 0}}, and `zeros` are cells
    that cannot occur, by label: [{"sex": "male", "births": "1"}]. `by` says who declared what public, by name of the
    rule: {"totals.all": "Statistics Act, section 3"}, or "" for all that are not named.
    """

    lower: Mapping[str, Any] = field(default_factory=dict)
    upper: Mapping[str, Any] = field(default_factory=dict)
    totals: Mapping[str, Sequence[int]] = field(default_factory=dict)
    weights: Mapping[str, Any] = field(default_factory=dict)
    covariate: Any = None
    zeros: Sequence[Mapping[str, Any]] = ()
    by: Mapping[str, str] = field(default_factory=dict)
    declared: tuple[str, ...] = ()
    """A sentence for each, once they were read: what it is about, and who declared it public."""

    def covariates(self, tree: Hierarchy, cells: int) -> tuple[Reals, ...] | None:
        """The covariate of every level, (regions, 1) or (regions, cells); None where there is none."""
        if self.covariate is None:
            return None
        try:
            read = np.asarray(self.covariate, dtype=float)
        except (TypeError, ValueError):
            raise InputError("covariate", kind_of(self.covariate), "numbers, one for each leaf region") from None
        read = read[:, None] if read.ndim == 1 else read
        if read.ndim != 2 or read.shape[0] != tree.leaves or read.shape[1] not in (1, cells):
            wanted = f"one number for each of {tree.leaves:,} leaf regions, or one for each and of {cells:,} cells"
            raise InputError("covariate", Phrase(f"an array of shape {np.shape(self.covariate)}"), wanted)
        if not np.isfinite(read).all() or (read < 0).any() or (read > NO_BOUND).any():
            odd = read[~(np.isfinite(read) & (read >= 0) & (read <= NO_BOUND))]
            raise InputError("covariate", float(odd[0]), f"numbers from 0 to {NO_BOUND}")
        return tuple(tree.sums(read))

    def bounds(self, tree: Hierarchy, cells: int) -> Bounds:
        """Bounds of every region and cell, tightened to what the levels below and above allow.

        `InputError`, naming the region, where nothing can meet them.
        """
        given = []
        for field_, known, default in (("lower", self.lower, 0), ("upper", self.upper, NO_BOUND)):
            for name in known:
                tree.level(name, f"rules.{field_}")
            given.append(
                [
                    whole_numbers(known[name], (size, cells), f"rules.{field_}.{name}")
                    if name in known
                    else np.broadcast_to(np.int64(default), (size, cells))
                    for name, size in zip(tree.names, tree.sizes, strict=True)
                ]
            )
        lower, upper = given
        for level in range(tree.depth):
            if (lower[level] < 0).any():
                name = tree.names[level]
                raise InputError(
                    f"rules.lower.{name}", int(lower[level].min()), "zero or more: counts are not negative"
                )
        for level in range(tree.depth - 1, -1, -1):
            if level < tree.depth - 1:
                lower[level] = np.maximum(lower[level], _add_up(tree, level, lower[level + 1]))
                upper[level] = np.minimum(upper[level], _add_up(tree, level, upper[level + 1]))
            _compare(tree, level, lower[level], upper[level])
        return Bounds(tuple(lower), tuple(upper), self._totals(tree, lower, upper))

    def _totals(self, tree: Hierarchy, lower: list[Array], upper: list[Array]) -> tuple[Array | None, ...]:
        """The public totals of each level, checked to fit; None where a level has none."""
        if not self.totals:
            return (None,) * tree.depth
        found: list[Array | None] = []
        for name in self.totals:
            tree.level(name, "rules.totals")
        for level, name in enumerate(tree.names):
            if name not in self.totals:
                found.append(None)
                continue
            totals = whole_numbers(self.totals[name], (tree.sizes[level],), f"rules.totals.{name}")
            if (totals < -1).any():
                raise InputError(f"rules.totals.{name}", int(totals.min()), "zero or more, or -1 where not public")
            found.append(totals)
        # What a region holds at least and at most, from the cells of all levels and the totals of those below.
        least, most = lower[-1].sum(axis=1), np.minimum(upper[-1], NO_BOUND).astype(float).sum(axis=1)
        for level in range(tree.depth - 1, -1, -1):
            if level < tree.depth - 1:
                least, most = tree.add(level, least), tree.add(level, most)
                least = np.maximum(least, lower[level].sum(axis=1))
                most = np.minimum(most, upper[level].astype(float).sum(axis=1))
            totals_here = found[level]
            if totals_here is None:
                continue
            public = totals_here >= 0
            wrong = public & ((totals_here < least) | (totals_here > most))
            if wrong.any():
                region = int(np.flatnonzero(wrong)[0])
                raise InputError(
                    f"rules.totals.{tree.names[level]}",
                    Phrase(f"{int(totals_here[region]):,} for {tree.name(level, region)}"),
                    f"from {int(least[region]):,} to {most[region]:,.0f}: its bounds and its parts allow nothing else",
                )
            least = np.where(public, totals_here, least)
            most = np.where(public, totals_here.astype(float), most)
        return tuple(found)

    def level_weights(self, tree: Hierarchy, cells: int, default: Sequence[int]) -> tuple[Array, ...]:
        """How much each squared error counts: whole numbers above zero (zero: a level that does not count)."""
        for name in self.weights:
            tree.level(name, "rules.weights")
        found = []
        for name, size, weight in zip(tree.names, tree.sizes, default, strict=True):
            weights = whole_numbers(self.weights.get(name, weight), (size, cells), f"rules.weights.{name}")
            if (weights < 0).any():
                raise InputError(f"rules.weights.{name}", int(weights.min()), "zero or more")
            found.append(weights)
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Rules as arrays of every level, root first, that can be met: (regions, cells), and public totals (regions,)."""

    lower: tuple[Array, ...]
    upper: tuple[Array, ...]
    totals: tuple[Array | None, ...]


def whole_numbers(values: Any, shape: tuple[int, ...], field_: str) -> Array:
    """An integer array of the shape wanted, or an error that says what is wrong."""
    try:
        read = np.asarray(values)
    except ValueError:
        raise InputError(field_, Phrase("a ragged list"), "whole numbers") from None
    if (
        read.dtype.kind == "f"
        and np.isfinite(read).all()
        and (read == np.floor(read)).all()
        and (abs(read) < 2**53).all()
    ):
        read = read.astype(np.int64)
    if read.dtype.kind not in "iu":
        raise InputError(field_, _first_odd(read), "whole numbers")
    if (read > NO_BOUND).any():
        raise InputError(field_, int(read.max()), f"at most {NO_BOUND}")
    if read.ndim == 1 and len(shape) == 2 and read.shape[0] == shape[0] != shape[1]:
        read = read[:, None]  # one number a region
    try:
        return np.array(np.broadcast_to(read, shape), dtype=np.int64)
    except ValueError:
        raise InputError(
            field_, Phrase(f"an array of shape {read.shape}"), f"an array that broadcasts to {shape}"
        ) from None


def _add_up(tree: Hierarchy, level: int, bounds: Array) -> Array:
    """Bounds of the children together, `NO_BOUND` if that is what they come to: many of them would not fit an int64."""
    if int(bounds.min()) >= NO_BOUND:
        return np.full((tree.sizes[level], bounds.shape[1]), NO_BOUND, dtype=np.int64)
    together: Array = tree.add(level, bounds)
    if int(bounds.max()) < NO_BOUND // bounds.shape[0]:
        return together
    return np.where(tree.add(level, bounds.astype(float)) >= NO_BOUND, NO_BOUND, together)


def _first_odd(read: Any) -> Any:
    flat = np.ravel(read)
    if read.dtype.kind == "f":
        odd = flat[~(np.isfinite(flat) & (flat == np.floor(flat)))]
        return float(odd[0]) if len(odd) else str(read.dtype)
    return str(read.dtype)


def _compare(tree: Hierarchy, level: int, lower: Array, upper: Array) -> None:
    wrong = (lower > upper) | (lower >= NO_BOUND)
    if wrong.any():
        region, cell = (int(place) for place in np.argwhere(wrong)[0])
        raise InputError(
            f"rules of {tree.name(level, region)}",
            Phrase(f"at least {int(lower[region, cell]):,} and at most {int(upper[region, cell]):,} in cell {cell}"),
            f"a lower bound no larger than the upper bound, and below {NO_BOUND:,}",
            "Bounds of the regions it consists of are counted in.",
        )
