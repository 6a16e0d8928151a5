"""What a release under a privacy budget would cost instead: the same tables, with noise, and how far off they are.

The tables are those that a coarsened table is most often asked for: counts by each column, and by each column that an
outsider may know with each sensitive one. An error is the part of people that a table shows in a wrong cell (half the
sum of differences, divided by the people), on average over the tables. Of the coarsened table it is computed: rows of a
group are spread evenly over its values, rows left out are not known. Of noise it is expected, before post-processing,
which makes it smaller, and it does not depend on the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.calibrate import gaussian_sigma_rho, laplace_scale
from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.core.sensitivity import Sensitivity
from discreet.noise.spread import gaussian_half_width, laplace_half_width
from discreet.risk.coarsening import AnonymizedTable
from discreet.risk.ladder import Ladder, ladder_of
from discreet.risk.records import CodedColumn, Records

__all__ = ["EPSILONS", "Instead", "NoisyTables", "compare_release"]

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
DELTA = Fraction(1, 10**6)
_CELLS = 64  # groups of a column in these tables; columns of more values are taken in wider groups
_TOP = 64.0  # the largest epsilon that is looked at

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NoisyTables:
    """All tables at one epsilon: the noise, how far off a count is (95%), and the error."""

    epsilon: float
    noise: str
    within: int
    error: float


@dataclass(frozen=True, slots=True)
class Instead:
    """The same tables from the coarsened table and under a budget. `equal`: the epsilon with the same error.

    None where no epsilon up to 64 has it, or where the smallest that is looked at (0.01) is already better: then
    `cheaper` is True. `each`: how many rows of one person count.
    """

    tables: int
    cells: int
    rows: int
    each: int
    coarse: float
    noisy: tuple[NoisyTables, ...]
    equal: float | None
    cheaper: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def sentence(self) -> str:
        """In a sentence."""
        count = f"{self.tables:,} tables ({self.cells:,} counts)"
        if self.cheaper:
            return f"For {count}, noise under an epsilon of 0.01 is closer to the truth than the coarsened table."
        if self.equal is None:
            return f"For {count}, no epsilon up to {_TOP:g} is as close to the truth as the coarsened table."
        return f"For {count}, noise under epsilon = {self.equal:.2g} is as close to the truth as the coarsened table."


def compare_release(
    original: Records, made: AnonymizedTable, sensitive: Sequence[str], *, person: str | None = None
) -> Instead:
    """Compare a table coarsened along ladders with noisy counts of the original."""
    ladders = made.cut if isinstance(made.cut, tuple) else ()
    steps = [made.steps[name] for name in made.quasi]
    known = [
        _Axis.of(name, column, ladder, step)
        for name, column, ladder, step in zip(made.quasi, made.columns, ladders, steps, strict=True)
    ]
    secret = [_Axis.of(name, original[name]) for name in sensitive]
    pairs: list[tuple[_Axis, ...]] = [(axis,) for axis in (*known, *secret)]
    pairs += [(one, other) for one in known for other in secret]
    kept = np.flatnonzero(made.kept)
    coarse = float(np.mean([_error(axes, kept) for axes in pairs]))
    cells = sum(math.prod(axis.size for axis in axes) for axes in pairs)
    each = 1 if person is None else int(np.bincount(original[person].codes).max())
    moved = Sensitivity(each=each, outputs=len(pairs))
    noisy = tuple(_noisy(epsilon, moved, cells, len(pairs), original.rows) for epsilon in EPSILONS)

    def error(epsilon: float) -> float:
        return _noisy(epsilon, moved, cells, len(pairs), original.rows).error

    cheaper = error(0.01) <= coarse
    equal = None if cheaper or error(_TOP) > coarse else _crossing(error, coarse)
    return Instead(len(pairs), cells, original.rows, each, coarse, noisy, equal, cheaper)


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """A column of a table: each row's cell, its coarse group, and for each group a spread over cells."""

    size: int
    codes: NDArray[np.int64]
    groups: NDArray[np.int64]
    spread: Floats

    @classmethod
    def of(cls, name: str, column: CodedColumn, ladder: Ladder | None = None, step: int = 0) -> _Axis:
        """Cells are values, or the finest groups of a ladder that are few enough."""
        rungs = ladder if ladder is not None else ladder_of(name, column)
        fine = next((rung for rung in rungs.groups if rung.max() < _CELLS), rungs.groups[-1])
        coarse = rungs.groups[step] if ladder is not None else fine
        spread = np.zeros((int(coarse.max()) + 1, int(fine.max()) + 1))
        np.add.at(spread, (coarse, fine), 1.0)
        spread /= spread.sum(axis=1, keepdims=True)
        return cls(int(fine.max()) + 1, fine[column.codes], coarse[column.codes], spread)


def _error(axes: Sequence[_Axis], kept: NDArray[np.int64]) -> float:
    """The part of people in a wrong cell, of one table made from the coarsened rows."""
    shape = [axis.size for axis in axes]
    truth = _counted([axis.codes for axis in axes], shape)
    shown = _counted([axis.groups[kept] for axis in axes], [len(axis.spread) for axis in axes])
    for place, axis in enumerate(axes):
        shown = np.moveaxis(np.tensordot(shown, axis.spread, axes=([place], [0])), -1, place)
    total = shown.sum()
    guess = shown / total if total else np.full(shape, 1 / math.prod(shape))
    return float(np.abs(truth / truth.sum() - guess).sum() / 2)


def _counted(codes: Sequence[NDArray[np.int64]], shape: Sequence[int]) -> Floats:
    key = np.ravel_multi_index(tuple(codes), tuple(shape))
    return np.bincount(key, minlength=math.prod(shape)).reshape(shape).astype(np.float64)


def _noisy(epsilon: float, moved: Sensitivity, cells: int, tables: int, rows: int) -> NoisyTables:
    """The better of Laplace noise at epsilon and Gaussian noise at (epsilon, one in a million), as a ledger counts."""
    price = Fraction(epsilon).limit_denominator(10_000)
    scale = laplace_scale(price, moved)
    sigma = gaussian_sigma_rho(_rho(price), moved)
    fade = math.exp(-1 / float(scale))
    laplace, gaussian = 2 * fade / (1 - fade**2), float(sigma) * math.sqrt(2 / math.pi)
    size = min(laplace, gaussian)
    noise = "Laplace" if laplace <= gaussian else "Gaussian"
    within = laplace_half_width(scale, 0.95) if noise == "Laplace" else gaussian_half_width(sigma, 0.95)
    return NoisyTables(epsilon, noise, within, min(cells * size / (2 * tables * rows), 1.0))


@cache
def _rho(epsilon: Fraction) -> Fraction:
    """The most zCDP that (epsilon, DELTA) pays for, to three digits."""
    low, high = Fraction(0), max(epsilon, Fraction(1)) ** 2
    while high - low > low / 1000:
        middle = Fraction(float((low + high) / 2))
        low, high = (middle, high) if epsilon_of_zcdp(middle, DELTA) <= epsilon else (low, middle)
    return low


def _crossing(error: Any, wanted: float) -> float:
    """The epsilon at which noise is as far off, to two digits."""
    low, high = math.log(0.01), math.log(_TOP)
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if error(math.exp(middle)) > wanted else (low, middle)
    return math.exp(high)
