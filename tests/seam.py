"""The integers before noise, captured at the one seam: what a job hands to a mechanism together with its own bits.

Everything private leaves through a mechanism that was given the job's bits (simulations of noise have others). Here the
mechanisms write down what they are handed. A run by itself gets real noise, from a tape of its own; a second run can be
made to hear the very answers of the first, so that adaptive jobs go the same way and only the exact integers differ.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

import discreet.mechanisms as room
from discreet.core.loss import BoundedRange, Composed, GaussianNoise, LaplaceNoise, Loss, Pure, Repeated

CHOICES = (room.Exponential, room.PermuteAndFlip, room.NoisyMax, room.TopK)
SEARCHES = (room.QuantileExponential, room.QuantileFlip)
SEAMS = (room.Laplace, room.Gaussian, *CHOICES, *SEARCHES)


class BrokenLawError(AssertionError):
    """Neighbours that differ by more than was charged, or in what must not depend on rows at all."""


class Tape:
    """Bytes that follow from a name."""

    def __init__(self, name: str) -> None:
        self._name, self._turn = name, 0

    def read(self, count: int) -> Any:
        self._turn += 1
        data = hashlib.shake_256(f"{self._name} {self._turn}".encode()).digest(count)
        return np.frombuffer(bytearray(data), dtype=np.uint8)


@dataclass(frozen=True)
class Step:
    """What one mechanism was handed, and what it answered."""

    mechanism: Any
    values: tuple[int, ...]
    answer: Any = field(compare=False)


@contextlib.contextmanager
def captured(bits: Tape, heard: Sequence[Step] | None = None) -> Iterator[list[Step]]:
    """The steps of whatever runs inside with these bits; with `heard`, each is answered as it was there."""
    steps: list[Step] = []
    noise = Tape(f"noise of {bits._name}")

    def wrapped(original: Any) -> Any:
        def release(self: Any, values: Any, **options: Any) -> Any:
            if options.get("bits") is not bits:
                return original(self, values, **options)
            exact = tuple(int(value) for value in np.asarray(values).ravel())
            if heard is None:
                answer = original(self, values, **{**options, "bits": noise})
            else:
                answer = _repeated(heard, len(steps), self, exact)
            steps.append(Step(self, exact, answer))
            return answer

        return release

    with contextlib.ExitStack() as stack:
        for kind in SEAMS:
            stack.enter_context(mock.patch.object(kind, "release", wrapped(kind.release)))
        yield steps
    if heard is not None and len(steps) != len(heard):
        raise BrokenLawError(f"{len(heard)} releases with the unit and {len(steps)} without")


def _repeated(heard: Sequence[Step], place: int, mechanism: Any, exact: tuple[int, ...]) -> Any:
    if place >= len(heard):
        raise BrokenLawError("one release more than the neighbour has")
    if heard[place].mechanism != mechanism:
        raise BrokenLawError(f"the noise follows from rows: {heard[place].mechanism} and {mechanism}")
    if len(heard[place].values) != len(exact):
        raise BrokenLawError(f"{len(heard[place].values)} numbers with the unit and {len(exact)} without")
    return heard[place].answer


def spent(first: Step, second: Step) -> Loss:
    """What one step tells two neighbours apart by: the loss of its mechanism for the move that is seen."""
    mechanism = first.mechanism
    moves = [a - b for a, b in zip(first.values, second.values, strict=True)]
    if isinstance(mechanism, (room.Laplace, room.Gaussian)):
        return noise_loss(mechanism, moves)
    if isinstance(mechanism, CHOICES):
        apart = (max(moves) - min(moves)) if moves else 0
        # Scores that move by s either way are 2s apart, which is what the plain form is made for.
        whole = apart * mechanism.epsilon / mechanism.sensitivity / (1 if mechanism.monotone else 2)
        rounds = mechanism.k if isinstance(mechanism, room.TopK) else 1
        each = BoundedRange if isinstance(mechanism, (room.TopK, room.Exponential)) else Pure
        return Repeated(each(whole / rounds), rounds)
    # A search: `rows` rows of one histogram come or go.
    each = BoundedRange if isinstance(mechanism, room.QuantileExponential) else Pure
    return Repeated(
        each(sum(map(abs, moves)) * mechanism.epsilon / mechanism.rows / mechanism.choices), mechanism.choices
    )


def noise_loss(noise: room.Laplace | room.Gaussian, moves: Sequence[int]) -> Loss:
    """What numbers with noise tell apart that move so far."""
    if isinstance(noise, room.Laplace):
        return Composed([LaplaceNoise(noise.scale, abs(move)) for move in moves if move])
    return Composed([GaussianNoise(noise.sigma, abs(move)) for move in moves if move])


def within(allotment: Any, cost: Loss, first: Sequence[Step], second: Sequence[Step]) -> None:
    """Refuse two runs of neighbours that are further apart than the cost."""
    seen = allotment.price(Composed([spent(*pair) for pair in zip(first, second, strict=True)]))
    charged = allotment.price(cost)
    if not seen.within(charged):
        raise BrokenLawError(f"charged {float(charged.amount):.6g}, and told apart by {float(seen.amount):.6g}")
