"""Regions within regions: which county lies in which state. Public, and known before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

__all__ = ["Hierarchy"]

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """Levels of regions, the root first. Every region but the root lies in one region of the level above.

    Regions are kept in such an order that the children of one region stand together, in the order of their parents:
    sums over children are then one pass over an array. `parents[l][i]` is the place, in level l - 1, of the parent of
    region i of level l. All leaves are on the last level.

    >>> tree = Hierarchy.from_prefixes(["441", "442", "251"], {"state": 2, "county": 3})
    >>> tree.names, tree.sizes
    (('all', 'state', 'county'), (1, 2, 3))
    >>> tree.codes[2], [level.tolist() for level in tree.sums([10, 20, 5])]
    (('251', '441', '442'), [[35], [10, 25], [10, 20, 5]])
    """

    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    parents: tuple[Array, ...]

    @classmethod
    def from_prefixes(cls, codes: Iterable[str], levels: Mapping[str, int], *, root: str = "all") -> Hierarchy:
        """From codes of leaves whose first characters are the codes of what they lie in.

        `levels` says how many characters make a level's code: {"state": 2, "county": 5, "block": 15}.
        """
        leaves = _codes(codes, "codes")
        lengths = _lengths(levels, leaves)
        paths = {name: [code[:length] for code in leaves] for name, length in lengths.items()}
        return cls.from_columns(paths, root=root)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]], *, root: str = "all") -> Hierarchy:
        """From a public table with one row a leaf and one column a level, the widest first."""
        if not isinstance(columns, Mapping) or not columns:
            raise InputError("levels", columns, "at least one level, the widest first")
        if root in columns:
            raise InputError("root", root, "a name that no level has")
        names = list(columns)
        texts = {name: _codes(values, f"levels.{name}") for name, values in columns.items()}
        leaves = texts[names[-1]]
        for name, values in texts.items():
            if len(values) != len(leaves):
                raise InputError(f"levels.{name}", f"{len(values):,} rows", f"{len(leaves):,}, one for each leaf")
        order = sorted(range(len(leaves)), key=lambda i: tuple(texts[name][i] for name in names))
        codes: list[tuple[str, ...]] = [("",)]
        parents: list[Array] = [np.zeros(0, np.int64)]
        above = np.zeros(len(leaves), np.int64)
        for name in names:
            column = np.array([texts[name][i] for i in order])
            fresh = np.ones(len(order), bool)
            fresh[1:] = (column[1:] != column[:-1]) | (above[1:] != above[:-1])
            starts = np.flatnonzero(fresh)
            found = tuple(column[starts].tolist())
            if len(set(found)) != len(found):
                _complain_of_two_parents(name, found, above[starts], codes[-1])
            codes.append(found)
            parents.append(above[starts])
            above = np.cumsum(fresh) - 1
        if len(codes[-1]) != len(leaves):
            twice = next(a for a, b in pairwise(sorted(leaves)) if a == b)
            raise InputError(f"levels.{names[-1]}", twice, "each leaf once")
        return cls((root, *names), tuple(codes), tuple(parents))

    @property
    def depth(self) -> int:
        """How many levels there are, the root's included."""
        return len(self.names)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many regions each level has."""
        return tuple(len(level) for level in self.codes)

    @property
    def leaves(self) -> int:
        """How many regions the last level has."""
        return len(self.codes[-1])

    def starts(self, level: int) -> Array:
        """Where, on the level below, the children of each region of `level` begin."""
        below = self.parents[level + 1]
        return np.searchsorted(below, np.arange(len(self.codes[level]), dtype=np.int64)).astype(np.int64)

    def children(self, level: int) -> Array:
        """How many children each region of `level` has."""
        return np.bincount(self.parents[level + 1], minlength=len(self.codes[level])).astype(np.int64)

    def add(self, level: int, values: Any) -> Any:
        """Values of the regions of level + 1, added up to those of `level`; any further axes are kept."""
        return np.add.reduceat(values, self.starts(level), axis=0)

    def sums(self, leaves: Any) -> list[Any]:
        """The sums of every level, root first, for values of the leaves."""
        found = [np.asarray(leaves)]
        for level in range(self.depth - 2, -1, -1):
            found.append(self.add(level, found[-1]))
        return found[::-1]

    def name(self, level: int, region: int) -> str:
        """A region as people call it in messages: county '44007'."""
        return self.names[0] if level == 0 else f"{self.names[level]} {self.codes[level][region]!r}"

    def level(self, name: str, field: str = "level") -> int:
        """The number of the level of that name."""
        if name not in self.names:
            raise InputError(field, name, "one of " + ", ".join(self.names))
        return self.names.index(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what decides the tree."""
        return {
            "names": list(self.names),
            "codes": [list(level) for level in self.codes],
            "parents": [level.tolist() for level in self.parents],
        }


def _codes(codes: Iterable[Any], field: str) -> list[str]:
    if isinstance(codes, str):
        raise InputError(field, codes, "a list of codes")
    found = list(codes)
    if not found:
        raise InputError(field, "no codes", "at least one region")
    for code in found:
        if not isinstance(code, str) or not code:
            hint = "Write codes as text: a code read as a number has lost its leading zeros."
            raise InputError(field, code, "codes as text, none empty", hint)
    return found


def _lengths(levels: Mapping[str, int], leaves: Sequence[str]) -> dict[str, int]:
    if not isinstance(levels, Mapping) or not levels:
        raise InputError("levels", levels, "names of levels with the length of their codes")
    for name, length in levels.items():
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise InputError(f"levels.{name}", length, "how many characters its codes have")
    for (wide, shorter), (narrow, longer) in pairwise(levels.items()):
        if shorter >= longer:
            raise InputError(f"levels.{narrow}", longer, f"more characters than {wide}, which lies above it: {shorter}")
    last, length = list(levels.items())[-1]
    for code in leaves:
        if len(code) != length:
            raise InputError("codes", code, f"codes of {length} characters, as the level {last!r} has")
    return dict(levels)


def _complain_of_two_parents(name: str, found: Sequence[str], parents: Array, above: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for place, code in enumerate(found):
        if code in seen:
            one, two = above[parents[seen[code]]], above[parents[place]]
            hint = "Codes must be unique in their level: put the parent's code in front."
            raise InputError(f"levels.{name}", code, f"in one region, but it is in {one!r} and in {two!r}", hint)
        seen[code] = place
