"""Any sum a reader makes of a published hierarchy, with an interval: places off the tree, margins, differences, shares.

The number is that of the published tables. The interval is design-based, as `each` is for a region: the best linear
estimate of the same sum, give or take its deviation, which takes covariances between regions into account
(`covariance`). Nothing is spent: only noisy counts that are published already are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.release import number, percent
from discreet.errors import InputError, Phrase
from discreet.trees.covariance import Covariance, Weights
from discreet.trees.intervals.each import deviations, half_width
from discreet.trees.quality import quality
from discreet.trees.tree import Hierarchy

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["Figure", "Sum", "apart", "cell_weights", "figure_of", "parse_sum", "sum_of", "weights_of"]

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Figure:
    """A number made of published ones, with an interval that holds the true one with the stated confidence.

    `value` is None where it is a share of a published zero, an end where noise does not bound it: where what is
    divided by cannot be told from zero.
    """

    value: float | None
    lower: float | None
    upper: float | None
    deviation: float
    """The standard deviation of the best linear estimate; infinite where nothing bounds it."""
    confidence: float

    @property
    def quality(self) -> str:
        """Whether to rely on it: reliable, with care, do not use."""
        return quality(0.0 if self.value is None else self.value, self.deviation)

    def __mul__(self, factor: Any) -> Figure:
        by = _finite(factor, "factor")
        ends = [None if end is None else end * by for end in (self.lower, self.upper)]
        low, high = ends if by >= 0 else ends[::-1]
        value = None if self.value is None else self.value * by
        return Figure(value, low, high, self.deviation * abs(by), self.confidence)

    def __rmul__(self, factor: Any) -> Figure:
        return self.__mul__(factor)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("value", "lower", "upper", "confidence", "quality")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        ends = f"[{number(self.lower)}, {number(self.upper)}]"
        return f"{number(self.value)} {ends} ({percent(self.confidence)} interval; {self.quality})"


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """What is summed of one release: the weights, and what they are applied to."""

    noise: Covariance
    leaves: Any
    weights: Weights
    whole: bool = True
    """Whether its numbers are whole ones."""


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Figure):
    """A sum of published counts with its interval: it can be added, subtracted, scaled, and divided by another.

    `a - b` knows what both have in common: noise that is in both does not count twice. `a / b` is a share or a rate,
    with Fieller's interval. Sums of different releases have noises that are independent. Tables of
    one census share some: sums over several of them take the worst of it, which makes them wider than need be.
    """

    parts: tuple[Part, ...]
    estimate: float
    """The best linear estimate, in the middle of the interval before bounds are used."""
    natural: bool
    """Whether it counts or sums something: a number that is not negative."""

    @classmethod
    def of(cls, parts: tuple[Part, ...], confidence: float, *, natural: bool) -> Sum:
        """The sum over parts."""
        value: float = sum(part.weights.of(part.leaves) for part in parts)
        estimate = sum(part.weights.of(part.noise.linear.counts[-1]) for part in parts)
        deviation = math.sqrt(max(_covariance(parts, parts), 0.0))
        half = _reach(parts, deviation, confidence)
        lower, upper = estimate - half, estimate + half
        if (step := _lattice(parts)) is not None:
            value, lower, upper = round(value / step), math.ceil(lower / step), math.floor(upper / step)
            value, lower, upper = (step * end for end in (value, lower, upper))
        if natural:
            lower, upper = max(lower, 0), max(upper, 0)
        return cls(value, min(lower, value), max(upper, value), deviation, confidence, parts, float(estimate), natural)

    def __add__(self, other: Any) -> Sum:
        if not isinstance(other, Sum):
            return NotImplemented
        _alike(self, other)
        return Sum.of((*self.parts, *other.parts), self.confidence, natural=self.natural and other.natural)

    def __sub__(self, other: Any) -> Sum:
        return self + other * -1 if isinstance(other, Sum) else NotImplemented

    def __mul__(self, factor: Any) -> Sum:
        by = _finite(factor, "factor")
        parts = tuple(replace(part, weights=part.weights.times(by)) for part in self.parts)
        return Sum.of(parts, self.confidence, natural=self.natural and by >= 0 and by.is_integer())

    def __truediv__(self, other: Any) -> Figure:
        if isinstance(other, Sum):
            _alike(self, other)
            return _ratio(self, other)
        by = _finite(other, "divisor")
        if by == 0:
            raise InputError("divisor", other, "a number other than zero")
        return self * (1 / by)


def _covariance(some: tuple[Part, ...], others: tuple[Part, ...], worst: float = 1.0) -> float:
    """The covariance of two sums. What tables of one census share is not taken apart: the worst of it is assumed."""
    found = 0.0
    for one in some:
        for two in others:
            if one.noise.same(two.noise):
                found += one.noise.between(one.weights, two.weights)
            elif one.noise.akin(two.noise):
                found += worst * math.sqrt(_variance(one) * _variance(two))
    return found


def _variance(part: Part) -> float:
    return max(part.noise.between(part.weights, part.weights), 0.0)


def _step(parts: tuple[Part, ...]) -> float:
    """The most that one step of the noise moves the sum: noise is on whole numbers, and weights are its steps."""
    terms = (term for part in parts for term in part.weights.terms)
    return max(float(np.abs(leaves).max(initial=0) * np.abs(cells).max(initial=0)) for leaves, cells in terms)


def _lattice(parts: tuple[Part, ...]) -> float | int | None:
    """The number that the sum is a multiple of, where all weights are the same; None where they differ."""
    steps = set()
    for leaves, cells in (term for part in parts for term in part.weights.terms):
        found = [np.unique(np.abs(weights[weights != 0])) for weights in (leaves, cells)]
        if any(len(some) > 1 for some in found):
            return None
        if all(len(some) for some in found):
            steps.add(float(found[0][0] * found[1][0]))
    if len(steps) != 1:
        return None
    (step,) = steps
    return int(step) if step.is_integer() else step


def _reach(parts: tuple[Part, ...], deviation: float, confidence: float) -> float:
    """How far from its estimate a sum may be: as for single counts (`each`), in steps of its own, and half a step."""
    step = _step(parts)
    if deviation <= 1e-9 * step:  # what was added is taken off again
        return 1e-9 * step
    variance = np.square(deviation / step)
    return step * (max(float(half_width(part.noise.measured, 1 - confidence, variance)) for part in parts) + 0.5)


def _finite(value: Any, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise InputError(field, value, "a finite number")
    return float(value)


def _alike(one: Sum, two: Sum) -> None:
    if one.confidence != two.confidence:
        said = Phrase(f"{percent(one.confidence)} and {percent(two.confidence)}")
        raise InputError("confidence", said, "the same for both", "Give sum(..., confidence=...) for both.")


def _ratio(above: Sum, below: Sum) -> Figure:
    """Fieller's interval: every ratio r for which above - r x below may well be zero."""
    value = above.value / below.value if above.value is not None and below.value else None
    both = (*above.parts, *below.parts)
    z = max(deviations(part.noise.measured, 1 - above.confidence) for part in both)
    high, low = (_reach(one.parts, one.deviation, above.confidence) for one in (above, below))
    spread = above.deviation * below.deviation
    shared = high * low * max(min(_covariance(above.parts, below.parts, -1.0) / spread, 1.0), -1.0) if spread else 0.0
    a = below.estimate**2 - low**2
    b = above.estimate * below.estimate - shared
    apart = (above.estimate * low) ** 2 + (below.estimate * high) ** 2
    root = apart - 2 * above.estimate * below.estimate * shared + shared**2 - (high * low) ** 2
    if abs(root) < 1e-9 * apart:  # a multiple of what it is divided by
        root = 0.0
    least = 0.0 if above.natural and below.natural else None
    most = 1.0 if least is not None and _within(above, below) else None
    if a <= 0 or root < 0:  # what it is divided by cannot be told from zero
        return Figure(value, least, most, math.inf if most is None else 0.5, above.confidence)
    lower, upper = (b - math.sqrt(root)) / a, (b + math.sqrt(root)) / a
    deviation = (upper - lower) / (2 * z)
    if value is not None:
        lower, upper = min(lower, value), max(upper, value)
    lower, upper = (min(max(end, -math.inf if least is None else least), most or math.inf) for end in (lower, upper))
    return Figure(value, lower, upper, deviation, above.confidence)


def _within(above: Sum, below: Sum) -> bool:
    """Whether all that is counted above is counted below as well: then it is a share."""
    if len(above.parts) != 1 or len(below.parts) != 1 or not above.parts[0].noise.same(below.parts[0].noise):
        return False
    one, two = above.parts[0].weights.terms, below.parts[0].weights.terms
    if len(one) != 1 or len(two) != 1:
        return False
    return all(bool(np.all(a <= b)) for a, b in zip(one[0], two[0], strict=True))


def sum_of(release: TreeRelease, regions: Any, cells: Any, confidence: float) -> Sum:
    """The sum over regions and cells of a release, as `TreeRelease.sum` is asked for it."""
    weights, whole = weights_of(release, regions, cells)
    part = Part(release.covariance, release.estimate.counts[-1], weights, release.step.denominator == 1)
    return Sum.of((part,), confidence, natural=whole)


def weights_of(release: TreeRelease, regions: Any, cells: Any) -> tuple[Weights, bool]:
    """What is to be added up, in published numbers, and whether each is taken wholly or not at all."""
    leaves, whole = _leaf_weights(release.tree, regions)
    return Weights(((leaves, release.valued(cell_weights(release, cells))),)), whole


def parse_sum(release: TreeRelease, text: str, field: str = "sum") -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Regions and cells from how people write them on a line: `county=Ash,Elm; sex=female`. Nothing means all.

    A value that has a comma or a semicolon in it stands in double quotes: `race="White, alone"`.
    """
    columns = [name for name, _ in release.by]
    regions: dict[str, list[str]] = {}
    cells: dict[str, list[str]] = {}
    for part in filter(str.strip, apart(text, ";")):
        name, given, values = (piece.strip() for piece in part.partition("="))
        if not given or not values:
            hint = f"Such as {release.levels[-1]}={release.tree.codes[-1][0]}."
            raise InputError(field, text, "levels and columns with values, and semicolons between them", hint)
        if name not in (*columns, *release.levels):
            raise InputError(field, name, "a level or a column of cells", among=(*release.levels, *columns))
        (cells if name in columns else regions)[name] = [_plain(value) for value in apart(values, ",")]
    return regions, cells


def apart(text: str, sign: str) -> list[str]:
    """The pieces of a text between signs that do not stand in quotes."""
    quoted = [piece.replace(sign, "\0") if place % 2 else piece for place, piece in enumerate(text.split('"'))]
    return [piece.replace("\0", sign) for piece in '"'.join(quoted).split(sign)]


def _plain(value: str) -> str:
    bare = value.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] == '"' else bare


def figure_of(
    release: TreeRelease, text: str, share_of: str | None = None, *, field: str = "sum", whole: str = "share_of"
) -> Figure:
    """The sum that a line asks for, or the share that it is of another one: `county=Ash,Elm; sex=female`."""
    above = release.sum(*parse_sum(release, text, field))
    if share_of is None:
        return above
    return above / release.sum(*parse_sum(release, share_of, whole))


def _leaf_weights(tree: Hierarchy, regions: Any) -> tuple[Reals, bool]:
    """How much every leaf counts, and whether each counts wholly or not at all.

    `regions` are codes by level, {"county": ["44001", "44003"]}; with weights, {"block": {"440010301001": 0.5}}, for
    places that cut through regions; None for all there are. A leaf in several of those named counts once.
    """
    if regions is None or regions == {}:
        return np.ones(tree.leaves), True
    if not isinstance(regions, Mapping):
        hint = f'Such as {{"{tree.names[-1]}": ["{tree.codes[-1][0]}"]}}.'
        raise InputError("regions", regions, "codes by level", hint)
    found, seen = np.zeros(tree.leaves), np.zeros(tree.leaves, bool)
    for name, given in regions.items():
        level = tree.level(name, "regions")
        here = np.full(tree.sizes[level], np.nan)
        places = {code: place for place, code in enumerate(tree.codes[level] if level else (tree.names[0],))}
        listed = [given] if isinstance(given, str) else given
        try:
            pairs = list(listed.items()) if isinstance(listed, Mapping) else [(code, 1) for code in listed]
        except TypeError:
            raise InputError(f"regions.{name}", given, "a code, a list of codes, or codes with weights") from None
        for code, weight in pairs:
            if not isinstance(code, str) or code not in places:
                raise InputError(f"regions.{name}", code, f"a code of a {name}", among=places)
            here[places[code]] = _share(weight, f"regions.{name}.{code}")
        for below in range(level + 1, tree.depth):
            here = here[tree.parents[below]]
        named = ~np.isnan(here)
        if (named & seen & (here != found)).any():
            place = int(np.flatnonzero(named & seen & (here != found))[0])
            raise InputError(
                "regions", tree.codes[-1][place], f"regions that give each {tree.names[-1]} one weight: it has two"
            )
        found[named], seen = here[named], seen | named
    return found, bool(np.isin(found, (0.0, 1.0)).all())


def _share(weight: Any, field: str) -> float:
    read = _finite(weight, field)
    if not 0 <= read <= 1:
        raise InputError(field, weight, "a weight from 0 to 1: the part of the region that counts")
    return read


def cell_weights(release: TreeRelease, cells: Any) -> Reals:
    """How much every cell counts. Of groups counted cumulatively, those of exactly the sizes named."""
    chosen = {} if cells is None else cells
    names = [name for name, _ in release.by]
    if not isinstance(chosen, Mapping):
        raise InputError("cells", cells, "labels by column", f"Columns: {', '.join(names) or 'none'}.")
    for name in chosen:
        if name not in names:
            raise InputError("cells", name, "a column that cells are made of", among=names)
    found = np.ones(1)
    for name, labels in release.by:
        here = np.ones(len(labels))
        if name in chosen:
            given = chosen[name]
            listed = [given] if isinstance(given, str | int | float | bool) or given is None else list(given)
            texts = [str(label) for label in labels]
            here[:] = 0
            for label in listed:
                if str(label) not in texts:
                    raise InputError(f"cells.{name}", label, f"a label of {name}", among=texts)
                here[texts.index(str(label))] = 1
        found = np.outer(found, here).ravel()
    if release.cumulative:  # exactly s is at least s without at least s + 1
        found = found - np.concatenate([[0.0], found[:-1]])
    return found
