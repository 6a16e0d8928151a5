"""An audit that may stop as soon as it is sure: a gambler who bets against the claim.

If the claim is true no bet against it pays in the long run, so a gambler who starts with 1 ever reaches 1/miss with
probability at most `miss` (Ville's inequality). Bets are chosen on the runs so far and settled on the next ones.
Proof: docs/proofs/audit.md, "Stopping early".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.claim import AnyClaim, Claim, read_claim
from discreet.audit.events import Event, Judge, search
from discreet.audit.finding import Finding
from discreet.audit.layout import Layout
from discreet.audit.many_runs import EVENTS, read_confidence, read_runs, roc_points, seen, sides_alike, tested_rates
from discreet.audit.outputs import Outputs, Pair, pair_of
from discreet.audit.power import Sign, catchable, catchable_by_bets, finest, finest_by_bets
from discreet.errors import InputError, Phrase

__all__ = ["Bet", "audit_until_sure"]

_FIRST = 1000
_BETS = 4
_CAREFUL = 0.7  # of the stake that looks best: it was chosen because it looks best


@dataclass(frozen=True, slots=True, eq=False)
class Bet:
    """A stake on one line of the claim being crossed by one event.

    The line says P[event] <= e^epsilon P'[event] + delta, with P the side the event speaks for; or, if `opposite`, the
    same of the event's complement with the sides exchanged.
    """

    event: Event
    epsilon: float
    delta: float
    opposite: bool
    stake: float
    growth: float

    def settled(self, inside: Outputs, outside: Outputs) -> float:
        """The logarithm of what each unit staked has become, over these runs in pairs."""
        one, other = (outside, inside) if self.event.swapped else (inside, outside)
        hit, alarm = self.event.holds(one), self.event.holds(other)
        if self.opposite:
            hit, alarm = ~alarm, ~hit
        rate = math.exp(self.epsilon)
        both, neither = int((hit & alarm).sum()), int((~hit & ~alarm).sum())
        hits, alarms = int((hit & ~alarm).sum()), int((~hit & alarm).sum())
        return (
            both * math.log1p(self.stake * (1 - rate - self.delta))
            + hits * math.log1p(self.stake * (1 - self.delta))
            + alarms * math.log1p(self.stake * (-rate - self.delta))
            + neither * math.log1p(-self.stake * self.delta)
        )


def audit_until_sure(
    pair: Pair | tuple[Callable[..., Any], Callable[..., Any]],
    claim: AnyClaim,
    *,
    most_runs: int = 1_000_000,
    confidence: float = 0.95,
    name: str = "the mechanism",
) -> Finding:
    """Attack in batches that double, and stop at the first that refutes the claim or at `most_runs` a side.

    Guarantee
        A claim that is true is called violated, or `found` is above the true epsilon, with probability at most
        1 - confidence, however the audit came to stop.
    """
    begun = time.perf_counter()
    sides, held = pair_of(pair), read_claim(claim)
    most, miss = read_runs(most_runs), 1 - read_confidence(confidence)
    if held.floor is not None:
        raise InputError("claim", Phrase("a trade-off curve"), "a loss or (epsilon, delta) where an audit stops early")
    inside, outside, layout = sides_alike(sides, _begin(most))
    state = _State(held, miss, layout)
    while len(inside) < most and not state.sure:
        more, less, _ = sides_alike(sides, min(len(inside), most - len(inside)), layout=layout)
        state.step(inside, outside, more, less)
        inside, outside = np.concatenate([inside, more]), np.concatenate([outside, less])
    event, attack, sign = state.best
    return Finding(
        name=name,
        claim=held,
        delta=held.delta,
        found=state.found,
        mu=state.mu,
        violated=state.sure,
        event=str(event),
        attack=attack,
        runs=len(inside),
        confidence=float(confidence),
        neighbours=sides.words,
        data=sides.data,
        reachable=sides.reachable,
        roc=roc_points(event, inside, outside),
        seconds=time.perf_counter() - begun,
        swapped=event.swapped,
        sign=sign,
        catchable=None if state.sure else state.catchable(len(inside)),
        finest=None if state.sure else state.finest(len(inside)),
    )


def _begin(most: int) -> int:
    """The first batch: at most `_FIRST`, and so that batches which double end at `most`, the last one half of it."""
    halvings = max(1, math.ceil(math.log2(most / _FIRST)))
    return -(-most // (1 << halvings))


class _State:
    """The gambler's wealth, and bounds of the ordinary kind beside it; each may be wrong with half of `miss`."""

    def __init__(self, claim: Claim, miss: float, layout: Layout | None = None) -> None:
        self._layout = layout
        self._claim, self._miss, self._batch = claim, miss / 2, 0
        self.wealth = 0.0  # its logarithm
        self.found = self.mu = 0.0
        self.refuted = False
        self.best: Any = None
        self.signs: list[Sign] = []  # of the last batch, and the chance of being wrong that each had
        self.each = miss

    @property
    def sure(self) -> bool:
        """Whether the claim is refuted, by wealth or by rates."""
        return self.refuted or self.wealth >= math.log(1 / self._miss)

    def catchable(self, runs: int) -> float | None:
        """What these signs would have refuted, by the bounds of the last batch or by bets on all but the first."""
        bounds = catchable(self._claim, self.signs, self.each)
        bets = catchable_by_bets(self._claim, self.signs, runs - _begin(runs), self._miss / _BETS)
        return min((times for times in (bounds, bets) if times is not None), default=None)

    def finest(self, runs: int) -> float:
        """The same for an attack that shows all of a loss."""
        bets = finest_by_bets(self._claim, runs - _begin(runs), self._miss / _BETS)
        return min(finest(self._claim, self.signs[0].runs_inside, self.each), bets)

    def step(self, inside: Outputs, outside: Outputs, more: Outputs, less: Outputs) -> None:
        """Choose events and stakes on the runs known, settle them on the new ones."""
        self._batch += 1
        spent = self._miss / (self._batch * (self._batch + 1))  # over all batches together: `miss`
        events = search(inside, outside, Judge.at(self._claim, self._claim.delta, spent / EVENTS), EVENTS, self._layout)
        self.signs, self.each = [seen(event, more, less) for event in events], spent / len(events)
        tested = [(event, tested_rates(sign, self.each), sign) for event, sign in zip(events, self.signs, strict=True)]
        for event, attack, sign in tested:
            epsilon = attack.epsilon(self._claim.delta)
            crossed = self._claim.refuted(attack)
            better = self.best is None or epsilon > self.best[1].epsilon(self._claim.delta)
            if (better and not self.refuted) or (crossed and not self.refuted):
                self.best = (event, attack, sign)
            self.refuted = self.refuted or crossed
            self.found, self.mu = max(self.found, epsilon), max(self.mu, attack.mu())
        bets = sorted((_bet(self._claim, event, inside, outside) for event in events), key=lambda bet: -bet.growth)
        placed = [bet for bet in bets[:_BETS] if bet.growth > 0]
        if placed:
            results = np.array([bet.settled(more, less) for bet in placed])
            self.wealth += float(np.logaddexp.reduce(results)) - math.log(len(placed))
            if self.sure and not self.refuted:
                chosen = placed[int(np.argmax(results))].event
                self.best = next(one for one in tested if one[0] is chosen)


def _bet(claim: Claim, event: Event, inside: Outputs, outside: Outputs) -> Bet:
    """The line and the stake that would have grown fastest so far, both made a little smaller."""
    one, other = (outside, inside) if event.swapped else (inside, outside)
    p, q = _share(event.holds(one)), _share(event.holds(other))
    best = Bet(event, 0.0, 0.0, opposite=False, stake=0.0, growth=0.0)
    for opposite, hit, alarm in ((False, p, q), (True, 1 - q, 1 - p)):
        steps = np.exp(np.minimum(claim.epsilons, 700.0))
        mean = hit - steps * alarm - claim.deltas
        spread = hit * (1 - hit) + steps**2 * alarm * (1 - alarm)
        stake = np.clip(_CAREFUL * mean / (spread + mean**2), 0.0, 0.9 / (steps + claim.deltas))
        growth = _growth(stake, steps, claim.deltas, hit, alarm)
        at = int(np.argmax(growth))
        if growth[at] > best.growth:
            line = float(claim.epsilons[at]), float(claim.deltas[at])
            best = Bet(event, *line, opposite=opposite, stake=float(stake[at]), growth=float(growth[at]))
    return best


def _growth(
    stake: NDArray[np.float64], steps: NDArray[np.float64], deltas: NDArray[np.float64], hit: float, alarm: float
) -> NDArray[np.float64]:
    grown = hit * alarm * np.log1p(stake * (1 - steps - deltas))
    grown += hit * (1 - alarm) * np.log1p(stake * (1 - deltas))
    grown += (1 - hit) * alarm * np.log1p(stake * (-steps - deltas))
    return np.asarray(grown + (1 - hit) * (1 - alarm) * np.log1p(-stake * deltas), dtype=np.float64)


def _share(held: NDArray[np.bool_]) -> float:
    return (float(held.sum()) + 0.5) / (len(held) + 1)
