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
from discreet.audit.layout import Layout, Raised
from discreet.audit.outputs import Outputs, Pair, as_outputs, pair_of
from discreet.audit.power import Sign, catchable, finest
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase

__all__ = [
    "EVENTS",
    "audit",
    "audit_any",
    "read_confidence",
    "read_runs",
    "roc_points",
    "seen",
    "sides_alike",
    "tested_rates",
]

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
    first = int(_SEARCHED * count)
    inside, outside, layout = sides_alike(sides, count, first)
    judge = Judge.at(held, at, miss / EVENTS)
    events = search(inside[:first], outside[:first], judge, EVENTS, layout)
    signs = [seen(event, inside[first:], outside[first:]) for event in events]
    tested = [(event, tested_rates(sign, miss / len(events))) for event, sign in zip(events, signs, strict=True)]
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
        data=sides.data,
        reachable=sides.reachable,
        roc=roc_points(event, inside[first:], outside[first:]),
        seconds=time.perf_counter() - begun,
        swapped=event.swapped,
        sign=signs[[one for one, _ in tested].index(event)],
        catchable=None if refuted else catchable(held, signs, miss / len(events)),
        finest=None if refuted else finest(held, count - first, miss / len(events)),
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


def seen(event: Event, inside: Outputs, outside: Outputs) -> Sign:
    """How often an event came in runs that it was not chosen on; first on the side it speaks for."""
    one, other = (outside, inside) if event.swapped else (inside, outside)
    return Sign(int(event.holds(one).sum()), len(one), int(event.holds(other).sum()), len(other))


def tested_rates(sign: Sign, miss: float) -> Rates:
    """What these counts are sure of."""
    return rates(sign.inside, sign.runs_inside, sign.outside, sign.runs_outside, miss)


def sides_alike(
    pair: Pair, runs: int, searched: int | None = None, layout: Layout | None = None
) -> tuple[Outputs, Outputs, Layout | None]:
    """Outputs of both sides, of one shape and one type, and how they are laid out where they are no array.

    The layout is the one given, or is decided on the first `searched` runs (all of them if None), which judge nothing.
    """
    first, second = pair.inside(runs), pair.outside(runs)
    if layout is None and isinstance(first, list) and isinstance(second, list) and not _plain(first, second):
        layout = Layout.of([*first[:searched], *second[:searched]])
    if layout is not None:
        _check_runs(first, second, runs)
        return layout.read(first), layout.read(second), layout
    return (*_arrays(first, second, runs), None)


def _plain(first: list[Any], second: list[Any]) -> bool:
    """Whether all outputs are numbers of one type: an array says the same."""
    types = {type(one) for side in (first, second) for one in side}
    if types == {int}:
        return all(-(2**63) <= one < 2**63 for side in (first, second) for one in side)
    return len(types) == 1 and issubclass(next(iter(types)), (bool, float, np.bool_, np.integer, np.floating))


def _check_runs(first: list[Any], second: list[Any], runs: int) -> None:
    for side in (first, second):
        if len(side) != runs:
            raise InputError(
                "pair", Phrase(f"{len(side)} outputs"), f"one output for each of the {runs} runs requested"
            )
    if all(isinstance(one, Raised) for side in (first, second) for one in side):
        said = f"an error in every run ({first[0].error}: {first[0].message})"
        raise InputError("pair", Phrase(said), "a mechanism that runs on at least one of two neighbours")


def _arrays(first: Any, second: Any, runs: int) -> tuple[Outputs, Outputs]:
    inside, outside = as_outputs(first, runs), as_outputs(second, runs)
    if inside.shape != outside.shape:
        raise InputError("pair", Phrase(f"{inside.shape[1]} and {outside.shape[1]} numbers"), "outputs of one shape")
    if inside.dtype == outside.dtype:
        return inside, outside
    return inside.astype(np.float64), outside.astype(np.float64)


def roc_points(event: Event, inside: Outputs, outside: Outputs) -> tuple[tuple[float, float], ...]:
    """What thresholds on the event's feature show, mixed by chance where that is better: a picture, no bound."""
    a, b = event.feature.read(inside), event.feature.read(outside)
    both = np.concatenate([a, b])
    at = np.unique(np.quantile(both, np.linspace(0, 1, _POINTS), method="nearest"))
    points = [(float((b >= t).mean()), float((a >= t).mean())) for t in at.tolist()]
    if event.kind == "one of":
        points.append((float(event.holds(outside).mean()), float(event.holds(inside).mean())))
    above = [(x, y) if y >= x else (1 - x, 1 - y) for x, y in points]  # an attack turned round is an attack
    return _hull(sorted({(0.0, 0.0), *above, (1.0, 1.0)}))


def _hull(points: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The upper hull: whoever may choose between two attacks by chance reaches every point between them."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        while len(kept) > 1:
            (a, b), (c, d) = kept[-2:]
            if (d - b) * (x - a) > (y - b) * (c - a):
                break
            kept.pop()
        kept.append((x, y))
    return tuple(kept)


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
