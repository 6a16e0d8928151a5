"""Local responders: a report of one person under two different answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import Subject
from discreet.audit.outputs import Pair, repeated
from discreet.core.loss import Pure
from discreet.local import (
    GRR,
    OLH,
    OUE,
    SUE,
    Duchi,
    Hadamard,
    HeavyHitters,
    Hybrid,
    Longitudinal,
    Piecewise,
    Rappor,
    Responder,
    Subset,
    VectorMean,
)

__all__ = ["planted", "subjects"]

_RUNS = 10_000
_CATEGORIES = 5
_ROUNDS = 3


def subjects() -> Iterator[Subject]:
    """Every responder: of categories, of numbers, of strings, and one that is asked again and again."""
    yield Subject("GRR.coin", "responder", lambda: _attack(GRR.coin()), _RUNS)
    for kind in (GRR, OLH, OUE, SUE, Hadamard, Subset):
        yield Subject(kind.__name__, "responder", lambda kind=kind: _attack(kind(_CATEGORIES, 1)), _RUNS)  # type: ignore[misc]
    for mean in (Duchi(1, steps=8), Piecewise(1, steps=8), Hybrid(3, steps=8)):
        yield Subject(type(mean).__name__, "responder", lambda mean=mean: _numbers(mean), _RUNS)  # type: ignore[misc]
    yield Subject("VectorMean", "responder", _vectors, _RUNS)
    yield Subject("Rappor", "responder", _filters, _RUNS)
    yield Subject("HeavyHitters", "responder", _prefixes, _RUNS)
    yield Subject("Longitudinal", "responder", _again, 2_000)


def planted() -> Iterator[Subject]:
    """Coins that tell the truth as if twice the epsilon had been agreed, and an answer that is not remembered."""

    def attack() -> tuple[AnyClaim, Sequence[Pair]]:
        return Pure(1), _attack(GRR(2, 2))[1]

    yield Subject("GRR", "responder", attack, 200_000, planted="half noise")

    def forgetful() -> tuple[AnyClaim, Sequence[Pair]]:
        def side(answer: int) -> Callable[[int], Any]:
            return lambda runs: np.stack([once.privatize(np.full(runs, answer)) for _ in range(_ROUNDS)], axis=1)

        once = GRR(2, 1)
        claim = Longitudinal(2, permanent=once).loss(_ROUNDS)
        return claim, [Pair(side(1), side(0), "answer 1 and answer 0, each time")]

    yield Subject("Longitudinal", "responder", forgetful, 200_000, planted="not remembered")


def _attack(responder: Responder) -> tuple[AnyClaim, Sequence[Pair]]:
    def reports(answer: int) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            given = np.asarray(responder.privatize(np.full(runs, answer)))
            if responder.layout == "packed":  # bits, in bytes
                return np.unpackbits(given.reshape(runs, -1).view(np.uint8), axis=1).astype(np.int64)
            return given

        return run

    return Pure(responder.epsilon), [Pair(reports(1), reports(0), "answer 1 and answer 0")]


def _numbers(mean: Duchi | Piecewise | Hybrid) -> tuple[AnyClaim, Sequence[Pair]]:
    high, low = (lambda runs, end=end: mean.privatize(np.full(runs, float(end))) for end in (mean.upper, mean.lower))
    return Pure(mean.epsilon), [Pair(high, low, "the largest number and the smallest")]


def _vectors() -> tuple[AnyClaim, Sequence[Pair]]:
    """Two of three numbers are told: where, and what, digit by digit."""
    law = VectorMean(3, 2, steps=2, told=2)

    def side(end: float) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            rest, told = law.privatize(np.full((runs, law.dimensions), end)), []
            for _ in range(law.told):
                rest, code = np.divmod(rest, law.dimensions * law.each.reports)
                told += [*np.divmod(code, law.each.reports)]
            return np.stack(told, axis=1)

        return run

    return Pure(law.epsilon), [Pair(side(float(law.upper)), side(float(law.lower)), "all largest and all smallest")]


def _filters() -> tuple[AnyClaim, Sequence[Pair]]:
    law = Rappor(bits=8, hashes=1, cohorts=2, f="1/2", p="1/4", q="3/4")

    def side(value: str) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            sent = law.privatize([value] * runs)
            return np.column_stack([sent.cohorts, np.unpackbits(sent.rows, axis=1)[:, : law.bits]]).astype(np.int64)

        return run

    return law.loss(1), [Pair(side("yes"), side("no"), "two strings")]


def _prefixes() -> tuple[AnyClaim, Sequence[Pair]]:
    """Keys say nothing by themselves: what counts is whether the bucket is that of either string's prefix."""
    law, both = HeavyHitters(1, length=2, alphabet="ab"), ("ab", "ba")

    def side(value: str) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            sent = law.privatize([value] * runs)
            return np.column_stack([sent.levels, *(law.supports(sent, one) for one in both)]).astype(np.int64)

        return run

    return law.loss(), [Pair(side(both[0]), side(both[1]), "two strings")]


def _again() -> tuple[AnyClaim, Sequence[Pair]]:
    """One respondent's reports over some rounds, through a memory."""
    law = Longitudinal(2, permanent=3, instant=3)

    def asked(answer: int) -> Callable[[], Any]:
        def rounds() -> Any:
            memory = law.start()
            return [memory.report(answer) for _ in range(_ROUNDS)]

        return rounds

    return law.loss(_ROUNDS), [Pair(repeated(asked(1)), repeated(asked(0)), "answer 1 and answer 0, each time")]
