"""Does the time of a run give a person away? Runs on two neighbours in an order that coins decide, guessed by a clock.

The clock of a busy machine drifts, and times are not independent of each other. So nothing is assumed of them: a coin
is tossed for each run, and whoever guesses coins better than the claim allows has refuted it, whatever else slows runs
down. Proof: docs/proofs/audit.md, "Run time".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import Rates, tail
from discreet.audit.claim import AnyClaim, Claim, read_claim
from discreet.audit.finding import Finding
from discreet.audit.intervals import lower
from discreet.audit.many_runs import read_confidence, read_runs
from discreet.audit.one_run import coins
from discreet.audit.outputs import Pair, pair_of
from discreet.audit.power import catchable_by_guesses, finest_by_guesses
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase

__all__ = ["audit_time", "coin_chance"]

Reals = NDArray[np.float64]
_SEARCHED = 0.4
_AROUND = 51  # runs whose middle time is "usual"
_WARM = 20  # runs of either side before the first that counts
_FEWEST = 20  # guesses
_CAUTION = 3.0  # standard errors: of many rules the best was lucky, too
_LARGEST = 50.0


@dataclass(frozen=True, slots=True)
class _Rule:
    """Guess "with the person" (or "without", if `swapped`) at times of at least `high`, the other below `low`."""

    low: float
    high: float
    swapped: bool

    def guesses(self, times: Reals) -> NDArray[np.int64]:
        """1: with, 0: without, -1: no guess."""
        out = np.where(times >= self.high, 1, np.where(times < self.low, 0, -1))
        return np.where(out >= 0, out ^ int(self.swapped), out)

    def words(self) -> str:
        """What gives a person away."""
        return f"runs took {'less' if self.swapped else 'more'} time with the person than without"


def audit_time(
    pair: Pair | tuple[Callable[..., Any], Callable[..., Any]],
    claim: AnyClaim,
    *,
    runs: int = 4000,
    confidence: float = 0.999,
    name: str = "the mechanism",
    clock: Callable[[], int] = time.perf_counter_ns,
    bits: Bits | None = None,
) -> Finding:
    """Attack the run time: `runs` runs in all, each on a neighbour that a coin picks, guessed by how long it took.

    Guarantee
        If, however busy the machine is, the time of a run obeys the claim, it is called violated, or `found` is above
        the true epsilon, with probability at most 1 - confidence. Proof: docs/proofs/audit.md, "Run time".
    """
    begun = time.perf_counter()
    sides, held = pair_of(pair), read_claim(claim)
    count, miss = read_runs(runs), 1 - read_confidence(confidence)
    if held.floor is not None:
        raise InputError("claim", Phrase("a trade-off curve"), "a loss or (epsilon, delta) where time is looked at")
    included = coins(count, bits)
    times = _relative(_timed(sides, included, clock))
    first = int(_SEARCHED * count)
    rule, rate = _choose(times[:first], included[:first])
    left = count - first
    guesses = min(left, max(_FEWEST, int(0.8 * rate * left)))
    correct = _right(rule, times[first:], included[first:], guesses)
    shown = _bound(held, correct, guesses, left, miss)

    def refuted(number: int, made: int = guesses) -> bool:
        return _line_chance(held, number, made, left) <= miss

    wrong = refuted(correct)
    said = rule.words() if wrong else "the time of a run"
    right = correct / guesses
    return Finding(
        name=f"{name}, run time",
        claim=held,
        delta=held.delta,
        found=shown,
        mu=0.0,
        violated=wrong,
        event=f"{said}: {correct:,} of {guesses:,} guesses were right",
        attack=Rates(right, 1 - right),
        runs=count,
        confidence=float(confidence),
        neighbours=sides.words,
        data=sides.data,
        story=f"We timed {count:,} runs, each on one of two neighbours that a coin picked, and guessed {guesses:,} of "
        "the coins by the time",
        catchable=None if wrong else catchable_by_guesses(held, correct, guesses, refuted),
        finest=None if wrong else finest_by_guesses(held, left, lambda number: refuted(number, left)),
        seconds=time.perf_counter() - begun,
    )


def coin_chance(correct: int, guesses: int, coins: int, epsilon: float, delta: float = 0.0) -> float:
    """The most likely that `correct` or more of `guesses` are right, each coin guessed by a run of its own.

    The least over k of P[B >= correct - k] + P[L > k]: B binomial(guesses, e^epsilon/(1 + e^epsilon)), L of
    binomial(coins, delta) that are given away altogether.
    """
    right, wrong = 1 / (1 + math.exp(-min(epsilon, 700.0))), 1 / (1 + math.exp(min(epsilon, 700.0)))
    if delta <= 0:
        return tail(guesses, right, wrong, correct) if correct else 1.0
    most, given = 1.0, 0
    while given < correct:
        leaked = tail(coins, delta, 1 - delta, given + 1) if given < coins else 0.0
        most = min(most, tail(guesses, right, wrong, correct - given) + leaked)
        if leaked < 1e-15:
            break
        given += 1
    return most


def _line_chance(claim: Claim, correct: int, guesses: int, coins: int) -> float:
    lines = zip(claim.epsilons.tolist(), claim.deltas.tolist(), strict=True)
    return min((coin_chance(correct, guesses, coins, *line) for line in lines if line[1] < 0.5), default=1.0)


def _bound(claim: Claim, correct: int, guesses: int, coins: int, miss: float) -> float:
    """The largest epsilon, at the claim's delta, that this many right guesses refute."""
    low, high = 0.0, _LARGEST
    if coin_chance(correct, guesses, coins, 0.0, claim.delta) > miss:
        return 0.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if coin_chance(correct, guesses, coins, middle, claim.delta) <= miss else (low, middle)
        )
    return low


def _timed(pair: Pair, included: NDArray[np.bool_], clock: Callable[[], int]) -> list[int]:
    for _ in range(_WARM):
        pair.inside(1)
        pair.outside(1)
    times = []
    for coin in included.tolist():
        side = pair.inside if coin else pair.outside
        begun = clock()
        side(1)
        times.append(clock() - begun)
    return times


def _relative(times: list[int]) -> Reals:
    """Each time, as a multiple of what was usual among the runs before it (logarithms). The past alone is used."""
    usual = [median(times[max(0, place - _AROUND) : place] or times[:1]) for place in range(len(times))]
    return np.log((np.array(times, dtype=np.float64) + 1) / (np.array(usual, dtype=np.float64) + 1))


def _choose(times: Reals, included: NDArray[np.bool_]) -> tuple[_Rule, float]:
    """The rule that would have shown most, and the share of runs that it guesses."""
    cuts = np.unique(np.quantile(times, np.linspace(0.01, 0.99, 49)))
    best, rule, share = -math.inf, _Rule(float(cuts[0]), float(cuts[0]), False), 1.0
    ends = [
        *((float(c), float(c)) for c in cuts),
        *((-math.inf, float(c)) for c in cuts),
        *((float(c), math.inf) for c in cuts),
    ]
    for low, high in ends:
        for swapped in (False, True):
            tried = _Rule(low, high, swapped)
            guesses = tried.guesses(times)
            made = guesses >= 0
            many = int(made.sum())
            if many < _FEWEST:
                continue
            right = float((guesses[made] == included[made]).sum())
            sure = float(lower(np.array([right]), many, _CAUTION)[0])
            score = math.log(max(sure, 1e-9) / max(1 - sure, 1e-9))
            if score > best:
                best, rule, share = score, tried, many / len(times)
    return rule, share


def _right(rule: _Rule, times: Reals, included: NDArray[np.bool_], guesses: int) -> int:
    """How many of exactly `guesses` guesses are right: as the rule says, and the last runs in any case."""
    made = correct = 0
    for place, guess in enumerate(rule.guesses(times).tolist()):
        if made == guesses:
            break
        if guess < 0:
            if len(times) - place > guesses - made:
                continue
            guess = 1
        made += 1
        correct += guess == included[place]
    return correct
