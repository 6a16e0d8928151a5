"""Intersection: two tables, each k-anonymous, that hold the same person, and what is left of the person's secret.

A class of one table lists the secrets that a person can have; so does a class of the other. Whoever is in both has one
that both lists have. Coarsened values meet where they can be the same: 50-59 and 55, 191** and 19104, * and anything.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.core.mechanism import Bits
from discreet.core.release import plural
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.risk.attack_result import AttackResult, check_epsilon
from discreet.risk.records import Records, classes_of
from discreet.show import Bar, Picture, bars

__all__ = ["Intersection", "SharedClass", "intersect", "overlaps"]

_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:-|to|\u2013)\s*(-?\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MOST = 5_000_000
_RUNS = 200

Counts = dict[tuple[str, ...], dict[str, int]]


@dataclass(frozen=True, slots=True)
class SharedClass:
    """A class of the first table and one of the second that a person can be in, and the secrets that both have."""

    first: tuple[str, ...]
    """The values of the columns in the first table."""
    second: tuple[str, ...]
    secrets_first: tuple[str, ...]
    secrets_second: tuple[str, ...]
    common: tuple[str, ...]
    """What someone in both tables has: one of these."""


@dataclass(frozen=True, slots=True)
class Intersection(AttackResult):
    """Two tables without names, intersected on the columns that both have."""

    derived: ClassVar[tuple[str, ...]] = ("told", "narrowed")
    on: tuple[str, ...]
    sensitive: str
    k: tuple[int, int]
    """Of each table: everyone looks like k - 1 others there."""
    alone: tuple[int, int]
    """Classes of each table that tell the secret by themselves."""
    pairs: tuple[SharedClass, ...]
    """Classes that can hold the same person, those with the fewest secrets in common first."""
    epsilon: float
    right: float | None
    """Under a budget for both tables, how often the secret of a pair that told it is guessed; None if no pair did."""
    chance: float
    """How often a guess among all secrets is right."""
    error: float
    """How far off a count of a class and a secret is then, at most, 95 times in 100."""

    @property
    def told(self) -> int:
        """Pairs of classes that leave one secret, where neither class by itself did."""
        return len(self._telling())

    @property
    def narrowed(self) -> int:
        """Pairs that leave fewer secrets than either class, one among them."""
        return sum(len(pair.common) < min(map(len, (pair.secrets_first, pair.secrets_second))) for pair in self._open())

    def _open(self) -> list[SharedClass]:
        """Pairs of which neither class tells, and that somebody can be in."""
        return [
            pair for pair in self.pairs if pair.common and min(map(len, (pair.secrets_first, pair.secrets_second))) > 1
        ]

    def _telling(self) -> list[SharedClass]:
        return [pair for pair in self._open() if len(pair.common) == 1]

    def details(self) -> list[str]:
        """What both tables leave, and what counts under a budget leave instead."""
        if not self.pairs:
            return [
                f"The tables are {self.k[0]}- and {self.k[1]}-anonymous on {', '.join(self.on)}. No class of the one "
                "can hold somebody of a class of the other."
            ]
        lines = [
            f"The tables are {self.k[0]}- and {self.k[1]}-anonymous on {', '.join(self.on)}. The same person can be in "
            f"{plural(len(self.pairs), 'pair')} of their classes. Of someone who is in both tables, one "
            f"{self.sensitive} is left in {self.told:,} of them, and fewer than in either table in {self.narrowed:,}."
        ]
        lines += [
            f"{_person(self.on, pair)}: {{{', '.join(pair.secrets_first)}}} and {{{', '.join(pair.secrets_second)}}} "
            f"leave {pair.common[0]}."
            for pair in self._telling()[:5]
        ]
        if self.right is not None:
            lines.append(
                f"Counts of classes and {self.sensitive} instead of rows, under epsilon = {self.epsilon:g} for both "
                f"tables together: the {self.sensitive} is guessed in {self.right:.0%} of these pairs, by chance in "
                f"{self.chance:.0%}. The price: each of these counts is off by up to {self.error:.3g}, 95 times in 100."
            )
        return lines

    def conclusion(self) -> str:
        """What k promises of two tables, and what a budget does."""
        if not self.pairs:
            return "Nobody who was looked for can be in both tables."
        if self.right is None:
            return "No secret follows here; k-anonymity promises nothing of two tables together, and budgets add up."
        return (
            f"Two tables that are each k-anonymous tell the {self.sensitive} of someone who is in both; under epsilon "
            f"= {self.epsilon:g} for both it is guessed in {self.right:.0%}, by chance in {self.chance:.0%}, because "
            "budgets add up and k does not."
        )

    def picture(self) -> Picture:
        """How many secrets are left: of the first table, of the second, of both."""
        shown = self._telling()[:8] or self._open()[:8]
        if not shown:
            return bars("Secrets left", [Bar("no classes in common", 0)])
        data = []
        for pair in shown:
            sizes = (len(pair.secrets_first), len(pair.secrets_second), len(pair.common))
            head = _person(self.on, pair)
            for place, (label, size) in enumerate(zip(("first table", "second table", "both"), sizes, strict=True)):
                data.append(Bar(label, size, series=int(label == "both"), heading="" if place else head))
        return bars(f"How many values of {self.sensitive} are left", data)


def _person(on: Iterable[str], pair: SharedClass) -> str:
    values = (
        f"{name} {a}" if a == b else f"{name} {a} and {b}"
        for name, a, b in zip(on, pair.first, pair.second, strict=True)
    )
    return ", ".join(values)


def overlaps(one: str, other: str) -> bool:
    """Whether two published values can be of the same person.

    >>> overlaps("50-59", "55"), overlaps("191**", "19104"), overlaps("*", "F"), overlaps("40-49", "50-59")
    (True, True, True, False)
    """
    if one == other or "*" in (one, other):
        return True
    if "*" in one or "*" in other:
        if len(one) == len(other):
            return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))
        stem, rest = (one, other) if one.endswith("*") else (other, one)
        return rest.rstrip("*").startswith(stem.rstrip("*")) or stem.rstrip("*").startswith(rest.rstrip("*"))
    a, b = _ends(one), _ends(other)
    return a is not None and b is not None and a[0] <= b[1] and b[0] <= a[1]


def _ends(text: str) -> tuple[float, float] | None:
    """The range that a value stands for, if it is a number or a range of them."""
    if whole := _RANGE.fullmatch(text.strip()):
        return float(whole[1]), float(whole[2])
    if _NUMBER.fullmatch(text.strip()):
        return float(text), float(text)
    if text.strip().endswith("+") and _NUMBER.fullmatch(text.strip()[:-1]):
        return float(text.strip()[:-1]), float("inf")
    return None


def intersect(
    first: Any,
    second: Any,
    *,
    on: Iterable[str],
    sensitive: str,
    person: Mapping[str, Any] | None = None,
    epsilon: float = 1.0,
    bits: Bits | None = None,
) -> Intersection:
    """Put two tables side by side: the classes of each on the columns `on`, and the secrets they share.

    `person` is what is known of somebody, such as {"sex": "F", "age": 55}: only their classes are looked at.

    Guarantee of the noisy counts: epsilon-private for one person added to or removed from both tables, half for each;
    the classes and the list of secrets are public.

    >>> a = {"zip": ["191**"] * 2, "illness": ["HIV", "colitis"]}
    >>> b = {"zip": ["191**"] * 3, "illness": ["HIV", "lupus", "hip"]}
    >>> intersect(a, b, on=["zip"], sensitive="illness").pairs[0].common
    ('HIV',)
    """
    names = list(dict.fromkeys(on.split(",") if isinstance(on, str) else on))
    if not names:
        raise InputError("on", [], "at least one column that both tables have")
    if sensitive in names:
        raise InputError("sensitive", sensitive, "a column that is not among `on`")
    check_epsilon(epsilon)
    if strange := [name for name in person or {} if name not in names]:
        raise InputError("person", strange[0], among=names)
    classes = [_classes(table, names, sensitive) for table in (first, second)]
    if len(classes[0][1]) * len(classes[1][1]) > _MOST:
        hint = "Coarsen the tables first (`discreet risk measure --k 5`), or intersect a part of them."
        raise InputError("on", names, f"columns with at most {_MOST:,} pairs of classes", hint)
    meets: dict[tuple[str, str], bool] = {}

    def meet(a: str, b: str) -> bool:
        if (a, b) not in meets:
            meets[a, b] = overlaps(a, b)
        return meets[a, b]

    pairs = []
    for (mine, ours), (theirs, others) in itertools.product(classes[0][1].items(), classes[1][1].items()):
        together = all(meet(a, b) for a, b in zip(mine, theirs, strict=True))
        if together and _fits(names, mine, person) and _fits(names, theirs, person):
            common = tuple(sorted(ours.keys() & others.keys()))
            pairs.append(SharedClass(mine, theirs, tuple(sorted(ours)), tuple(sorted(others)), common))
    pairs.sort(key=lambda pair: (not pair.common, len(pair.common), pair.first, pair.second))
    sizes = (classes[0][0], classes[1][0])
    alone = tuple(sum(len(secrets) == 1 for secrets in table.values()) for _, table in classes)
    counts = (classes[0][1], classes[1][1])
    secrets = sorted({secret for table in counts for held in table.values() for secret in held})
    noise = Laplace(2 / Fraction(epsilon))
    found = Intersection(
        tuple(names),
        sensitive,
        sizes,
        (alone[0], alone[1]),
        tuple(pairs),
        float(epsilon),
        None,
        1 / len(secrets),
        float(noise.error(0.95)),
    )
    return replace(found, right=_guessed(found._telling()[:_RUNS], counts, secrets, noise, bits))


def _guessed(
    pairs: list[SharedClass], tables: tuple[Counts, Counts], values: list[str], noise: Laplace, bits: Bits | None
) -> float | None:
    """How often the secret with the largest smaller count of the two is the one that the exact tables told."""
    if not pairs:
        return None
    right = 0
    for pair in pairs:
        held = [tables[0][pair.first], tables[1][pair.second]]
        exact = np.array([[table.get(secret, 0) for secret in values] for table in held], dtype=np.int64)
        many = np.tile(exact.ravel(), _RUNS)
        seen = noise.release(many, bits=bits).reshape(_RUNS, *exact.shape).min(axis=1)
        right += int((seen.argmax(axis=1) == values.index(pair.common[0])).sum())
    return right / (_RUNS * len(pairs))


def _fits(names: list[str], values: tuple[str, ...], person: Mapping[str, Any] | None) -> bool:
    """Whether somebody of whom this is known can be in a class."""
    known = person or {}
    return all(overlaps(value, str(known[name])) for name, value in zip(names, values, strict=True) if name in known)


def _classes(table: Any, names: list[str], sensitive: str) -> tuple[int, Counts]:
    """k, and the secrets of each class of a table, counted, by the values that its rows share."""
    rows = Records.read(table, [*names, sensitive])
    columns = [rows[name] for name in names]
    classes = classes_of(columns)
    first = np.unique(classes.of, return_index=True)[1]
    values = [tuple(_text(column.values[column.codes[row]]) for column in columns) for row in first]
    secret = rows[sensitive]
    found: Counts = {value: {} for value in values}
    cells, sizes = np.unique(classes.of * secret.size + secret.codes, return_counts=True)
    for cell, size in zip(cells.tolist(), sizes.tolist(), strict=True):
        found[values[cell // secret.size]][_text(secret.values[cell % secret.size])] = size
    return classes.smallest, found


def _text(value: Any) -> str:
    return "missing" if value is None else str(value)
