"""Every mechanism on the neighbours where it tells most, and broken twins that an audit must catch.

The twins have bugs that have happened to others; none of them is ever used for anything else. Jobs through a curator
are in `discreet.apps.audits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import Subject
from discreet.audit.neighbours import moved_scores
from discreet.audit.outputs import Pair, repeated
from discreet.core.sensitivity import Sensitivity
from discreet.mechanisms import (
    ContinualCount,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    PlanarLaplace,
    QuantileExponential,
    QuantileFlip,
    QuantileTree,
    RandomizedResponse,
    SparseVector,
    StabilityThreshold,
    TopK,
)
from discreet.noise.bernoulli import bernoulli
from discreet.noise.bits import SystemBits

__all__ = ["added_to", "planted", "subjects"]

STEPS = 10  # how far the person moves a number: noise in small steps tells more of its shape
_HISTOGRAMS = (([1, 0, 0, 0], [0, 0, 0, 0]), ([2, 3, 0, 1], [2, 2, 0, 1]))
_LESS = Fraction(9, 10)
_FINE = 10**6  # steps so small that no answer comes twice
_RUNS = 1_000_000  # caught long before, as a rule


def subjects() -> Iterator[Subject]:
    """One or more for each mechanism."""
    laplace, gaussian = Laplace(STEPS), Gaussian(STEPS)
    yield _vector("Laplace", lambda: (laplace.loss(STEPS), [added_to(laplace, STEPS)]))
    yield _vector("Gaussian", lambda: (gaussian.loss(STEPS), [added_to(gaussian, STEPS)]))
    many = Laplace.for_epsilon(1, Sensitivity(2, outputs=3))
    yield _vector("Laplace on 3", lambda: (many.loss(Sensitivity(2, outputs=3)), [added_to(many, 2, 3)]), 10_000)
    places = PlanarLaplace(STEPS)
    yield _vector("PlanarLaplace", lambda: (places.loss(STEPS), [_moved(places, STEPS, turn) for turn in (0, 1)]))
    yield _vector("RandomizedResponse", _response)
    yield _vector("PartitionSelection", _selection)
    yield _vector("StabilityThreshold", _threshold)
    for kind in (Exponential, PermuteAndFlip, NoisyMax):
        yield _slow(kind.__name__, lambda kind=kind: _choice(kind(1), monotone=False))  # type: ignore[misc]
        yield _slow(f"{kind.__name__}, monotone", lambda kind=kind: _choice(kind(1, monotone=True), monotone=True))  # type: ignore[misc]
    yield _slow("TopK", lambda: _choice(TopK(2, 1), monotone=False), 1_000)
    yield _slow("SparseVector", _sparse)
    yield _slow("ContinualCount", lambda: _continual(ContinualCount(periods=4, epsilon=1)))
    yield _slow("ContinualCount, Gaussian", lambda: _continual(ContinualCount(periods=4, rho="0.5")))
    yield _slow("QuantileTree", _quantile_tree)
    yield _slow("QuantileExponential", lambda: _quantile(QuantileExponential(0.5, epsilon=1, bins=4)))
    yield _slow("QuantileFlip", lambda: _quantile(QuantileFlip(0.5, epsilon=1, bins=4)))


Attack = Callable[[], tuple[AnyClaim, Sequence[Pair]]]


def _vector(name: str, attack: Attack, runs: int = 30_000) -> Subject:
    return Subject(name, "mechanism", attack, runs)


def _slow(name: str, attack: Attack, runs: int = 2_000) -> Subject:
    return Subject(name, "mechanism", attack, runs)


def added_to(noise: Laplace | Gaussian, moved: int, width: int = 1) -> Pair:
    """Noise on `width` numbers, all moved by the person."""

    def side(value: int) -> Callable[[int], Any]:
        return lambda runs: noise.release(np.full(runs * width, value)).reshape(runs, width)

    return Pair(side(moved), side(0), f"{width} number(s) of {moved} and of 0")


def _moved(noise: PlanarLaplace, steps: int, turn: int = 0) -> Pair:
    """A place moved so many steps: along an axis, or as far aslant (three and four fifths of them)."""
    inside = (3 * steps // 5, 4 * steps // 5) if turn else (steps, 0)

    def side(place: tuple[int, int]) -> Callable[[int], Any]:
        return lambda runs: noise.release(np.tile(place, (runs, 1)))

    return Pair(side(inside), side((0, 0)), f"places {inside} and (0, 0)")


def _response() -> tuple[AnyClaim, list[Pair]]:
    mechanism = RandomizedResponse(4, 1)
    return mechanism.loss(), [
        Pair(
            lambda runs: mechanism.release(np.full(runs, 1)),
            lambda runs: mechanism.release(np.zeros(runs, dtype=np.int64)),
            "category 1 and category 0",
        )
    ]


def _selection() -> tuple[AnyClaim, list[Pair]]:
    mechanism = PartitionSelection(1, "0.02")

    def kept(count: int) -> Callable[[int], Any]:
        return lambda runs: mechanism.select(np.full(runs, count))

    # Alone, and in the middle of the rise: keys are decided one by one, so each is a run.
    return mechanism.loss(), [Pair(kept(n + 1), kept(n), f"{n + 1} and {n} people") for n in (0, 3, 5)]


def _threshold() -> tuple[AnyClaim, list[Pair]]:
    mechanism = StabilityThreshold(1, "0.02")

    def published(count: int) -> Callable[[int], Any]:
        def side(runs: int) -> Any:
            shown = mechanism.release(dict.fromkeys(range(runs), count) if count else {})
            return [shown.get(place, -1) for place in range(runs)]

        return side

    return mechanism.loss(), [Pair(published(n + 1), published(n), f"{n + 1} and {n} people") for n in (0, 4)]


def _choice(mechanism: Any, *, monotone: bool) -> tuple[AnyClaim, list[Pair]]:
    return mechanism.loss(), [
        Pair(
            repeated(lambda scores=inside: mechanism.release(scores)),  # type: ignore[misc]
            repeated(lambda scores=outside: mechanism.release(scores)),  # type: ignore[misc]
            f"scores {inside} and {outside}",
        )
        for inside, outside in moved_scores(3, monotone=monotone)
    ]


def _sparse() -> tuple[AnyClaim, list[Pair]]:
    mechanism = SparseVector(threshold=1, epsilon=1, count=2)

    def asked(values: list[int]) -> Callable[[], Any]:
        def answers() -> Any:
            session = mechanism.start()
            return [session.ask(value) if session.remaining else False for value in values]

        return answers

    low, high = [0, 0, 1, 1], [1, 1, 0, 0]
    return mechanism.loss(), [Pair(repeated(asked(high)), repeated(asked(low)), f"values {high} and {low}")]


def _continual(mechanism: ContinualCount) -> tuple[AnyClaim, list[Pair]]:
    def totals(counts: list[int]) -> Callable[[], Any]:
        def published() -> Any:
            session = mechanism.start()
            return [session.add(count) for count in counts]

        return published

    return mechanism.loss(), [
        Pair(repeated(totals([1, 0, 0, 0])), repeated(totals([0, 0, 0, 0])), "a person on the first day, or none")
    ]


def _quantile(mechanism: QuantileExponential | QuantileFlip) -> tuple[AnyClaim, list[Pair]]:
    return mechanism.loss(), [
        Pair(
            repeated(lambda counts=inside: mechanism.release(counts)[0].at),  # type: ignore[misc]
            repeated(lambda counts=outside: mechanism.release(counts)[0].at),  # type: ignore[misc]
            f"histograms {inside} and {outside}",
        )
        for inside, outside in _HISTOGRAMS
    ]


def _quantile_tree() -> tuple[AnyClaim, list[Pair]]:
    mechanism = QuantileTree(bins=4, epsilon=1, branching=2)

    def ranks(counts: list[int]) -> Callable[[], Any]:
        return lambda: mechanism.measure(counts).ranks

    inside, outside = _HISTOGRAMS[0]
    return mechanism.loss(), [Pair(repeated(ranks(inside)), repeated(ranks(outside)), f"{inside} and {outside}")]


def planted() -> Iterator[Subject]:
    """One for each kind of bug."""
    claim, soft = Laplace(STEPS).loss(STEPS), Gaussian(STEPS).loss(STEPS)
    yield _bug("half noise", "Laplace", claim, added_to(Laplace(Fraction(STEPS, 2)), STEPS))
    yield _bug("wrong sensitivity", "Laplace", claim, added_to(Laplace(STEPS), 2 * STEPS))
    yield _bug("wrong sensitivity", "Laplace on 3", Laplace(6).loss(2), added_to(Laplace(6), 2, 3))
    yield _bug("-10% noise", "Laplace", claim, added_to(Laplace(STEPS * _LESS), STEPS))
    yield _bug("-10% noise", "Gaussian", soft, added_to(Gaussian(STEPS * _LESS), STEPS))
    near = PlanarLaplace(STEPS).loss(STEPS)
    yield _bug("half noise", "PlanarLaplace", near, _moved(PlanarLaplace(Fraction(STEPS, 2)), STEPS))
    yield _bug("wrong sensitivity", "PlanarLaplace", near, _moved(PlanarLaplace(STEPS), 2 * STEPS, 1))
    two = Laplace.for_epsilon(1, Sensitivity(_FINE, outputs=2))
    yield _bug("reused seed", "Laplace", two.loss(Sensitivity(_FINE, outputs=2)), _reused(two))
    yield _bug("cut tail", "Laplace", claim, _sides(_cut))
    yield _bug("skipped fallback", "Laplace", claim, _sides(_skipped))
    threshold = StabilityThreshold(1, "1e-6")
    yield _bug("key leak", "StabilityThreshold", threshold.loss(), _leak(threshold))


def _bug(bug: str, name: str, claim: AnyClaim, pair: Pair) -> Subject:
    attack: tuple[AnyClaim, Sequence[Pair]] = claim, [pair]
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
