"""Try to refute a privacy claim by running a mechanism on two neighbours, many times.

>>> from discreet.core.loss import Pure
>>> from discreet.mechanisms import Laplace
>>> noise = Laplace.for_epsilon(1)
>>> with_ann = lambda runs: noise.release([1] * runs)
>>> without = lambda runs: noise.release([0] * runs)
>>> audit((with_ann, without), Pure(1), runs=20_000, confidence=0.999999).violated
False
>>> audit((with_ann, without), Pure("0.5"), runs=20_000).violated
True
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from discreet.audit.bounds import Rates, rates
from discreet.audit.claim import AnyClaim, read_claim
from discreet.audit.events import Event, Judge, search
from discreet.audit.finding import Finding
from discreet.audit.outputs import Outputs, Pair, as_outputs, pair_of
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase

__all__ = ["EVENTS", "audit", "audit_any", "read_confidence", "read_runs", "roc_points", "sides_alike", "tested_rates"]

_SEARCHED = 0.3  # of the runs: enough to find the event, the rest to be sure of it
EVENTS = 6  # kept of those searched: the chance of being wrong is divided among them
_POINTS = 80


def audit(
    pair: Pair | tuple[Callable[..., Any], Callable[..., Any]],
    claim: AnyClaim,
    *,
    runs: int = 200_000,
    confidence: float = 0.95,
    delta: float | None = None,
    name: str = "the mechanism",
) -> Finding:
    """Attack a mechanism with `runs` runs on either of two neighbours.

    Events are searched for on part of the runs and judged on the others, by exact intervals that hold together.
    `claim` is a loss, an (epsilon, delta) pair or a trade-off curve. `delta` is where the lower bound on epsilon is
    given, if not at the claim's own.

    Guarantee
        A claim that is true is called violated, or `found` is above the true epsilon, with probability at most
        1 - confidence. Proof: docs/proofs/audit.md.
    """
    begun = time.perf_counter()
    sides, held = pair_of(pair), read_claim(claim)
    count, miss = read_runs(runs), 1 - read_confidence(confidence)
    at = held.delta if delta is None else _read_delta(delta)
    inside, outside = sides_alike(sides, count)
    first = int(_SEARCHED * count)
    judge = Judge.at(held, at, miss / EVENTS)
    events = search(inside[:first], outside[:first], judge, EVENTS)
    tested = [(event, tested_rates(event, inside[first:], outside[first:], miss / len(events))) for event in events]
    refuted = [(event, attack) for event, attack in tested if held.refuted(attack)]
    event, attack = max(refuted or tested, key=lambda one: one[1].epsilon(at))
    return Finding(
        name=name,
        claim=held,
        delta=at,
        found=max(attack.epsilon(at) for _, attack in tested),
        mu=max(attack.mu() for _, attack in tested),
        violated=bool(refuted),
        event=str(event),
        attack=attack,
        runs=count,
        confidence=float(confidence),
        neighbours=sides.words,
        roc=roc_points(event, inside[first:], outside[first:]),
        seconds=time.perf_counter() - begun,
        swapped=event.swapped,
    )


@typed
def audit_any(
    pairs: Iterable[Pair],
    claim: AnyClaim,
    *,
    runs: int = 200_000,
    confidence: float = 0.95,
    delta: float | None = None,
    name: str = "the mechanism",
) -> Finding:
    """Attack on several pairs of neighbours, the chance of being wrong divided among them; the worst finding."""
    listed = list(pairs)
    if not listed:
        raise InputError("pairs", Phrase("none"), "at least one pair of neighbours")
    each = 1 - (1 - read_confidence(confidence)) / len(listed)
    found = [audit(one, claim, runs=runs, confidence=each, delta=delta, name=name) for one in listed]
    return max(found, key=lambda one: (one.violated, one.found))


def tested_rates(event: Event, inside: Outputs, outside: Outputs, miss: float) -> Rates:
    """What these runs say of an event that was chosen without them."""
    one, other = (outside, inside) if event.swapped else (inside, outside)
    return rates(int(event.holds(one).sum()), len(one), int(event.holds(other).sum()), len(other), miss)


def sides_alike(pair: Pair, runs: int) -> tuple[Outputs, Outputs]:
    """Outputs of both sides, of one shape and one type."""
    inside, outside = as_outputs(pair.inside(runs), runs), as_outputs(pair.outside(runs), runs)
    if inside.shape != outside.shape:
        raise InputError("pair", Phrase(f"{inside.shape[1]} and {outside.shape[1]} numbers"), "outputs of one shape")
    if inside.dtype == outside.dtype:
        return inside, outside
    return inside.astype(np.float64), outside.astype(np.float64)


def roc_points(event: Event, inside: Outputs, outside: Outputs) -> tuple[tuple[float, float], ...]:
    """What thresholds on the event's feature show, as a picture: no bound is read from it."""
    a, b = event.feature.read(inside), event.feature.read(outside)
    both = np.concatenate([a, b])
    at = np.unique(np.quantile(both, np.linspace(0, 1, _POINTS), method="nearest"))
    points = [(float((b >= t).mean()), float((a >= t).mean())) for t in at.tolist()]
    if event.kind == "one of":
        points.append((float(event.holds(outside).mean()), float(event.holds(inside).mean())))
    if np.mean([y - x for x, y in points]) < 0:  # drawn above the diagonal
        points = [(1 - x, 1 - y) for x, y in points]
    return tuple(sorted({(0.0, 0.0), *points, (1.0, 1.0)}))


def read_runs(value: int) -> int:
    """A number of runs large enough to say anything."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 20:
        raise InputError("runs", value, "a whole number, 20 or more")
    return int(value)


def read_confidence(value: float) -> float:
    """A confidence such as 0.95."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise InputError("confidence", value, "strictly between 0 and 1, such as 0.95")
    return float(value)


def _read_delta(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise InputError("delta", value, "at least 0 and less than 1")
    return float(value)
