"""From rings to SVG paths on one whole-number grid, so that neighbours share their border to the pixel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.show.map.topojson import Ring

__all__ = ["Grid", "Projection", "project"]

Projection = Literal["auto", "degrees", "map", "screen"]

# Steps along the longer side: finer than a pixel when a state fills the screen.
_STEPS = 20_000
# The side of a region too small to have a shape: it can be hit when its neighbourhood fills the screen.
_SPECK = 16


@dataclass(frozen=True, slots=True)
class Grid:
    """Where rings land on the page: a shift, a scale and the size of the picture in steps."""

    left: float
    top: float
    scale: float
    width: int
    height: int

    @classmethod
    def around(cls, rings: Sequence[Ring]) -> Grid:
        """The grid that holds these rings, already in screen directions."""
        low = np.min([ring.min(axis=0) for ring in rings], axis=0)
        high = np.max([ring.max(axis=0) for ring in rings], axis=0)
        span = float((high - low).max())
        if span <= 0:
            raise InputError("geometry", Phrase("a single point"), "polygons with an extent")
        scale = _STEPS / span
        width, height = (math.ceil(side) for side in (high - low) * scale)
        return cls(float(low[0]), float(low[1]), scale, max(width, 1), max(height, 1))

    def near(self, rings: Sequence[Ring]) -> bool:
        """Whether the middle of a feature lies inside the picture."""
        low = np.min([ring.min(axis=0) for ring in rings], axis=0)
        high = np.max([ring.max(axis=0) for ring in rings], axis=0)
        x, y = self._steps((low + high)[None] / 2)[0]
        return bool(0 <= x <= self.width and 0 <= y <= self.height)

    def path(self, rings: Sequence[Ring]) -> str:
        """One SVG path (fill rule: even-odd).

        Islands smaller than a step are left out. Where nothing else remains (some cities of the atlas have shrunk to a
        line), a small square stands for the region.

        >>> Grid(0, 0, 1, 20, 10).path([np.array([[0, 0], [9, 0], [9, 5.2], [9, 5.1], [0, 0.0]])])
        'M0 0l9 0 0 5z'
        """
        drawn = "".join(self._ring(ring) for ring in rings)
        if drawn:
            return drawn
        x, y = self._steps(rings[0][:1])[0] - _SPECK // 2
        return f"M{x} {y}l{_SPECK} 0 0 {_SPECK}-{_SPECK} 0z"

    def _steps(self, points: Ring) -> NDArray[np.int64]:
        return np.rint((points - (self.left, self.top)) * self.scale).astype(np.int64)

    def _ring(self, ring: Ring) -> str:
        points = self._steps(ring)
        moves = np.diff(points, axis=0)
        moves = moves[(moves != 0).any(axis=1)]
        if len(moves) < 3:
            return ""
        x, y = points[0].tolist()
        # z draws the last side. A minus sign parts two numbers as well as a space does.
        line = " ".join(f"{right} {down}" for right, down in moves[:-1].tolist())
        return f"M{x} {y}l{line}z".replace(" -", "-")


def project(rings: Iterable[Ring], projection: Projection, topological: bool) -> list[Ring]:
    """Rings in screen directions: x to the right, y downward.

    "degrees" are longitude and latitude, drawn true to shape at the middle latitude and cut where no feature is (so
    that islands beyond the date line stay with their country). "map" coordinates grow northward, "screen" ones
    downward. "auto" takes small numbers for degrees; other TopoJSON for screen, other GeoJSON for map coordinates.
    """
    rings = list(rings)
    if projection == "auto":
        widest = np.max([np.abs(ring).max(axis=0) for ring in rings], axis=0)
        degrees = widest[0] <= 360 and widest[1] <= 90
        projection = "degrees" if degrees else "screen" if topological else "map"
    match projection:
        case "screen":
            return rings
        case "map":
            return [ring * (1, -1) for ring in rings]
        case "degrees":
            cut = _cut(rings)
            rings = [ring + np.array([360.0 if ring[:, 0].max() < cut else 0.0, 0.0]) for ring in rings]
            latitudes = [edge for ring in rings for edge in (ring[:, 1].min(), ring[:, 1].max())]
            shrink = max(math.cos(math.radians((min(latitudes) + max(latitudes)) / 2)), 0.05)
            return [ring * (shrink, -1) for ring in rings]
        case _:
            raise InputError("projection", projection, among=("auto", "degrees", "map", "screen"))


def _cut(rings: Sequence[Ring]) -> float:
    """The longitude to cut at: the east end of the widest gap between features; none where the date line will do."""
    spans = sorted((float(ring[:, 0].min()), float(ring[:, 0].max())) for ring in rings)
    if spans[-1][0] - spans[0][0] <= 180:
        return -math.inf
    reach, best, cut = spans[0][1], 0.0, -math.inf
    for low, high in spans[1:]:
        if low - reach > best:
            best, cut = low - reach, low
        reach = max(reach, high)
    outside = spans[0][0] + 360 - reach  # the gap across the date line itself
    return cut if best > outside else -math.inf
