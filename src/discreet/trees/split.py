"""How the price of a release is shared among its levels, before any data is seen.

Shares are fixed by rule or worked out from the tree's public shape, never from private counts, and are exact fractions
that add up to at most one. A share is of epsilon where noise is Laplace and of rho where it is Gaussian.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.errors import InputError
from discreet.query.ask import Form
from discreet.trees.tree import Hierarchy

__all__ = ["GOAL", "Goal", "Shape", "Shares", "accurate", "sparse_splits", "split"]

TOTALS = Fraction(19, 100)
"""What questions for totals get of a level's part: most of the accuracy of totals for a fifth of the price."""
LEAF_TOTALS = Fraction(33, 100)
"""The same for the leaves, whose totals nothing below them can tell."""
ROOT = Fraction(1, 40)
"""What the root's cells get: what the levels below say about it is nearly as good."""
ROOT_TOTALS = Fraction(3, 100)
"""What the root's total gets."""
SPARSE = (
    (0.1, Fraction(51, 50), Fraction(7, 10)),
    (0.35, Fraction(51, 50), Fraction(21, 50)),
)
"""Where counts are small beside noise, a total says more about its cells than they do: (below this mean count of a
leaf's cell, in deviations of its noise; weight of the leaves among levels; the part of theirs that totals get)."""
_WAYS = ("auto", "equal", "leaves", "accurate")
Reals = NDArray[np.float64]
Shares = dict[tuple[int, bool], Fraction]
"""Which part of the price goes to (level, whether its totals or its counts)."""

_GRID = 1000  # shares are multiples of a thousandth
_LEAST = Fraction(1, 500)  # what would get less is not asked for


@dataclass(frozen=True, slots=True)
class Goal:
    """What accurate shares make as small as can be: the weighted sum over levels of their mean error.

    `error` is "variance" (that of the best linear estimate) or "relative" (its deviation as a part of the region's
    size, which is taken to be its number of leaves). `of` is "cells", "totals" or "both"; a total's variance counts as
    that of the mean cell. Levels that are not in `weights` count 1.
    """

    error: str = "variance"
    of: str = "both"
    weights: Mapping[str, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.error not in _ERRORS:
            raise InputError("goal.error", self.error, among=_ERRORS)
        if self.of not in _OF:
            raise InputError("goal.of", self.of, among=_OF)

    def of_levels(self, tree: Hierarchy) -> list[float]:
        """How much the error of each level counts."""
        weights = [1.0] * tree.depth
        for name, weight in self.weights.items():
            read = as_written(weight, f"goal.weights.{name}")
            if read < 0:
                raise InputError(f"goal.weights.{name}", weight, "zero or more")
            weights[tree.level(name, "goal.weights")] = float(read)
        if not any(weights):
            raise InputError("goal.weights", dict(self.weights), "above zero for some level")
        return weights


_ERRORS, _OF = ("variance", "relative"), ("cells", "totals", "both")
_EXAMPLE = "relative, totals, county=2"


def _settle_goal(value: Any) -> Goal:
    if isinstance(value, Goal):
        return value
    if isinstance(value, str):
        value = _parse_goal(value)
    if not isinstance(value, Mapping) or set(value) - {"error", "of", "weights"}:
        raise InputError("goal", value, f"an object with error, of and weights, or words such as {_EXAMPLE}")
    weights = value.get("weights", {})
    if not isinstance(weights, Mapping):
        raise InputError("goal.weights", weights, "an object with a weight for each of some levels")
    return Goal(value.get("error", "variance"), value.get("of", "both"), dict(weights))


def _write_goal(goal: Goal) -> dict[str, Any]:
    found: dict[str, Any] = {"error": goal.error, "of": goal.of}
    if goal.weights:
        found["weights"] = {name: str(as_written(one, f"goal.weights.{name}")) for name, one in goal.weights.items()}
    return found


def _parse_goal(text: str) -> Any:
    """What kind of error, of what, and weights of levels, with commas between them; or JSON."""
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            raise InputError("goal", text[:40], 'JSON: {"error": "relative", "of": "totals"}') from None
    found: dict[str, Any] = {}
    for word in (part.strip() for part in text.split(",")):
        name, sign, weight = (part.strip() for part in word.partition("="))
        if sign and name and weight:
            found.setdefault("weights", {})[name] = weight
        elif word in _ERRORS or word in _OF:
            found["error" if word in _ERRORS else "of"] = word
        else:
            raise InputError("goal", word, f"words such as {_EXAMPLE}", among=(*_ERRORS, *_OF))
    return found


GOAL = Form(dict[str, Any], settle=_settle_goal, write=_write_goal, parse=_parse_goal)
"""What split = accurate makes least: {"error": "relative", "of": "totals", "weights": {"county": 2}}."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A tree as its variances see it: siblings that are leaves are alike, so one stands for all of a parent's.

    `numbers` says for how many regions each entry of a level stands, `sizes` how many leaves each of them has.
    """

    tree: Hierarchy
    numbers: tuple[Reals, ...]
    sizes: tuple[Reals, ...]

    @classmethod
    def of(cls, tree: Hierarchy) -> Shape:
        """The shape of a tree."""
        many = np.ones(1) if tree.depth == 1 else tree.children(tree.depth - 2).astype(float)
        under = [np.asarray(level, float) for level in tree.sums(np.ones(tree.leaves))[:-1]]
        numbers = [np.ones(size) for size in tree.sizes[:-1]]
        return cls(tree, (*numbers, many), (*under, np.ones(len(many))))

    def variances(self, noise: list[float]) -> list[Reals]:
        """Of the best linear estimate of every region, given that of each level's noise (infinite: not asked)."""
        tree, many = self.tree, self.numbers[-1]
        if tree.depth == 1:
            return [np.array([noise[0]])]
        up = [_combined(many * noise[-1], noise[-2])]
        for level in range(tree.depth - 3, -1, -1):
            up.insert(0, _combined(tree.add(level, up[0]), noise[level]))
        found = [up[0]]
        for level in range(tree.depth - 2):
            place, sums = tree.parents[level + 1], tree.add(level, up[level + 1])
            found.append(up[level + 1] - (up[level + 1] / sums[place]) ** 2 * (sums - found[level])[place])
        return [*found, noise[-1] - (many * noise[-1] - found[-1]) / many**2]

    def cells_and_totals(
        self, cells: int, kind: str, shares: Mapping[tuple[int, bool], float | Fraction]
    ) -> tuple[list[Reals], list[Reals]]:
        """Variances of a cell and of a total at a price of one, for each entry of each level."""
        levels = range(self.tree.depth)
        own = [_variance(kind, float(shares.get((level, False), 0))) for level in levels]
        direct = [_variance(kind, float(shares.get((level, True), 0))) for level in levels]
        joint = [1 / max(1 / (cells * a) + 1 / b, 1e-300) for a, b in zip(own, direct, strict=True)]
        sums = self.variances([j if j < 1e290 else np.inf for j in joint])
        alone = self.variances(own)
        return [a * (1 - 1 / cells) + t / cells**2 for a, t in zip(alone, sums, strict=True)], sums


def accurate(tree: Hierarchy, cells: int, kind: str, goal: Goal, *, with_totals: bool) -> Shares:
    """The shares for which the goal's error is least, to a thousandth.

    Asking one thing twice with half of epsilon each is worse than asking it once, so there are several local optima:
    the best of those found from a few starts is taken. Levels are those of the collapsed tree.
    """
    from scipy.optimize import minimize

    shape, weights = Shape.of(tree.collapsed()), [0.0] * len(set(tree.distinct))
    for level, weight in zip(tree.distinct, goal.of_levels(tree), strict=True):
        weights[sorted(set(tree.distinct)).index(level)] += weight
    depth = shape.tree.depth
    asked = [(level, totals) for totals in ((False, True) if with_totals else (False,)) for level in range(depth)]

    def error(logs: Reals) -> float:
        parts = np.exp(logs - logs.max())
        parts /= parts.sum()
        of_cells, of_totals = shape.cells_and_totals(cells, kind, dict(zip(asked, parts, strict=True)))
        whole = 0.0
        for weight, number, size, cell, total in zip(
            weights, shape.numbers, shape.sizes, of_cells, of_totals, strict=True
        ):
            for name, variance in (("cells", cell), ("totals", total / cells)):
                if goal.of in (name, "both"):
                    each = variance if goal.error == "variance" else np.sqrt(variance) / size
                    whole += weight * float(np.average(each, weights=number))
        return float(np.log(whole))

    reach = [(-12, 12)] * len(asked)
    found = [minimize(error, start, method="L-BFGS-B", bounds=reach) for start in _starts(asked, depth - 1)]
    best = min(found, key=lambda result: float(result.fun))
    parts = np.exp(best.x - best.x.max())
    shares = {key: Fraction(int(part * _GRID), _GRID) for key, part in zip(asked, parts / parts.sum(), strict=True)}
    leaves = (depth - 1, False)
    shares = {key: share for key, share in shares.items() if share >= _LEAST or key == leaves}
    shares[leaves] += 1 - sum(shares.values())
    return shares


def _starts(asked: list[tuple[int, bool]], last: int) -> list[Reals]:
    """All alike; mostly counts; mostly totals; mostly the leaves; each as logarithms."""
    alike = np.zeros(len(asked))
    totals = np.array([totals for _, totals in asked])
    leaves = np.array([level == last for level, _ in asked])
    starts = [alike, np.where(leaves, 0.0, -3.0)]
    if totals.any():
        starts += [np.where(totals, -3.0, 0.0), np.where(totals, 0.0, -3.0)]
    return starts


def _variance(kind: str, share: float) -> float:
    if share <= 0:
        return float("inf")
    return 2 / share**2 if kind == "laplace" else 1 / (2 * share)


def _combined(below: Reals, own: float) -> Reals:
    return below if np.isinf(own) else below * own / (below + own)


def split(
    tree: Hierarchy,
    cells: int = 1,
    how: str | Mapping[str, Number] = "auto",
    *,
    totals: Number | None = None,
    kind: str = "laplace",
    goal: Goal | None = None,
) -> Shares:
    """The part of the price for each (level, totals or not).

    `how` is auto (totals get 19% of each level's part and 33% of the leaves', the root next to nothing, levels are
    equal otherwise), equal (no totals), leaves (nothing but the leaves), accurate (the least error by `goal`, from
    the tree's shape), or weights of levels, of which the leaves need one. `totals` is the part for totals, shared among
    levels as the rest is; none by default unless `how` is auto. A level with the regions of the one below it is the
    same question: it is asked once, on the lower one.

    >>> tree = Hierarchy.from_prefixes(["aa", "ab", "ba"], {"state": 1, "county": 2})
    >>> {key: str(share) for key, share in split(tree, how="equal").items()}
    {(0, False): '1/3', (1, False): '1/3', (2, False): '1/3'}
    >>> {key: str(share) for key, share in split(tree, how={"state": 1, "county": 3}, totals="1/5", cells=2).items()}
    {(1, False): '1/5', (2, False): '3/5', (1, True): '1/20', (2, True): '3/20'}
    """
    if kind not in ("laplace", "gaussian"):
        raise InputError("kind", kind, among=("laplace", "gaussian"))
    if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
        raise InputError("cells", cells, "one or more")
    if goal is not None and how != "accurate":
        raise InputError("goal", goal, "left out unless split = 'accurate'")
    usual = TOTALS if how == "auto" and cells > 1 else Fraction()
    part = usual if totals is None else as_written(totals, "totals")
    if not 0 <= part < 1:
        raise InputError("totals", totals, "at least 0 and below 1: the counts of the leaves take the rest")
    kept = sorted(set(tree.distinct))
    match how:
        case "accurate":
            asked = totals is None and cells > 1
            if not asked and part:
                raise InputError("totals", totals, "0 or left out: the best share is computed")
            return _placed(kept, accurate(tree, cells, kind, goal or Goal(), with_totals=asked))
        case "auto" if totals is None and part and len(kept) > 1:
            return _placed(kept, _usual(len(kept)))
        case "auto" | "equal":
            weights = [Fraction(level in kept) for level in range(tree.depth)]
        case "leaves":
            weights = [Fraction(0)] * (tree.depth - 1) + [Fraction(1)]
        case Mapping():
            weights = _weights(tree, how)
        case _:
            raise InputError("split", how, "a weight for each level, or a rule", among=_WAYS)
    whole = sum(weights)
    if cells == 1:
        part = Fraction()  # a total would be the same question again
    shares = {(level, False): (1 - part) * w / whole for level, w in enumerate(weights) if w}
    return shares | {(level, True): part * w / whole for level, w in enumerate(weights) if w and part}


def _placed(kept: list[int], shares: Shares) -> Shares:
    """Shares of the collapsed tree's levels as shares of the whole tree's."""
    return {(kept[level], totals): share for (level, totals), share in shares.items()}


def sparse_splits(
    tree: Hierarchy, cells: int, how: str | Mapping[str, Number], totals: Number | None
) -> list[tuple[float, Shares]]:
    """What auto takes instead of `split` where counts turn out to be small: (mean count below which, shares).

    The mean is that of a leaf's cell, in deviations of the noise that `split` gives it. The smallest comes first. The
    first question of all, for the root's total, is the same in each: it decides.
    """
    kept = sorted(set(tree.distinct))
    if how != "auto" or totals is not None or cells == 1 or len(kept) == 1:
        return []
    return [(limit, _placed(kept, _usual(len(kept), weight, part))) for limit, weight, part in SPARSE]


def _usual(depth: int, weight: Fraction = Fraction(1), leaf_totals: Fraction = LEAF_TOTALS) -> Shares:
    """The rule of auto for several cells: it was chosen on generated tables, by the error of all levels together."""
    shares = {(0, False): ROOT, (0, True): ROOT_TOTALS}
    each = (1 - ROOT - ROOT_TOTALS) / (depth - 2 + weight)
    for level in range(1, depth):
        whole, part = (each * weight, leaf_totals) if level == depth - 1 else (each, TOTALS)
        shares |= {(level, False): whole * (1 - part), (level, True): whole * part}
    return shares


def _weights(tree: Hierarchy, given: Mapping[str, Number]) -> list[Fraction]:
    weights = [Fraction(0)] * tree.depth
    for name, weight in given.items():
        read = as_written(weight, f"split.{name}")
        if read < 0:
            raise InputError(f"split.{name}", weight, "zero or more")
        weights[tree.distinct[tree.level(name, "split")]] += read
    if not weights[-1]:
        hint = f"All other levels are sums of {tree.names[-1]}."
        raise InputError(f"split.{tree.names[-1]}", 0, "above zero: the leaves are counted", hint)
    return weights
