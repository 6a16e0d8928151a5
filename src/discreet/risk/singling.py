"""Which columns single people out: sets of few columns, and how many rows each tells apart from all others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.progress import notify
from discreet.risk.records import CodedColumn, Records, classes_of

__all__ = ["Telling", "single_out", "smallest_set", "spared_without"]

_SETS = 256  # column sets tried at most
_WORK = 120_000_000  # rows grouped in all
_BEAM = 8  # sets that are grown further where not all can be tried


@dataclass(frozen=True, slots=True)
class Telling:
    """A set of columns, and how many rows it alone tells apart from all others."""

    columns: tuple[str, ...]
    alone: int


def single_out(records: Records, known: Sequence[str], few: int = 3, person: str | None = None) -> tuple[Telling, ...]:
    """Sets of up to `few` columns, those that tell most rows apart first.

    All sets, as long as there are no more than 256 of them (fewer in large tables); beyond that only the sets that tell
    most are grown. With `person`, people are counted: those with a row that no other person's row looks like.
    """
    most = max(min(_SETS, _WORK // (records.rows * max(few, 1))), 2 * len(known))
    found: list[Telling] = []
    level: list[tuple[str, ...]] = [(name,) for name in known]
    for many in range(1, min(few, len(known)) + 1):
        tried: list[Telling] = []
        for names in level:
            notify("sets of columns", min(len(found) + len(tried), most) / most)
            tried.append(Telling(names, _alone(records, names, person)))
        found += tried
        level = [*itertools.combinations(known, many + 1)]
        if len(found) + len(level) > most:
            # What is left is shared out among the sizes that are left, so that large sets have their turn.
            room = max(most - len(found), 0) // max(few - many, 1)
            kept = sorted(tried, key=_order)[:_BEAM]
            grown = {tuple(sorted({*one.columns, name}, key=known.index)) for one in kept for name in known}
            larger = sorted((names for names in grown if len(names) == many + 1), key=lambda names: _rank(names, kept))
            level = larger[: max(room, _BEAM)]
    return tuple(sorted(found, key=_order))


def _rank(names: tuple[str, ...], kept: Sequence[Telling]) -> tuple[int, tuple[str, ...]]:
    """Sets grown from what told most come first."""
    return next(place for place, one in enumerate(kept) if set(one.columns) <= set(names)), names


def smallest_set(telling: Sequence[Telling], rows: int, share: float) -> Telling | None:
    """The fewest columns that make at least this share of the rows unique; None if none of the sets does."""
    enough = [one for one in telling if one.alone >= share * rows]
    return min(enough, key=lambda one: (len(one.columns), -one.alone, one.columns), default=None)


def spared_without(records: Records, known: Sequence[str], person: str | None = None) -> dict[str, int]:
    """For each column: how many rows would be alone if an outsider did not know it."""
    if len(known) < 2:
        return {}
    return {name: _alone(records, [other for other in known if other != name], person) for name in known}


def _alone(records: Records, names: Sequence[str], person: str | None) -> int:
    columns: list[CodedColumn] = [records[name] for name in names]
    classes = classes_of(columns)
    if person is None:
        return int((classes.sizes == 1).sum())
    lone = classes.count_distinct(records[person]) == 1
    return len(np.unique(records[person].codes[lone[classes.of]]))


def _order(one: Telling) -> tuple[int, int, tuple[str, ...]]:
    return -one.alone, len(one.columns), one.columns
