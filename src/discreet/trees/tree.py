"""Regions within regions: which county lies in which state. Public, and known before anything is counted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

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
        if root in lengths:
            raise InputError("root", root, "a name that no level has")
        leaves.sort()
        _each_once(leaves, list(lengths)[-1])
        characters = np.array(leaves).view(np.uint32).reshape(len(leaves), -1)
        fresh = np.zeros(len(leaves), bool)
        fresh[0] = True
        found, firsts, known = [], [], 0
        for length in lengths.values():
            fresh[1:] |= (characters[1:, known:length] != characters[:-1, known:length]).any(axis=1)
            found.append(tuple([leaves[i][:length] for i in np.flatnonzero(fresh)]))
            firsts.append(fresh.copy())
            known = length
        return cls._stack(root, list(lengths), found, firsts)

    @classmethod
    def from_levels(cls, levels: Mapping[str, Iterable[str]], *, root: str = "all") -> Hierarchy:
        """From the codes of every level, the widest first; a code begins with the code of the region it lies in.

        >>> tree = Hierarchy.from_levels({"state": ["44", "25"], "county": ["44001", "44003", "25001"]})
        >>> tree.codes[2], tree.parents[2].tolist()
        (('25001', '44001', '44003'), [0, 1, 1])
        """
        if not isinstance(levels, Mapping) or not levels:
            raise InputError("levels", levels, "at least one level, the widest first")
        if root in levels:
            raise InputError("root", root, "a name that no level has")
        found: list[tuple[str, ...]] = [("",)]
        parents: list[Array] = [np.zeros(0, np.int64)]
        above = root
        for name, given in levels.items():
            codes = sorted(_codes(given, f"levels.{name}"))
            _each_once(codes, name)
            if above == root:
                parents.append(np.zeros(len(codes), np.int64))
            else:
                parents.append(_by_prefix(codes, name, found[-1], above))
            found.append(tuple(codes))
            above = name
        return cls((root, *levels), tuple(found), tuple(parents))

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
                raise InputError(
                    f"levels.{name}", Phrase(f"{len(values):,} rows"), f"one for each leaf, {len(leaves):,}"
                )
        # Sorted by leaf, then, stably, by what they lie in; the upper levels have few codes and sort as numbers.
        order = np.array(sorted(range(len(leaves)), key=leaves.__getitem__), dtype=np.int64)
        ranks = [_ranks(texts[name])[order] for name in names[:-1]]
        if ranks:
            again = np.lexsort(ranks[::-1])
            order, ranks = order[again], [rank[again] for rank in ranks]
        found, firsts = [], []
        fresh = np.zeros(len(leaves), bool)
        fresh[0] = True
        for name, rank in zip(names[:-1], ranks, strict=True):
            fresh[1:] |= rank[1:] != rank[:-1]
            found.append(tuple([texts[name][i] for i in order[fresh]]))
            firsts.append(fresh.copy())
        found.append(tuple([leaves[i] for i in order]))
        firsts.append(np.ones(len(leaves), bool))
        return cls._stack(root, names, found, firsts)

    @classmethod
    def _stack(
        cls, root: str, names: list[str], codes: list[tuple[str, ...]], firsts: list[NDArray[np.bool_]]
    ) -> Hierarchy:
        """Levels from sorted leaves: `firsts` marks the leaves with which a region of the level begins."""
        parents: list[Array] = [np.zeros(0, np.int64)]
        above = np.zeros(len(firsts[0]), np.int64)
        levels: list[tuple[str, ...]] = [("",), *codes]
        for level, (name, fresh) in enumerate(zip(names, firsts, strict=True), start=1):
            parents.append(above[fresh])
            if len(set(levels[level])) != len(levels[level]):
                _complain_of_two_parents(name, levels[level], parents[-1], levels[level - 1])
            above = np.cumsum(fresh) - 1
        return cls((root, *names), tuple(levels), tuple(parents))

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

    @property
    def distinct(self) -> tuple[int, ...]:
        """For every level the lowest one with the same regions: itself, unless each of its regions has one child.

        >>> Hierarchy.from_prefixes(["440", "441"], {"state": 2, "county": 3}).distinct  # one state is all there is
        (1, 1, 2)
        """
        found = list(range(self.depth))
        for level in reversed(range(self.depth - 1)):
            if self.sizes[level] == self.sizes[level + 1]:
                found[level] = found[level + 1]
        return tuple(found)

    def collapsed(self) -> Hierarchy:
        """The same regions without levels that repeat the one below them; a level keeps the lowest one's name."""
        kept = sorted(set(self.distinct))
        parents = [np.zeros(0, np.int64)]
        for above, level in pairwise(kept):
            place = self.parents[level]
            for between in range(level - 1, above, -1):
                place = self.parents[between][place]
            parents.append(place)
        return Hierarchy(
            tuple(self.names[level] for level in kept), tuple(self.codes[level] for level in kept), tuple(parents)
        )

    def starts(self, level: int) -> Array:
        """Where, on the level below, the children of each region of `level` begin."""
        below = self.parents[level + 1]
        return np.searchsorted(below, np.arange(len(self.codes[level]), dtype=np.int64)).astype(np.int64)

    def children(self, level: int) -> Array:
        """How many children each region of `level` has."""
        return np.bincount(self.parents[level + 1], minlength=len(self.codes[level])).astype(np.int64)

    def ancestors(self, level: int, above: int) -> Array:
        """For every region of `level` the region of a level above that it lies in."""
        found = np.arange(len(self.codes[level]), dtype=np.int64)
        for between in range(level, above, -1):
            found = self.parents[between][found]
        return found

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
            raise InputError(field, name, among=self.names)
        return self.names.index(name)

    @property
    def digest(self) -> str:
        """A fingerprint of all levels and regions."""
        found = hashlib.sha256(json.dumps([self.names, self.codes]).encode())
        for level in self.parents:
            found.update(level.astype("<i8").tobytes())
        return found.hexdigest()

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
    try:
        found = list(codes)
    except TypeError:
        raise InputError(field, codes, "a list of codes") from None
    if not found:
        raise InputError(field, Phrase("no codes"), "at least one region")
    if set(map(type, found)) != {str} or not all(found):
        odd = next((code for code in found if not isinstance(code, str) or not code), None)
        if odd is not None or None in found:
            hint = "Write codes as text: a code read as a number has lost its leading zeros."
            raise InputError(field, Phrase("None") if odd is None else odd, "codes as text, none empty", hint)
        found = [str(code) for code in found]
    return found


def _each_once(codes: Sequence[str], name: str) -> None:
    """Refuse a sorted list with a code twice."""
    if len(set(codes)) < len(codes):
        twice = next(a for a, b in pairwise(codes) if a == b)
        raise InputError(f"levels.{name}", twice, "a list with each region once")


def _by_prefix(codes: Sequence[str], name: str, parents: tuple[str, ...], above: str) -> Array:
    """For each code the place of the one parent whose code it begins with."""
    places = {code: place for place, code in enumerate(parents)}
    found = np.full(len(codes), -1, np.int64)
    for length in sorted({len(code) for code in parents}):
        here = np.fromiter((places.get(code[:length], -1) for code in codes), np.int64, len(codes))
        twice = np.flatnonzero((found >= 0) & (here >= 0))
        if len(twice):
            one, two = parents[found[twice[0]]], parents[here[twice[0]]]
            raise InputError(
                f"levels.{above}",
                Phrase(f"{one!r} and {two!r}"),
                f"codes of which one alone begins that of a {name}: {codes[twice[0]]!r} begins with two",
            )
        found = np.maximum(found, here)
    orphans = np.flatnonzero(found < 0)
    if len(orphans):
        raise InputError(f"levels.{name}", codes[orphans[0]], f"codes that begin with the code of a {above}")
    empty = np.flatnonzero(np.bincount(found, minlength=len(parents)) == 0)
    if len(empty):
        raise InputError(
            f"levels.{above}", parents[empty[0]], f"regions that contain at least one {name}", "Leave it out."
        )
    return found


def _ranks(codes: list[str]) -> Array:
    """Where each code stands among the different ones, sorted."""
    places = {code: place for place, code in enumerate(sorted(dict.fromkeys(codes)))}
    return np.fromiter(map(places.__getitem__, codes), np.int64, len(codes))


def _lengths(levels: Mapping[str, int], leaves: Sequence[str]) -> dict[str, int]:
    if not isinstance(levels, Mapping) or not levels:
        raise InputError("levels", levels, "names of levels with the length of their codes")
    for name, length in levels.items():
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise InputError(f"levels.{name}", length, "the number of characters of its codes")
    for (wide, shorter), (narrow, longer) in pairwise(levels.items()):
        if shorter >= longer:
            raise InputError(
                f"levels.{narrow}", longer, f"more characters than those of {wide}, the level above: {shorter}"
            )
    last, length = list(levels.items())[-1]
    if set(map(len, leaves)) != {length}:
        odd = next(code for code in leaves if len(code) != length)
        raise InputError("codes", odd, f"codes of {length} characters, as the level {last!r} has")
    return dict(levels)


def _complain_of_two_parents(name: str, found: Sequence[str], parents: Array, above: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for place, code in enumerate(found):
        if code in seen:
            one, two = above[parents[seen[code]]], above[parents[place]]
            if one == two:
                raise InputError(f"levels.{name}", code, "a list with each region once")
            hint = "Codes must be unique in their level: put the parent's code in front."
            raise InputError(f"levels.{name}", code, f"in one region alone: it is in {one!r} and in {two!r}", hint)
        seen[code] = place
