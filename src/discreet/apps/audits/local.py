"""Local responders: a report of one person under two different answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.audit.claim import Claimed
from discreet.audit.outputs import Pair
from discreet.audit.subject import Subject
from discreet.core.loss import Pure
from discreet.local import GRR, OLH, OUE, SUE, Hadamard, Responder, Subset

__all__ = ["planted", "subjects"]

_RUNS = 10_000
_CATEGORIES = 5


def subjects() -> Iterator[Subject]:
    """Every responder for categories."""
    yield Subject("GRR.coin", "responder", lambda: _attack(GRR.coin()), _RUNS)
    for kind in (GRR, OLH, OUE, SUE, Hadamard, Subset):
        yield Subject(kind.__name__, "responder", lambda kind=kind: _attack(kind(_CATEGORIES, 1)), _RUNS)  # type: ignore[misc]


def planted() -> Iterator[Subject]:
    """Coins that tell the truth as if twice the epsilon had been agreed."""

    def attack() -> tuple[Claimed, Sequence[Pair]]:
        return Pure(1), _attack(GRR(2, 2))[1]

    yield Subject("GRR", "responder", attack, 200_000, planted="half noise")


def _attack(responder: Responder) -> tuple[Claimed, Sequence[Pair]]:
    def reports(answer: int) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            given = np.asarray(responder.privatize(np.full(runs, answer)))
            if responder.layout == "packed":  # bits, in bytes
                return np.unpackbits(given.reshape(runs, -1).view(np.uint8), axis=1).astype(np.int64)
            return given

        return run

    return Pure(responder.epsilon), [Pair(reports(1), reports(0), "answer 1 and answer 0")]
