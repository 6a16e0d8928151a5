"""From a sample to everybody: how many who are alone in the sample are alone in the population.

No sample knows that. Models of how class sizes are spread can be fitted to it, and two that fit a sample equally well
may differ many times over in what they say of the population. So each model is tested against the sample, those that
do not fit are left out, and what is told is the range of those that do; or nothing, where none does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.records import Classes

__all__ = ["Population", "estimate_population"]

Floats = NDArray[np.float64]
_EDGES = (1, 2, 3, 4, 5, 7, 11, 21, 51)  # where the bins of class sizes begin
_ALARM = 0.001  # how rarely a model that is right is turned down
_NEAR = (
    0.02  # of the classes of one row, and of those of more, off their bin: then a model is near enough in any sample
)
_LEAST = 20  # rows alone that it takes to say anything
_WIDEST = 10.0  # times between the ends of a range that still says something
_NEVER = 1e300
_GRID = 400  # places a law of class sizes is summed over


@dataclass(frozen=True, slots=True)
class Population:
    """Estimates for a population of `size`, of which the rows are a random sample; None where nothing can be said.

    `alone`: how many are alone in the population. `chance`: that a row alone in the sample is alone there. Each with a
    range (low, high) over the models that fit, widened by chance in the sample. `models`: what each model says and
    whether it fits. `refused` says why there are no estimates.
    """

    size: int
    alone: float | None
    alone_range: tuple[float, float] | None
    chance: float | None
    chance_range: tuple[float, float] | None
    models: Mapping[str, Mapping[str, Any]]
    refused: str = ""

    def explain(self) -> str:
        """In words."""
        head = f"Of a population of {self.size:,}: "
        if self.alone is None or self.alone_range is None or self.chance is None or self.chance_range is None:
            return f"{head}no estimate. {self.refused}"
        low, high = self.alone_range
        rare, often = self.chance_range
        fits = ", ".join(name for name, one in self.models.items() if one["fits"])
        return (
            f"{head}a row alone here is alone there with chance {self.chance:.1%} [{rare:.1%}, {often:.1%}]; about "
            f"{self.alone:,.0f} [{low:,.0f}, {high:,.0f}] people are alone there. The range is over models that fit "
            f"the sample ({fits}); none of them knows the population, and all are wrong where people come in groups "
            "that share their values, such as households."
        )


def estimate_population(classes: Classes, size: int) -> Population:
    """Estimate; `size` counts the whole population, the sample included."""
    rows = len(classes.of)
    if isinstance(size, bool) or not isinstance(size, int) or size < rows:
        raise InputError("population", size, f"a whole number of at least the {rows:,} rows, which are part of it")
    counts = np.bincount(classes.sizes)
    sizes = np.flatnonzero(counts)
    many = counts[sizes].astype(np.float64)
    alone = float(counts[1]) if len(counts) > 1 else 0.0
    if rows == size:
        whole = (alone, alone)
        share = 1.0 if alone else 0.0
        return Population(size, alone, whole, share, (share, share), {})
    pairs = float(counts[2]) if len(counts) > 2 else 0.0
    if alone < _LEAST or pairs < _LEAST:
        why = f"It takes at least {_LEAST} rows alone and {_LEAST} pairs of rows to fit a model."
        return Population(size, None, None, None, None, {}, why)
    models = {name: _judge(model(sizes, many, rows, size), sizes, many) for name, model in _MODELS.items()}
    told = [one["alone"] for one in models.values() if one["fits"]]
    if not told:
        return Population(size, None, None, None, None, models, "No model fits the sample.")
    # Counts of classes alone and in pairs decide how a model goes on; two deviations of both, more the farther it goes.
    slack = 1 + 2 * math.sqrt(1 / alone + 1 / pairs) * (1 + math.log(size / rows))
    low, high = min(told) / slack, min(max(told) * slack, float(size))
    if high > _WIDEST * max(low, 1.0):
        why = f"Models that fit the sample say {min(told):,.0f} to {max(told):,.0f} people alone: too far apart."
        return Population(size, None, None, None, None, models, why)
    middle, part = math.sqrt(max(low, 1e-9) * max(high, 1e-9)), rows / size / alone
    chances = [min(one * part, 1.0) for one in (middle, low, high)]
    return Population(size, middle, (low, high), chances[0], (chances[1], chances[2]), models)


@dataclass(frozen=True, slots=True)
class _Fit:
    """What a fitted model says: people alone in the population, and how many classes of each size a sample has."""

    alone: float
    expected: Callable[[NDArray[np.int64]], Floats]


def _judge(fit: _Fit | None, sizes: NDArray[np.int64], many: Floats) -> dict[str, Any]:
    """The test of fit: bins of class sizes, observed and expected, by chi-square; or near enough outright."""
    if fit is None:
        return {"alone": None, "fits": False, "p": 0.0}
    from scipy import stats

    longest = int(max(sizes.max(), _EDGES[-1]))
    expected = fit.expected(np.arange(1, longest + 1))
    edges = np.searchsorted(np.arange(1, longest + 1), _EDGES)
    should = np.add.reduceat(expected, edges)
    seen = np.zeros(longest)
    seen[sizes - 1] = many
    found = np.add.reduceat(seen, edges)
    dense = should >= 5
    should, found = np.append(should[dense], should[~dense].sum()), np.append(found[dense], found[~dense].sum())
    should = np.maximum(should, 1e-9)
    chi = float(((found - should) ** 2 / np.maximum(should, 0.5)).sum())
    chance = float(stats.chi2.sf(chi, max(int(dense.sum()) - 2, 1)))
    # Of a thin sample nearly all classes are single rows, and the few pairs and triples decide how a model goes on.
    # Each part must be near by its own measure, or a wrong law of the larger ones is lost among the single ones.
    parts = [slice(0, 1), slice(1, None)]
    apart = max(float(np.abs(found[part] - should[part]).sum() / max(found[part].sum(), 1.0)) for part in parts)
    return {"alone": fit.alone, "fits": bool(chance >= _ALARM or apart <= _NEAR), "p": chance}


def _best(unlikely: Callable[[Floats], float], starts: list[list[float]]) -> Floats | None:
    from scipy.optimize import minimize

    found = [minimize(unlikely, np.array(start), method="Nelder-Mead") for start in starts]
    good = [one for one in found if one.fun < _NEVER]
    return np.asarray(min(good, key=lambda one: one.fun).x) if good else None


def _pitman(sizes: NDArray[np.int64], many: Floats, rows: int, size: int) -> _Fit | None:
    """Pitman's sampling formula: one more of a rare kind is the rarer the more kinds there are."""
    from scipy.special import gammaln

    kinds = int(many.sum())
    steps = np.arange(1, kinds, dtype=float)

    def unlikely(place: Floats) -> float:
        alpha, theta = 1 / (1 + math.exp(-place[0])), math.exp(min(place[1], 50))
        fit = np.log(theta + alpha * steps).sum() - (gammaln(theta + rows) - gammaln(theta + 1))
        return -float(fit + (many * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum())

    best = _best(unlikely, [[0.0, math.log(kinds / 2)], [-3.0, math.log(kinds)], [2.0, 0.0]])
    if best is None:
        return None
    alpha, theta = 1 / (1 + math.exp(-best[0])), math.exp(min(best[1], 50))

    def expected(each: Any, total: int) -> Any:
        ways = gammaln(total + 1) - gammaln(each + 1) - gammaln(total - each + 1)
        inside = gammaln(each - alpha) - gammaln(1 - alpha)
        rest = gammaln(theta + alpha + total - each) - gammaln(theta + alpha)
        return np.exp(ways + inside + rest - (gammaln(theta + total) - gammaln(theta + 1)))

    return _Fit(float(min(expected(1, size), size)), lambda each: np.asarray(expected(np.minimum(each, rows), rows)))


def _mixed(spread: Callable[[Floats], tuple[Floats, Floats]], starts: list[list[float]]) -> Any:
    """A model in which classes have sizes by chance around a mean of their own, and means a law of two parameters.

    `spread` gives means (for the sample) and their weights. Classes that the sample has none of are not seen.
    """
    from scipy.special import gammaln

    def fitted(sizes: NDArray[np.int64], many: Floats, rows: int, size: int) -> _Fit | None:
        def law(each: Any, means: Floats, weights: Floats) -> Floats:
            logs = np.multiply.outer(each, np.log(means)) - means - gammaln(np.asarray(each) + 1.0)[..., None]
            return np.asarray(np.exp(logs) @ weights)

        def unlikely(place: Floats) -> float:
            if not (np.abs(place) < 30).all():
                return _NEVER
            means, weights = spread(place)
            seen = 1 - float(np.exp(-means) @ weights)
            chances = law(sizes, means, weights)
            if seen <= 1e-300 or not (chances > 0).all():
                return _NEVER
            return -float((many * (np.log(chances) - math.log(seen))).sum())

        best = _best(unlikely, starts)
        if best is None or unlikely(best) >= _NEVER:
            return None
        means, weights = spread(best)
        kinds = float(many.sum()) / (1 - float(np.exp(-means) @ weights))
        grown = means * (size / rows)
        alone = kinds * float((grown * np.exp(-grown)) @ weights)
        return _Fit(min(alone, float(size)), lambda each: kinds * law(each, means, weights))

    return fitted


def _lognormal(place: Floats) -> tuple[Floats, Floats]:
    nodes = np.linspace(-6, 6, _GRID)
    weights = np.exp(-(nodes**2) / 2)
    return np.exp(np.clip(place[0] + math.exp(min(place[1], 3)) * nodes, -60, 14)), weights / weights.sum()


def _gamma(place: Floats) -> tuple[Floats, Floats]:
    """Means of a gamma law, on a grid of logarithms."""
    shape, scale = math.exp(place[0]), math.exp(place[1])
    logs = np.linspace(math.log(scale) - 25, math.log(scale) + 5, _GRID)
    weights = shape * (logs - math.log(scale)) - np.exp(logs) / scale
    weights = np.exp(weights - weights.max())
    return np.exp(logs), weights / weights.sum()


_MODELS: dict[str, Callable[..., _Fit | None]] = {
    "Pitman": _pitman,
    "Poisson-lognormal": _mixed(_lognormal, [[-1.0, 0.0], [0.0, 0.5], [-4.0, 1.0]]),
    "Poisson-gamma": _mixed(_gamma, [[0.0, 0.0], [-2.0, 2.0], [-4.0, 4.0]]),
}
