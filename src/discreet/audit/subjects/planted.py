"""Broken twins of the mechanisms: bugs that have happened to others, planted so that the audit must find them.

None of these is ever used for anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.claim import Claimed
from discreet.audit.outputs import Pair
from discreet.audit.subject import Subject
from discreet.audit.subjects.mechanisms import STEPS, added_to
from discreet.core.sensitivity import Sensitivity
from discreet.mechanisms import Gaussian, Laplace, StabilityThreshold
from discreet.noise.bernoulli import bernoulli
from discreet.noise.bits import SystemBits

__all__ = ["planted"]

_LESS = Fraction(9, 10)
_FINE = 10**6  # steps so small that no answer comes twice
_RUNS = 1_000_000  # caught long before, as a rule


def planted() -> Iterator[Subject]:
    """One for each kind of bug."""
    claim, soft = Laplace(STEPS).loss(STEPS), Gaussian(STEPS).loss(STEPS)
    yield _bug("half noise", "Laplace", claim, added_to(Laplace(Fraction(STEPS, 2)), STEPS))
    yield _bug("wrong sensitivity", "Laplace", claim, added_to(Laplace(STEPS), 2 * STEPS))
    yield _bug("wrong sensitivity", "Laplace on 3", Laplace(6).loss(2), added_to(Laplace(6), 2, 3))
    yield _bug("-10% noise", "Laplace", claim, added_to(Laplace(STEPS * _LESS), STEPS))
    yield _bug("-10% noise", "Gaussian", soft, added_to(Gaussian(STEPS * _LESS), STEPS))
    two = Laplace.for_epsilon(1, Sensitivity(_FINE, outputs=2))
    yield _bug("reused seed", "Laplace", two.loss(Sensitivity(_FINE, outputs=2)), _reused(two))
    yield _bug("cut tail", "Laplace", claim, _sides(_cut))
    yield _bug("skipped fallback", "Laplace", claim, _sides(_skipped))
    threshold = StabilityThreshold(1, "1e-6")
    yield _bug("key leak", "StabilityThreshold", threshold.loss(), _leak(threshold))


def _bug(bug: str, name: str, claim: Claimed, pair: Pair) -> Subject:
    attack: tuple[Claimed, Sequence[Pair]] = claim, [pair]
    return Subject(name, "mechanism", lambda: attack, _RUNS, planted=bug)


def _sides(release: Callable[[NDArray[np.int64]], Any]) -> Pair:
    return Pair(
        lambda runs: release(np.full(runs, STEPS)),
        lambda runs: release(np.zeros(runs, dtype=np.int64)),
        f"a number of {STEPS} and of 0",
    )


def _cut(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Noise that is cut off at four scales, "because it never gets there"."""
    noise = Laplace(STEPS).release(np.zeros(len(values), dtype=np.int64))
    return np.asarray(values + np.clip(noise, -4 * STEPS, 4 * STEPS))


def _skipped(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """A sampler whose rare slow path was left out: one draw in fifty comes back as zero."""
    noisy = Laplace(STEPS).release(values)
    return np.asarray(np.where(bernoulli(Fraction(1, 50), len(values)), values, noisy))


class _Tape:
    """Bytes that were seen before."""

    def __init__(self, bytes_: NDArray[np.uint8]) -> None:
        self._bytes, self._at = bytes_, 0

    def read(self, count: int) -> NDArray[np.uint8]:
        self._at += count
        return self._bytes[self._at - count : self._at].copy()


def _reused(noise: Laplace) -> Pair:
    """Two answers of one run, whose noise comes from one seed."""

    def side(first: int) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            seed = SystemBits().read(64 * runs + 4096)
            answers = [noise.release(np.full(runs, value), bits=_Tape(seed)) for value in (first, 0)]
            return np.stack(answers, axis=1)

        return run

    return Pair(side(_FINE), side(0), f"({_FINE}, 0) and (0, 0)")


def _leak(mechanism: StabilityThreshold) -> Pair:
    """Every key that anybody has is shown, if its noisy count is above zero."""

    def side(count: int) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            if not count:
                return np.full(runs, -1)
            noisy = Laplace(mechanism.scale).release(np.full(runs, count))
            return np.where(noisy > 0, noisy, -1)

        return run

    return Pair(side(1), side(0), "a key that one person has, and nobody")
