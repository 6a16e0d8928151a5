"""Child rows for made-up parents, one after the other: each from a deck of made-up child rows.

A first row is drawn from first rows of the deck that agree with the parent; a later one from those that agree with the
parent and with the row before it, and lies as long after that as they did. Nothing private is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.mechanism import Bits
from discreet.marginals.partition import Partition
from discreet.noise.replay import Replay, uniforms
from discreet.synth.relations.deck import Deck
from discreet.synth.relations.levels import Levels
from discreet.synth.rows import seed_of
from discreet.synth.sample import Codes

__all__ = ["ChildRows", "child_rows", "deck_size"]

_TRIES = 4  # draws of a row that would lie beyond the last time there is


@dataclass(frozen=True, slots=True, eq=False)
class ChildRows:
    """Child rows by parent and then in their order: whose they are, their codes, and their times if they have any."""

    owner: Codes
    codes: Codes
    times: Codes | None


def deck_size(total: int) -> int:
    """How many rows a deck has, for so many child rows."""
    return int(min(max(4 * total, 60_000), 400_000))


def child_rows(levels: Levels, parents: Codes, bins: list[Codes], pool: Codes) -> ChildRows:
    """Child rows for parents with these codes, from a pool of codes of `levels.children` whose parents are in `bins`."""
    first = len(levels.parents)
    coarse = np.stack([bins[place][parents[:, place]] for place in range(first)], axis=1)
    fan = parents[:, first - 1]
    bits = Replay(seed_of(parents) + seed_of(pool) + b"child rows")
    if levels.clock is None:
        return _independent(levels, coarse, fan, pool, bits)
    return _Chain(levels, coarse, fan, pool, bits).run()


def _independent(levels: Levels, coarse: Codes, fan: Codes, pool: Codes, bits: Bits) -> ChildRows:
    """Rows that follow from their parent alone."""
    owner = np.repeat(np.arange(len(fan)), fan)
    own = pool[:, list(levels.targets)]
    if len(pool) == 0:
        return ChildRows(owner[:0], np.zeros((0, len(levels.child_columns)), np.int64), None)
    dealt = Deck(pool[:, list(levels.conditions)], own).deal(coarse[owner], bits)
    return ChildRows(owner, own[dealt], None)


class _Chain:
    def __init__(self, levels: Levels, coarse: Codes, fan: Codes, pool: Codes, bits: Bits) -> None:
        clock: Any = levels.clock
        self.levels, self.coarse, self.fan, self.bits, self.clock = levels, coarse, fan, bits, clock
        first = len(levels.parents)
        own = list(range(first, first + len(levels.own)))
        start, gap = own[-1] + 1 if own else first, own[-1] + 2 if own else first + 1
        given = list(levels.conditions)
        begins = pool[pool[:, start] < clock.cut.size]
        follows = pool[pool[:, gap] < clock.gaps.size]
        self.begins, self.follows = begins[:, [*own, start]], follows[:, [*own, gap]]
        self.first = Deck(begins[:, :first], self.begins)
        self.later = Deck(follows[:, given], self.follows)
        self.at = next(p for p, one in enumerate(levels.child_columns.attributes) if one.name == clock.attribute)

    def run(self) -> ChildRows:
        who = np.flatnonzero(self.fan > 0)
        found: list[tuple[Codes, Codes, Codes]] = []
        if not self.first.rows:
            who = who[:0]
        rows = self.begins[self.first.deal(self.coarse[who], self.bits)]
        times = _point(self.clock.cut, rows[:, -1], self.bits)
        codes = self._codes(rows, times)
        found.append((who, codes, times))
        while True:
            more = self.fan[who] > len(found)
            if not more.any():
                break
            who, codes, times = who[more], codes[more], times[more]
            rows, times = self._next(who, codes, times)
            codes = self._codes(rows, times)
            found.append((who, codes, times))
        owner, codes, times = (np.concatenate(parts) for parts in zip(*found, strict=True))
        step = np.repeat(np.arange(len(found)), [len(one[0]) for one in found])
        order = np.lexsort((step, owner))
        return ChildRows(owner[order], codes[order], times[order])

    def _next(self, who: Codes, codes: Codes, times: Codes) -> tuple[Codes, Codes]:
        """The rows that follow, and when."""
        if not self.later.rows:  # the pool has no row after another: the same again, at the same time
            return np.delete(codes, self.at, axis=1), times
        before = np.stack([groups[codes[:, place]] for place, groups in enumerate(self.levels.groups)], axis=1)
        given = np.concatenate([self.coarse[who], before], axis=1)
        rows = self.follows[self.later.deal(given, self.bits)]
        then = times + _point(self.clock.gaps, rows[:, -1], self.bits)
        for _ in range(_TRIES):
            late = np.flatnonzero(then > self.clock.cut.last)
            if len(late) == 0:
                break
            rows[late] = self.follows[self.later.deal(given[late], self.bits)]
            then[late] = times[late] + _point(self.clock.gaps, rows[late, -1], self.bits)
        return rows[:, :-1], np.minimum(then, self.clock.cut.last)

    def _codes(self, rows: Codes, times: Codes) -> Codes:
        """Codes of all attributes of child rows, from their own and their times."""
        own = rows[:, : len(self.levels.own)]
        at = np.searchsorted(self.clock.cut.starts, times, side="right") - 1
        return np.insert(own, self.at, at, axis=1)


def _point(cut: Partition, codes: Codes, bits: Bits) -> Codes:
    """A point of each code's run, evenly."""
    first, many = cut.starts[codes], (cut.ends - cut.starts + 1)[codes]
    share = uniforms(bits, len(codes))
    return np.asarray(first + np.minimum((share * many).astype(np.int64), many - 1))
