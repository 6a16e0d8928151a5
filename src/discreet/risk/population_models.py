"""Models of how class sizes of a population are spread, each fitted to the classes of a sample.

Pitman's sampling formula; the slide negative binomial of Chen and Keller-McNulty (SNB); Poisson-gamma (Bethlehem,
Keller and Pannekoek); Poisson-lognormal (Skinner and Holmes). Each is fitted by maximum likelihood to the number of
classes of 1, 2, ... rows, where classes that the sample has none of are not seen. Zayatz's takes the sample's own
spread for the population's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MODELS", "TAIL", "Fit", "Spread"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

TAIL = 50  # larger classes count as one bin: they say little of the smallest
_NEVER = 1e300
_NODES = 200  # points that a law of means is summed over
_EDGE = 30.0  # parameters beyond e^30 are no fit


@dataclass(frozen=True, slots=True)
class Spread:
    """How many classes (`many`) of a sample have so many rows (`sizes`); it has `rows`, of a population of `size`."""

    sizes: Whole
    many: Floats
    rows: int
    size: int

    @property
    def part(self) -> float:
        """The part of the population that was sampled."""
        return self.rows / self.size

    @property
    def binned(self) -> Floats:
        """Classes of 1 to TAIL rows, and those of more."""
        seen = np.zeros(TAIL + 1)
        np.add.at(seen, np.minimum(self.sizes, TAIL + 1) - 1, self.many)
        return seen


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fitted model says of the population.

    `alone`: people alone in it. `kinds`: its classes. `error`: the standard error of log(alone), from the curvature of
    the likelihood. `expected`: classes of 1 to TAIL rows, and of more, that a sample would have.
    """

    alone: float
    kinds: float
    error: float
    expected: Floats


def _fit(
    spread: Spread,
    law: Callable[[Floats], Floats],
    told: Callable[[Floats, float], tuple[float, float]],
    starts: list[list[float]],
) -> Fit | None:
    """Maximum likelihood. `law` gives chances of 0, 1, ... TAIL rows; `told` people alone and classes, from the
    parameters and the number of cells."""
    seen = spread.binned
    total = float(seen.sum())

    def chances(place: Floats) -> Floats | None:
        """Of 1 to TAIL rows and of more, given at least one."""
        if not (np.abs(place) < _EDGE).all():
            return None
        each = law(place)
        there = 1 - float(each[0])
        if not np.isfinite(each).all() or there <= 1e-12:
            return None
        return np.append(each[1:], max(1 - float(each.sum()), 1e-300)) / there

    def unlikely(place: Floats) -> float:
        each = chances(place)
        if each is None or not (each[seen > 0] > 0).all():
            return _NEVER
        return -float(seen[seen > 0] @ np.log(each[seen > 0]))

    def alone(place: Floats) -> float:
        return told(place, total / (1 - float(law(place)[0])))[0]

    best = _best(unlikely, starts)
    if best is None:
        return None
    expected = chances(best)
    if expected is None:
        return None
    many, kinds = told(best, total / (1 - float(law(best)[0])))
    if not math.isfinite(many + kinds):
        return None
    most = float(spread.size)
    return Fit(min(many, most), min(kinds, most), _log_error(unlikely, alone, best), total * expected)


def _best(unlikely: Callable[[Floats], float], starts: list[list[float]]) -> Floats | None:
    from scipy.optimize import minimize

    found = [minimize(unlikely, np.array(start), method="Nelder-Mead") for start in starts]
    good = [one for one in found if one.fun < _NEVER]
    return np.asarray(min(good, key=lambda one: one.fun).x) if good else None


def _log_error(unlikely: Callable[[Floats], float], alone: Callable[[Floats], float], best: Floats) -> float:
    """The delta method: the slope of log(alone) against the curvature of the likelihood. Infinite where it is flat."""
    step = 0.01
    unit = np.eye(len(best)) * step
    middle = unlikely(best)
    bend = np.zeros((len(best), len(best)))
    for i, a in enumerate(unit):
        for j, b in enumerate(unit):
            if i == j:
                bend[i, i] = unlikely(best + a) - 2 * middle + unlikely(best - a)
            else:
                corners = [unlikely(best + x * a + y * b) * x * y for x in (1, -1) for y in (1, -1)]
                bend[i, j] = sum(corners) / 4
    if not (np.abs(bend) < _NEVER / 10).all():
        return math.inf
    around = [(alone(best + a), alone(best - a)) for a in unit]
    if not all(low > 0 and high > 0 for low, high in around):
        return math.inf
    slope = np.array([(math.log(up) - math.log(down)) / 2 for up, down in around])
    values, vectors = np.linalg.eigh((bend + bend.T) / 2)
    if values.min() <= 1e-10:
        return math.inf
    return float(math.sqrt(((vectors.T @ slope) ** 2 / values).sum()))


def _pitman(spread: Spread) -> Fit | None:
    """Pitman's sampling formula: one more of a rare kind is the rarer the more kinds there are."""
    from scipy.special import gammaln

    kinds, rows, size = float(spread.many.sum()), spread.rows, spread.size

    def read(place: Floats) -> tuple[float, float]:
        return 1 / (1 + math.exp(-min(max(place[0], -9.0), 9.0))), math.exp(min(place[1], _EDGE))

    def unlikely(place: Floats) -> float:
        if not (np.abs(place) < _EDGE).all():
            return _NEVER
        alpha, theta = read(place)
        ways = (kinds - 1) * math.log(alpha) + gammaln(theta / alpha + kinds) - gammaln(theta / alpha + 1)
        each = (spread.many * (gammaln(spread.sizes - alpha) - gammaln(1 - alpha))).sum()
        return -float(ways - (gammaln(theta + rows) - gammaln(theta + 1)) + each)

    def expected(each: Any, total: int, alpha: float, theta: float) -> Any:
        """Classes of so many rows among `total`."""
        ways = gammaln(total + 1) - gammaln(each + 1) - gammaln(total - each + 1)
        rest = gammaln(theta + alpha + total - each) - gammaln(theta + alpha)
        inside = gammaln(each - alpha) - gammaln(1 - alpha)
        return np.exp(ways + inside + rest - (gammaln(theta + total) - gammaln(theta + 1)))

    best = _best(unlikely, [[0.0, math.log(max(kinds / 2, 1))], [-3.0, math.log(kinds)], [2.0, 0.0]])
    if best is None:
        return None
    alpha, theta = read(best)
    grown = (
        gammaln(theta + size + alpha) - gammaln(theta + rows + alpha) + gammaln(theta + rows) - gammaln(theta + size)
    )
    classes = (kinds + theta / alpha) * math.exp(grown) - theta / alpha
    sizes = np.arange(1, min(TAIL, rows) + 1)
    seen = np.zeros(TAIL + 1)
    seen[: len(sizes)] = expected(sizes, rows, alpha, theta)
    seen[-1] = max(kinds - seen.sum(), 0.0)
    alone = float(expected(1, size, alpha, theta))
    error = _log_error(unlikely, lambda place: float(expected(1, size, *read(place))), best)
    return Fit(min(alone, size), min(float(classes), size), error, seen)


def _negative(shape: float, odds: float, upto: int) -> Floats:
    """Chances of 0, 1, ... of a negative binomial with generating function ((1 - odds) / (1 - odds s))^shape."""
    from scipy.special import gammaln

    each = np.arange(upto + 1)
    ways = gammaln(shape + each) - gammaln(shape) - gammaln(each + 1.0)
    return np.asarray(np.exp(ways + each * math.log(odds) + shape * math.log1p(-odds)))


def _slide(spread: Spread) -> Fit | None:
    """A class of the population has one person and a negative binomial number more; each is sampled by chance."""
    part = spread.part

    def read(place: Floats) -> tuple[float, float]:
        """Shape, and the chance of a person more."""
        return math.exp(place[0]), 1 / (1 + math.exp(-place[1]))

    def law(place: Floats) -> Floats:
        shape, more = read(place)
        odds = more * part / (1 - more * (1 - part))
        if not 0 < odds < 1:
            return np.full(TAIL + 1, np.nan)
        others = _negative(shape, odds, TAIL)
        return (1 - part) * others + part * np.append(0.0, others[:-1])

    def told(place: Floats, cells: float) -> tuple[float, float]:
        shape, more = read(place)
        return cells * math.exp(shape * math.log1p(-more)), cells

    return _fit(spread, law, told, [[0.0, 0.0], [-2.0, 3.0], [-3.0, 6.0], [1.0, 2.0]])


def _gamma(spread: Spread) -> Fit | None:
    """Cells have means of a gamma law: what is sampled of them, and all there is, are negative binomial."""

    def read(place: Floats) -> tuple[float, float]:
        return math.exp(place[0]), math.exp(place[1])

    def law(place: Floats) -> Floats:
        shape, scale = read(place)
        return _negative(shape, scale / (1 + scale), TAIL)

    def told(place: Floats, cells: float) -> tuple[float, float]:
        shape, scale = read(place)
        grown = scale / spread.part
        empty = math.exp(-shape * math.log1p(grown))
        return cells * shape * grown / (1 + grown) * empty, cells * (1 - empty)

    return _fit(spread, law, told, [[0.0, 0.0], [-2.0, 2.0], [-4.0, 4.0]])


def _lognormal(spread: Spread) -> Fit | None:
    """Cells have means of a lognormal law, and sizes by chance around them."""
    from scipy.special import gammaln

    nodes = np.linspace(-6, 6, _NODES)
    weights = np.exp(-(nodes**2) / 2)
    weights /= weights.sum()
    each = np.arange(TAIL + 1)
    ways = gammaln(each + 1.0)

    def read(place: Floats) -> Floats:
        return np.asarray(np.exp(np.clip(place[0] + math.exp(min(place[1], 3)) * nodes, -60, 14)))

    def law(place: Floats) -> Floats:
        means = read(place)
        return np.asarray(np.exp(np.multiply.outer(each, np.log(means)) - means - ways[:, None]) @ weights)

    def told(place: Floats, cells: float) -> tuple[float, float]:
        grown = read(place) / spread.part
        return cells * float((grown * np.exp(-grown)) @ weights), cells * float(-np.expm1(-grown) @ weights)

    return _fit(spread, law, told, [[-1.0, 0.0], [0.0, 0.5], [-4.0, 1.0]])


def _zayatz(spread: Spread) -> Fit | None:
    """Class sizes of the population are spread as those of the sample: by it, who is alone here, is alone there."""
    from scipy.special import gammaln

    part, rows, size = spread.part, spread.rows, spread.size
    share = spread.many / spread.many.sum()
    lone = spread.many[spread.sizes == 1].sum()
    if not lone:
        return None

    def drawn(each: Floats, of: Whole) -> Floats:
        """The hypergeometric chance to sample `each` of classes `of` so many."""
        left = size - of
        logs = gammaln(of + 1.0) - gammaln(each + 1.0) - gammaln(of - each + 1.0)
        logs = logs + gammaln(left + 1.0) - gammaln(rows - each + 1.0) - gammaln(left - rows + each + 1.0)
        return np.asarray(np.exp(logs - (gammaln(size + 1.0) - gammaln(rows + 1.0) - gammaln(size - rows + 1.0))))

    once = drawn(np.ones(1), spread.sizes) * share
    chance = float(once[spread.sizes == 1].sum() / once.sum())
    grown = size / float(spread.sizes @ share)
    seen = np.zeros(TAIL + 1)
    for each in range(1, TAIL + 1):
        enough = spread.sizes >= each
        seen[each - 1] = grown * float(drawn(np.array([float(each)]), spread.sizes[enough]) @ share[enough])
    seen[-1] = max(float(spread.many.sum()) - seen.sum(), 0.0)
    return Fit(min(lone * chance / part, size), min(grown, size), 1 / math.sqrt(lone), seen)


MODELS: dict[str, Callable[[Spread], Fit | None]] = {
    "Pitman": _pitman,
    "SNB": _slide,
    "Poisson-lognormal": _lognormal,
    "Poisson-gamma": _gamma,
    "Zayatz": _zayatz,
}
