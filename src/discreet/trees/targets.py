"""Regions that are none of the tree's: places, school districts. A public table says which leaf regions each has.

Their numbers are sums of those of leaf regions, so that all tables agree; their intervals rest on the best linear
estimate of the same sums and on what regions have in common (`covariance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.packing import pack, pack_words, unpack, unpack_words
from discreet.errors import InputError, Phrase
from discreet.trees.covariance import Covariance
from discreet.trees.geography import check_file_names
from discreet.trees.intervals.each import half_width
from discreet.trees.measurement import Measurement
from discreet.trees.tree import Hierarchy

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["Family", "read_targets", "target_deviations", "target_ends", "typical_half_width"]

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
FIELD = "targets"
_AT_ONCE = 1 << 22  # numbers of a block of columns
_SOME = 32  # targets whose errors a plan looks at


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Targets of one kind, such as places: no leaf region is in two of them."""

    name: str
    codes: tuple[str, ...]
    places: Whole
    """For every leaf region the place of its target among `codes`; -1 where it is in none."""

    def sums(self, leaves: Any) -> Any:
        """What the leaf regions of every target add up to."""
        inside = self.places >= 0
        found = np.zeros((len(self.codes), *np.shape(leaves)[1:]), np.asarray(leaves).dtype)
        np.add.at(found, self.places[inside], np.asarray(leaves)[inside])
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for records."""
        return {"name": self.name, "codes": pack_words(self.codes), "places": pack(self.places)}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Family:
        """From plain values."""
        return cls(entry["name"], tuple(unpack_words(entry["codes"])), unpack(entry["places"]))


def read_targets(value: Mapping[str, Any], tree: Hierarchy, column: str, taken: Sequence[str]) -> tuple[Family, ...]:
    """The families of targets in a public table: a column of leaf codes, and one of names for each family.

    A leaf region that is not listed, or without a name, is in no target. `taken` are names of other columns.
    """
    names = [name for name in (tree.names[-1], column) if name in value]
    columns = {name: list(values) if isinstance(values, (list, tuple)) else None for name, values in value.items()}
    if not names or any(values is None for values in columns.values()):
        given = Phrase("one with " + (", ".join(map(str, value)) or "no columns"))
        raise InputError(FIELD, given, f"a table with the column {tree.names[-1]!r} and one for each kind of target")
    leaves = columns.pop(names[0]) or []
    families = {name: values or [] for name, values in columns.items() if name not in (*tree.names, column)}
    if not families:
        raise InputError(FIELD, Phrase("none"), "a table with a column of names of targets beside the regions")
    check_file_names(FIELD, [name for name in families if isinstance(name, str)], tree.names)
    known = {code: place for place, code in enumerate(tree.codes[-1])}
    if unknown := next((code for code in leaves if code not in known), None):
        raise InputError(f"{FIELD}.{names[0]}", unknown, f"codes of a {tree.names[-1]}", among=list(known))
    if len(set(leaves)) < len(leaves):
        twice = next(code for code in leaves if leaves.count(code) > 1)
        raise InputError(f"{FIELD}.{names[0]}", twice, "a table with each region once")
    at = [known[code] for code in leaves]
    return tuple(_family(name, values, at, tree, taken) for name, values in families.items())


def _family(name: Any, values: Sequence[Any], at: Sequence[int], tree: Hierarchy, taken: Sequence[str]) -> Family:
    if not isinstance(name, str) or not name or not name.isprintable() or name in taken:
        raise InputError(FIELD, name, "named as no other column of the tables is")
    places = np.full(tree.leaves, -1, np.int64)
    codes = sorted({value for value in values if isinstance(value, str) and value})
    index = {code: place for place, code in enumerate(codes)}
    for leaf, value in zip(at, values, strict=True):
        if value in (None, ""):
            continue
        if not isinstance(value, str) or not value.isprintable():
            raise InputError(f"{FIELD}.{name}", value, "names of targets as text, or nothing")
        places[leaf] = index[value]
    if not codes:
        raise InputError(f"{FIELD}.{name}", Phrase("no names"), "a target for some of the regions")
    return Family(name, tuple(codes), places)


def target_ends(release: TreeRelease, family: Family, published: Whole, *, totals: bool) -> tuple[Whole, Whole]:
    """The ends of intervals for each target of a family, by the best linear estimate of the same sums."""
    centre = family.sums(release.covariance.linear.counts[-1])
    centre = centre.sum(axis=1)[:, None] if totals else centre
    variance = np.square(target_deviations(release, family, totals=totals))
    half = half_width(release.measured, 1 - release.confidence, variance)[:, None]
    low, high = np.ceil(np.maximum(centre - half, 0) - 0.5), np.floor(np.maximum(centre + half, 0) + 0.5)
    return np.minimum(low, published).astype(np.int64), np.maximum(high, published).astype(np.int64)


def target_deviations(release: TreeRelease, family: Family, *, totals: bool) -> Reals:
    """The standard error of the numbers of each target of a family, before zero cuts anything."""
    cells = release.measured.cells
    weights = np.ones(cells) if totals else np.eye(cells)[0]  # all cells vary alike
    variance = _variances(release.covariance, family, weights, np.arange(len(family.codes)))
    return np.sqrt(np.maximum(variance, 0.0))


def typical_half_width(measured: Measurement, family: Family, confidence: float) -> float:
    """The median half-width of the totals of targets, or of some of them where that takes less; of noise alone."""
    some = np.unique(np.linspace(0, len(family.codes) - 1, _SOME).astype(int))[: _columns(measured.tree)]
    variance = _variances(Covariance(measured), family, np.ones(measured.cells), some)
    return float(np.median(half_width(measured, 1 - confidence, np.maximum(variance, 0.0))))


def _variances(noise: Covariance, family: Family, weights: Reals, targets: Whole) -> Reals:
    """The variance of the sum of each of these targets, a few at a time."""
    step = _columns(noise.measured.tree)
    blocks = np.split(targets, range(step, len(targets), step))
    inside = ((family.places[:, None] == block).astype(np.float64) for block in blocks)
    return np.concatenate([noise.variances(one, weights) for one in inside])


def _columns(tree: Hierarchy) -> int:
    """How many targets are worked on at once."""
    return max(1, _AT_ONCE // tree.leaves)
