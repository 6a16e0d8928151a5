"""A power grid as frozen arrays: buses, branches with limits, generators with costs, and where loads are.

Everything in a `Grid` is public. How much each load draws is not in it: that is what `hide_loads` hides.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.digest import text_of
from discreet.errors import InputError, Phrase, kind_of

__all__ = ["Cost", "Grid", "Piecewise", "Quadratic"]

Reals = NDArray[np.float64]
Indices = NDArray[np.int64]
_SLACK = 1e-9  # how much a slope may fall before a curve counts as not convex: costs are written with few digits


@dataclass(frozen=True, slots=True)
class Quadratic:
    """A cost an hour of `square` MW^2 + `slope` MW + `fixed`; linear where `square` is zero.

    >>> Quadratic(0.01, 40).price(100)
    42.0
    """

    square: float = 0.0
    slope: float = 0.0
    fixed: float = 0.0

    def __post_init__(self) -> None:
        _finite("cost", (self.square, self.slope, self.fixed))
        if self.square < 0:
            raise InputError("cost", self.square, "convex: a square term of zero or more")

    def price(self, power: float) -> float:
        """What one more MW costs."""
        return 2 * self.square * power + self.slope


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A cost an hour that is linear between `points` (MW, cost), in order, and goes on beyond both ends.

    >>> Piecewise(((0, 0), (100, 2000), (200, 5000))).price(150)
    30.0
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        points = tuple((float(power), float(cost)) for power, cost in self.points)
        object.__setattr__(self, "points", points)
        _finite("cost", [number for point in points for number in point])
        if len(points) < 2 or any(b[0] <= a[0] for a, b in pairwise(points)):
            raise InputError("cost", points, "two points or more, with rising MW")
        slopes = [slope for slope, _ in self.lines]
        if any(b < a - _SLACK * max(1, abs(a)) for a, b in pairwise(slopes)):
            raise InputError("cost", points, "convex: slopes that do not fall")

    @property
    def lines(self) -> tuple[tuple[float, float], ...]:
        """(slope, intercept) of each piece; the cost is the largest of them."""
        pairs = pairwise(self.points)
        slopes = [((y2 - y1) / (x2 - x1), x1, y1) for (x1, y1), (x2, y2) in pairs]
        return tuple((slope, y - slope * x) for slope, x, y in slopes)

    def price(self, power: float) -> float:
        """What one more MW costs."""
        return max(self.lines, key=lambda line: (line[0] * power + line[1], line[0]))[0]


Cost = Quadratic | Piecewise


@dataclass(frozen=True, eq=False, slots=True)
class Grid:
    """A connected grid, without how much its loads draw. All of it is public, which buses have a load too.

    Powers are in MW and angles in radians. `demand` is what a bus draws besides its loads (shunts, fixed injections as
    negative numbers): public like the rest. A branch carries `susceptance` MW for each radian, less its `shift`.

    >>> grid = Grid.of(buses=2, branches=[(0, 1, 1000, 80)], generators=[(0, 0, 200, Quadratic(slope=20))], loads=[1])
    >>> grid.capacity, grid.highest_price
    (200.0, 20.0)
    """

    bus_names: tuple[str, ...]
    demand: Reals
    branch_from: Indices
    branch_to: Indices
    susceptance: Reals
    shift: Reals
    limit: Reals
    angle_lower: Reals
    angle_upper: Reals
    generator_bus: Indices
    generator_lower: Reals
    generator_upper: Reals
    costs: tuple[Cost, ...]
    load_bus: Indices
    load_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            kind = tuple if field.name in ("bus_names", "costs", "load_names") else np.ndarray
            if not isinstance(value, kind):
                hint = "Grid.of(...) takes plain numbers."
                raise InputError(field.name, kind_of(value), "a tuple" if kind is tuple else "a NumPy array", hint)
            if isinstance(value, np.ndarray):
                frozen = value.copy()
                frozen.setflags(write=False)
                object.__setattr__(self, field.name, frozen)
        self._check()

    @classmethod
    def of(
        cls,
        buses: int,
        branches: Iterable[tuple[int, int, float, float]],
        generators: Iterable[tuple[int, float, float, Cost]],
        loads: Sequence[int],
        demand: Sequence[float] | None = None,
    ) -> Grid:
        """A small grid from plain tuples.

        Branches are (from, to, MW for each radian, limit in MW), generators (bus, least, most, cost), loads buses.
        """
        lines, units = list(branches), list(generators)
        count = len(lines)
        return cls(
            bus_names=tuple(str(bus) for bus in range(buses)),
            demand=np.zeros(buses) if demand is None else np.asarray(demand, dtype=float),
            branch_from=np.array([line[0] for line in lines], dtype=np.int64),
            branch_to=np.array([line[1] for line in lines], dtype=np.int64),
            susceptance=np.array([line[2] for line in lines], dtype=float),
            shift=np.zeros(count),
            limit=np.array([line[3] for line in lines], dtype=float),
            angle_lower=np.full(count, -math.inf),
            angle_upper=np.full(count, math.inf),
            generator_bus=np.array([unit[0] for unit in units], dtype=np.int64),
            generator_lower=np.array([unit[1] for unit in units], dtype=float),
            generator_upper=np.array([unit[2] for unit in units], dtype=float),
            costs=tuple(unit[3] for unit in units),
            load_bus=np.asarray(loads, dtype=np.int64),
            load_names=tuple(f"load {index}" for index in range(len(loads))),
        )

    @classmethod
    def from_pandapower(cls, net: Any) -> Grid:
        """The grid of a pandapower net. Its `load.p_mw` is not read; see `Loads.from_pandapower` for that."""
        from discreet.power.pandapower import grid_of_net

        return grid_of_net(net)

    @classmethod
    def from_matpower(cls, path: str | Path, loads: Sequence[int] | None = None) -> Grid:
        """The grid of a MATPOWER case (`.m`), with loads at the buses of the numbers `loads`, or at every bus.

        Nothing of `Pd` is used, not even its sign; see `Loads.from_matpower` for that. Generators are public, a
        negative `Pd` is none of them.
        """
        from discreet.power.matpower import Case, grid_of_case

        return grid_of_case(Case.read(path), loads)

    @property
    def buses(self) -> int:
        """How many buses there are."""
        return len(self.bus_names)

    @property
    def loads(self) -> int:
        """How many loads there are."""
        return len(self.load_bus)

    @property
    def capacity(self) -> float:
        """The most that all loads together can draw: what generators give beyond the public demand."""
        return float(self.generator_upper.sum() - self.demand.sum())

    @property
    def highest_price(self) -> float:
        """The most that one more MW of any generator costs, at full power. Congestion can make a bus dearer."""
        prices = [abs(cost.price(float(end))) for cost, end in zip(self.costs, self.generator_upper, strict=True)]
        return max(prices)

    @property
    def digest(self) -> str:
        """A hash of every number in it."""
        content = hashlib.sha256()
        for field in fields(self):
            value = getattr(self, field.name)
            content.update(field.name.encode() + b"\0")
            content.update(value.tobytes() if isinstance(value, np.ndarray) else text_of(value).encode())
        return content.hexdigest()

    def __repr__(self) -> str:
        parts = (
            (self.buses, "buses"),
            (len(self.limit), "branches"),
            (len(self.costs), "generators"),
            (self.loads, "loads"),
        )
        return f"<Grid of {', '.join(f'{count:,} {name}' for count, name in parts)}>"

    def _check(self) -> None:
        count = self.buses
        if not self.loads or not self.costs:
            raise InputError("grid", self, "one with a load and a generator")
        for name in ("branch_from", "branch_to", "generator_bus", "load_bus"):
            buses = getattr(self, name)
            if buses.size and (buses.min() < 0 or buses.max() >= count):
                raise InputError(f"grid.{name}", Phrase("a bus that does not exist"), f"made of buses 0 to {count - 1}")
        for name in ("demand", "susceptance", "shift", "generator_lower", "generator_upper"):
            _finite(f"grid.{name}", getattr(self, name))
        for name in ("limit", "angle_lower", "angle_upper"):
            if np.isnan(getattr(self, name)).any():
                raise InputError(f"grid.{name}", Phrase("NaN"), "numbers, infinity where there is no limit")
        if (self.susceptance == 0).any():
            raise InputError("grid.susceptance", 0, "other than zero: a branch has a finite reactance, not zero")
        if (self.limit < 0).any():
            raise InputError("grid.limit", float(self.limit.min()), "zero or more")
        if (self.generator_lower > self.generator_upper).any():
            raise InputError(
                "grid.generator_upper", Phrase("less than the lower limit"), "at least the generator's lower limit"
            )
        if missing := count - len(_reached(count, self.branch_from, self.branch_to)):
            hint = "Give each island as a grid of its own, with its own loads."
            raise InputError("grid", Phrase(f"{missing} of {count} buses cut off"), "one connected grid", hint)
        if self.capacity <= 0:
            raise InputError("grid.capacity", self.capacity, "more than zero: generators have to feed the loads")


def _reached(count: int, start: Indices, end: Indices) -> set[int]:
    """The buses connected with the first."""
    beside: list[list[int]] = [[] for _ in range(count)]
    for a, b in zip(start.tolist(), end.tolist(), strict=True):
        beside[a].append(b)
        beside[b].append(a)
    seen, waiting = {0}, [0]
    while waiting:
        for bus in beside[waiting.pop()]:
            if bus not in seen:
                seen.add(bus)
                waiting.append(bus)
    return seen


def _finite(field: str, numbers: Any) -> None:
    if not np.isfinite(np.asarray(numbers, dtype=float)).all():
        raise InputError(field, Phrase("infinite or NaN"), "finite numbers")
