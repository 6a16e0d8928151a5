"""MATPOWER cases: the matrices of a `.m` file, and the grid they describe.

Read here and not by pandapower, whose converter needs one library more and does less (3.5, tried on a grid with four
buses): limits on angles are lost, a branch without a limit gets a large one, cost rows of different lengths stop it, a
NaN reactance or a file without costs does not, and quadratic beside piecewise costs have no optimal power flow there.
Where none of that occurs both read the same demand, susceptances, generators and costs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.decimal_steps import as_decimal
from discreet.errors import InputError, Phrase
from discreet.power.grid import Cost, Grid, Piecewise, Quadratic, Reals

__all__ = ["Case", "assemble_grid", "grid_of_case"]

Matrices = tuple[Reals, Reals, Reals]

# Columns of the format, version 2.
_TYPE, _PD, _GS = 1, 2, 4
_FROM, _TO, _X, _RATE, _RATIO, _SHIFT, _STATUS, _ANGLE_LOW, _ANGLE_HIGH = 0, 1, 3, 5, 8, 9, 10, 11, 12
_GEN_STATUS, _PMAX, _PMIN = 7, 8, 9
_MODEL, _TERMS, _FIRST = 0, 3, 4
_ISOLATED = 4
_PUBLIC = (0, _TYPE, _GS)  # columns of buses that a grid is made of; others may follow from what loads draw
_WIDTHS = {"bus": 13, "gen": 10, "branch": 11, "gencost": 5}
_LARGEST = 200 << 20
_UNLIMITED = 360.0  # degrees: an angle limit this wide limits nothing
_DIGITS = 8  # of a generator's MW: pandapower widens limits by 1e-10


@dataclass(frozen=True, slots=True)
class Case:
    """The matrices of a case, as they stand in the file. Holds the loads (`bus`, third column, and `words`): private.

    `words` is what is written for each bus as its load. Words that are no number are NaN in `bus` where the column is
    no part of the grid: whether a file can be read does not depend on its loads.
    """

    base: float
    bus: Reals
    gen: Reals
    branch: Reals
    gencost: Reals
    words: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<MATPOWER case of {len(self.bus):,} buses>"

    @classmethod
    def read(cls, path: str | Path) -> Case:
        """Read a `.m` file. It is parsed, never run."""
        file = Path(path)
        allowed = "a MATPOWER case file (.m) of version 2"
        try:
            if file.stat().st_size > _LARGEST:
                raise InputError("path", file.name, f"{allowed} of at most {_LARGEST >> 20} MB")
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as problem:
            raise InputError("path", file.name, allowed, f"It cannot be read: {problem.strerror}.") from None
        bare = re.sub(r"%[^\n]*", "", text)
        base = re.search(r"\bmpc\.baseMVA\s*=\s*([0-9.eE+-]+)\s*;", bare)
        if base is None:
            raise InputError("path", file.name, allowed, "It has no line 'mpc.baseMVA = ...;'.")
        texts = {name: _rows(bare, name, file.name) for name in _WIDTHS}
        bus, gen, branch, gencost = (_matrix(texts[name], name) for name in ("bus", "gen", "branch", "gencost"))
        words = tuple(row[_PD] for row in texts["bus"])
        return cls(_number(base[1], "baseMVA"), bus, gen, branch, gencost, words)

    @property
    def connected(self) -> Reals:
        """The rows of buses that are part of the grid."""
        rows: Reals = self.bus[self.bus[:, _TYPE] != _ISOLATED]
        return rows

    def load_buses(self, declared: Sequence[int] | None) -> list[int]:
        """The numbers of the buses that have a load, in the order of the file: those declared, or every bus."""
        numbers = [int(number) for number in self.connected[:, 0]]
        if declared is None:
            return numbers
        if missing := set(declared) - set(numbers):
            raise InputError("grid.loads", min(missing), "made of numbers of buses that are part of the grid")
        return [number for number in numbers if number in set(declared)]

    def drawn_at(self, declared: Sequence[int] | None) -> list[Fraction]:
        """MW drawn by each load, as written. Private."""
        word_of = {int(number): word for number, word in zip(self.bus[:, 0], self.words, strict=True)}
        return [as_decimal(word_of[number]) for number in self.load_buses(declared)]


def grid_of_case(case: Case, declared: Sequence[int] | None = None) -> Grid:
    """The grid, with loads at the declared buses or at every bus. Nothing in it follows from what a bus draws."""
    rows = case.connected
    numbers = [int(number) for number in rows[:, 0]]
    loads = case.load_buses(declared)
    return assemble_grid(case.base, numbers, rows[:, _GS], (case.branch, case.gen, case.gencost), loads, loads)


def assemble_grid(
    base: float, numbers: list[int], demand: Reals, matrices: Matrices, loads: list[int], names: Sequence[object]
) -> Grid:
    """A grid from branch, gen and gencost in MATPOWER's columns; `loads` are the numbers of the buses they are at."""
    branch, gen, gencost = matrices
    index_of = {number: index for index, number in enumerate(numbers)}
    on = (branch[:, _STATUS] > 0) & _among(branch[:, _FROM], index_of) & _among(branch[:, _TO], index_of)
    branch = branch[on]
    if (branch[:, _X] == 0).any():
        raise InputError(
            "branch", Phrase("a reactance of zero"), "reactances that are not zero", "Merge the buses it joins."
        )
    ratio = np.where(branch[:, _RATIO] == 0, 1.0, branch[:, _RATIO])
    running = (gen[:, _GEN_STATUS] > 0) & _among(gen[:, 0], index_of)
    if len(gencost) < len(gen):
        raise InputError("gencost", Phrase(f"{len(gencost)} rows"), f"a row for each of the {len(gen)} generators")
    costs = [_cost(row) for row in gencost[: len(gen)][running]]
    gen = gen[running]
    low, high = _angles(branch)
    return Grid(
        bus_names=tuple(str(number) for number in numbers),
        demand=np.asarray(demand, dtype=float),
        branch_from=np.array([index_of[int(bus)] for bus in branch[:, _FROM]], dtype=np.int64),
        branch_to=np.array([index_of[int(bus)] for bus in branch[:, _TO]], dtype=np.int64),
        susceptance=base / (branch[:, _X] * ratio),
        shift=np.radians(branch[:, _SHIFT]),
        limit=np.where(branch[:, _RATE] == 0, math.inf, branch[:, _RATE]),
        angle_lower=low,
        angle_upper=high,
        generator_bus=np.array([index_of[int(bus)] for bus in gen[:, 0]], dtype=np.int64),
        generator_lower=np.round(gen[:, _PMIN], _DIGITS),
        generator_upper=np.round(gen[:, _PMAX], _DIGITS),
        costs=tuple(costs),
        load_bus=np.array([index_of[bus] for bus in loads], dtype=np.int64),
        load_names=tuple(str(name) for name in names),
    )


def _angles(branch: Reals) -> tuple[Reals, Reals]:
    """Limits on the difference of angles, in radians; zero on both sides and anything beyond 360 degrees mean none."""
    none = np.full(len(branch), math.inf)
    if branch.shape[1] <= _ANGLE_HIGH:
        return -none, none
    low, high = branch[:, _ANGLE_LOW], branch[:, _ANGLE_HIGH]
    free = (low == 0) & (high == 0)
    lower = np.where(free | (low <= -_UNLIMITED), -math.inf, np.radians(low))
    upper = np.where(free | (high >= _UNLIMITED), math.inf, np.radians(high))
    return lower, upper


def _cost(row: Reals) -> Cost:
    terms = int(row[_TERMS])
    numbers = [float(number) for number in row[_FIRST:]]
    if row[_MODEL] == 1 and len(numbers) >= 2 * terms:
        return Piecewise(tuple(zip(numbers[0 : 2 * terms : 2], numbers[1 : 2 * terms : 2], strict=True)))
    if row[_MODEL] == 2 and len(numbers) >= terms:
        coefficients = [0.0, 0.0, 0.0, *numbers[:terms]]
        if any(coefficients[:-3]):
            raise InputError("gencost", Phrase(f"a polynomial of {terms} terms"), "polynomials of degree 2 at most")
        return Quadratic(*coefficients[-3:])
    raise InputError("gencost", Phrase(f"model {row[_MODEL]:g} with {terms} terms"), "model 1 or 2 with all its terms")


def _among(buses: Reals, index_of: dict[int, int]) -> Any:
    return np.array([int(bus) in index_of for bus in buses], dtype=bool)


def _rows(text: str, name: str, file: str) -> list[list[str]]:
    """The words of one `mpc.name = [...]`."""
    found = re.search(rf"\bmpc\.{name}\s*=\s*\[([^\]]*)\]", text)
    if found is None:
        raise InputError("path", file, "a MATPOWER case file (.m) of version 2", f"It has no matrix 'mpc.{name}'.")
    filled = re.sub(r",(?=[ \t]*,)", ", NaN", found[1])  # nothing between two commas is a number that is missing
    lines = [line.replace(",", " ").split() for line in re.split(r"[;\n]", filled)]
    rows = [line for line in lines if line]
    width = max((len(row) for row in rows), default=0)
    if width < _WIDTHS[name]:
        raise InputError(
            f"mpc.{name}", Phrase(f"{len(rows)} rows of {width}"), f"rows of at least {_WIDTHS[name]} numbers"
        )
    if name != "gencost" and any(len(row) != width for row in rows):
        raise InputError(f"mpc.{name}", Phrase("rows of different lengths"), "rows of the same length")
    return rows


def _matrix(rows: list[list[str]], name: str) -> Reals:
    """The numbers of a matrix, padded with zeros to a rectangle."""
    width = max(len(row) for row in rows)
    padded = [[*row, *["0"] * (width - len(row))] for row in rows]
    return np.array(
        [
            [
                _number(word, name) if name != "bus" or column in _PUBLIC else _any_number(word)
                for column, word in enumerate(row)
            ]
            for row in padded
        ]
    )


def _any_number(word: str) -> float:
    """A number that no grid is made of, NaN where it is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan


def _number(word: str, field: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise InputError(f"mpc.{field}", Phrase("text that is no number"), "numbers") from None
    if math.isnan(number):
        raise InputError(f"mpc.{field}", Phrase("NaN"), "numbers")
    return number
