"""Where people may come from and go to: places, distances, and which origins share a cell. All of it is public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, kind_of

__all__ = ["Land", "Points", "cluster", "land_of"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_EARTH = 6371.0
_STEPS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Where origins and destinations are: (x, y), or (latitude, longitude) in `degrees`."""

    origins: Floats
    destinations: Floats
    degrees: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        ends = {"origins": self.origins.tolist(), "destinations": self.destinations.tolist()}
        return {**ends, "degrees": self.degrees}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Points:
        """From plain values."""
        starts, ends = (np.array(entry[name], dtype=np.float64) for name in ("origins", "destinations"))
        return cls(starts, ends, bool(entry["degrees"]))

    @property
    def flat(self) -> tuple[Floats, Floats]:
        """The same on a plane, x to the east and y to the north: degrees are shortened towards the poles."""
        if not self.degrees:
            return self.origins, self.destinations
        narrow = np.cos(np.radians(np.concatenate([self.origins, self.destinations])[:, 0].mean()))
        starts, ends = (one[:, ::-1] * [narrow, 1.0] for one in (self.origins, self.destinations))
        return starts, ends


@dataclass(frozen=True, slots=False, eq=False)
class Land:
    """Distances from every origin (a row) to every destination (a column), and how origins are put together.

    `zones[o]` is the cluster of origin o, none if `zones` is None. Origins within `near` of a destination have a cell
    of their own there; those farther than `farthest` from it have none, and nobody is sent there from them.
    """

    distances: Floats
    zones: Whole | None = None
    near: float | None = None
    farthest: float | None = None
    points: Points | None = None

    @property
    def origins(self) -> int:
        """How many there are."""
        return int(self.distances.shape[0])

    @property
    def destinations(self) -> int:
        """How many there are."""
        return int(self.distances.shape[1])

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """From which origin somebody may come to which destination."""
        if self.farthest is None:
            return np.ones(self.distances.shape, dtype=np.bool_)
        return np.asarray(self.distances <= self.farthest)

    def cells(self, destination: int) -> Whole:
        """The cell of every origin as seen from a destination, 0, 1, ...; -1 where nobody may come from."""
        own = np.arange(self.origins)
        label = own.copy()
        if self.zones is not None:
            label = self.origins + self.zones
            if self.near is not None:
                label = np.where(self.distances[:, destination] <= self.near, own, label)
        inside = self.possible[:, destination]
        found = np.full(self.origins, -1, dtype=np.int64)
        found[inside] = np.unique(label[inside], return_inverse=True)[1]
        return found


def land_of(
    origins: Sequence[Any],
    destinations: Sequence[Any],
    coordinates: Mapping[Any, tuple[float, float]],
    *,
    degrees: bool,
    clusters: int | Mapping[Any, Any] | None,
    near: float | None,
    farthest: float | None,
) -> Land:
    """Read what a person says about places. Raises an InputError that names what is missing."""
    if not isinstance(coordinates, Mapping):
        raise InputError("coordinates", kind_of(coordinates), "a pair of numbers for every place: {place: (x, y)}")
    known = {str(place): pair for place, pair in coordinates.items()}
    start, end = (_points(places, known, degrees=degrees) for places in (origins, destinations))
    distances = _sphere(start, end) if degrees else np.hypot(*(start[:, None] - end[None]).transpose(2, 0, 1))
    for field, value in (("near", near), ("farthest", farthest)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0):
            raise InputError(field, value, "a distance, zero or more")
    if near is not None and clusters is None:
        raise InputError("near", near, "left out without clusters: every origin then has a cell of its own")
    found = Land(distances, _zones(origins, start, clusters), near, farthest, Points(start, end, degrees))
    if (lonely := np.flatnonzero(~found.possible.any(axis=0))).size:
        raise InputError(
            "farthest", farthest, f"large enough that some origin reaches {str(destinations[lonely[0]])!r}"
        )
    return found


def cluster(points: Floats, count: int) -> Whole:
    """Points in so many groups of near ones: centres far apart, then each group's mean, again and again.

    It sees coordinates only, and the same ones give the same groups.
    """
    centres = [points[int(np.argmin(((points - points.mean(axis=0)) ** 2).sum(axis=1)))]]
    while len(centres) < count:
        gap = ((points[:, None] - np.array(centres)[None]) ** 2).sum(axis=2).min(axis=1)
        centres.append(points[int(np.argmax(gap))])
    middle = np.array(centres)
    group = np.full(len(points), -1)
    for _ in range(_STEPS):
        nearest = np.argmin(((points[:, None] - middle[None]) ** 2).sum(axis=2), axis=1)
        if np.array_equal(nearest, group):
            break
        group = nearest
        for place in range(count):
            if (inside := group == place).any():
                middle[place] = points[inside].mean(axis=0)
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _points(places: Sequence[Any], known: Mapping[str, Any], *, degrees: bool) -> Floats:
    found = np.empty((len(places), 2))
    missing = [str(place) for place in places if str(place) not in known]
    if missing:
        hint = f"Add it ({len(missing):,} missing)."
        if None in places:
            hint = "None is where a place is missing: declare the column with nullable=False to leave such rows out."
        raise InputError("coordinates", missing[0], "a pair of numbers for every origin and destination", hint)
    for row, place in enumerate(places):
        try:
            first, second = (float(number) for number in known[str(place)])
        except (TypeError, ValueError):
            first = second = float("nan")
        if not (np.isfinite(first) and np.isfinite(second)) or (degrees and (abs(first) > 90 or abs(second) > 360)):
            what = "(latitude, longitude)" if degrees else "(x, y)"
            raise InputError("coordinates", (str(place), known[str(place)]), f"a pair of finite numbers {what}")
        found[row] = first, second
    return found


def _sphere(start: Floats, end: Floats) -> Floats:
    """Great circles in kilometres between (latitude, longitude) in degrees."""
    one, other = np.radians(start)[:, None], np.radians(end)[None]
    half = np.sin((other - one) / 2) ** 2
    chord = half[..., 0] + np.cos(one[..., 0]) * np.cos(other[..., 0]) * half[..., 1]
    return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(chord, 0, 1))))


def _zones(origins: Sequence[Any], points: Floats, clusters: int | Mapping[Any, Any] | None) -> Whole | None:
    if clusters is None:
        return None
    if isinstance(clusters, Mapping):
        given = {str(place): zone for place, zone in clusters.items()}
        missing = [str(place) for place in origins if str(place) not in given]
        if missing:
            raise InputError(
                "clusters", missing[0], "a cluster for every origin", f"Add it ({len(missing):,} missing)."
            )
        names = {zone: number for number, zone in enumerate(dict.fromkeys(given.values()))}
        zones = np.array([names[given[str(place)]] for place in origins])
        return np.unique(zones, return_inverse=True)[1].astype(np.int64)
    if isinstance(clusters, bool) or not isinstance(clusters, int) or not 1 <= clusters <= len(origins):
        raise InputError("clusters", clusters, f"a number from 1 to {len(origins):,}, or {{origin: cluster}}")
    return cluster(points, clusters)
