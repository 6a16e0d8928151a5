"""Random forests for numbers: trees drawn without looking at a row, and exact noise on sums of targets in each leaf."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.packing import pack, unpack
from discreet.learn.estimators.columns import Floats, read_box, read_columns
from discreet.learn.estimators.leaf_votes import leaf_shares
from discreet.learn.estimators.plan import FitPrice, Noise
from discreet.learn.estimators.random_forest import RandomForest, add_leaves
from discreet.learn.estimators.random_trees import draw_trees
from discreet.learn.estimators.rows import Rows, read_targets
from discreet.learn.estimators.sums import SumMeter, room

__all__ = ["DPRandomForestRegressor", "leaf_noise", "leaf_parts", "release_leaves", "slope_sums", "sum_leaves"]

UNIT = 2**13
"""Steps that a row is worth in each tree: some for the low end of the target, the others for the high end."""

_REACH = UNIT // 2  # steps from the middle of the target's bounds to either end
_SCORE = 2**12  # steps in the largest score
_SLOPE = Fraction(1, 10)  # of the price, for how far predictions are stretched
_PRIOR = 4.0  # deviations of the noise on a sum of squares that the mean of the trees counts as


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPRandomForestRegressor(RegressorMixin, RandomForest):  # type: ignore[misc]
    """A regression by random trees, whose tests are drawn from the declared bounds, so they cost nothing.

    A target that lies a share p of the way from its lower to its upper bound counts as p of a row at the upper and
    1 - p of a row at the lower one, in whole steps of 1/8192. Released are the sums of both in each leaf of each tree
    (nine tenths of the price): a row moves them by one row in a tree, as it moves a table of two classes. Leaves are
    drawn to the nodes above them as in `DPRandomForest`. Means over trees that know nothing of the target vary too
    little, so the last tenth buys two sums over all rows, of squared scores and of scores times targets: the slope.

    * `target_bounds`: (lower, upper) of y. For the others see `RandomForest`.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Targets in random trees".

    Fitted: `mean_` of the target, `leaf_values_` (trees, leaves: what a leaf adds to it, in units of y), `slope_`
    (predictions over the mean of the trees), `noise_` (standard deviations: of a sum in a leaf and of the two sums over
    all rows, in rows), `loss_`, `privacy_`.
    """

    target_bounds: Any = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Draw the trees, add up, and find the slope. Every call spends."""
        price = self._price()
        features, targets = self._read_pair(X, y)
        columns = read_columns(self.bounds, self.categories, features.shape[1], names=self._names)
        target = read_box(self.target_bounds, 1, "target_bounds")
        steps = target.steps(read_targets(targets, self._mode())[:, None], -(_REACH.bit_length() - 1))[:, 0]
        shape = self._shape(columns, 2)
        noise = self.expected_noise(features.shape[1])
        variance = leaf_noise(price, shape.trees).variance / UNIT**2
        trees = draw_trees(shape)

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            leaves, parts = trees.leaves(rows.features, columns), leaf_parts(np.asarray(rows.targets))
            table = release_leaves(leaves, parts, shape.leaves, meter)
            mean, apart = read_leaves(table, variance)
            exact = slope_sums(add_leaves(apart, leaves) / most_apart(apart), parts[:, 1] / UNIT - mean)
            norms = {"l1": 2 * _SCORE**2, "l2_squared": 2 * _SCORE**4}
            return {"sums": pack(table), "slope": pack(meter.sums(exact, share=_SLOPE, **norms))}

        grown = {"trees": shape.trees, "depth": shape.depth, "seed": shape.seed}
        settings = {"target_bounds": target.to_json(), **columns.to_json(), **grown}
        found = self._fitted(measure, settings, Rows(features, steps))
        mean, apart = read_leaves(unpack(found["sums"]), variance)
        slope = stretch(unpack(found["slope"]) / _SCORE**2, most_apart(apart), shape.trees, noise["slope"])
        width = float(target.upper[0] - target.lower[0])
        self.mean_ = float(target.lower[0] + width * mean)
        self.slope_ = slope
        self.leaf_values_ = width * slope / shape.trees * apart
        self.noise_ = noise
        self._ends = (float(target.lower[0]), float(target.upper[0]))
        self._grown(columns, trees)
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On a sum in a leaf, and on the two sums that the slope is from: a row adds at most 1."""
        columns = read_columns(self.bounds, self.categories, n_features, names=self._names)
        price = self._price()
        leaf = leaf_noise(price, self._shape(columns, 2).trees)
        slope = price.noise(_SLOPE, l1=2 * _SCORE**2, l2_squared=2 * _SCORE**4)
        return {"sum": math.sqrt(leaf.variance) / UNIT, "slope": math.sqrt(slope.variance) / _SCORE**2}

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """The mean and what the leaves add to it, within the target's bounds; free."""
        check_is_fitted(self, "leaf_values_")
        return np.asarray(np.clip(self.mean_ + self._added(X, self.leaf_values_), *self._ends))


def leaf_parts(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Targets, in steps from the middle of their bounds, as parts of a row at the lower and at the upper end."""
    return np.stack([_REACH - steps, _REACH + steps], axis=1)


def leaf_noise(price: FitPrice, trees: int) -> Noise:
    """The noise on the sums of so many trees: a row's two parts are UNIT together in one leaf of each."""
    return price.noise(1 - _SLOPE, l1=trees * UNIT, l2_squared=trees * UNIT**2)


def release_leaves(
    leaves: NDArray[np.int64], parts: NDArray[np.int64], many: int, meter: SumMeter
) -> NDArray[np.int64]:
    """Sums of both parts by tree and leaf, with noise.

    Guarantee
        Costs nine tenths of the meter's price for each row added or removed, if a row's parts are at least 0 and add up
        to UNIT. Proof: docs/proofs/estimators.md, "Targets in random trees".
    """
    trees = leaves.shape[1]
    sums = sum_leaves(leaves, parts, many)
    return meter.sums(sums, share=1 - _SLOPE, l1=trees * UNIT, l2_squared=trees * UNIT**2)


def sum_leaves(leaves: NDArray[np.int64], parts: NDArray[np.int64], many: int) -> NDArray[np.int64]:
    """The exact sums of integer parts by tree and leaf: (trees, leaves, parts)."""
    room(len(leaves), UNIT)
    table = np.zeros((leaves.shape[1], many, parts.shape[1]), dtype=np.int64)
    for tree, sums in enumerate(table):
        np.add.at(sums, leaves[:, tree], parts)
    return table


def read_leaves(table: NDArray[np.int64], variance: float) -> tuple[float, Floats]:
    """The mean target as a share of its bounds, and how far that of each leaf is above it."""
    overall, shares = leaf_shares(table / UNIT, variance)
    return float(overall[1]), shares[..., 1] - overall[1]


def most_apart(apart: Floats) -> float:
    """The largest score that rows can have."""
    return max(float(np.abs(apart).max(axis=1).sum()), 1e-12)


def slope_sums(scores: Floats, targets: Floats) -> NDArray[np.int64]:
    """The exact sums over rows of squared scores and of scores times targets, both cut to [-1, 1], in whole steps."""
    room(len(scores), _SCORE**2)
    score, target = (np.rint(np.clip(values, -1, 1) * _SCORE).astype(np.int64) for values in (scores, targets))
    return np.array([(score * score).sum(), (score * target).sum()])


def stretch(sums: Floats, reach: float, trees: int, noise: float) -> float:
    """By how much predictions exceed the mean of the trees: least squares, drawn to 1 by what noise there is.

    At most as many times as there are trees, where each says something that the others do not.
    """
    prior, mean = _PRIOR * noise, reach / trees  # the slope of a score in units of `reach` is `mean` where trees agree
    slope = (float(sums[1]) + prior * mean) / max(float(sums[0]) + prior, prior / 2, 1e-12)
    return float(np.clip(slope / mean, 1.0, trees))
