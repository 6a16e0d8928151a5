"""Neighbours that an audit proposes by itself, and a search that changes the best of them until they show most.

Given rows that a mechanism takes, a person is put where mistakes live: alone, among copies, at either end of what is
allowed, beside nobody. What shows most with a few runs is changed a little, and tried again. The pair that is judged in
the end is judged with fresh runs, so the search costs no confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from discreet.audit.claim import AnyClaim, read_claim
from discreet.audit.finding import Finding
from discreet.audit.many_runs import audit, read_confidence, read_runs
from discreet.audit.neighbours import pairs_of
from discreet.audit.outputs import Pair
from discreet.errors import InputError, Phrase, kind_of

__all__ = ["Neighbouring", "Proposal", "hunt", "propose", "seek"]

Neighbouring = Literal["rows", "replaced"]
_VALUES = 6  # of a person, of those that are allowed
_ROUNDS = 3
_KEPT = 3  # pairs that are changed in each round
_MOST = 200  # rows of a proposed table
_SHARE = 0.4  # of the runs, for the search


@dataclass(frozen=True, slots=True)
class Proposal:
    """A table, and the person who joins it, or takes the place of someone with the `other` value."""

    base: tuple[Any, ...]
    person: Any
    other: Any = None
    replaced: bool = False

    def pair(self) -> tuple[list[Any], list[Any]]:
        """Both neighbours."""
        without = [*self.base, self.other] if self.replaced else list(self.base)
        return [*self.base, self.person], without


def propose(rows: Sequence[Any], values: Sequence[Any] = (), how: Neighbouring = "rows") -> list[Proposal]:
    """Pairs to begin with: few rows, none, all; a person with the largest, the smallest and the commonest values.

    >>> len(propose([1, 2, 9])) > 6 and propose([1, 2, 9])[0].pair()
    ([1], [])
    """
    if how not in ("rows", "replaced"):
        raise InputError("neighbours", how, among=("rows", "replaced"))
    listed = list(rows)[:_MOST]
    allowed = _spread([*values, *listed])
    if not allowed:
        raise InputError("data", Phrase("no rows"), "rows that a mechanism takes, or `values` that a row may have")
    bases = [(), tuple(listed), tuple(listed[:1]), *((value,) * 3 for value in (allowed[0], allowed[-1]))]
    different = {repr(base): base for base in bases}.values()
    return [proposal for base in different for proposal in _people(base, allowed, how)]


def _people(base: tuple[Any, ...], allowed: Sequence[Any], how: Neighbouring) -> Iterator[Proposal]:
    if how == "rows":
        yield from (Proposal(base, value) for value in allowed)
        return
    for value in allowed[1:]:
        yield Proposal(base, value, allowed[0], replaced=True)


def _changed(one: Proposal, allowed: Sequence[Any]) -> Iterator[Proposal]:
    """Pairs near a pair: fewer and more rows beside the person, other rows, another value."""
    yield replace(one, base=one.base[: len(one.base) // 2])
    yield replace(one, base=one.base[len(one.base) // 2 :])
    if len(one.base) < _MOST:
        yield replace(one, base=(*one.base, *one.base[: _MOST - len(one.base)]))
        yield from (replace(one, base=(*one.base, value)) for value in (one.person, allowed[0], allowed[-1]))
    yield from (replace(one, person=value) for value in allowed if not (one.replaced and _same(value, one.other)))


def hunt(
    release: Callable[[Any, int], Any],
    rows: Sequence[Any],
    claim: AnyClaim,
    *,
    values: Sequence[Any] = (),
    how: Neighbouring = "rows",
    runs: int = 200_000,
    confidence: float = 0.999,
    name: str = "the mechanism",
) -> Finding:
    """Search for neighbours on which `release(rows, runs)` shows most, then attack those with fresh runs.

    Guarantee: as of `audit`; the pair was chosen without the runs that decide.
    """
    read_confidence(confidence)
    pair = seek(release, rows, claim, values=values, how=how, runs=runs)
    left = max(20, int(read_runs(runs) * (1 - _SHARE)))
    return audit(pair, claim, runs=left, confidence=confidence, name=name)


def seek(
    release: Callable[[Any, int], Any],
    rows: Sequence[Any],
    claim: AnyClaim,
    *,
    values: Sequence[Any] = (),
    how: Neighbouring = "rows",
    runs: int = 200_000,
) -> Pair:
    """The pair of neighbours that showed most, with the part of `runs` that is for the search."""
    total, held = read_runs(runs), read_claim(claim)
    given = _rows(rows)
    like = _like(rows)
    allowed = _spread([*values, *given[:_MOST]])
    pool = propose(given, values, how)
    best: list[tuple[Finding, Proposal]] = []
    tried: set[str] = set()
    problem: InputError | None = None
    for _ in range(_ROUNDS):
        fresh = [one for one in pool if repr(one) not in tried]
        if not fresh:
            break
        tried.update(map(repr, fresh))
        each = max(20, int(total * _SHARE / _ROUNDS / len(fresh)))
        for one in fresh:
            inside, outside = one.pair()
            (pair,) = pairs_of(release, [(like(inside), like(outside))])
            try:
                best.append((audit(pair, held, runs=each, confidence=0.9), one))
            except InputError as raised:  # nothing but errors on both sides
                problem = raised
        best = sorted(best, key=_strength, reverse=True)[:_KEPT]
        pool = [near for _, one in best for near in _changed(one, allowed)]
    if not best:
        raise problem or InputError("data", Phrase("no rows"), "rows that a mechanism takes")
    inside, outside = best[0][1].pair()
    return pairs_of(release, [(like(inside), like(outside))])[0]


def _strength(looked: tuple[Finding, Proposal]) -> tuple[bool, float, float]:
    found = looked[0]
    return found.violated, found.found, found.mu


def _rows(rows: Any) -> list[Any]:
    if isinstance(rows, np.ndarray) and rows.ndim:
        return list(rows)
    if isinstance(rows, (list, tuple)):
        return list(rows)
    raise InputError("data", kind_of(rows), "a list or an array of rows")


def _like(rows: Any) -> Callable[[list[Any]], Any]:
    """Rows in the form in which they were given."""
    if isinstance(rows, np.ndarray):
        return lambda made: np.array(made, dtype=rows.dtype).reshape(len(made), *rows.shape[1:])
    return tuple if isinstance(rows, tuple) else list


def _spread(values: Sequence[Any]) -> list[Any]:
    """A few different values, the smallest first and the largest last where they have an order."""
    different = list({repr(value): value for value in values}.values())
    try:
        different.sort(key=lambda value: tuple(value) if isinstance(value, np.ndarray) else value)
    except (TypeError, ValueError):
        different.sort(key=repr)
    if len(different) <= _VALUES:
        return different
    return [different[round(place)] for place in np.linspace(0, len(different) - 1, _VALUES)]


def _same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)
