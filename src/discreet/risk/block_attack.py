"""The census attack to its end: tables of blocks are printed, people rebuilt from them, and named with a register.

The same is done with the same tables under each of several budgets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.core.mechanism import Bits
from discreet.core.release import plural
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.risk.attack_result import AttackResult, check_epsilon, check_size
from discreet.risk.census import (
    RACES,
    SEXES,
    Block,
    BlockSolution,
    Person,
    coarse_tables,
    exact_tables,
    noisy_tables,
    rebuild,
)
from discreet.risk.draws import draw_even
from discreet.risk.register import Entry, draw_names, draw_register, name_people, named_right
from discreet.show import Axis, Line, Picture, Scale, lines, share

__all__ = ["CURVE", "BlockAttack", "Outcome", "Residents", "attack_blocks", "attack_residents"]

CURVE = (1.0, 4.0, 10.0, 20.0, 40.0, 1000.0)
"""Budgets of the curve, beside the one that is asked for."""
_SHARES = (0.06, 0.19, 0.35, 1.0)  # of races, cumulative
_MOST = 40


@dataclass(frozen=True, slots=True)
class Residents:
    """The people of a block with their names, and who of them is in the register."""

    people: tuple[Person, ...]
    names: tuple[str, ...]
    register: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many people came back from tables: exactly, within a year of their age, and with their name."""

    right: int = 0
    near: int = 0
    linked: int = 0
    """Rebuilt people to whom a name was put."""
    named: int = 0
    """Of those, how many names got the race of the person, which the register did not have, and nearly the age."""

    def __add__(self, other: Outcome) -> Outcome:
        sums = (getattr(self, name) + getattr(other, name) for name in ("right", "near", "linked", "named"))
        return Outcome(*sums)


@dataclass(frozen=True, slots=True)
class BlockAttack(AttackResult):
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
    exact: Outcome = Outcome()
    """From exact tables, to the end."""
    noisy: tuple[tuple[float, Outcome], ...] = ()
    """For each epsilon, to the end."""
    chance: Outcome | None = None
    """From the exact tables of the next block: who is right about people that the tables are not of; None for one."""
    registered: int = 0
    """People who are in the register."""
    count_error: float = 0.0
    """How far off the number of people of a block is under `epsilon`, on average."""
    age_error: float | None = None
    """How far off the mean age of a block is then, on average, in years; None if no block had enough people left."""
    sample: tuple[tuple[str, str, str, str], ...] = field(default=(), compare=False)
    """The first block: age, sex and race as rebuilt from exact tables, and the name that was put to them."""

    def details(self) -> list[str]:
        """From exact tables, from coarser ones, by chance, and under each budget."""
        along = "; ".join(
            f"{self._share(one.right)}, {self._share(one.near)}, {self._share(one.named)} at {epsilon:g}"
            for epsilon, one in self.noisy
        )
        at = dict(self.noisy).get(self.epsilon, Outcome())
        ages = "" if self.age_error is None else f", and its mean age by {self.age_error:.1f} years"
        register = (
            f" A register of {self.registered:,} of them puts a name to {self.exact.linked:,}; {self.exact.named:,} "
            f"({self._share(self.exact.named)} of all) are the right person, whose race the register did not have."
            if self.registered
            else ""
        )
        by_chance = (
            "some of them by chance"
            if self.chance is None
            else "by chance (people rebuilt of another block) "
            + ", ".join(self._share(getattr(self.chance, name)) for name in ("right", "near", "named"))
        )
        return [
            f"{plural(self.blocks, 'block')}, {self.people:,} people in all. "
            "From printed tables (counts by sex, race and five "
            f"years of age, mean and median ages) {self.right:,} people ({self._share(self.right)}) come back "
            f"with exact age, sex and race, and {self.exact.near:,} ({self._share(self.exact.near)}) within a year of "
            f"their age; of {plural(self.unique, 'block')} no other people fit.{register}",
            f"From coarser tables without noise (counts by sex, race and ten years of age): {self.right_coarse:,} "
            f"({self._share(self.right_coarse)}) exactly. From the printed tables, in the same detail, under "
            f"epsilon = {self.epsilon:g} a block: {self.right_noisy:,} ({self._share(self.right_noisy)}) exactly, "
            f"{self._share(at.near)} within a year, {self._share(at.named)} named rightly; {by_chance}. The price: the "
            f"number of people of a block is off by {self.count_error:.1f} on average{ages}.",
            f"By epsilon, exactly, within a year, named: {along}.",
        ]

    def conclusion(self) -> str:
        """Why tables together tell, and do not under a budget."""
        at = dict(self.noisy).get(self.epsilon, Outcome())
        return (
            f"{self._share(self.right)} of the people of small blocks come back from exact tables, and "
            f"{self._share(at.right)} from the same tables under epsilon = {self.epsilon:g} a block, because every "
            "statistic is then made of counts whose noise is as large as a person."
        )

    def _share(self, many: int) -> str:
        return f"{many / self.people:.0%}"

    def picture(self) -> Picture:
        """The curves over epsilon, and lines for exact and for coarse tables."""
        kinds = (("exact age, sex, race", "right"), ("within a year", "near"), ("named rightly", "named"))
        series = [
            Line(label, tuple((epsilon, getattr(one, name) / self.people) for epsilon, one in self.noisy))
            for label, name in kinds
        ]
        levels = [(f"exact tables: {label}", getattr(self.exact, name) / self.people) for label, name in kinds]
        budgets = [epsilon for epsilon, _ in self.noisy]
        return lines(
            "People rebuilt from tables of their block",
            series,
            x=Axis(Scale.around(budgets, log=True), "epsilon a block, same tables"),
            y=Axis(Scale(0, 1), "people", share),
            levels=[*levels, ("coarse tables, no noise", self.right_coarse / self.people)],
        )


def attack_blocks(blocks: int, people: int, epsilon: float, curve: Sequence[float] = CURVE) -> BlockAttack:
    """Make up blocks, print their tables, solve for the people, name them, and see who is right."""
    check_size("blocks", blocks, 1, 1000)
    check_size("people", people, 1, _MOST)
    bits = SystemBits()
    drawn = {str(block): _draw_residents(people, bits) for block in range(1, blocks + 1)}
    return attack_residents(drawn, epsilon, curve, sexes=SEXES, races=RACES)


def attack_residents(
    blocks: Mapping[str, Residents],
    epsilon: float,
    curve: Sequence[float] = CURVE,
    *,
    sexes: tuple[str, ...] | None = None,
    races: tuple[str, ...] | None = None,
    bits: Bits | None = None,
) -> BlockAttack:
    """The same of blocks that somebody has: what is printed of them is attacked, not what is known of them.

    `sexes` and `races` are public; without them, those that occur anywhere in these blocks.
    """
    if not blocks:
        raise InputError("blocks", 0, "at least one block")
    for budget in (epsilon, *curve):
        check_epsilon(budget)
    everybody = [person for block in blocks.values() for person in block.people]
    known_sexes = sexes or tuple(sorted({sex for _, sex, _ in everybody}))
    known_races = races or tuple(sorted({race for _, _, race in everybody}))
    along = dict.fromkeys(sorted({float(epsilon), *map(float, curve)}), Outcome())
    exact, unique, coarser = Outcome(), 0, 0
    sample: tuple[tuple[str, str, str, str], ...] = ()
    counts, ages = [], []
    following = [*blocks.values()][1:] + [*blocks.values()][:1]
    chance = Outcome() if len(blocks) > 1 else None
    for block, other in zip(blocks.values(), following, strict=True):
        printed = exact_tables(block.people)
        found = rebuild(printed)
        exact += _judge(found, block)
        if chance is not None:
            chance += _judge(found, other)
        unique += found is not None and found.uncertain == 0
        coarser += _judge(rebuild(coarse_tables(block.people), others=False), block).right
        if found is not None and not sample:
            sample = _sample(found, block)
        for budget in along:
            tables = noisy_tables(block.people, budget, sexes=known_sexes, races=known_races, bits=bits)
            along[budget] += _judge(rebuild(tables, others=False), block)
            if budget == float(epsilon):
                many, mean = _whole(tables)
                counts.append(abs(many - len(block.people)))
                true = _whole(printed)[1]
                if mean is not None and true is not None:
                    ages.append(abs(mean - true))
    return BlockAttack(
        len(blocks),
        len(everybody),
        exact.right,
        unique,
        coarser,
        along[float(epsilon)].right,
        float(epsilon),
        tuple((budget, one.right) for budget, one in along.items()),
        exact,
        tuple(along.items()),
        chance,
        sum(len(block.register) for block in blocks.values()),
        float(np.mean(counts)),
        float(np.mean(ages)) if ages else None,
        sample,
    )


def _judge(found: BlockSolution | None, block: Residents) -> Outcome:
    if found is None:
        return Outcome()
    names = name_people(found.people, block.register)
    linked = sum(name is not None for name in names)
    truth = dict(zip(block.names, block.people, strict=True))
    return Outcome(found.right(block.people), found.near(block.people), linked, named_right(found.people, names, truth))


def _sample(found: BlockSolution, block: Residents) -> tuple[tuple[str, str, str, str], ...]:
    names = name_people(found.people, block.register)
    return tuple((str(age), sex, race, name or "") for (age, sex, race), name in zip(found.people, names, strict=True))


def _whole(block: Block) -> tuple[float, float | None]:
    """The number of people and their mean age, as printed of the whole block."""
    row = block.statistics[0]
    return row.count, row.mean


def _draw_residents(people: int, bits: Bits) -> Residents:
    drawn = _draw_people(people)
    names = draw_names(people, bits)
    return Residents(tuple(drawn), tuple(names), tuple(draw_register(names, drawn, bits)))


def _draw_people(people: int) -> list[Person]:
    ages, sexes, races = draw_even(SystemBits(), 3, people)
    return [
        (int(90 * age), SEXES[int(2 * sex)], RACES[int(np.searchsorted(_SHARES, race, side="right"))])
        for age, sex, race in zip(ages, sexes, races, strict=True)
    ]
