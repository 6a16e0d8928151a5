"""Rebuilding people from published tables of a small block: counts, mean and median ages, solved like a puzzle.

Each table is harmless by itself. Together they are equations that few sets of people satisfy, often only one. A solver
finds people that fit, and then says how many of them could be otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.parameters import SMALLEST

__all__ = [
    "Block",
    "BlockSolution",
    "Person",
    "Statistic",
    "coarse_tables",
    "exact_tables",
    "noisy_tables",
    "rebuild",
]

AGES = 100
SEXES = ("F", "M")
RACES = ("asian", "black", "other", "white")
_SECONDS = 20.0
_MOST = 1000

Floats = NDArray[np.float64]
Person = tuple[int, str, str]
"""Age, sex and race, as a census asks them."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One row of the tables: how many there are with this sex, race (None: any) and age; their mean and median age.

    Mean and median are given with one decimal, for groups of at least three: smaller ones are suppressed, as agencies
    did.
    """

    sex: str | None
    race: str | None
    count: float
    mean: float | None = None
    median: float | None = None
    ages: tuple[int, int] = (0, AGES - 1)


@dataclass(frozen=True, slots=True)
class Block:
    """What is published about a block."""

    sexes: tuple[str, ...]
    races: tuple[str, ...]
    statistics: tuple[Statistic, ...]


@dataclass(frozen=True, slots=True)
class BlockSolution:
    """People that fit the tables, and how many of them could be others."""

    people: tuple[Person, ...]
    uncertain: int
    """The most people of another solution that are not among these; 0: no others fit the tables."""

    def right(self, truth: Sequence[Person]) -> int:
        """How many of the rebuilt people are real."""
        return _matched(self.people, truth, 0)

    def near(self, truth: Sequence[Person], years: int = 1) -> int:
        """How many are real but for their age, which is off by no more than so many years."""
        return _matched(self.people, truth, years)


def _matched(people: Sequence[Person], truth: Sequence[Person], years: int) -> int:
    """How many of the people can be put to different real ones of their sex and race, of nearly their age."""
    found = 0
    for kind in {person[1:] for person in people}:
        ours, theirs = (sorted(age for age, *rest in group if tuple(rest) == kind) for group in (people, truth))
        place = 0
        for age in ours:  # the youngest that is left and near enough: no other choice matches more
            while place < len(theirs) and theirs[place] < age - years:
                place += 1
            if place < len(theirs) and theirs[place] <= age + years:
                found += 1
                place += 1
    return found


def exact_tables(people: Sequence[Person], *, least: int = 3) -> Block:
    """What an office would print of these people: by sex, by race, by both, in all, and by sex and five years."""
    for place, (age, _, _) in enumerate(people):
        if not 0 <= age < AGES:
            raise InputError(f"people[{place}].age", age, f"a whole number from 0 to {AGES - 1}")
    sexes = tuple(sorted({sex for _, sex, _ in people}))
    races = tuple(sorted({race for _, _, race in people}))
    rows = []
    for sex, race in itertools.product((None, *sexes), (None, *races)):
        ages = sorted(a for a, s, r in people if sex in (None, s) and race in (None, r))
        if len(ages) >= least:
            mean = round(float(np.mean(ages)), 1)
            rows.append(Statistic(sex, race, len(ages), mean, float(np.median(ages))))
        else:
            rows.append(Statistic(sex, race, len(ages)))
    for sex, start in itertools.product(sexes, range(0, AGES, 5)):
        many = sum(s == sex and start <= a < start + 5 for a, s, _ in people)
        rows.append(Statistic(sex, None, many, ages=(start, start + 4)))
    return Block(sexes, races, tuple(rows))


def coarse_tables(people: Sequence[Person], *, width: int = 10) -> Block:
    """What an office that only coarsens would print: counts by sex, race and ten years of age, exact, nothing else."""
    sexes = tuple(sorted({sex for _, sex, _ in people}))
    races = tuple(sorted({race for _, _, race in people}))
    rows = []
    for sex, race, start in itertools.product(sexes, races, range(0, AGES, width)):
        many = sum((s, r) == (sex, race) and start <= a < start + width for a, s, r in people)
        rows.append(Statistic(sex, race, many, ages=(start, start + width - 1)))
    return Block(sexes, races, tuple(rows))


def noisy_tables(
    people: Sequence[Person],
    epsilon: float,
    *,
    sexes: tuple[str, ...],
    races: tuple[str, ...],
    bits: Bits | None = None,
) -> Block:
    """The same tables as `exact_tables`, in the same detail, under a budget.

    Half of epsilon buys the number of people, half a count of every age, sex and race. The cells that stand out most
    are filled up to that number, and what comes of it is printed as `exact_tables` prints it. Without noise to speak of
    these are the exact tables.

    Guarantee: epsilon-private for one person added or removed: a person is in one cell, and every statistic is made of
    the noisy counts. Sexes and races are public, listed by the caller. At most 1,000 people are printed.
    """
    noise = Laplace(max(2 / Fraction(epsilon), SMALLEST))
    cells = list(itertools.product(range(AGES), sexes, races))
    index = {cell: place for place, cell in enumerate(cells)}
    exact = np.bincount([index[person] for person in people], minlength=len(cells)).astype(np.int64)
    left = min(int(noise.release(np.array([len(people)]), bits=bits)[0]), _MOST)
    counts = noise.release(exact, bits=bits)
    kept: list[Person] = []
    for place in np.argsort(-counts, kind="stable"):
        many = min(max(int(counts[place]), 0), left - len(kept))
        if many <= 0:
            break
        kept += [cells[place]] * many
    return exact_tables(kept)


def rebuild(block: Block, *, exact: bool = True, others: bool = True) -> BlockSolution | None:
    """People that satisfy the tables, found by integer programming; None if nobody can or time is up.

    With `exact` every statistic must hold as printed; without, the sum of misses is made least, which is how an
    attacker treats tables that contradict each other. Without `others` it is not asked who else would fit.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    most = max((round(one.count) for one in block.statistics), default=0)
    if most == 0:  # noise can empty a block: then it prints no sex and no race either
        return BlockSolution((), 0)
    cells = list(itertools.product(range(AGES), block.sexes, block.races))
    rows, low, high = _equations(block, cells)
    slack = np.zeros((len(rows), 0)) if exact else np.hstack([np.eye(len(rows)), -np.eye(len(rows))])
    matrix = np.hstack([rows, slack])
    cost = np.concatenate([np.zeros(len(cells)), np.ones(slack.shape[1])])
    whole = np.concatenate([np.ones(len(cells)), np.zeros(slack.shape[1])])
    upper = np.concatenate([np.full(len(cells), float(most)), np.full(slack.shape[1], np.inf)])
    limits = Bounds(np.zeros(len(upper)), upper)
    rule = LinearConstraint(matrix, low, high)
    patience = {"time_limit": _SECONDS}
    first = milp(cost, constraints=rule, integrality=whole, bounds=limits, options=patience)
    if first.x is None:
        return None
    found = np.rint(first.x[: len(cells)]).astype(np.int64)
    people = tuple(cell for cell, many in zip(cells, found, strict=True) for _ in range(many))
    if not exact or not others:
        return BlockSolution(people, len(people))
    return BlockSolution(people, min(_most_moved(rows, low, high, found), len(people)))


def _most_moved(rows: Floats, low: Floats, high: Floats, found: NDArray[np.int64]) -> int:
    """The most people of another solution that this one does not have; a bound from above if time is up.

    In a cell that is empty here all of theirs are others. In one that is not, those beyond ours are: `over`, which a
    binary choice keeps at zero where there are none.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    held = np.flatnonzero(found)
    many, few, total = len(found), len(held), int(found.sum())
    pick = np.zeros((few, many))
    pick[np.arange(few), held] = 1
    eye = np.eye(few)
    rules = [
        LinearConstraint(np.hstack([rows, np.zeros((len(rows), 2 * few))]), low, high),
        LinearConstraint(np.hstack([-pick, eye, total * eye]), -np.inf, total - found[held]),  # over <= theirs - ours
        LinearConstraint(np.hstack([0 * pick, eye, -total * eye]), -np.inf, np.zeros(few)),  # or over <= 0
    ]
    gain = np.concatenate([found == 0, np.ones(few), np.zeros(few)]).astype(float)
    upper = np.concatenate([np.full(many + few, float(total)), np.ones(few)])
    patience = {"time_limit": _SECONDS}
    ends = Bounds(np.zeros(len(gain)), upper)
    best = milp(-gain, constraints=rules, integrality=np.ones(len(gain)), bounds=ends, options=patience)
    bound = best.mip_dual_bound if best.mip_dual_bound is not None else -np.inf
    return total if not np.isfinite(bound) else int(np.floor(1e-6 - bound))


def _equations(block: Block, cells: list[Person]) -> tuple[Floats, Floats, Floats]:
    """Every statistic as low <= row @ people <= high."""
    ages = np.array([age for age, _, _ in cells], dtype=float)
    rows, low, high = [], [], []
    for one in block.statistics:
        fits = [one.sex in (None, sex) and one.race in (None, race) for _, sex, race in cells]
        inside = np.array(fits) & (ages >= one.ages[0]) & (ages <= one.ages[1])
        rows.append(inside)
        low.append(one.count)
        high.append(one.count)
        if one.mean is not None:  # printed with one decimal: off by up to 0.05
            rows.append(inside * ages)
            low.append((one.mean - 0.05 - 1e-9) * one.count)
            high.append((one.mean + 0.05 + 1e-9) * one.count)
        if one.median is not None:
            half = one.count / 2
            for side in (ages <= one.median, ages >= one.median):
                rows.append(inside & side)
                low.append(float(np.ceil(half)))
                high.append(np.inf)
    return np.array(rows, dtype=float), np.array(low), np.array(high)
