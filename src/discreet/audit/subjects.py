"""Every mechanism on the neighbours where it tells most, and broken twins that an audit must catch.

The twins have bugs that have happened to others; none of them is ever used for anything else. Jobs through a curator
are in `discreet.apps.audits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.audit.claim import AnyClaim
from discreet.audit.gate import ALARM, Subject
from discreet.audit.laws import best_pair, noisy_max_law, reachable, sparse_vector_law, top_k_law
from discreet.audit.outputs import Pair
from discreet.core.release import plural
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
_BINS = 16
_JUDGED = 15_000  # of the runs of the first tier, those that decide
_LESS = Fraction(9, 10)
_FINE = 10**6  # steps so small that no answer comes twice
_RUNS = 1_000_000  # caught long before, as a rule


def subjects() -> Iterator[Subject]:
    """One or more for each mechanism."""
    laplace, gaussian = Laplace(STEPS), Gaussian(STEPS)
    yield _subject("Laplace", lambda: (laplace.loss(STEPS), [added_to(laplace, STEPS)]))
    yield _subject("Gaussian", lambda: (gaussian.loss(STEPS), [added_to(gaussian, STEPS)]))
    many = Laplace.for_epsilon(1, Sensitivity(2, outputs=3))
    yield _subject("Laplace on 3", lambda: (many.loss(Sensitivity(2, outputs=3)), [added_to(many, 2, 3)]))
    places = PlanarLaplace(STEPS)
    yield _subject("PlanarLaplace", lambda: (places.loss(STEPS), [_moved(places, STEPS, turn) for turn in (0, 1)]))
    yield _subject("RandomizedResponse", _response)
    yield _subject("PartitionSelection", _selection)
    yield _subject("StabilityThreshold", _threshold)
    for kind in (Exponential, PermuteAndFlip, NoisyMax):
        for monotone in (False, True):
            name = f"{kind.__name__}, monotone" if monotone else kind.__name__
            yield _subject(name, lambda kind=kind, monotone=monotone: _choice(kind(2, monotone=monotone)))  # type: ignore[misc]
    yield _subject("TopK", lambda: _top(TopK(2, 3)))
    yield _subject("SparseVector", _sparse, 100_000)
    yield _subject("ContinualCount", lambda: _continual(ContinualCount(periods=4, epsilon=1)))
    yield _subject("ContinualCount, Gaussian", lambda: _continual(ContinualCount(periods=4, rho="0.5")))
    yield _subject("QuantileTree", _quantile_tree)
    yield _subject("QuantileExponential", lambda: _quantile(QuantileExponential(0.5, epsilon=2, bins=_BINS)))
    yield _subject("QuantileFlip", lambda: _quantile(QuantileFlip(0.5, epsilon=2, bins=_BINS)))


Attack = Callable[[], tuple[AnyClaim, Sequence[Pair]]]


def _subject(name: str, attack: Attack, runs: int = 30_000) -> Subject:
    return Subject(name, "mechanism", attack, runs)


def added_to(noise: Laplace | Gaussian, moved: int, width: int = 1) -> Pair:
    """Noise on `width` numbers, all moved by the person."""

    def side(value: int) -> Callable[[int], Any]:
        return lambda runs: noise.release(np.full(runs * width, value)).reshape(runs, width)

    return Pair(side(moved), side(0), f"{plural(width, 'number')} of {moved} and of 0")


def _moved(noise: PlanarLaplace, steps: int, turn: int = 0) -> Pair:
    """A place moved so many steps: along an axis, or as far aslant (three and four fifths of them).

    Beside the place that is told, how much nearer it is to the one than to the other: its law depends on nothing else.
    """
    inside = (3 * steps // 5, 4 * steps // 5) if turn else (steps, 0)

    def side(place: tuple[int, int]) -> Callable[[int], Any]:
        def run(runs: int) -> Any:
            told = noise.release(np.tile(place, (runs, 1)))
            nearer = np.hypot(*told.T) - np.hypot(*(told - inside).T)
            return np.column_stack([told, np.rint(100 * nearer).astype(np.int64)])

        return run

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


def _choice(mechanism: Exponential | PermuteAndFlip | NoisyMax) -> tuple[AnyClaim, list[Pair]]:
    pairs: list[tuple[list[int], list[int]]] = [
        ([by, *[0 if mechanism.monotone else -1] * others], [by - 1, *[0] * others])
        for by in range(-4, 5)
        for others in (1, 2, 4)
    ]
    if isinstance(mechanism, NoisyMax):
        return mechanism.loss(), [_known(mechanism, pairs, lambda scores: noisy_max_law(mechanism, scores), "scores")]
    return mechanism.loss(), [_known(mechanism, pairs, mechanism.probabilities, "scores")]


def _top(mechanism: TopK) -> tuple[AnyClaim, list[Pair]]:
    pairs = [([first - 1, -1, lead + 1, -1], [first, 0, lead, 0]) for first in range(-3, 2) for lead in range(4)]
    return mechanism.loss(), [_known(mechanism, pairs, lambda scores: top_k_law(mechanism, scores), "scores")]


def _sparse() -> tuple[AnyClaim, list[Pair]]:
    """Values that fall and stay below a threshold tell of its noise; those that rise to it, of their own."""
    mechanism = SparseVector(threshold=0, epsilon=4, count=2)
    pairs = [
        ([low - 1] * many + [high + 1] * 2, [low] * many + [high] * 2)
        for many in (2, 3, 4)
        for low in (-1, 0, 1)
        for high in (-1, 0)
    ]
    return mechanism.loss(), [_known(mechanism, pairs, lambda values: sparse_vector_law(mechanism, values), "values")]


def _quantile(mechanism: QuantileExponential | QuantileFlip) -> tuple[AnyClaim, list[Pair]]:
    """One row above nearly all bins, and another far below or not."""
    pairs = []
    for place in range(_BINS // 2):
        alone = [*[0] * (_BINS - 1), 1]
        pairs.append(([count + (i == place) for i, count in enumerate(alone)], alone))
    law = lambda counts: mechanism.probabilities(counts)[0]  # noqa: E731
    return mechanism.loss(), [_known(mechanism, pairs, law, "histograms")]


def _known(
    mechanism: Any, pairs: list[tuple[list[int], list[int]]], law: Callable[[list[int]], ArrayLike], what: str
) -> Pair:
    """Of many pairs the one that shows most, by the exact laws of what comes out."""
    inside, outside = best_pair(pairs, law, _JUDGED, ALARM / 50)
    return Pair(
        lambda runs: mechanism.release_many(inside, runs),
        lambda runs: mechanism.release_many(outside, runs),
        f"{what} {inside} and {outside}",
        reachable(law(inside), law(outside)),
    )


def _continual(mechanism: ContinualCount) -> tuple[AnyClaim, list[Pair]]:
    return mechanism.loss(), [
        Pair(
            lambda runs: mechanism.release_many([1, 0, 0, 0], runs),
            lambda runs: mechanism.release_many([0, 0, 0, 0], runs),
            "a person on the first day, or none",
        )
    ]


def _quantile_tree() -> tuple[AnyClaim, list[Pair]]:
    mechanism = QuantileTree(bins=4, epsilon=1, branching=2)
    return mechanism.loss(), [
        Pair(
            lambda runs: mechanism.measure_many([1, 0, 0, 0], runs),
            lambda runs: mechanism.measure_many([0, 0, 0, 0], runs),
            "a row in the first bin, or none",
        )
    ]


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
