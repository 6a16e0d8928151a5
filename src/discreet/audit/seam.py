"""What a job hands to its mechanisms: the integers before noise, and what two neighbours are told apart by.

Everything private leaves through a mechanism that is given the job's own bits (simulations of noise have others).
`captured` has the mechanisms write down what they are handed. A second run hears the very answers of the first, so that
a job that goes on by its answers goes the same way, and only the exact integers differ. Their move makes a loss of the
noise that is added, exactly; it must be within what the job charges. For made-up data only: nothing here is private.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet.mechanisms as room
from discreet.core.loss import BoundedRange, Composed, GaussianNoise, LaplaceNoise, Loss, Pure, Repeated
from discreet.errors import InputError, kind_of

__all__ = ["CHOICES", "BrokenLawError", "Step", "Tape", "captured", "noise_loss", "spent"]

CHOICES = (room.Exponential, room.PermuteAndFlip, room.NoisyMax, room.TopK)
_SEARCHES = (room.QuantileExponential, room.QuantileFlip)
_SEAMS: tuple[Any, ...] = (room.Laplace, room.Gaussian, *CHOICES, *_SEARCHES)


class BrokenLawError(AssertionError):
    """Neighbours that differ by more than was charged, or in what must not depend on rows at all."""


class Tape:
    """Bytes that follow from a name: the same salts for two runs."""

    def __init__(self, name: str) -> None:
        self.name, self._turn = name, 0

    def read(self, count: int) -> NDArray[np.uint8]:
        """The next bytes."""
        self._turn += 1
        data = hashlib.shake_256(f"{self.name} {self._turn}".encode()).digest(count)
        return np.frombuffer(bytearray(data), dtype=np.uint8)


@dataclass(frozen=True)
class Step:
    """What one mechanism was handed, and what it answered."""

    mechanism: Any
    values: tuple[int, ...]
    answer: Any = field(compare=False)


@contextmanager
def captured(bits: Tape, heard: Sequence[Step] | None = None) -> Iterator[list[Step]]:
    """The steps of whatever runs inside with these bits; with `heard`, each is answered as it was there."""
    steps: list[Step] = []
    broken: list[BrokenLawError] = []
    noise = Tape(f"noise of {bits.name}")

    def wrapped(original: Any) -> Any:
        def release(self: Any, values: Any, **options: Any) -> Any:
            if options.get("bits") is not bits:
                return original(self, values, **options)
            exact = tuple(int(value) for value in np.asarray(values).ravel())
            if heard is None:
                answer = original(self, values, **{**options, "bits": noise})
            else:
                try:
                    answer = _repeated(heard, len(steps), self, exact)
                except BrokenLawError as problem:  # a run that fails may not say why
                    broken.append(problem)
                    raise
            steps.append(Step(self, exact, answer))
            return answer

        return release

    own = [(kind, vars(kind).get("release"), kind.release) for kind in _SEAMS]
    try:
        for kind, _, found in own:
            kind.release = wrapped(found)
        yield steps
    except Exception:
        if broken:
            raise broken[0] from None
        raise
    finally:
        for kind, defined, _ in own:
            if defined is None:  # inherited
                del kind.release
            else:
                kind.release = defined
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
    if isinstance(mechanism, _SEARCHES):  # `rows` rows of one histogram come or go
        price = sum(map(abs, moves)) * mechanism.epsilon / mechanism.rows / mechanism.choices
        one = BoundedRange if isinstance(mechanism, room.QuantileExponential) else Pure
        return Repeated(one(price), mechanism.choices)
    raise InputError("mechanism", kind_of(mechanism), "one whose releases are captured")


def noise_loss(noise: room.Laplace | room.Gaussian, moves: Sequence[int]) -> Loss:
    """What numbers with noise tell apart that move so far."""
    if isinstance(noise, room.Laplace):
        return Composed([LaplaceNoise(noise.scale, abs(move)) for move in moves if move])
    return Composed([GaussianNoise(noise.sigma, abs(move)) for move in moves if move])
