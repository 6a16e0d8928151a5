"""What the house attacks in itself: a subject is a claim with neighbours on which it is weakest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.claim import Claimed
from discreet.audit.outputs import Pair, Run

__all__ = ["Subject", "buffered", "one_by_one"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism or job of the house, what it claims, and pairs of neighbours.

    `runs` on either side are what the first tier can afford, and `tier` is the first that attacks it. `planted` names
    the bug of a broken twin, which an audit must catch. `attack` makes the claim and the pairs when they are needed.
    """

    name: str
    kind: str
    attack: Callable[[], tuple[Claimed, Sequence[Pair]]]
    runs: int
    planted: str = ""
    tier: int = 1


def one_by_one(call: Callable[[], Any]) -> Run:
    """Runs of something that gives one output at a time, as an array if they are numbers."""
    return lambda runs: [call() for _ in range(runs)]


def buffered(batch: Callable[[], Any]) -> Run:
    """Runs of something that gives many independent outputs at a time; what is not needed yet is kept."""
    kept: list[Any] = []

    def run(runs: int) -> Any:
        while sum(len(part) for part in kept) < runs:
            kept.append(np.asarray(batch()))
        whole = np.concatenate(kept)
        kept[:] = [whole[runs:]]
        return whole[:runs]

    return run
