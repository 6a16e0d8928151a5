"""A register of names, put to people that were rebuilt from tables: who it was, and what the register did not know.

A register has names, where people live, their sex and age, as commercial lists do. It has no race: that is what the
attacker learns. It need not be complete, nor exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.core.mechanism import Bits
from discreet.risk.census import Person
from discreet.risk.draws import draw_even

__all__ = ["COVERED", "Entry", "draw_names", "draw_register", "name_people", "named_right"]

COVERED = 0.8
"""The part of made-up people that a made-up register has."""

_FIRST = ("Ada", "Ben", "Cleo", "Dan", "Elsa", "Finn", "Gia", "Hal", "Ines", "Jack", "Kira", "Liam", "Mona", "Ned")
_LAST = ("Ash", "Birch", "Cole", "Dale", "Elm", "Ford", "Gray", "Hill", "Ivy", "Jones", "King", "Lake", "Moss", "North")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a register."""

    name: str
    age: int
    sex: str


def draw_names(people: int, bits: Bits) -> list[str]:
    """A name for each of up to 196, all different."""
    pairs = [f"{first} {last}" for first in _FIRST for last in _LAST]
    chances = draw_even(bits, len(pairs))
    order = sorted(range(len(pairs)), key=lambda place: chances[place])
    return [pairs[place] for place in order[:people]]


def draw_register(names: Sequence[str], people: Sequence[Person], bits: Bits) -> list[Entry]:
    """A register that most of the people are in."""
    inside = draw_even(bits, len(people)) < COVERED
    return [Entry(name, age, sex) for name, (age, sex, _), kept in zip(names, people, inside, strict=True) if kept]


def name_people(people: Sequence[Person], register: Sequence[Entry], years: int = 1) -> list[str | None]:
    """The name of each rebuilt person: the one entry of their sex and of the nearest age within so many years.

    Nobody's if several are as near, or none is. No entry is used twice.

    >>> name_people([(30, "F", "x"), (50, "M", "y")], [Entry("Ann", 31, "F"), Entry("Bob", 70, "M")])
    ['Ann', None]
    """
    names: list[str | None] = [None] * len(people)
    left = list(register)
    for allowed in range(years + 1):
        for place, (age, sex, _) in enumerate(people):
            if names[place] is not None:
                continue
            fit = [entry for entry in left if entry.sex == sex and abs(entry.age - age) == allowed]
            if len(fit) == 1:
                names[place] = fit[0].name
                left.remove(fit[0])
    return names


def named_right(
    people: Sequence[Person], names: Sequence[str | None], truth: Mapping[str, Person], years: int = 1
) -> int:
    """How many names got the person's own sex and race, at an age that is off by no more than so many years."""
    found = 0
    for (age, *rest), name in zip(people, names, strict=True):
        real = truth.get(name or "")
        found += real is not None and list(real[1:]) == rest and abs(real[0] - age) <= years
    return found
