"""Child rows for made-up parents, one after the other: each from a deck of made-up child rows.

A row is drawn from rows of the deck that agree with the parent. Where rows have an order the first one belongs to the
parent, and a later one agrees with the row before it too, and lies as long after it as there. Nothing private is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.mechanism import Bits
from discreet.noise.replay import Replay
from discreet.synth.relations.deck import Deck
from discreet.synth.relations.gaps import Gaps, draw_points
from discreet.synth.relations.levels import Clock, Levels
from discreet.synth.rows import seed_of
from discreet.synth.sample import Codes
from discreet.synth.synthetic import MOST_ROWS

__all__ = ["MOST_CHILD_ROWS", "ChildRows", "bearable_parents", "child_rows", "deck_size"]

MOST_CHILD_ROWS = MOST_ROWS
"""How many child rows all parents may have together: noise might make that anything, and more would say no more."""
_TRIES = 4  # draws of a row that would lie beyond the last time there is


@dataclass(frozen=True, slots=True, eq=False)
class ChildRows:
    """Child rows by parent and then in their order: whose they are, their codes, and their times if they have any."""

    owner: Codes
    codes: Codes
    times: Codes | None


def bearable_parents(fan: Codes) -> int:
    """How many parents, of those with so many child rows each, have no more than `MOST_CHILD_ROWS` together.

    >>> bearable_parents(np.array([2, 3, 1]))
    3
    """
    return int(np.searchsorted(np.cumsum(fan), MOST_CHILD_ROWS, side="right"))


def deck_size(total: int) -> int:
    """How many rows a deck has, for so many child rows."""
    return int(min(max(4 * total, 60_000), 400_000))


def child_rows(levels: Levels, parents: Codes, bins: list[Codes], pool: Codes, gaps: Gaps | None = None) -> ChildRows:
    """Child rows for parents with these codes, from a pool of codes of `levels.children`, their parents in `bins`.

    `gaps` are the codes that times between rows have in the pool; by default those of the schema.
    """
    many = len(levels.heads)
    coarse = np.stack([bins[place][parents[:, place]] for place in range(many)], axis=1)
    fan = parents[:, many - 1]
    bits = Replay(seed_of(parents) + seed_of(pool) + b"child rows")
    deck = Deck(pool[:, list(levels.conditions)], pool[:, list(levels.targets)])
    drawn = pool[:, list(levels.targets)]
    if levels.clock is None:
        owner = np.repeat(np.arange(len(fan)), fan if deck.rows else 0)
        return ChildRows(owner, drawn[deck.deal(coarse[owner], bits)], None)
    cut = Gaps.plain(levels.clock.gaps) if gaps is None else gaps
    return _Chain(levels, levels.clock, cut, coarse, fan, deck, drawn, bits).run(parents[:, many:])


class _Chain:
    """Rows one after the other, for parents whose first rows are known."""

    def __init__(
        self,
        levels: Levels,
        clock: Clock,
        gaps: Gaps,
        coarse: Codes,
        fan: Codes,
        deck: Deck,
        drawn: Codes,
        bits: Bits,
    ) -> None:
        self.levels, self.clock, self.gaps, self.coarse, self.fan = levels, clock, gaps, coarse, fan
        self.deck, self.drawn, self.bits = deck, drawn, bits
        self.at = levels.child_columns.place(clock.attribute)

    def run(self, first: Codes) -> ChildRows:
        who = np.flatnonzero(self.fan > 0)
        codes = self._whole(first, who)
        who = who[: len(codes)]
        times = draw_points(self.clock.cut, codes[:, self.at], self.bits)
        found = [(who, codes, times)]
        while (more := self.fan[who] > len(found)).any():
            who = who[more]
            codes, times = self._next(who, codes[more], times[more])
            found.append((who, codes, times))
        owner, rows, when = (np.concatenate(parts) for parts in zip(*found, strict=True))
        step = np.repeat(np.arange(len(found)), [len(one[0]) for one in found])
        order = np.lexsort((step, owner))
        return ChildRows(owner[order], rows[order], when[order])

    def _whole(self, first: Codes, who: Codes) -> Codes:
        """First rows of these parents. Noise may have left some without: those are dealt one of other parents."""
        sizes = np.array(self.levels.child_columns.sizes)
        good = np.flatnonzero((first < sizes).all(axis=1) & (self.fan > 0))
        bad = np.flatnonzero((first[who] >= sizes).any(axis=1))
        codes = first[who]
        if len(bad) and not len(good):
            return codes[:0]
        if len(bad):
            donors = Deck(self.coarse[good], first[good]).deal(self.coarse[who[bad]], self.bits)
            codes[bad] = first[good][donors]
        return codes

    def _next(self, who: Codes, codes: Codes, times: Codes) -> tuple[Codes, Codes]:
        """The rows that follow, and when."""
        if not self.deck.rows:  # no row after another was ever counted: the same again, at the same time
            return codes, times
        before = np.stack([groups[codes[:, place]] for place, groups in enumerate(self.levels.groups)], axis=1)
        given = np.concatenate([self.coarse[who], before], axis=1)
        rows = self.drawn[self.deck.deal(given, self.bits)]
        then = times + self.gaps.draw(rows[:, -1], self.bits)
        for _ in range(_TRIES):
            late = np.flatnonzero(then > self.clock.cut.last)
            if len(late) == 0:
                break
            rows[late] = self.drawn[self.deck.deal(given[late], self.bits)]
            then[late] = times[late] + self.gaps.draw(rows[late, -1], self.bits)
        then = np.minimum(then, self.clock.cut.last)
        at = np.searchsorted(self.clock.cut.starts, then, side="right") - 1
        return np.insert(rows[:, :-1], self.at, at, axis=1), then
