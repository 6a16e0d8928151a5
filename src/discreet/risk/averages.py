"""The averages puzzle: a few people, a few published averages of groups of them, and the ages that follow.

Each average is harmless, and rounded. Ages are whole numbers within bounds, so that few sets of them fit; one more
fact, such as the reader's own age, often leaves a single one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.exact import as_written
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.risk.attack_result import AttackResult, check_epsilon
from discreet.show import Bar, Picture, bars

__all__ = ["KNOWN", "PUZZLE", "Averages", "GroupAverage", "solve_averages"]

_PEOPLE = 8
_MOST = 10_000
_RUNS = 400
_TURNS = 400


@dataclass(frozen=True, slots=True)
class GroupAverage:
    """The published average of some of the people; `decimals` were printed, so that it is right within half the last.

    >>> GroupAverage.read("Ann,Bob=34.5")
    GroupAverage(people=('Ann', 'Bob'), average=Fraction(69, 2), decimals=1)
    """

    people: tuple[str, ...]
    average: Fraction
    decimals: int = 1

    @classmethod
    def read(cls, text: str) -> GroupAverage:
        """As written on a command line: names, an equals sign, the average as printed."""
        names, equals, printed = text.partition("=")
        people = tuple(name.strip() for name in names.split(",") if name.strip())
        if not equals or not people or len(set(people)) < len(people):
            raise InputError("average", text, "different names and what their average is, such as Ann,Bob=34.5")
        return cls(people, as_written(printed.strip(), "average"), len(printed.strip().partition(".")[2]))

    def sums(self) -> tuple[int, int]:
        """The least and the largest sum that is printed so."""
        half = Fraction(1, 2 * 10**self.decimals)
        low, high = (self.average + side * half for side in (-1, 1))
        return math.ceil(low * len(self.people)), math.floor(high * len(self.people))


PUZZLE = tuple(map(GroupAverage.read, ("Ann,Bob,Cid,Dot,Eve=30.4", "Ann,Bob,Cid=34.0", "Bob,Cid,Dot,Eve=28.0")))
"""Five colleagues: the average of all, of the three who work full time, and of the four who came by train."""
KNOWN = {"Bob": 33}
"""The reader is Bob, who knows how old he is."""


@dataclass(frozen=True, slots=True)
class Averages(AttackResult):
    """What ages follow from averages, alone and with what the reader knows; and how often under a budget."""

    people: tuple[str, ...]
    fit: int
    """How many sets of ages fit the averages."""
    more: bool
    """Whether there are more than were counted."""
    alone: Mapping[str, int]
    """Ages that follow from the averages and the bounds alone."""
    ages: Mapping[str, int]
    """Ages that follow with what the reader knows, the known ones among them."""
    known: Mapping[str, int]
    epsilon: float
    private: float | None
    """The share of the unknown ages that the same attack gets right under a budget; None if no age followed."""
    chance: float
    """The same share from noise alone: ages at a bound are guessed by whoever knows the bounds."""
    error: float
    """How far off an average is then, at most, 95 times in 100."""

    def details(self) -> list[str]:
        """What follows from the averages, alone and with what is known; and under a budget."""
        counted = f"{'more than ' if self.more else ''}{self.fit:,} {'set' if self.fit == 1 else 'sets'} of ages"
        verb = "fits" if self.fit == 1 and not self.more else "fit"
        lines = [f"{counted} {verb} the averages. From them alone follows: {_listed(self.alone)}."]
        if self.known:
            known = {name: self.ages[name] for name in self.ages if name not in self.known}
            lines.append(f"A reader who also knows that {_listed(self.known)} learns that {_listed(known)}.")
        if self.private is not None:
            lines.append(
                f"The same averages under epsilon = {self.epsilon:g} for all of them are off by up to "
                f"{self.error:,.3g} years, 95 times in 100: that is the price. The same attack gets "
                f"{self.private:.0%} of those ages right, and {self.chance:.0%} from noise alone, by the bounds and "
                "what the reader knows."
            )
        return lines

    def conclusion(self) -> str:
        """What limits what averages say together."""
        exact = f"A few rounded averages reveal {len(self.ages):,} of {len(self.people):,} exact ages"
        if self.private is None:
            return f"{exact}."
        return (
            f"{exact}; under epsilon = {self.epsilon:g} for all of them the attack finds {self.private:.0%} of the "
            f"unknown ones, where noise alone finds {self.chance:.0%}, because the noise covers any age that anybody "
            "may have."
        )

    def picture(self) -> Picture:
        """How many of the ages follow: alone, with what is known, under a budget."""
        many = len(self.people)
        unknown = [name for name in self.ages if name not in self.known]
        data = [
            Bar("from the averages alone", len(self.alone) / many),
            Bar("with what the reader knows", (len(unknown) + len(self.known)) / many),
        ]
        if self.private is not None:
            data.append(Bar(f"unknown ones, epsilon = {self.epsilon:g}", self.private, series=1))
            data.append(Bar("unknown ones, from noise alone", self.chance, series=2))
        return bars("Ages that follow from averages", data, format="{:.0%}".format, ticks="{:.0%}".format)


def _listed(ages: Mapping[str, int]) -> str:
    return ", ".join(f"{name} is {age}" for name, age in ages.items()) or "nobody's age"


def solve_averages(
    groups: Sequence[GroupAverage] = PUZZLE,
    *,
    least: int = 25,
    most: int = 67,
    known: Mapping[str, int] = KNOWN,
    epsilon: float = 1.0,
    bits: Bits | None = None,
) -> Averages:
    """Find every whole age from `least` to `most` that the averages leave, and try again with noise on them.

    Guarantee of the noisy averages: epsilon-private for one person's age replaced by another within the bounds, the
    same for each average; who is in which group is public.
    """
    names = tuple(dict.fromkeys(name for group in groups for name in group.people))
    if not 1 <= len(names) <= _PEOPLE:
        raise InputError("groups", Phrase(f"{len(names)} people"), f"averages of 1 to {_PEOPLE} people")
    if not 0 <= least <= most <= 120:
        raise InputError("least", least, "at most `most`, both from 0 to 120")
    if strange := [name for name in known if name not in names]:
        raise InputError("known", strange[0], among=names)
    check_epsilon(epsilon)
    bounds = dict.fromkeys(names, (least, most))
    fit = 0
    for _ in _solutions(groups, bounds):
        fit += 1
        if fit > _MOST:
            break
    fixed = bounds | {name: (age, age) for name, age in known.items()}
    alone, ages = _determined(groups, bounds), _determined(groups, fixed)
    if not fit or not ages:
        hint = "An average is read as printed: 30 is any from 29.5 to 30.5, and 30.0 any from 29.95 to 30.05."
        problem = Phrase("averages that no ages fit")
        if not fit or next(_solutions(groups, fixed), None) is None:
            raise InputError("groups", problem, "averages of whole ages within the bounds", hint)
    unknown = {name: age for name, age in ages.items() if name not in known}
    noise = Laplace(max(most - least, 1) * len(groups) / Fraction(epsilon))
    error = float(noise.error(0.95)) / min(len(group.people) for group in groups)
    private = chance = None
    if unknown:
        source = SystemBits() if bits is None else bits
        private = _guessed(groups, names, unknown, (least, most), known, noise, source)
        chance = _guessed(groups, names, unknown, (least, most), known, Laplace(10**9), source)
    many = min(fit, _MOST)
    return Averages(names, many, fit > _MOST, alone, ages, dict(known), float(epsilon), private, chance or 0.0, error)


Bounds = Mapping[str, tuple[int, int]]


def _solutions(groups: Sequence[GroupAverage], bounds: Bounds) -> Iterator[dict[str, int]]:
    """All ages within bounds that fit, person by person, left as soon as a group's sum is out of reach."""
    names = list(bounds)
    sums = [group.sums() for group in groups]
    ages: dict[str, int] = {}

    def reachable() -> bool:
        for group, (low, high) in zip(groups, sums, strict=True):
            ends = [(ages[name], ages[name]) if name in ages else bounds[name] for name in group.people]
            if sum(end[1] for end in ends) < low or sum(end[0] for end in ends) > high:
                return False
        return True

    def search(place: int) -> Iterator[dict[str, int]]:
        if place == len(names):
            yield dict(ages)
            return
        name = names[place]
        low, high = bounds[name]
        for age in range(low, high + 1):
            ages[name] = age
            if reachable():
                yield from search(place + 1)
            del ages[name]

    return search(0)


def _determined(groups: Sequence[GroupAverage], bounds: Bounds) -> dict[str, int]:
    """The ages that are the same in every solution: no other, smaller or larger, fits."""
    first = next(_solutions(groups, bounds), None)
    if first is None:
        return {}
    found = {}
    for name, age in first.items():
        low, high = bounds[name]
        sides = [(low, age - 1), (age + 1, high)]
        if not any(next(_solutions(groups, {**bounds, name: side}), None) for side in sides if side[0] <= side[1]):
            found[name] = age
    return found


def _guessed(
    groups: Sequence[GroupAverage],
    names: Sequence[str],
    unknown: Mapping[str, int],
    limits: tuple[int, int],
    known: Mapping[str, int],
    noise: Laplace,
    bits: Bits,
) -> float:
    """The share of ages that least squares within the bounds gets right of noisy sums."""
    low, high = limits
    matrix = np.array([[float(name in group.people) for name in names] for group in groups])
    exact = np.array([round(group.average * len(group.people)) for group in groups], dtype=np.int64)
    lower = np.array([known.get(name, low) for name in names], dtype=float)
    upper = np.array([known.get(name, high) for name in names], dtype=float)
    seen = noise.release(np.tile(exact, _RUNS), bits=bits).reshape(_RUNS, -1).astype(float)
    step = 1 / np.linalg.norm(matrix, 2) ** 2
    guess = np.tile((lower + upper) / 2, (_RUNS, 1))
    for _ in range(_TURNS):  # projected gradients: all runs at once
        guess = np.clip(guess - step * (guess @ matrix.T - seen) @ matrix, lower, upper)
    right = sum(int((np.rint(guess[:, names.index(name)]) == age).sum()) for name, age in unknown.items())
    return right / (_RUNS * len(unknown))
