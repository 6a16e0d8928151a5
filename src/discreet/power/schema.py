"""What a custodian declares about the loads of a grid: a name, and the distance in which each load is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import PurePath
from typing import Any, ClassVar, Self

from discreet.core.digest import digest_of
from discreet.core.exact import Number, as_written
from discreet.core.unit import Metric
from discreet.errors import MISSING, InputError
from discreet.power.clock import MOST_TIMES, read_times
from discreet.power.grid import Grid

__all__ = ["GridSchema", "PublicGrid", "unit_of"]

_TABLES = ("dataset", "grid", "budget", "ledger")


def unit_of(alpha: Fraction, times: int = 1) -> Metric:
    """What a release of loads protects: one of them, or at several times one of them at every time."""
    return Metric("one load" if times == 1 else f"one load at each of {times:,} times", alpha, "MW")


@dataclass(frozen=True, slots=True)
class GridSchema:
    """The name of private loads and the MW that any one of them is hidden up to; with `facts`, what is public.

    `loads` are the numbers of the buses that have a load, in a MATPOWER case; every bus has one if they are left out.
    They are declared, for a file says only what a bus draws now. `series` is the name of a CSV file beside the grid's,
    with what each load draws at each of so many `times`, which are called as `clock` says, or numbered.

    >>> print(GridSchema.from_dict({"dataset": {"name": "city"}, "grid": {"alpha": 2.5}}).unit)
    one load, moved by at most 2.5 MW
    """

    subject: ClassVar[str] = "grid"

    name: str
    alpha: Fraction
    facts: Mapping[str, Any] = field(default_factory=dict)
    """How many buses, branches, generators and loads the grid has, what its generators can give, and its digest."""
    loads: tuple[int, ...] | None = None
    times: int = 1
    series: str = ""
    clock: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(
                "dataset.name", MISSING if isinstance(self.name, str) else self.name, "the name of the dataset, as text"
            )
        object.__setattr__(self, "alpha", _distance(self.alpha))
        if not isinstance(self.facts, Mapping):
            raise InputError("grid.public", self.facts, "a table of what is public")
        object.__setattr__(self, "loads", _buses(self.loads))
        _check_times(self.times, self.series)
        if self.clock and len(self.clock) != self.times:
            raise InputError("grid.times", list(self.clock), f"one name for each of {self.times:,} times")

    @classmethod
    def of(cls, name: str, alpha: Number, grid: Grid, times: int = 1, clock: tuple[str, ...] = ()) -> Self:
        """The loads of a grid, at so many times, called so."""
        return cls(name, _distance(alpha), _facts(grid), times=times, clock=clock)

    @classmethod
    def from_dict(cls, declared: Mapping[str, Any]) -> Self:
        """From the tables of a schema file, or from what `to_dict` gave."""
        if unknown := set(declared) - set(_TABLES):
            raise InputError.unknown(min(unknown), _TABLES, "A schema with a [grid] declares no table of rows.")
        for table in ("dataset", "grid"):
            if not isinstance(declared.get(table, {}), Mapping):
                raise InputError(table, declared[table], f"a table: [{table}]")
        about, grid = dict(declared.get("dataset", {})), dict(declared["grid"])
        if unknown := set(about) - {"name", "version"}:
            raise InputError.unknown(f"dataset.{min(unknown)}", ("name", "version"))
        if "alpha" not in grid:
            raise InputError("grid.alpha", MISSING, "given: the MW that any one load is hidden up to")
        alpha, facts = _distance(grid.pop("alpha")), grid.pop("public", {})
        loads, series = _buses(grid.pop("loads", None)), grid.pop("series", "")
        times, clock = read_times(grid.pop("times", 1))
        if grid:
            raise InputError.unknown(f"grid.{min(grid)}", ("alpha", "loads", "times", "series"))
        return cls(about.get("name", ""), alpha, facts, loads, times, series, clock)

    @property
    def unit(self) -> Metric:
        """What is protected."""
        return unit_of(self.alpha, self.times)

    @property
    def digest(self) -> str:
        """A fingerprint of everything declared and public."""
        return digest_of(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The tables of its file, plain values only; `public` is what the grid adds."""
        grid: dict[str, Any] = {"alpha": str(self.alpha)}
        if self.loads is not None:
            grid["loads"] = list(self.loads)
        if self.times > 1:
            grid["times"] = list(self.clock) or self.times
        if self.series:
            grid["series"] = self.series
        if self.facts:
            grid["public"] = dict(self.facts)
        return {"dataset": {"name": self.name}, "grid": grid}


@dataclass(frozen=True, slots=True)
class PublicGrid:
    """What is public about private loads: their grid, and what is declared. Asks are read against it."""

    schema: GridSchema
    grid: Grid

    @classmethod
    def of(cls, name: str, alpha: Number, grid: Grid, times: int = 1, clock: tuple[str, ...] = ()) -> Self:
        """The grid of a dataset."""
        return cls(GridSchema.of(name, alpha, grid, times, clock), grid)

    @classmethod
    def describe(cls, schema: GridSchema, grid: Grid) -> Self:
        """The grid of a dataset that a schema declares."""
        return cls(replace(schema, facts=_facts(grid)), grid)


def _facts(grid: Grid) -> dict[str, Any]:
    return {
        "buses": grid.buses,
        "branches": len(grid.limit),
        "generators": len(grid.costs),
        "loads": grid.loads,
        "capacity_mw": grid.capacity,
        "digest": grid.digest,
    }


def _buses(loads: Any) -> tuple[int, ...] | None:
    if loads is None:
        return None
    allowed = "a list of bus numbers, each once"
    if not isinstance(loads, (list, tuple)) or not loads:
        raise InputError("grid.loads", loads, allowed)
    if not all(type(number) is int for number in loads) or len(set(loads)) < len(loads):
        raise InputError("grid.loads", loads, allowed)
    return tuple(loads)


def _check_times(times: Any, series: Any) -> None:
    if type(times) is not int or not 1 <= times <= MOST_TIMES:
        raise InputError("grid.times", times, f"a whole number from 1 to {MOST_TIMES:,}")
    if not isinstance(series, str) or series != PurePath(series).name or series in (".", ".."):
        raise InputError("grid.series", series, "the name of a CSV file in the folder of the grid file")
    if series and times == 1:
        hint = "How many times there are is public and declared: times = 24."
        raise InputError("grid.times", times, "given where there is a series, 2 or more", hint)


def _distance(alpha: Number) -> Fraction:
    found = as_written(alpha, "alpha")
    if found <= 0:
        raise InputError("alpha", alpha, "more than zero MW")
    return found
