"""Audit a whole training or synthesis from one run: plant canaries by fair coins, guess which coins came up.

Each of `canaries` records is put in the data or left out by a coin of its own. After the run the auditor sees the model
(or the synthetic rows), guesses "in" or "out" for at most `guesses` of them and keeps quiet about the rest. A private
run makes many right guesses unlikely. (Steinke, Nasr, Jagielski 2023 began this; the bounds here are our own and need
no cited result: docs/proofs/audit.md, "One run".)
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from discreet.accounting.curve import real_gaussian_delta
from discreet.audit.bounds import Rates, tail, tail_ratio
from discreet.audit.claim import AnyClaim, Claim, read_claim
from discreet.audit.finding import Finding
from discreet.audit.many_runs import read_confidence
from discreet.audit.power import catchable_by_guesses, finest_by_guesses
from discreet.core.check import at_least, named, whole
from discreet.core.exact import exactly
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase, kind_of
from discreet.mechanisms.inputs import read_count
from discreet.noise.bits import SystemBits, words

__all__ = ["OneRun", "chance", "coins", "guess"]

_LARGEST = 50.0
_MOST = 10**9  # canaries
_EPSILONS = np.concatenate([[0.0], np.geomspace(0.01, 20.0, 60)])
_DOWN = 1 - 1e-9


@frozen(field_transformer=named)
class OneRun:
    """What one run showed: of `canaries` coins, `guesses` were guessed and `correct` of these were right.

    Guarantee
        If the run is (epsilon, delta)-differentially private for adding or removing one record, `chance` is at least
        the probability of this many right guesses or more; hence each bound below is wrong with probability at most
        1 - confidence. `guesses` must be settled before looking at the coins.

    >>> run = OneRun(canaries=1000, guesses=200, correct=180)
    >>> round(run.epsilon(), 2), round(run.epsilon(delta=1e-5), 2), run.refutes((1, 1e-5))
    (1.8, 1.8, True)
    """

    canaries: int = field(converter=whole, validator=at_least(1))
    guesses: int = field(converter=whole, validator=at_least(0))
    correct: int = field(converter=whole, validator=at_least(0))

    def __attrs_post_init__(self) -> None:
        if self.guesses > self.canaries:
            raise InputError("guesses", self.guesses, f"at most the number of canaries, {self.canaries}")
        if self.correct > self.guesses:
            raise InputError("correct", self.correct, f"at most the number of guesses, {self.guesses}")

    def chance(self, claim: AnyClaim) -> float:
        """The most likely that this many right guesses can be if the claim is true: the best of its lines."""
        held = read_claim(claim)
        lines = zip(held.epsilons.tolist(), held.deltas.tolist(), strict=True)
        return min((chance(self, epsilon, delta) for epsilon, delta in lines), default=1.0)

    def refutes(self, claim: AnyClaim, confidence: float = 0.95) -> bool:
        """Whether the run contradicts the claim; a true claim is contradicted with chance 1 - confidence at most."""
        held, miss = read_claim(claim), 1 - read_confidence(confidence)
        if self.correct == 0:
            return False
        return self.chance(held) <= miss or _overfull(self, lambda correct: _fewest_wrong(held, correct), miss)

    def epsilon(self, delta: float = 0.0, confidence: float = 0.95) -> float:
        """A lower bound on epsilon at this delta; zero where nothing is shown."""
        if not 0 <= delta < 1:
            raise InputError("delta", delta, "at least 0 and less than 1")
        miss = 1 - read_confidence(confidence)
        return _largest(lambda epsilon: chance(self, epsilon, delta) <= miss)

    def mu(self, confidence: float = 0.95) -> float:
        """A lower bound on mu, if the run is claimed to be as private as Gaussian noise of sensitivity/mu."""
        miss = 1 - read_confidence(confidence)

        def refuted(mu: float) -> bool:
            precision = exactly(mu, "mu") ** 2
            lines = ((e, float(real_gaussian_delta(precision, exactly(e, "epsilon")))) for e in _EPSILONS.tolist())
            if any(chance(self, e, d * (1 + 1e-12)) <= miss for e, d in lines):
                return True
            return _overfull(self, lambda correct: _gaussian_wrong(mu, correct), miss)

        return _largest(refuted)

    def finding(self, claim: AnyClaim, *, confidence: float = 0.95, name: str = "the run") -> Finding:
        """What the run says of a claim, in words."""
        held = read_claim(claim)
        wrong = self.refutes(held, confidence)

        def refuted(correct: int) -> bool:
            return OneRun(self.canaries, self.guesses, correct).refutes(held, confidence)

        return Finding(
            name=name,
            claim=held,
            delta=held.delta,
            found=self.epsilon(held.delta, confidence),
            mu=self.mu(confidence),
            violated=wrong,
            event=f"{self.correct:,} of {self.guesses:,} guesses were right",
            attack=Rates(self.correct / max(1, self.guesses), 1 - self.correct / max(1, self.guesses)),
            runs=1,
            confidence=confidence,
            neighbours="a made-up record that is in the data or not",
            story=f"We put {self.canaries:,} made-up records in the data or left them out, by a coin for each, and "
            f"guessed {self.guesses:,} of the coins after one run",
            catchable=None if wrong else catchable_by_guesses(held, self.correct, self.guesses, refuted),
            finest=None if wrong else finest_by_guesses(held, self.guesses, refuted),
        )


def chance(run: OneRun, epsilon: float, delta: float = 0.0) -> float:
    """The most likely that an (epsilon, delta)-private run lets this many guesses be right, rounded up.

    With B binomial(guesses, e^epsilon/(1 + e^epsilon)): P[B >= v] + canaries delta P[B >= v] P[B < v] / (v P[B = v]).
    """
    if run.correct == 0:
        return 1.0
    right, wrong = 1 / (1 + math.exp(-min(epsilon, 700.0))), 1 / (1 + math.exp(min(epsilon, 700.0)))
    above = tail(run.guesses, right, wrong, run.correct)
    if above >= 1 or delta == 0:
        return above
    below = min(1.0, 1 - above + 1e-6)
    excess = below * tail_ratio(run.guesses, right, wrong, run.correct) / run.correct
    return min(1.0, above + run.canaries * delta * excess)


def coins(canaries: int, bits: Bits | None = None) -> NDArray[np.bool_]:
    """One fair coin for each canary: whether it goes into the data."""
    return np.asarray((bits or SystemBits()).read(read_count(canaries, "canaries", most=_MOST)) & 1, dtype=np.bool_)


def guess(scores: ArrayLike, included: ArrayLike, guesses: int | None = None, *, bits: Bits | None = None) -> OneRun:
    """Guess "in" for the highest scores and "out" for the lowest, half of `guesses` each (all of them if None).

    A score says how much the result looks as if it had seen the canary (minus the loss on it, say); it may be any
    function of the result. `included` are the coins, looked at only to count the right guesses. Of equal scores chance
    decides, never the order in which canaries are listed: a list may be in the order of the coins.

    >>> guess([3.0, 0.1, 2.5, -1.0], [True, False, True, False])
    OneRun(canaries=4, guesses=4, correct=4)
    """
    try:
        marks, truth = np.asarray(scores, dtype=np.float64), np.asarray(included)
    except (TypeError, ValueError, OverflowError):
        raise InputError("scores", kind_of(scores), "a list of numbers, one for each canary") from None
    if marks.ndim != 1 or np.isnan(marks).any():
        raise InputError(
            "scores", Phrase(f"an array of shape {marks.shape}"), "one number for each canary, none of them NaN"
        )
    if truth.shape != marks.shape or truth.dtype != np.bool_:
        raise InputError(
            "included", Phrase(f"an array of {truth.dtype} of shape {truth.shape}"), "one True or False a canary"
        )
    total = len(marks) if guesses is None else read_count(guesses, "guesses", least=0)
    if total > len(marks):
        raise InputError("guesses", guesses, f"a whole number, at most the number of canaries, {len(marks)}")
    order = np.lexsort((words(bits or SystemBits(), len(marks)), marks))
    out = total // 2
    lowest, highest = order[:out], order[len(order) - (total - out) :]
    right = int((~truth[lowest]).sum()) + int(truth[highest].sum())
    return OneRun(len(marks), total, right)


def _overfull(run: OneRun, fewest_wrong: Callable[[float], float], miss: float) -> bool:
    """Whether P[correct >= v] > `miss` needs more probability than there is (see the proof, "Trade-off curves").

    `right` and `wrong` are the shares of canaries guessed rightly and wrongly in the outcomes with j right or more.
    Going down from v, the curve says how many must be guessed wrongly, and so how likely j - 1 right ones are.
    """
    right = miss * run.correct / run.canaries
    wrong = miss * (run.guesses - run.correct) / run.canaries
    full = run.guesses / run.canaries
    for j in range(run.correct, 0, -1):
        needed = fewest_wrong(right) * _DOWN
        if needed > wrong:
            right += (needed - wrong) * (j - 1) / (run.guesses - j + 1) * _DOWN
            wrong = needed
        if (right + wrong) * _DOWN > full:
            return True
    return False


def _fewest_wrong(claim: Claim, right: float) -> float:
    """The least share of wrong guesses beside this share of right ones, under the claim."""
    if claim.floor is not None:
        false_alarm, missed = claim.floor.false_alarm, claim.floor.missed
        enough = 1 - missed >= right  # `most` at a point; between points it is that of the right one
        place = int(np.argmax(enough)) if enough.any() else len(missed) - 1
        return float(false_alarm[max(place - 1, 0)]) if place else 0.0
    steep = np.exp(-claim.epsilons) * (right - claim.deltas)
    flat = 1 - claim.deltas - np.exp(np.minimum(claim.epsilons, 700.0)) * (1 - right)
    return max(0.0, float(np.maximum(steep, flat).max()))


def _gaussian_wrong(mu: float, right: float) -> float:
    from statistics import NormalDist

    if not 0 < right < 1:
        return 0.0 if right <= 0 else 1.0
    at = NormalDist().inv_cdf(right) - mu
    return math.erfc(-at / math.sqrt(2)) / 2


def _largest(refuted: Callable[[float], bool]) -> float:
    """Nearly the largest number that is refuted; what is returned was itself tested."""
    low, high = 0.0, 1 / 64
    while refuted(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            return low
    while high - low > 1e-4 * high and high > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
