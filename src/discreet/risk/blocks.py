"""Many small blocks, made up, attacked by their published tables: how many people come back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.noise.bits import SystemBits, words
from discreet.risk.census import Person, noisy_tables, published, rebuild

__all__ = ["Attacked", "blocks_attacked"]

SEXES = ("F", "M")
RACES = ("asian", "black", "other", "white")
_SHARES = (0.06, 0.19, 0.35, 1.0)  # cumulative
_MOST = 40


@dataclass(frozen=True, slots=True)
class Attacked:
    """How many people of how many came back, from exact tables and from noisy ones."""

    blocks: int
    people: int
    right: int
    unique: int
    """Blocks of which every solution has the same kinds of people: the attacker knows who is there."""
    right_noisy: int
    epsilon: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def explain(self) -> str:
        """In words."""
        return (
            f"{self.blocks:,} blocks, {self.people:,} people in all. From printed tables (counts by sex, race and five "
            f"years of age, mean and median ages) {self.right:,} people ({self.right / self.people:.0%}) come back "
            f"with exact age, sex and race; of {self.unique:,} blocks no other people fit. From the same blocks under "
            f"epsilon = {self.epsilon:g} a block: {self.right_noisy:,} "
            f"({self.right_noisy / self.people:.0%}), some of them by chance."
        )

    def picture(self) -> Any:
        """Two bars."""
        import altair

        rows = [
            {"tables": "exact", "people": self.right / self.people},
            {"tables": f"epsilon = {self.epsilon:g}", "people": self.right_noisy / self.people},
        ]
        chart = altair.Chart(altair.InlineData(values=rows)).mark_bar()
        y = altair.Y(
            "people:Q", axis=altair.Axis(format="%"), scale=altair.Scale(domain=[0, 1]), title="people rebuilt"
        )
        x = altair.X("tables:N", title=None, sort=None)
        return chart.encode(x=x, y=y).properties(
            width=220, height=240, title="People rebuilt from tables of their block"
        )


def blocks_attacked(blocks: int, people: int, epsilon: float) -> Attacked:
    """Make up blocks, print their tables, solve for the people, and see who is right."""
    for field, value, most in (("blocks", blocks, 1000), ("people", people, _MOST)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError(field, value, f"a whole number from 1 to {most:,}")
    if not 0 < epsilon < float("inf"):
        raise InputError("epsilon", epsilon, "more than zero")
    right = unique = noisy = 0
    for _ in range(blocks):
        truth = _made_up(people)
        found = rebuild(published(truth))
        if found is not None:
            right += found.right(truth)
            unique += found.uncertain == 0
        blurred = rebuild(noisy_tables(truth, epsilon, sexes=SEXES, races=RACES), exact=False)
        noisy += 0 if blurred is None else blurred.right(truth)
    return Attacked(blocks, blocks * people, right, unique, noisy, float(epsilon))


def _made_up(people: int) -> list[Person]:
    draws = (words(SystemBits(), 3 * people) >> np.uint64(11)) * 2.0**-53
    ages, sexes, races = draws.reshape(3, people)
    return [
        (int(90 * age), SEXES[int(2 * sex)], RACES[int(np.searchsorted(_SHARES, race, side="right"))])
        for age, sex, race in zip(ages, sexes, races, strict=True)
    ]
