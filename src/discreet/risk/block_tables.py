"""Tables of blocks in files: somebody's own printed tables, people or register, for the census attack.

Printed tables have a row for each statistic: `block`, `sex` and `race` (empty: any), `from` and `to` (ages, empty:
all), `count`, and `mean` and `median` age where they were printed. People have `block`, `age`, `sex` and `race`; a
register has `block`, `name`, `age` and `sex`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError, Phrase
from discreet.risk.attack_result import AttackResult
from discreet.risk.block_attack import Residents
from discreet.risk.census import AGES, Block, Statistic, rebuild
from discreet.risk.records import Records
from discreet.risk.register import Entry, name_people
from discreet.show import Bar, Picture, bars

__all__ = ["RebuiltBlocks", "RebuiltPerson", "read_blocks", "read_register", "read_residents", "rebuild_blocks"]

TABLE = ("block", "sex", "race", "from", "to", "count", "mean", "median")
PEOPLE = ("block", "age", "sex", "race")
REGISTER = ("block", "name", "age", "sex")


@dataclass(frozen=True, slots=True)
class RebuiltPerson:
    """Somebody who follows from the tables of a block, and the name that a register puts to them."""

    block: str
    age: int
    sex: str
    race: str
    name: str | None


@dataclass(frozen=True, slots=True)
class RebuiltBlocks(AttackResult):
    """People rebuilt from somebody's own tables. Nothing is known here of who lives there: nothing is checked."""

    blocks: int
    solved: int
    """Blocks of which the tables contradict nothing."""
    certain: int
    """People who are the same in every solution, at least."""
    people: tuple[RebuiltPerson, ...]

    @property
    def _named(self) -> int:
        return sum(person.name is not None for person in self.people)

    def details(self) -> list[str]:
        """How many fit, are certain, and have a name."""
        return [
            f"{self.solved:,} of {self.blocks:,} blocks have people that fit their tables: {len(self.people):,} people "
            f"with age, sex and race, of whom at least {self.certain:,} are the same whoever else would fit. "
            f"A name from the register fits {self._named:,}.",
            "Try `discreet attack census --data` with the people that the tables were made of: it tells who of them is "
            "right, what comes back at each epsilon, and what accuracy is left.",
        ]

    def conclusion(self) -> str:
        """What printed tables give away."""
        return (
            f"At least {self.certain:,} people with age, sex and race follow from the printed tables alone, because "
            "nothing limits what exact tables say together."
        )

    def picture(self) -> Picture:
        """How many were rebuilt, are certain, and have a name."""
        data = [Bar("rebuilt", len(self.people)), Bar("certain, at least", self.certain), Bar("named", self._named)]
        return bars("People rebuilt from tables", data)


def rebuild_blocks(blocks: Mapping[str, Block], register: Mapping[str, Sequence[Entry]] | None = None) -> RebuiltBlocks:
    """People of each block that satisfy its tables, and their names."""
    people: list[RebuiltPerson] = []
    solved = certain = 0
    for name, block in blocks.items():
        found = rebuild(block)
        if found is None:
            continue
        solved += 1
        certain += len(found.people) - found.uncertain
        names = name_people(found.people, (register or {}).get(name, ()))
        people += [RebuiltPerson(name, *person, who) for person, who in zip(found.people, names, strict=True)]
    return RebuiltBlocks(len(blocks), solved, certain, tuple(people))


def read_blocks(source: Any) -> dict[str, Block]:
    """Printed tables, by block.

    >>> rows = {"block": ["1"] * 2, "sex": ["F", ""], "race": ["x", ""], "from": ["", ""], "to": ["", ""]}
    >>> rows |= {"count": [1, 1], "mean": ["", "33"], "median": ["", "33"]}
    >>> read_blocks(rows)["1"].statistics[1]
    Statistic(sex=None, race=None, count=1, mean=33.0, median=33.0, ages=(0, 99))
    """
    found: dict[str, list[Statistic]] = defaultdict(list)
    for row, values in enumerate(_rows(source, TABLE, "tables")):
        block, sex, race, start, end, count, mean, median = values
        where = f"row {row + 1}"
        ages = (_age(start, f"{where}, from", 0), _age(end, f"{where}, to", AGES - 1))
        many = _number(count, f"{where}, count")
        if many is None or many < 0 or many != round(many):
            raise InputError(f"{where}, count", count, "a whole number, not below zero")
        middle = (_number(mean, f"{where}, mean"), _number(median, f"{where}, median"))
        found[str(block)].append(Statistic(_any(sex), _any(race), round(many), *middle, ages))
    blocks = {}
    for name, rows in found.items():
        sexes, races = (tuple(sorted({getattr(one, kind) for one in rows} - {None})) for kind in ("sex", "race"))
        if not sexes or not races:
            raise InputError("tables", Phrase(f"block {name}"), "tables that name at least one sex and one race")
        blocks[name] = Block(sexes, races, tuple(rows))
    return blocks


def read_register(source: Any) -> dict[str, list[Entry]]:
    """Names by block."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for row, (block, name, age, sex) in enumerate(_rows(source, REGISTER, "register")):
        found[str(block)].append(Entry(str(name), _age(age, f"row {row + 1}, age"), str(sex)))
    return found


def read_residents(source: Any, register: Any = None) -> dict[str, Residents]:
    """People by block; with a register, whose names are checked by a column `name` among the people."""
    entries = {} if register is None else read_register(register)
    columns = PEOPLE if register is None else (*PEOPLE, "name")
    people: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    names: dict[str, list[str]] = defaultdict(list)
    for row, (block, age, sex, race, *named) in enumerate(_rows(source, columns, "data")):
        people[str(block)].append((_age(age, f"row {row + 1}, age"), str(sex), str(race)))
        names[str(block)].append(str(named[0]) if named else f"row {row + 1}")
    return {
        block: Residents(tuple(residents), tuple(names[block]), tuple(entries.get(block, ())))
        for block, residents in people.items()
    }


def _rows(source: Any, columns: Sequence[str], field: str) -> list[tuple[Any, ...]]:
    try:
        table = Records.read(source, columns)
    except InputError as problem:
        if problem.field != "columns":
            raise
        allowed = f"a table with the columns {', '.join(columns)}"
        raise InputError(field, Phrase(f"one without {problem.got}"), allowed) from None
    values = [[table[name].values[code] for code in table[name].codes] for name in columns]
    return list(zip(*values, strict=True))


def _any(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)


def _number(value: Any, where: str) -> float | None:
    """A number as it was printed; None where nothing was."""
    if value is None or value == "":
        return None
    try:
        return float(value)
    except ValueError:
        raise InputError(where, value, "a number, or empty") from None


def _age(value: Any, where: str, missing: int | None = None) -> int:
    age = _number(value, where)
    if age is None and missing is not None:
        return missing
    if age is None or age != round(age) or not 0 <= age < AGES:
        raise InputError(where, "" if age is None else value, f"a whole number from 0 to {AGES - 1}")
    return round(age)
