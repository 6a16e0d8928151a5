"""A heat map of runs: where many run it shows a city, where few run it shows who they are and where they live.

Made-up runs: thousands of people in a city, and two remote bases where a handful run around the fence. Exact counts of
an empty land light up along the fence. Under a budget a place needs enough people to be seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.risk.attack_result import AttackResult, check_epsilon, check_size
from discreet.risk.draws import draw_even
from discreet.show import Picture, image, stack

__all__ = ["BASES", "LIMIT", "SIDE", "HeatMap", "count_runners", "draw_runs", "map_runs"]

SIDE = 48
LIMIT = 24
"""Cells of one person that count, at most."""
BASES = ((4, 8, 6), (36, 2, 5))
"""Where the fences begin, row and column, and how long a side is."""
_CITY, _SPREAD = (30, 33), 2.5
_STEPS = 30
_CELL = 4


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap(AttackResult):
    """Counts of runners by cell, exact and under a budget, and what of the bases is seen."""

    drawn: ClassVar[tuple[str, ...]] = ("exact", "private")
    people: int
    guards: int
    """Runners in each base."""
    epsilon: float
    least: int
    """Noise alone passes this in one map of ten: cells up to it are left blank."""
    seen: float
    """The part of the fences that the exact map shows in an empty land."""
    seen_private: float
    control: float
    """An epsilon so large that a handful of runners is more than the noise."""
    seen_control: float
    """The part that the same map shows under it."""
    seen_blanked: float
    """The part that exact counts show, blanked up to the same count."""
    error: float
    """How far off the busiest hundred cells are under the budget, relative to them, on average."""
    blank: float
    """The part of the cells with runners, bases aside, that is left blank."""
    exact: NDArray[np.int64]
    private: NDArray[np.int64]

    def details(self) -> list[str]:
        """The exact map, the same under a budget, and two controls."""
        return [
            f"Runs of {self.people:,} people in a city and of {self.guards} in each of {len(BASES)} remote bases. The "
            f"exact map shows {self.seen:.0%} of the fences in an empty land.",
            f"Under epsilon = {self.epsilon:g} a person ({LIMIT} cells of each), blank where noise alone could be: "
            f"{self.seen_private:.0%}. The price: the hundred busiest cells are off by {self.error:.1%} on average, "
            f"and {self.blank:.0%} of the other cells where somebody ran stay blank.",
            f"The same at epsilon = {self.control:g}: {self.seen_control:.0%}. Exact counts, blank up to the same "
            f"{self.least:,}: {self.seen_blanked:.0%}; but of two such maps, before and after somebody comes, the "
            "busy cells tell where that one runs.",
        ]

    def conclusion(self) -> str:
        """What a budget hides, and what not."""
        return (
            f"A handful of runners drew {self.seen:.0%} of the fences on an exact map and {self.seen_private:.0%} "
            f"under epsilon = {self.epsilon:g}, because noise that covers any one person covers a handful; it hides "
            f"people and not places: a base with more than about {self.least:,} runners would show."
        )

    def picture(self) -> Picture:
        """The two maps, dark where many run; few are shown as clearly as many, on a scale of logarithms."""
        maps = [
            image("Exact counts", _shades(self.exact), cell=_CELL),
            image(f"Under epsilon = {self.epsilon:g}", _shades(self.private), cell=_CELL),
        ]
        said = f"{self.seen:.0%} of the fences are seen in exact counts, {self.seen_private:.0%} under the budget."
        return stack("A heat map of runs, and two bases", maps, columns=2, caption=said)


def _shades(counts: NDArray[np.int64]) -> list[list[float]]:
    scaled = np.log1p(np.maximum(counts, 0)) / math.log1p(max(1, int(counts.max())))
    shades: list[list[float]] = scaled.tolist()
    return shades


def draw_runs(people: int, guards: int, bits: Bits | None = None) -> list[NDArray[np.int64]]:
    """The cells of each person's runs, each once: walks through the city, and rounds along the fences."""
    source = SystemBits() if bits is None else bits
    radius = _SPREAD * np.sqrt(-2 * np.log(1 - draw_even(source, people)))
    angle = 2 * np.pi * draw_even(source, people)
    home = np.stack([_CITY[0] + radius * np.cos(angle), _CITY[1] + radius * np.sin(angle)], axis=1)
    turns = np.cumsum(np.rint(2 * draw_even(source, people, _STEPS, 2) - 1), axis=1)
    walks = np.clip(np.rint(home[:, None] + turns), 0, SIDE - 1).astype(np.int64)
    cells = walks[..., 0] * SIDE + walks[..., 1]
    runs = [np.unique(row) for row in cells]
    for fence in map(_fence, BASES):
        for _ in range(guards):
            missed = draw_even(source, len(fence)) < 0.2  # nobody runs all of it each time
            runs.append(fence[~missed])
    return runs


def _fence(base: tuple[int, int, int]) -> NDArray[np.int64]:
    row, column, side = base
    edge = [(row + i, column + j) for i in range(side + 1) for j in range(side + 1) if {i, j} & {0, side}]
    return np.array([i * SIDE + j for i, j in edge], dtype=np.int64)


def count_runners(runs: list[NDArray[np.int64]], epsilon: float | None, bits: Bits | None = None) -> NDArray[np.int64]:
    """How many people were in each cell: exact, or under a budget.

    Guarantee: epsilon-private for one person added or removed with all their runs: `LIMIT` of their cells count, chosen
    by chance, and every cell of the grid, empty or not, gets Laplace noise of LIMIT / epsilon.
    """
    if epsilon is None:
        return np.bincount(np.concatenate(runs), minlength=SIDE**2).astype(np.int64).reshape(SIDE, SIDE)
    source = SystemBits() if bits is None else bits
    kept = [run if len(run) <= LIMIT else run[np.argsort(draw_even(source, len(run)))[:LIMIT]] for run in runs]
    counts = np.bincount(np.concatenate(kept), minlength=SIDE**2).astype(np.int64)
    return Laplace(LIMIT / Fraction(epsilon)).release(counts, bits=source).reshape(SIDE, SIDE)


def map_runs(people: int = 10_000, guards: int = 12, epsilon: float = 1.0, *, bits: Bits | None = None) -> HeatMap:
    """Draw runs, count them exactly and under a budget, and see how much of the fences is in the map."""
    check_size("people", people, 100, 100_000)
    check_size("guards", guards, 1, 10_000)
    check_epsilon(epsilon)
    source = SystemBits() if bits is None else bits
    runs = draw_runs(people, guards, source)
    exact, noisy = count_runners(runs, None), count_runners(runs, epsilon, source)
    least = _least(epsilon)
    private = np.where(noisy > least, noisy, 0)
    control = max(float(epsilon), math.ceil(4 * _least(1.0) / guards))  # noise is below a quarter of the guards
    fence = np.concatenate([_fence(base) for base in BASES])
    busiest = np.argsort(-exact.ravel(), kind="stable")[:100]
    walked = exact.ravel() > 0
    walked[fence] = False
    walked[busiest] = False
    return HeatMap(
        people,
        guards,
        float(epsilon),
        least,
        float((exact.ravel()[fence] > 0).mean()),
        float((private.ravel()[fence] > 0).mean()),
        control,
        float((count_runners(runs, control, source).ravel()[fence] > _least(control)).mean()),
        float((exact.ravel()[fence] > least).mean()),
        float(np.abs(noisy.ravel()[busiest] / exact.ravel()[busiest] - 1).mean()),
        float((private.ravel()[walked] == 0).mean()) if walked.any() else 0.0,
        exact,
        private,
    )


def _least(epsilon: float) -> int:
    """What noise on a cell of zero passes with a chance of .1 / SIDE^2."""
    return math.ceil(LIMIT / epsilon * math.log(SIDE**2 / 2 / 0.1))
