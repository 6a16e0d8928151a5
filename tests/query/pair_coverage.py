"""How often intervals of statistics of two columns hold the truth: known measures, a plan's own noise."""

from __future__ import annotations

import numpy as np

from discreet.core.unit import Unit
from discreet.data.column import Real
from discreet.data.schema import Schema
from discreet.ledger.budget import Allotment
from discreet.noise.replay import Replay, key_of
from discreet.query.aggregate import correlation, covariance, intercept, slope
from discreet.query.estimate import estimate
from discreet.query.measure import Complete, Cross, Rows, sensitivity
from discreet.query.price import Price

SCHEMA = Schema("t", {"x": Real(0, 100, nullable=True), "y": Real(-50, 150, nullable=False)}, Unit())
STATISTICS = {
    "covariance": covariance("y", "x", sample=True),
    "correlation": correlation("y", "x"),
    "squared": correlation("x", "y", squared=True),
    "slope": slope("y", "x"),
    "intercept": intercept("y", "x"),
}


def exact(measure, x, y) -> int:
    """What a group with these values would count."""
    if isinstance(measure, (Rows, Complete)):
        return len(x)
    values = {"x": x, "y": y}
    if isinstance(measure, Cross):
        away = [each.of(each.lattice.encode(values[each.column])) for each in (measure.first, measure.second)]
        return int(measure.of(*away).sum())
    return int(measure.of(measure.lattice.encode(values[measure.column])).sum())


def truths(x, y) -> dict[str, float]:
    """The statistics of the values themselves."""
    together = np.cov(x, y)
    line = np.polyfit(x, y, 1)
    related = np.corrcoef(x, y)[0, 1]
    return {
        "covariance": together[0, 1],
        "correlation": related,
        "squared": related**2,
        "slope": line[0],
        "intercept": line[1],
    }


def covered(name, rows, epsilon, confidence, *, tries=400, noise="laplace", seed=3) -> tuple[float, float]:
    """How many of so many intervals hold the truth, and how many groups are published at all."""
    draw = np.random.default_rng(seed)
    x = np.clip(draw.normal(40, 15, rows), 0, 100)
    y = np.clip(0.8 * x + draw.normal(0, 12, rows), -50, 150)
    aggregate, truth = STATISTICS[name], truths(x, y)[name]
    measures = aggregate.measures(SCHEMA)
    moved = [sensitivity(measure, SCHEMA.unit, 1) for measure in measures]
    kind, way = ("pure", "epsilon") if noise == "laplace" else ("zcdp", "rho")
    allotment = Allotment("q", kind, **{way: 10**6})
    price = Price.read(**{way: epsilon}, confidence=confidence)
    noises = price.buys(allotment, moved, [None] * len(moved))
    bits = Replay(key_of([np.array([float(rows), float(seed)])], name))
    noisy = [
        each.release(np.full(tries, exact(measure, x, y)), bits=bits)
        for each, measure in zip(noises, measures, strict=True)
    ]
    found = estimate(aggregate, SCHEMA, noisy, noises, confidence)
    known = ~np.isnan(found.value)
    held = (found.lower <= truth) & (truth <= found.upper)
    return float((held | ~known).mean()), float(known.mean())
