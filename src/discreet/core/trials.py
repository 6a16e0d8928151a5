"""Numbers as they were or might be published, beside what might be true: what decisions by them are tried out on.

Nothing private comes here. After a release, what might be true follows from what was published and from the law of its
noise; before one, a public or assumed table stands for the truth and is given fresh noise.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = [
    "NoiseLaw",
    "Trials",
    "Within",
    "named_regions",
    "noisy_trials",
    "plausible_trials",
    "region_name",
    "table_trials",
]

Floats = NDArray[np.float64]
Within = Callable[[NDArray[np.bool_]], tuple[float, float, float]]
"""Of some regions: their true share of the whole, estimated without bias, and the ends of its interval."""

_NUMBERS = 200_000  # drawn in all
_MOST = 1000  # draws
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, eq=False)
class NoiseLaw:
    """The law of the errors of numbers, by their intervals: Laplace, or normal, of the width that these have.

    `below` and `above` are how far an interval reaches to either side; of the errors of each number, a part
    `confidence` lies in between.

    >>> NoiseLaw(np.array([30.0]), np.array([30.0]), 0.95, normal=False).deviations().round(2).tolist()
    [14.16]
    """

    below: Floats
    above: Floats
    confidence: float
    normal: bool

    @property
    def _unit(self) -> float:
        """How many scales of the law an interval reaches."""
        return _NORMAL.inv_cdf(0.5 + self.confidence / 2) if self.normal else -math.log(1 - self.confidence)

    def deviations(self) -> Floats:
        """The standard deviation of each."""
        mean = (self.below + self.above) / 2
        return np.asarray(mean / self._unit * (1.0 if self.normal else math.sqrt(2)))

    @property
    def reach(self) -> float:
        """How many standard deviations an interval reaches: of sums, which are nearer to normal, a little too many."""
        return self._unit / (1.0 if self.normal else math.sqrt(2))

    def errors(self, uniform: Floats, most: Floats | None = None) -> Floats:
        """Errors of each number, published less true, from uniform ones; none above `most` where that is given."""
        if most is not None:
            uniform = uniform * self._part_below(most / np.maximum(self.above, 1e-300) * self._unit)
        if self.normal:
            standard = _quantiles(uniform)
        else:
            tail = np.minimum(uniform, 1 - uniform)
            standard = np.sign(uniform - 0.5) * -np.log(2 * np.maximum(tail, 1e-300))
        return np.asarray(standard / self._unit * np.where(standard < 0, self.below, self.above))

    def _part_below(self, x: Floats) -> Floats:
        if self.normal:
            return np.asarray([_NORMAL.cdf(one) for one in x.tolist()])
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


@dataclass(frozen=True, eq=False)
class Trials:
    """Published numbers of regions, a row for each trial, and true ones: what noise and post-processing did in each.

    Where all trials are of one release, `published` and `unbiased` have one row. `unbiased` are estimates of the same
    numbers that are right on average, and may be negative. `rougher` are what a method with less bias and more
    variance publishes, where there is one. `groups` are public labels of the regions, by name.
    """

    regions: tuple[Any, ...]
    published: Floats
    truths: Floats
    unbiased: Floats
    simulated: bool
    rougher: Floats | None = None
    within: Within | None = None
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    column: str = "region"
    """What its regions are called."""
    ends: tuple[Floats, Floats] | None = None
    """Confidence limits of the true share of each region, where they follow from the law of the noise alone."""
    again: Trials | None = None
    """The release tried again on what might be true, where post-processing bends the noise: what goes wrong then."""

    def __post_init__(self) -> None:
        if not len(self.regions):
            raise InputError("release", Phrase("no numbers"), "a release with numbers to decide by")


def plausible_trials(
    regions: Sequence[Any],
    values: Floats,
    law: NoiseLaw,
    key: bytes,
    *,
    natural: bool,
    whole: bool = False,
    **more: Any,
) -> Trials:
    """What might be true, given published numbers with independent noise; not below zero where they are `natural`."""
    spread = _strata(len(values), key)
    errors = np.stack([law.errors(row, values if natural else None) for row in spread])
    truths = values - errors
    if natural:
        truths = np.maximum(truths, 0.0)
    if whole:
        truths = np.rint(truths)
    variance, sure = law.deviations() ** 2, law.reach

    def within(chosen: NDArray[np.bool_]) -> tuple[float, float, float]:
        whole = float(values.sum())
        if whole <= 0:
            return math.nan, math.nan, math.nan
        part, own = float(values[chosen].sum()), float(variance[chosen].sum())
        low, high = _ratio_ends(np.array([part]), np.array([own]), whole, float(variance.sum()), sure)
        return min(max(part / whole, 0.0), 1.0), float(low[0]), float(high[0])

    if natural:
        more["ends"] = _ratio_ends(values, variance, float(values.sum()), float(variance.sum()), sure)
    one = values[None, :]
    return Trials(tuple(regions), one, truths, one, simulated=False, within=within, **more)


def _ratio_ends(parts: Floats, own: Floats, whole: float, every: float, sure: float) -> tuple[Floats, Floats]:
    """Confidence limits of true parts of a true whole, where both have noise: those shares `s` for which part less
    `s` times whole is within its own noise (Fieller). From 0 to 1 where the whole may be nothing.

    `own` and `every` are variances, and the noise of a part is in the whole too.
    """
    square = sure * sure
    lead = whole * whole - square * every
    if whole <= 0 or lead <= 0:
        return np.zeros_like(parts), np.ones_like(parts)
    middle = parts * whole - square * own
    root = np.sqrt(np.maximum(middle**2 - lead * (parts**2 - square * own), 0.0))
    return np.clip((middle - root) / lead, 0.0, 1.0), np.clip((middle + root) / lead, 0.0, 1.0)


def noisy_trials(regions: Sequence[Any], sizes: Floats, law: NoiseLaw, key: bytes, **more: Any) -> Trials:
    """What might be published of assumed numbers: each with fresh noise."""
    spread = _strata(len(sizes), key)
    published = sizes + np.stack([law.errors(row) for row in spread])
    return Trials(tuple(regions), published, sizes[None, :], published, simulated=True, **more)


def table_trials(table: Release, output: str | None, *, natural: bool) -> Trials:
    """What might be true, given a published table: of one output, in the rows that are about single groups."""
    if not table.outputs:
        raise InputError("release", Phrase("no numbers"), "a release with numbers to decide by")
    name = table.outputs[0] if output is None else output
    if name not in table.outputs:
        raise InputError("output", output, among=table.outputs)
    totals = {place for key in table.keys for place in table.absent.get(key, ())} | {*table.absent.get(name, ())}
    ends = [table[f"{name}{end}"] for end in ("", "_lower", "_upper")]
    chosen = [
        place
        for place, row in enumerate(zip(*ends, strict=True))
        if place not in totals and all(isinstance(end, (int, float)) for end in row)
    ]
    value, low, high = (np.array([column[place] for place in chosen], dtype=float) for column in ends)
    keys = {key: [table[key][place] for place in chosen] for key in table.keys}
    law = NoiseLaw(value - low, high - value, table.confidence, normal=_is_normal(table.mechanism))
    # An interval reaches up as far as the true number may be above: there the noise was below zero.
    law = NoiseLaw(law.above, law.below, law.confidence, law.normal)
    key = f"{table.digest}/{table.id}/{name}".encode()
    whole = all(isinstance(table[name][place], int) for place in chosen)
    more = {"groups": keys, "column": ", ".join(table.keys) or "group"}
    return plausible_trials(named_regions(keys), value, law, key, natural=natural, whole=whole, **more)


def named_regions(keys: Mapping[str, Sequence[Any]]) -> list[str]:
    """One name for each row: the value of its key, or of several with a line between them."""
    return [" / ".join(map(region_name, row)) for row in zip(*keys.values(), strict=True)] if keys else [""]


def region_name(value: Any) -> str:
    """What the group of a key is called, as in a table that is printed.

    >>> region_name(3), region_name(None)
    ('3', '(missing)')
    """
    return "(missing)" if value is None else str(value)


def _is_normal(mechanism: str) -> bool:
    """Laplace has the longer tails: taken for whatever is not Gaussian alone."""
    return "Gaussian" in mechanism and "Laplace" not in mechanism


def _strata(numbers: int, key: bytes) -> Floats:
    """Uniform numbers, of each region one in each part of the same length, in an order of its own: public ones."""
    draws = int(min(max(_NUMBERS // max(numbers, 1), 20), _MOST))
    drawn = np.frombuffer(hashlib.shake_256(key).digest(8 * draws * numbers), dtype=np.uint64)
    order = np.argsort(drawn.reshape(draws, numbers), axis=0)
    return np.asarray((order + 0.5) / draws)


def _quantiles(uniform: Floats) -> Floats:
    """Of the normal law."""
    inside = np.clip(uniform, 1e-15, 1 - 1e-15)
    return np.asarray([_NORMAL.inv_cdf(one) for one in inside.ravel().tolist()]).reshape(uniform.shape)
