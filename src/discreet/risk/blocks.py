"""Many small blocks, made up, attacked by their published tables: how many people come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.noise.bits import SystemBits, words
from discreet.risk.census import Block, Person, coarse, noisy_tables, published, rebuild
from discreet.show import Axis, Line, Picture, Scale, lines, share

__all__ = ["Attacked", "blocks_attacked"]

SEXES = ("F", "M")
RACES = ("asian", "black", "other", "white")
_SHARES = (0.06, 0.19, 0.35, 1.0)  # cumulative
_MOST = 40


CURVE = (1.0, 4.0, 10.0, 20.0, 40.0, 1000.0)
"""Budgets of the curve, beside the one that is asked for."""


@dataclass(frozen=True, slots=True)
class Attacked:
    """How many people of how many came back, from exact tables, from coarser ones, and from the same under a budget."""

    blocks: int
    people: int
    right: int
    unique: int
    """Blocks of which every solution has the same kinds of people: the attacker knows who is there."""
    right_coarse: int
    """From counts by sex, race and ten years of age, exact: what coarsening does without any noise."""
    right_noisy: int
    epsilon: float
    curve: tuple[tuple[float, int], ...] = ()
    """For each epsilon, from the same statistics in the same detail as the exact tables have."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def explain(self) -> str:
        """In words."""
        along = ", ".join(f"{self._share(right)} at {epsilon:g}" for epsilon, right in self.curve)
        return (
            f"{self.blocks:,} blocks, {self.people:,} people in all. From printed tables (counts by sex, race and five "
            f"years of age, mean and median ages) {self.right:,} people ({self._share(self.right)}) come back "
            f"with exact age, sex and race; of {self.unique:,} blocks no other people fit. From coarser tables without "
            f"noise (counts by sex, race and ten years of age): {self.right_coarse:,} "
            f"({self._share(self.right_coarse)}). From the printed tables, in the same detail, under "
            f"epsilon = {self.epsilon:g} a block: {self.right_noisy:,} ({self._share(self.right_noisy)}), some of them "
            f"by chance. By epsilon: {along}."
        )

    def _share(self, right: int) -> str:
        return f"{right / self.people:.0%}"

    def picture(self) -> Picture:
        """The curve over epsilon, and lines for exact and for coarse tables."""
        points = tuple((epsilon, right / self.people) for epsilon, right in self.curve)
        return lines(
            "People rebuilt from tables of their block",
            [Line("noisy tables", points)],
            x=Axis(Scale.around([epsilon for epsilon, _ in points], log=True), "epsilon a block, same tables"),
            y=Axis(Scale(0, 1), "people rebuilt", share),
            levels=[
                ("exact tables", self.right / self.people),
                ("coarse tables, no noise", self.right_coarse / self.people),
            ],
        )


def blocks_attacked(blocks: int, people: int, epsilon: float, curve: Sequence[float] = CURVE) -> Attacked:
    """Make up blocks, print their tables, solve for the people, and see who is right."""
    for field, value, most in (("blocks", blocks, 1000), ("people", people, _MOST)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError(field, value, f"a whole number from 1 to {most:,}")
    for budget in (epsilon, *curve):
        if not 0 < budget < float("inf"):
            raise InputError("epsilon", budget, "more than zero")
    right = unique = coarser = 0
    along = dict.fromkeys(sorted({float(epsilon), *map(float, curve)}), 0)
    for _ in range(blocks):
        truth = _made_up(people)
        found = rebuild(published(truth))
        if found is not None:
            right += found.right(truth)
            unique += found.uncertain == 0
        coarser += _right(coarse(truth), truth)
        for budget in along:
            along[budget] += _right(noisy_tables(truth, budget, sexes=SEXES, races=RACES), truth)
    noisy = along[float(epsilon)]
    return Attacked(blocks, blocks * people, right, unique, coarser, noisy, float(epsilon), tuple(along.items()))


def _right(block: Block, truth: list[Person]) -> int:
    found = rebuild(block, others=False)
    return 0 if found is None else found.right(truth)


def _made_up(people: int) -> list[Person]:
    draws = (words(SystemBits(), 3 * people) >> np.uint64(11)) * 2.0**-53
    ages, sexes, races = draws.reshape(3, people)
    return [
        (int(90 * age), SEXES[int(2 * sex)], RACES[int(np.searchsorted(_SHARES, race, side="right"))])
        for age, sex, race in zip(ages, sexes, races, strict=True)
    ]
