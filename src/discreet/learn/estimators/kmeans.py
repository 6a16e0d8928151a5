"""k-means: a rough noisy picture of where rows are, clustered in public, then a few noisy steps of Lloyd's.

The picture is made of cells: a box is cut in two again and again, each time along its widest spread. At every level
each box gives out a noisy count and noisy sums of its rows' coordinates and their squares, measured from the box's own
middle in units of its own half widths, so noise shrinks with the boxes. What came out says where to cut. A row is in
one box of a level, so a level costs as much as one box. Proof: docs/proofs/estimators.md, "Cells".
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import define, field
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from discreet.core.lattice import Lattice
from discreet.core.packing import pack, unpack
from discreet.learn.estimators.base import PrivateEstimator
from discreet.learn.estimators.columns import Floats, read_box
from discreet.learn.estimators.plan import FitPrice, Noise
from discreet.learn.estimators.rows import Rows
from discreet.learn.estimators.sums import RADIUS, SumMeter, blocks, room, whole_rows

__all__ = ["Cells", "DPKMeans", "cell_noise", "find_cells"]

_CELLS = Fraction(1, 2)  # of the price: the picture; the rest is for steps
_COUNTS = Fraction(1, 10)  # of a step: how many rows; the rest is for where they are
_STEPS = 2
_FINER = 2  # levels of boxes beyond the log of the number of clusters
_WIDE = 1.5  # rows farther from their centre than so many times the spread are pulled in
_FINE = 2**20  # steps of what is recorded
_COARSE = 2**16  # steps in 1 while distances are compared: products of so many are exact up to 2**20 features
_MOST = 1024
_EXPONENT = -10
_UNIT = 2**10
_LATTICE = Lattice(-1, 1, _EXPONENT)
_CLEAR = 6.0  # a box is cut while its count is so many times the noise
_EDGE = 0.9  # cuts stay this far inside


@define(slots=False, eq=False, repr=False)
class DPKMeans(TransformerMixin, ClusterMixin, PrivateEstimator):  # type: ignore[misc]
    """k-means within declared bounds.

    Half of the price buys a picture: the declared box cut into pieces where rows are dense, each with a noisy count,
    mean and spread. Ordinary k-means with restarts on that picture gives centres, for free. The rest buys `steps` of
    Lloyd's: noisy counts, and noisy sums of distances from the centres, cut at a length that follows from the picture.

    * `n_clusters`: how many. * `bounds`: (lower, upper), numbers or one number a feature.
    * `steps`: noisy steps of Lloyd's after the picture.

    No labels of training rows are kept (they are private): `fit_predict` hands them to the caller.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Cells" and "Steps of Lloyd's".

    Fitted: `cluster_centers_`, `n_rows_` (noisy, one a cluster), `noise_`, `loss_`, `privacy_`.
    """

    n_clusters: int = 8
    bounds: Any = field(default=None, kw_only=True)
    steps: int = field(default=_STEPS, kw_only=True)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Release a picture and steps. Every call spends."""
        self._price()
        features, _ = self._read(X, reset=True)
        box = read_box(self.bounds, features.shape[1], names=self._names)
        many, steps = self._whole("n_clusters", 1, _MOST), self._whole("steps", 1, 100)
        levels, step = _levels(many), (1 - _CELLS) / steps
        noise = self.expected_noise(len(box))

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            scaled = box.scaled(rows.features)
            picture = find_cells(scaled, meter, levels, _CELLS)
            centres, spread = cluster_cells(picture, many)
            counts = np.zeros(many)
            for _ in range(steps):
                centres, counts = move_centres(scaled, centres, spread, meter, step)
            return {"centres": pack(np.rint(centres * _FINE)), "counts": pack(np.rint(counts))}

        settings = {"bounds": box.to_json(), "clusters": many, "steps": steps, "levels": levels}
        found = self._fitted(measure, settings, Rows(features))
        self.cluster_centers_ = box.unscaled(unpack(found["centres"]) / _FINE)
        self.n_rows_ = unpack(found["counts"]).astype(np.float64)
        self.noise_ = noise
        self._n_features_out = many
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On a count of rows in a cluster, on sums of differences from its centre (as parts of the length they are cut
        to), and on the sums of one cell of the picture."""
        many, steps = self._whole("n_clusters", 1, _MOST), self._whole("steps", 1, 100)
        count, sums = step_noise(self._price(), (1 - _CELLS) / steps, n_features)
        cell = cell_noise(self._price(), _CELLS / _levels(many), n_features)
        return {
            "count": math.sqrt(count.variance),
            "sum": math.sqrt(sums.variance) / RADIUS,
            "cell": math.sqrt(cell.variance) / 2**10,
        }

    def predict(self, X: Any) -> NDArray[np.int32]:  # noqa: N803
        """The nearest centre; free."""
        return np.asarray(self.transform(X).argmin(axis=1), dtype=np.int32)

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Distances from the centres; free."""
        check_is_fitted(self, "cluster_centers_")
        features, _ = self._read(X, reset=False)
        apart = np.zeros((len(features), len(self.cluster_centers_)))
        for part in blocks(len(features)):
            for place, centre in enumerate(self.cluster_centers_):
                apart[part, place] = np.linalg.norm(features[part] - centre, axis=1)
        return apart

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:  # noqa: N803
        """Fit, and say to the caller which centre each row is nearest to. The labels themselves are not private."""
        return self.fit(X).predict(X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """Minus the sum of squared distances from the nearest centres; free only on rows that are public."""
        return -float((self.transform(X).min(axis=1) ** 2).sum())


def _levels(many: int) -> int:
    """How often the box is looked at, each time cut in two."""
    return math.ceil(math.log2(many)) + 1 + _FINER


def step_noise(price: FitPrice, share: Fraction, features: int) -> tuple[Any, Any]:
    """The noise of one step: on counts, which a row moves by 1, and on sums, which it moves by a vector of length at
    most RADIUS, hence by at most sqrt(features) * RADIUS in sum."""
    counts = price.noise(share * _COUNTS, l1=1, l2_squared=1)
    return counts, price.noise(share * (1 - _COUNTS), l1=_farthest(features), l2_squared=RADIUS**2)


def _farthest(features: int) -> int:
    return math.isqrt(features * RADIUS**2 - 1) + 1


def move_centres(
    rows: Floats, centres: Floats, spread: float, meter: SumMeter, share: Fraction
) -> tuple[Floats, Floats]:
    """One step of Lloyd's: each centre moves to the noisy mean of its rows; with the noisy counts."""
    many, features = centres.shape
    room(len(rows), RADIUS)
    reach = max(_WIDE * spread, 1e-4)
    places = np.rint(centres * _COARSE)  # whole steps, so that which centre is nearest follows from a row alone
    heights = (places**2).sum(axis=1)
    counts, sums = np.zeros(many, dtype=np.int64), np.zeros((many, features), dtype=np.int64)
    for part in blocks(len(rows)):
        here = np.rint(rows[part] * _COARSE)
        labels = (heights - 2 * here @ places.T).argmin(axis=1)
        steps = whole_rows(here - places[labels], reach * _COARSE, RADIUS).astype(np.int64)
        counts += np.bincount(labels, minlength=many)
        np.add.at(sums, labels, steps)
    counts = meter.sums(counts, share=share * _COUNTS, l1=1, l2_squared=1)
    sums = meter.sums(sums, share=share * (1 - _COUNTS), l1=_farthest(features), l2_squared=RADIUS**2)
    noise = math.sqrt(step_noise(meter.price, share, features)[1].variance) * reach / RADIUS
    whole = np.maximum(counts.astype(np.float64), 1.0)
    # How much of the way a centre goes: all of it, unless noise would move it farther than its rows are spread.
    sure = whole**2 / (whole**2 + features * noise**2 / max(spread, 1e-3) ** 2)
    now = places / _COARSE + (sums * (reach / RADIUS)) / whole[:, None] * sure[:, None]
    return np.clip(now, -1, 1), counts.astype(np.float64)


def cluster_cells(picture: Cells, many: int) -> tuple[Floats, float]:
    """Centres of a picture, and how far rows are from them (root mean square). Sees nothing private."""
    counts, points, spreads = list(picture.counts), list(picture.centres), list(picture.spreads)
    while len(points) < many:  # fewer pieces than clusters: the widest piece becomes two
        place = int(np.argmax([count * spread.sum() for count, spread in zip(counts, spreads, strict=True)]))
        axis, half = int(spreads[place].argmax()), counts[place] / 2
        apart = np.zeros_like(points[place])
        apart[axis] = math.sqrt(spreads[place][axis]) or 1e-3
        thinner = spreads[place].copy()
        thinner[axis] /= 4
        counts[place : place + 1] = [half, half]
        points[place : place + 1] = [points[place] - apart, points[place] + apart]
        spreads[place : place + 1] = [thinner, thinner]
    weights, places = np.array(counts), np.clip(np.array(points), -1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pieces may coincide
        found = KMeans(many, n_init=10, random_state=0).fit(places, sample_weight=weights)
    centres = np.asarray(found.cluster_centers_, dtype=np.float64)
    apart = ((places - centres[found.labels_]) ** 2).sum(axis=1) + np.array(spreads).sum(axis=1)
    return centres, math.sqrt(float((weights * apart).sum() / weights.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Boxes that were not cut: how many rows each holds, where they are, how spread. All noisy, all public."""

    counts: Floats
    centres: Floats
    spreads: Floats
    """Variances along each axis."""


def cell_noise(price: FitPrice, share: Fraction, features: int) -> Noise:
    """The noise on the sums of one level: a row moves one count, `features` coordinates and as many squares by at most
    1 each."""
    moved = 1 + 2 * features
    return price.noise(share, l1=moved * _UNIT, l2_squared=moved * _UNIT**2)


def find_cells(rows: Floats, meter: SumMeter, levels: int, share: Fraction) -> Cells:
    """Cut the box [-1, 1]^d `levels` - 1 times and measure at every level, for `share` of the price in all.

    `rows` lie in that box. The cuts follow from noisy sums, so they are public; so is which level it ends at.
    """
    count, features = rows.shape
    room(count, _UNIT)
    noise = math.sqrt(cell_noise(meter.price, share / levels, features).variance) / _UNIT
    lower, upper = -np.ones((1, features)), np.ones((1, features))
    where = np.zeros(count, dtype=np.int64)
    found: list[tuple[float, Floats, Floats]] = []
    moved = 1 + 2 * features
    for level in range(levels):
        exact = _sums(rows, where, lower, upper)
        noisy = meter.sums(exact, share=share / levels, l1=moved * _UNIT, l2_squared=moved * _UNIT**2) / _UNIT
        cuts: list[tuple[int, int, float]] = []
        for place, line in enumerate(noisy):
            middle, half = (lower[place] + upper[place]) / 2, (upper[place] - lower[place]) / 2
            many = max(float(line[0]), 1.0)
            mean = np.clip(line[1 : 1 + features] / many, -1, 1)
            spread = np.clip(line[1 + features :] / many - mean**2, 0, 1) * half**2
            if level < levels - 1 and line[0] >= _CLEAR * noise:
                axis = int(spread.argmax())
                cuts.append((place, axis, float(middle[axis] + half[axis] * np.clip(mean[axis], -_EDGE, _EDGE))))
            elif line[0] > noise:
                kept = many**2 / (many**2 + 4 * noise**2)  # a count near the noise says little of where it is
                found.append((many, middle + half * mean * kept, spread))
        if not cuts:
            break
        lower, upper, where = _cut(rows, where, lower, upper, cuts)
    if not found:  # noise drowned everything: the whole box
        found.append((1.0, np.zeros(features), np.full(features, 1 / 3)))
    return Cells(*(np.array([one[part] for one in found]) for part in range(3)))


def _sums(rows: Floats, where: NDArray[np.int64], lower: Floats, upper: Floats) -> NDArray[np.int64]:
    """For every box: rows, sums of coordinates, sums of their squares, in steps. Exact."""
    lines = np.zeros((len(lower), 1 + 2 * rows.shape[1]), dtype=np.int64)
    for place, (low, high) in enumerate(zip(lower, upper, strict=True)):
        half = np.maximum((high - low) / 2, np.finfo(float).tiny)
        inside = _LATTICE.encode((rows[where == place] - (low + high) / 2) / half)  # clipped to [-1, 1]
        lines[place] = np.concatenate([[len(inside) * _UNIT], inside.sum(axis=0), (inside**2 // _UNIT).sum(axis=0)])
    return lines


def _cut(
    rows: Floats, where: NDArray[np.int64], lower: Floats, upper: Floats, cuts: list[tuple[int, int, float]]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Two boxes for each that is cut; rows of the others are in none (-1)."""
    lows: list[Floats] = []
    highs: list[Floats] = []
    now = np.full_like(where, -1)
    for place, axis, at in cuts:
        here = np.flatnonzero(where == place)
        above = rows[here, axis] >= at
        now[here] = len(lows) + above
        left, right = upper[place].copy(), lower[place].copy()
        left[axis] = right[axis] = at
        lows += [lower[place], right]
        highs += [left, upper[place]]
    return np.array(lows), np.array(highs), now
