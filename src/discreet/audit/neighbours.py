"""Pairs of datasets that differ by one person: the places where a mechanism is weakest.

A guarantee is about the worst pair; an audit finds only what its pairs show. The generators here put the person where
bugs live: alone, at the edge of the bounds, among ties, in a group of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from discreet.audit.claim import AnyClaim, read_claim
from discreet.audit.finding import Finding
from discreet.audit.many_runs import audit, read_confidence, read_runs
from discreet.audit.outputs import Pair
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase

__all__ = ["added", "histograms", "moved_scores", "pairs_of", "replaced", "worst"]

Data = TypeVar("Data")
Row = TypeVar("Row")


def added(rows: Sequence[Row], person: Row, sizes: Iterable[int] = (0, 1, 3)) -> Iterator[tuple[list[Row], list[Row]]]:
    """Data with one row more and without it: `person` beside the first so many of `rows`.

    >>> list(added(["a", "b"], "z", sizes=(0, 2)))
    [(['z'], []), (['a', 'b', 'z'], ['a', 'b'])]
    """
    for size in sizes:
        if size <= len(rows):
            base = list(rows[:size])
            yield [*base, person], base


def replaced(rows: Sequence[Row], values: Sequence[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    """Data in which one row has one of two values, for every two: the first row is the person's.

    >>> list(replaced(["a"], [0, 1]))
    [([1, 'a'], [0, 'a'])]
    """
    for low, high in itertools.combinations(values, 2):
        yield [high, *rows], [low, *rows]


def histograms(bins: int, rows: int = 1, height: int = 2) -> Iterator[tuple[list[int], list[int]]]:
    """Counts in bins, with up to `rows` more in one bin: of nothing, of even heights, at either end and in the middle.

    >>> next(histograms(3))
    ([1, 0, 0], [0, 0, 0])
    """
    for base in ([0] * bins, [height] * bins, [height * (i % 2) for i in range(bins)]):
        for place in sorted({0, bins // 2, bins - 1}):
            yield [count + rows * (i == place) for i, count in enumerate(base)], list(base)


def moved_scores(size: int, by: int = 1, monotone: bool = False) -> Iterator[tuple[list[int], list[int]]]:
    """Scores of `size` candidates that one person moves by at most `by`, in the ways that tell most.

    The first goes up, and the others down, or stay where all may only go one way; from ties and from a leader.

    >>> next(moved_scores(3))
    ([1, -1, -1], [0, 0, 0])
    """
    for base in ([0] * size, [by, *[0] * (size - 1)], list(range(size))):
        rest = 0 if monotone else -by
        yield [base[0] + by, *(score + rest for score in base[1:])], list(base)


@typed
def pairs_of(release: Callable[[Data, int], Any], datasets: Iterable[tuple[Data, Data]]) -> list[Pair]:
    """Pairs for an audit: `release(data, runs)` on each dataset and its neighbour."""
    return [
        Pair(
            lambda runs, data=inside: release(data, runs),  # type: ignore[misc]
            lambda runs, data=outside: release(data, runs),  # type: ignore[misc]
            f"{_brief(inside)} and {_brief(outside)}",
            data=(_brief(inside), _brief(outside)),
        )
        for inside, outside in datasets
    ]


def worst(
    pairs: Sequence[Pair],
    claim: AnyClaim,
    *,
    runs: int = 200_000,
    confidence: float = 0.95,
    name: str = "the mechanism",
    share: float = 0.3,
) -> Finding:
    """Look for the pair that shows most with a share of the runs, then attack that one alone with fresh ones.

    Guarantee: as of `audit`; the pair was chosen without the runs that decide.
    """
    total = read_runs(runs)
    read_confidence(confidence)
    held = read_claim(claim)
    if not pairs:
        raise InputError("pairs", Phrase("none"), "at least one pair of neighbours")
    if not 0 < share < 1:
        raise InputError("share", share, "strictly between 0 and 1")
    if len(pairs) == 1:
        return audit(pairs[0], held, runs=total, confidence=confidence, name=name)
    each = max(20, int(total * share / len(pairs)))
    looks = [audit(pair, held, runs=each, confidence=0.9, name=name) for pair in pairs]
    best = max(range(len(pairs)), key=lambda i: (looks[i].violated, looks[i].found, looks[i].mu))
    return audit(pairs[best], held, runs=max(20, total - each * len(pairs)), confidence=confidence, name=name)


def _brief(data: Any) -> str:
    text = str(data)
    return text if len(text) <= 60 else text[:57] + "..."
