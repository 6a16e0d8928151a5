"""Every mechanism of the house on the neighbours where it tells most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.audit.claim import Claimed
from discreet.audit.neighbours import moved_scores
from discreet.audit.outputs import Pair
from discreet.audit.subject import Subject, one_by_one
from discreet.core.sensitivity import Sensitivity
from discreet.mechanisms import (
    ContinualCount,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    QuantileExponential,
    QuantileFlip,
    QuantileTree,
    RandomizedResponse,
    SparseVector,
    StabilityThreshold,
    TopK,
)

__all__ = ["added_to", "subjects"]

STEPS = 10  # how far the person moves a number: noise in small steps tells more of its shape
_HISTOGRAMS = (([1, 0, 0, 0], [0, 0, 0, 0]), ([2, 3, 0, 1], [2, 2, 0, 1]))


def subjects() -> Iterator[Subject]:
    """One or more for each mechanism."""
    laplace, gaussian = Laplace(STEPS), Gaussian(STEPS)
    yield _vector("Laplace", lambda: (laplace.loss(STEPS), [added_to(laplace, STEPS)]))
    yield _vector("Gaussian", lambda: (gaussian.loss(STEPS), [added_to(gaussian, STEPS)]))
    many = Laplace.for_epsilon(1, Sensitivity(2, outputs=3))
    yield _vector("Laplace on 3", lambda: (many.loss(Sensitivity(2, outputs=3)), [added_to(many, 2, 3)]), 10_000)
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


Attack = Callable[[], tuple[Claimed, Sequence[Pair]]]


def _vector(name: str, attack: Attack, runs: int = 30_000) -> Subject:
    return Subject(name, "mechanism", attack, runs)


def _slow(name: str, attack: Attack, runs: int = 2_000) -> Subject:
    return Subject(name, "mechanism", attack, runs)


def added_to(noise: Laplace | Gaussian, moved: int, width: int = 1) -> Pair:
    """Noise on `width` numbers, all moved by the person."""

    def side(value: int) -> Callable[[int], Any]:
        return lambda runs: noise.release(np.full(runs * width, value)).reshape(runs, width)

    return Pair(side(moved), side(0), f"{width} number(s) of {moved} and of 0")


def _response() -> tuple[Claimed, list[Pair]]:
    mechanism = RandomizedResponse(4, 1)
    return mechanism.loss(), [
        Pair(
            lambda runs: mechanism.release(np.full(runs, 1)),
            lambda runs: mechanism.release(np.zeros(runs, dtype=np.int64)),
            "category 1 and category 0",
        )
    ]


def _selection() -> tuple[Claimed, list[Pair]]:
    mechanism = PartitionSelection(1, "0.02")

    def kept(count: int) -> Callable[[int], Any]:
        return lambda runs: mechanism.select(np.full(runs, count))

    # Alone, and in the middle of the rise: keys are decided one by one, so each is a run.
    return mechanism.loss(), [Pair(kept(n + 1), kept(n), f"{n + 1} and {n} people") for n in (0, 3, 5)]


def _threshold() -> tuple[Claimed, list[Pair]]:
    mechanism = StabilityThreshold(1, "0.02")

    def published(count: int) -> Callable[[int], Any]:
        def side(runs: int) -> Any:
            shown = mechanism.release(dict.fromkeys(range(runs), count) if count else {})
            return [shown.get(place, -1) for place in range(runs)]

        return side

    return mechanism.loss(), [Pair(published(n + 1), published(n), f"{n + 1} and {n} people") for n in (0, 4)]


def _choice(mechanism: Any, *, monotone: bool) -> tuple[Claimed, list[Pair]]:
    return mechanism.loss(), [
        Pair(
            one_by_one(lambda scores=inside: mechanism.release(scores)),  # type: ignore[misc]
            one_by_one(lambda scores=outside: mechanism.release(scores)),  # type: ignore[misc]
            f"scores {inside} and {outside}",
        )
        for inside, outside in moved_scores(3, monotone=monotone)
    ]


def _sparse() -> tuple[Claimed, list[Pair]]:
    mechanism = SparseVector(threshold=1, epsilon=1, count=2)

    def asked(values: list[int]) -> Callable[[], Any]:
        def answers() -> Any:
            session = mechanism.start()
            return [session.ask(value) if session.remaining else False for value in values]

        return answers

    low, high = [0, 0, 1, 1], [1, 1, 0, 0]
    return mechanism.loss(), [Pair(one_by_one(asked(high)), one_by_one(asked(low)), f"values {high} and {low}")]


def _continual(mechanism: ContinualCount) -> tuple[Claimed, list[Pair]]:
    def totals(counts: list[int]) -> Callable[[], Any]:
        def published() -> Any:
            session = mechanism.start()
            return [session.add(count) for count in counts]

        return published

    return mechanism.loss(), [
        Pair(one_by_one(totals([1, 0, 0, 0])), one_by_one(totals([0, 0, 0, 0])), "a person on the first day, or none")
    ]


def _quantile(mechanism: QuantileExponential | QuantileFlip) -> tuple[Claimed, list[Pair]]:
    return mechanism.loss(), [
        Pair(
            one_by_one(lambda counts=inside: mechanism.release(counts)[0].at),  # type: ignore[misc]
            one_by_one(lambda counts=outside: mechanism.release(counts)[0].at),  # type: ignore[misc]
            f"histograms {inside} and {outside}",
        )
        for inside, outside in _HISTOGRAMS
    ]


def _quantile_tree() -> tuple[Claimed, list[Pair]]:
    mechanism = QuantileTree(bins=4, epsilon=1, branching=2)

    def ranks(counts: list[int]) -> Callable[[], Any]:
        return lambda: mechanism.measure(counts).ranks

    inside, outside = _HISTOGRAMS[0]
    return mechanism.loss(), [Pair(one_by_one(ranks(inside)), one_by_one(ranks(outside)), f"{inside} and {outside}")]
