"""Random forests: trees drawn without looking at a row, and exact noise on how many rows of each class a leaf has."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.core.packing import pack, unpack
from discreet.errors import InputError
from discreet.learn.estimators.base import PrivateEstimator, ScoreClassifier
from discreet.learn.estimators.columns import Columns, Floats, read_columns
from discreet.learn.estimators.leaf_votes import leaf_shares
from discreet.learn.estimators.plan import FitPrice, Noise
from discreet.learn.estimators.random_trees import RandomTrees, TreeShape, draw_trees
from discreet.learn.estimators.rows import Rows, read_classes, read_examples
from discreet.learn.estimators.sums import SumMeter, room

__all__ = ["DPRandomForest", "RandomForest", "add_leaves", "count_leaves", "count_noise", "usual_shape"]

_MOST = 2**24  # cells: trees * leaves * classes
_USUAL = 1000  # rows, where nobody says how many
_DEEPEST = 16


@define(kw_only=True, slots=False, eq=False, repr=False)
class RandomForest(PrivateEstimator):
    """What classifiers and regressions of this kind share: trees that are drawn from what is declared, for nothing.

    * `bounds`: (lower, upper) of number columns. * `categories`: {place of a column: how many codes it has}.
    * `n_estimators`, `max_depth`: fixed beforehand. If None, they follow from the price, the number of classes and
      `examples`: about how many rows there are, as the public knows (1,000 if None: nothing is bought for it).
    * `random_state`: other trees for other whole numbers.

    Every row is in every tree. Under a pure price that gives the same noise, relative to the counts, as a part of the
    rows for each tree would, with all rows behind each count; under rho it gives less.
    """

    bounds: Any = None
    categories: Any = None
    n_estimators: int | None = None
    max_depth: int | None = None
    examples: Any = None
    random_state: int = 0

    def _shape(self, columns: Columns, classes: int) -> TreeShape:
        examples = read_examples(self.examples) or _USUAL
        trees, depth = usual_shape(self._price(), examples, classes)
        trees = trees if self.n_estimators is None else self._whole("n_estimators", 1, 10_000)
        depth = depth if self.max_depth is None else self._whole("max_depth", 1, _DEEPEST)
        if trees * 2**depth * classes > _MOST:
            raise InputError("max_depth", depth, f"such that trees, leaves and classes make at most {_MOST:,} counts")
        seed = self._whole("random_state", 0, 2**63)
        return TreeShape(trees, depth, len(columns.numbers), columns.sizes, seed)

    def _grown(self, columns: Columns, trees: RandomTrees) -> None:
        self._columns, self._trees = columns, trees

    def _added(self, X: Any, tables: Floats) -> Floats:  # noqa: N803 - scikit-learn's name
        """What the leaves that rows fall in say, added up over the trees."""
        features, _ = self._read(X, reset=False)
        return add_leaves(tables, self._trees.leaves(features, self._columns))


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPRandomForest(RandomForest, ScoreClassifier):
    """A classifier of random trees. Their tests are drawn from the declared bounds, so they cost nothing; what is
    released is one table: how many rows of each class fall in each leaf of each tree.

    Leaves are drawn to the nodes above them by as much as the known noise explains, and their log-odds are added up
    over the trees.

    * `classes`: the labels, or how many there are. For the others see `RandomForest`.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Leaves of random trees".

    Fitted: `classes_`, `class_prior_`, `votes_` (trees, leaves, classes: log of the share in a leaf over that of all),
    `noise_` (standard deviation of a count), `loss_`, `privacy_`.
    """

    classes: Any = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Draw the trees and count. Every call spends."""
        price = self._price()
        labels = read_classes(self.classes)
        features, targets = self._read_pair(X, y)
        columns = read_columns(self.bounds, self.categories, features.shape[1], names=self._names)
        shape = self._shape(columns, len(labels))
        noise = self.expected_noise(features.shape[1])
        trees = draw_trees(shape)

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            exact = count_leaves(
                trees.leaves(rows.features, columns), np.asarray(rows.targets), shape.leaves, len(labels)
            )
            return {"counts": pack(meter.sums(exact, share=Fraction(1), l1=shape.trees, l2_squared=shape.trees))}

        grown = {"trees": shape.trees, "depth": shape.depth, "seed": shape.seed}
        rows = Rows(features, self._labels(targets, labels))
        found = self._fitted(measure, {"classes": labels.tolist(), **columns.to_json(), **grown}, rows)
        self.classes_ = labels
        self.noise_ = noise
        overall, shares = leaf_shares(unpack(found["counts"]).astype(float), count_noise(price, shape.trees).variance)
        self.class_prior_ = overall
        self.votes_ = np.log(shares) - np.log(overall)
        self._grown(columns, trees)
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On the count of a class in a leaf."""
        columns = read_columns(self.bounds, self.categories, n_features, names=self._names)
        shape = self._shape(columns, len(read_classes(self.classes)))
        return {"count": math.sqrt(count_noise(self._price(), shape.trees).variance)}

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self, "votes_")
        scores = np.log(self.class_prior_) + self._added(X, self.votes_)
        return np.asarray(scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)


def usual_shape(price: FitPrice, examples: int, classes: int) -> tuple[int, int]:
    """How many trees and how deep: more of both where more rows stand behind a class than noise is worth.

    Pure prices are divided by the trees, so noise grows with their number and not with its root: there are fewer.
    """
    scale = math.sqrt(count_noise(price, 1).variance / 2)  # of a single tree: 1/epsilon, where the price is pure
    strength = max(examples / (classes * max(scale, 2.0**-20)), 1.0)
    trees = 0.8 * math.sqrt(strength) if price.currency == "epsilon" else strength
    return int(np.clip(round(trees), 4, 128)), int(np.clip(round(math.log2(strength) / 2 + 0.5), 2, 6))


def count_noise(price: FitPrice, trees: int) -> Noise:
    """The noise on the counts of so many trees: a row is in one leaf of each."""
    return price.noise(Fraction(1), l1=trees, l2_squared=trees)


def count_leaves(leaves: NDArray[np.int64], targets: NDArray[np.int64], many: int, classes: int) -> NDArray[np.int64]:
    """Rows by tree, leaf and class; those with a target of -1 count for nothing."""
    known = targets >= 0
    room(len(targets), 1)
    cells = leaves[known] * classes + targets[known][:, None]
    counts = [np.bincount(column, minlength=many * classes) for column in cells.T]
    return np.stack(counts).reshape(-1, many, classes).astype(np.int64)


def add_leaves(tables: Floats, leaves: NDArray[np.int64]) -> Floats:
    """What each tree's table says of a row's leaf, added up in the order of the trees: of each row by itself."""
    return np.asarray(sum((table[leaves[:, tree]] for tree, table in enumerate(tables)), np.zeros(())))
