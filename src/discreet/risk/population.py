"""From a sample to everybody: how many who are alone in the sample are alone in the population.

No sample knows that. Models of how class sizes are spread can be fitted to it, and two that fit a sample equally well
may differ many times over in what they say of the population. So each model is tested against the sample, those that
do not fit are left out, and what is told is the range of those that do; or nothing, where none does. Where only one
does, the range also reaches to the one that comes nearest. Bounds that need no model stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.risk.population_bounds import bound_alone
from discreet.risk.population_models import MODELS, TAIL, Fit, Spread
from discreet.risk.records import Classes

__all__ = ["Population", "check_size", "estimate_population"]

_EDGES = (1, 2, 3, 4, 5, 7, 11, 21, 51)  # where the bins of class sizes begin
_ALARM = 0.001  # how rarely a model that is right is turned down
_NEAR = (
    0.02  # of the classes of one row, and of those of more, off their bin: then a model is near enough in any sample
)
_LEAST = 20  # rows alone that it takes to say anything
_WIDEST = 10.0  # times between the ends of a range that still says something
_APART = 1.5  # times between two models that fit: more, and they disagree
_DENSE = 0.1  # the sampled part up to which Dankar's rule takes Pitman's model


@dataclass(frozen=True, slots=True)
class Population:
    """Estimates for a population of `size`, of which the rows are a random sample; None where nothing can be said.

    `alone`: how many are alone in the population. `chance`: that a row alone in the sample is alone there. `kinds`: how
    many classes the population has; divided by `size`, the chance to name the right person for a row (`marketer`). Each
    with a range (low, high) over the models that fit, widened by chance in the sample. `bounds`: people alone without
    any model, at 95% confidence. `models`: what each model says and whether it fits. `rule`: the model that the
    decision rule of Dankar and others takes. `disagree`: whether models that fit say different things. `refused` says
    why there are no estimates.
    """

    size: int
    alone: float | None
    alone_range: tuple[float, float] | None
    chance: float | None
    chance_range: tuple[float, float] | None
    models: Mapping[str, Mapping[str, Any]]
    refused: str = ""
    marketer_range: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None
    rule: str = ""
    disagree: bool = False

    def explain(self) -> str:
        """In words."""
        head = f"Of a population of {self.size:,}: "
        tail = f" {self._beside()}" if self._beside() else ""
        if self.alone is None or self.alone_range is None or self.chance is None or self.chance_range is None:
            return f"{head}no estimate. {self.refused}{tail}"
        low, high = self.alone_range
        rare, often = self.chance_range
        fits = ", ".join(name for name, one in self.models.items() if one["fits"])
        if not fits:
            return f"{head}all of it is in the table; {self.alone:,.0f} people are alone in it."
        return (
            f"{head}a row alone here is alone there with chance {self.chance:.1%} [{rare:.1%}, {often:.1%}]; about "
            f"{self.alone:,.0f} [{low:,.0f}, {high:,.0f}] people are alone there. The range is over models that fit "
            f"the sample ({fits}); none of them knows the population, and all are wrong where people come in groups "
            f"that share their values, such as households.{tail}"
        )

    def _beside(self) -> str:
        """What else is to be said: disagreement, the usual rule, and bounds without a model."""
        said = ["The models that fit disagree."] if self.disagree else []
        if self.rule:
            one = self.models[self.rule]
            fit = "fits the sample" if one["fits"] else "does not fit this sample"
            said.append(f"Dankar's rule takes {self.rule}, which says {one['alone']:,.0f} and {fit}.")
        if self.bounds is not None:
            least, most = self.bounds
            said.append(f"Without any model, between {least:,.0f} and {most:,.0f} people are alone there (95%).")
        return " ".join(said)


def check_size(size: object, rows: int) -> None:
    """`InputError` for what cannot be the size of a population that a sample of so many rows or people is part of."""
    if isinstance(size, bool) or not isinstance(size, int) or size < rows:
        allowed = f"a whole number of at least the {rows:,} rows or people of the table, which are part of it"
        raise InputError("population", size, allowed)


def estimate_population(classes: Classes, size: int) -> Population:
    """Estimate; `size` counts the whole population, the sample included."""
    rows = int(classes.sizes.sum())
    check_size(size, rows)
    counts = np.bincount(classes.sizes)
    alone = float(counts[1]) if len(counts) > 1 else 0.0
    if rows == size:
        whole, kinds = (alone, alone), len(classes.sizes) / rows
        share = 1.0 if alone else 0.0
        return Population(size, alone, whole, share, (share, share), {}, marketer_range=(kinds, kinds), bounds=whole)
    sizes = np.flatnonzero(counts)
    spread = Spread(sizes, counts[sizes].astype(np.float64), rows, size)
    bounds = bound_alone(spread)
    pairs = float(counts[2]) if len(counts) > 2 else 0.0
    if alone < _LEAST or pairs < _LEAST:
        why = f"A model needs at least {_LEAST} unique rows and {_LEAST} pairs of rows."
        return Population(size, None, None, None, None, {}, why, bounds=bounds)
    # Counts of classes alone and in pairs decide how a model goes on; two deviations of both, more the farther it goes.
    slack = math.log1p(2 * math.sqrt(1 / alone + 1 / pairs) * (1 + math.log(size / rows)))
    models = {name: _judge(model(spread), spread, slack) for name, model in MODELS.items()}
    rule = _dankar(models, rows / size)
    fits = [one for one in models.values() if one["fits"]]
    if not fits:
        why = "No model fits the sample."
        return Population(size, None, None, None, None, models, why, bounds=bounds, rule=rule)
    told = [one["alone"] for one in fits]
    spanned = [(one["low"], one["high"]) for one in fits]
    if len(fits) == 1:
        spanned += _next_best(models)
    low = max(min(ends[0] for ends in spanned), bounds[0])
    high = min(max(ends[1] for ends in spanned), bounds[1])
    if low > high:
        why = "Models that fit the sample say more than it allows."
        return Population(size, None, None, None, None, models, why, bounds=bounds, rule=rule)
    apart = max(told) > _APART * max(min(told), 1.0)
    if high > _WIDEST * max(low, 1.0):
        why = f"Models that fit the sample say {min(told):,.0f} to {max(told):,.0f} people alone: too far apart."
        return Population(size, None, None, None, None, models, why, bounds=bounds, rule=rule, disagree=apart)
    middle, part = math.sqrt(max(low, 1e-9) * max(high, 1e-9)), rows / size / alone
    chances = [min(one * part, 1.0) for one in (middle, low, high)]
    kinds_of = [one["kinds"] / size for one in fits]
    marketer = (min(kinds_of) / math.exp(slack), min(max(kinds_of) * math.exp(slack), 1.0))
    ranges: dict[str, Any] = {"marketer_range": marketer, "bounds": bounds}
    return Population(
        size, middle, (low, high), chances[0], (chances[1], chances[2]), models, rule=rule, disagree=apart, **ranges
    )


def _dankar(models: Mapping[str, Mapping[str, Any]], part: float) -> str:
    """The rule of Dankar and others (2012): Pitman for thin samples, else the lower of Zayatz and SNB."""
    if part <= _DENSE and models["Pitman"]["alone"] is not None:
        return "Pitman"
    usable = [name for name in ("Zayatz", "SNB") if models[name]["alone"] is not None]
    return min(usable, key=lambda name: models[name]["alone"], default="")


def _next_best(models: Mapping[str, Mapping[str, Any]]) -> list[tuple[float, float]]:
    """What the model that comes nearest to fitting says: one model alone does not show how wrong a model can be."""
    others = [one for one in models.values() if not one["fits"] and one["alone"] is not None]
    nearest = min(others, key=lambda one: one["distance"], default=None)
    return [] if nearest is None else [(nearest["alone"], nearest["alone"])]


def _judge(fit: Fit | None, spread: Spread, slack: float) -> dict[str, Any]:
    """The test of fit: bins of class sizes, observed and expected, by chi-square; or near enough outright."""
    if fit is None:
        return {"alone": None, "kinds": None, "low": None, "high": None, "fits": False, "p": 0.0, "distance": None}
    from scipy import stats

    edges = np.searchsorted(np.arange(1, TAIL + 2), _EDGES)
    should = np.add.reduceat(fit.expected, edges)
    found = np.add.reduceat(spread.binned, edges)
    dense = should >= 5
    should, found = np.append(should[dense], should[~dense].sum()), np.append(found[dense], found[~dense].sum())
    should = np.maximum(should, 1e-9)
    chi = float(((found - should) ** 2 / np.maximum(should, 0.5)).sum())
    chance = float(stats.chi2.sf(chi, max(int(dense.sum()) - 2, 1)))
    # Of a thin sample nearly all classes are single rows, and the few pairs and triples decide how a model goes on.
    # Each part must be near by its own measure, or a wrong law of the larger ones is lost among the single ones.
    parts = [slice(0, 1), slice(1, None)]
    apart = max(float(np.abs(found[part] - should[part]).sum() / max(found[part].sum(), 1.0)) for part in parts)
    own = 1.96 * math.hypot(fit.error, 1 / math.sqrt(max(fit.alone, 1.0))) if math.isfinite(fit.error) else 0.0
    wide = math.exp(min(max(own, slack), 50.0))
    ends = {"low": fit.alone / wide, "high": min(fit.alone * wide, float(spread.size))}
    return {
        "alone": fit.alone,
        "kinds": fit.kinds,
        **ends,
        "fits": bool(chance >= _ALARM or apart <= _NEAR),
        "p": chance,
        "distance": chi,
    }
