"""Rows to draw from, given some of their codes: those that agree in as many of them as there are rows to choose from.

The deck is a synthetic table itself. What tells most of what is drawn counts first; where no row agrees in everything,
the codes that tell least are left out of the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.replay import uniforms
from discreet.synth.sample import Codes

__all__ = ["Deck"]

_ENOUGH = 3  # rows that agree, to draw from
_TELLING = 2e-4  # nats that a code must tell of what is drawn
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Stage:
    """Rows told apart by one code more than in the stage before."""

    column: int
    size: int
    known: Codes
    """The numbers that the rows have here, rising: that of the stage before, and the code."""
    order: Codes
    """Rows by that number, then by what is drawn."""
    first: Codes
    many: Codes


class Deck:
    """Rows with codes that are given and codes that are drawn."""

    def __init__(self, given: Codes, drawn: Codes) -> None:
        self.rows = len(given)
        self._stages: list[_Stage] = []
        tie = [drawn[:, place] for place in reversed(range(drawn.shape[1]))]
        self._order = np.lexsort(tie) if tie else np.arange(self.rows)
        number = np.zeros(self.rows, dtype=np.int64)
        for column in telling(given, drawn):
            size = int(given[:, column].max()) + 1
            known, number = np.unique(number * size + given[:, column], return_inverse=True)
            number = number.ravel()
            order = np.lexsort([*tie, number])
            many = np.bincount(number, minlength=len(known))
            first = np.cumsum(many) - many
            self._stages.append(_Stage(column, size, known, order, first, many))

    @property
    def columns(self) -> list[int]:
        """Which of the given codes count, the most telling first."""
        return [stage.column for stage in self._stages]

    def deal(self, given: Codes, bits: Bits) -> Codes:
        """A row of the deck for every row of given codes. Rows that are given the same are dealt evenly."""
        count = len(given)
        number, alive = np.zeros(count, dtype=np.int64), np.ones(count, dtype=bool)
        level, at = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
        for depth, stage in enumerate(self._stages):
            code = given[:, stage.column]
            wanted = number * stage.size + code
            place = np.minimum(np.searchsorted(stage.known, wanted), len(stage.known) - 1)
            alive &= (stage.known[place] == wanted) & (code < stage.size)
            enough = alive & (stage.many[place] >= min(_ENOUGH, self.rows))
            level[enough], at[enough] = depth, place[enough]
            number = place
        dealt = np.zeros(count, dtype=np.int64)
        for depth in np.unique(level).tolist():
            here = np.flatnonzero(level == depth)
            if depth < 0:
                places = _spread(np.zeros(len(here), dtype=np.int64), np.array([self.rows]), bits)
                dealt[here] = self._order[places]
                continue
            stage = self._stages[depth]
            places = stage.first[at[here]] + _spread(at[here], stage.many, bits)
            dealt[here] = stage.order[places]
        return dealt


def _spread(group: Codes, many: Codes, bits: Bits) -> Codes:
    """For every row a place among the `many` of its group: evenly over them, in random order."""
    count = len(group)
    order = np.lexsort((uniforms(bits, count), group))
    sorted_group = group[order]
    first = np.flatnonzero(np.r_[True, sorted_group[1:] != sorted_group[:-1]]) if count else np.zeros(0, np.int64)
    lengths = np.diff(np.r_[first, count])
    rank = np.arange(count) - np.repeat(first, lengths)
    shift = np.repeat(uniforms(bits, len(first)), lengths)
    room = many[sorted_group]
    places = np.empty(count, dtype=np.int64)
    places[order] = np.minimum(((rank + shift) * room / np.repeat(lengths, lengths)).astype(np.int64), room - 1)
    return places


def telling(given: Codes, drawn: Codes) -> list[int]:
    """The given codes that tell something of what is drawn, the most telling first."""
    scores = [
        sum(max(_information(given[:, column], drawn[:, target]), 0.0) for target in range(drawn.shape[1]))
        for column in range(given.shape[1])
    ]
    return [
        column for column in np.argsort([-one for one in scores], kind="stable").tolist() if scores[column] > _TELLING
    ]


def _information(one: Codes, two: Codes) -> float:
    """What two columns tell of each other, in nats, less what chance alone would make of it."""
    if len(one) == 0:
        return 0.0
    wide = int(two.max()) + 1
    cells = np.bincount(one * wide + two, minlength=(int(one.max()) + 1) * wide).reshape(-1, wide) / len(one)
    rows, columns = cells.sum(axis=1, keepdims=True), cells.sum(axis=0, keepdims=True)
    inside = cells > 0
    total = float((cells[inside] * np.log(cells[inside] / (rows * columns)[inside])).sum())
    chance = (int((rows > 0).sum()) - 1) * (int((columns > 0).sum()) - 1) / (2 * len(one))
    return total - chance
