"""Linkage: putting names back, with a register that has the same columns and the names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.coarsening import AnonymizedTable
from discreet.risk.ladder import Ladder
from discreet.risk.mondrian import Boxes
from discreet.risk.records import CodedColumn, Records, classes_of

__all__ = ["Linkage", "link", "match_rows", "same_codes"]

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Linkage:
    """What an attacker with a register gets out of a table without names. Counts are of people in the register."""

    people: int
    placed: int
    """People for whom the table has rows that could be theirs.

    Someone with a value that the table never had is not placed, though a coarser group may span it: they are not in it.
    """
    one_to_one: int
    """People with a single such row, which could be nobody else's."""
    right: int | None
    """Of those, how many were indeed theirs: known where both tables have the column that names people."""
    told: int | None
    """People whose secret follows because all rows that could be theirs share it, linked one-to-one or not."""
    nearly_told: int | None
    """People of whom two secrets are left: one more fact decides."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def explain(self) -> str:
        """In words."""
        share = self.one_to_one / self.people
        lines = [f"{self.one_to_one:,} of {self.people:,} people in the register ({share:.1%}) are linked one-to-one."]
        if self.right is not None and self.one_to_one:
            lines.append(f"{self.right:,} of these links ({self.right / self.one_to_one:.1%}) are right.")
        if self.told is not None and self.nearly_told is not None:
            lines.append(
                f"The secret of {self.told:,} people ({self.told / self.people:.1%}) follows, because all rows that "
                f"could be theirs share it; of {self.nearly_told:,} more, one further fact decides."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.explain()


def link(
    released: Any, register: Any, *, on: Iterable[str], sensitive: str | None = None, person: str | None = None
) -> Linkage:
    """Match people in `register` to rows of `released` by the columns `on`.

    `released` is a table, or what `anonymize` made: then the attacker knows how it was coarsened, as published tables
    say. `person` names a column in both that tells who is who; it is used to check the links, not to make them.
    """
    names = list(dict.fromkeys(on.split(",") if isinstance(on, str) else on))
    if not names:
        raise InputError("on", [], "at least one column that both tables have")
    if sensitive in names:
        raise InputError("sensitive", sensitive, "a column that is not among `on`")
    people = Records.read(register, [*names, *([person] if person else [])])
    if isinstance(released, AnonymizedTable):
        if tuple(names) != released.quasi:
            raise InputError("on", names, "the columns that were coarsened", among=released.quasi)
        rows = released.records
        theirs = [same_codes(people[name], column) for name, column in zip(names, released.columns, strict=True)]
        of_rows, of_people = _locate(released, theirs)
    else:
        rows = Records.read(released, [*names, *(name for name in (sensitive, person) if name)])
        theirs = [same_codes(people[name], rows[name]) for name in names]
        of_rows, of_people = match_rows(
            [rows[name].codes for name in names], theirs, [rows[name].size for name in names]
        )
    many = int(max(of_rows.max(), of_people.max())) + 1
    here, there = np.bincount(of_rows, minlength=many), np.bincount(of_people[of_people >= 0], minlength=many)
    found = (of_people >= 0) & (here[of_people] > 0)
    single = found & (here[of_people] == 1) & (there[of_people] == 1)
    right = None if person is None else _right(rows[person], people[person], of_rows, of_people, single)
    told = nearly = None
    if sensitive is not None:
        secret = rows[sensitive]
        pairs = np.unique(of_rows * secret.size + secret.codes) // secret.size
        kinds = np.bincount(pairs, minlength=many)[of_people]
        told, nearly = int((found & (kinds == 1)).sum()), int((found & (kinds == 2)).sum())
    return Linkage(people.rows, int(found.sum()), int(single.sum()), right, told, nearly)


def same_codes(column: CodedColumn, other: CodedColumn) -> Codes:
    """The codes that `other` gives to the values of `column`; -1 for values it does not have."""
    place = {value: code for code, value in enumerate(other.values)}
    return np.array([place.get(value, -1) for value in column.values], dtype=np.int64)[column.codes]


def match_rows(rows: list[Codes], people: list[Codes], sizes: list[int]) -> tuple[Codes, Codes]:
    """Class numbers that rows and people share; -1 for people with a value that no row has."""
    many = len(rows[0])
    stacked = [np.concatenate([a, np.maximum(b, 0)]) for a, b in zip(rows, people, strict=True)]
    of = classes_of(
        [CodedColumn(codes, tuple(range(size)), True) for codes, size in zip(stacked, sizes, strict=True)]
    ).of
    unknown = np.any([codes < 0 for codes in people], axis=0)
    return of[:many], np.where(unknown, -1, of[many:])


def _locate(released: AnonymizedTable, people: list[Codes]) -> tuple[Codes, Codes]:
    match released.cut:
        case Boxes() as cut:
            found = np.full(len(people[0]), -1, dtype=np.int64)
            for box, (low, high) in enumerate(zip(cut.low, cut.high, strict=True)):
                inside = np.all([(c >= a) & (c <= b) for c, a, b in zip(people, low, high, strict=True)], axis=0)
                found[inside] = box
            return cut.of[released.kept], found
        case ladders:
            steps = [released.steps[name] for name in released.quasi]
            climbed = [
                np.where(codes < 0, -1, _group(ladder, step)[codes])
                for ladder, step, codes in zip(ladders, steps, people, strict=True)
            ]
            coarse = [released.records[name] for name in released.quasi]
            return match_rows([one.codes for one in coarse], climbed, [one.size for one in coarse])


def _group(ladder: Ladder, step: int) -> Codes:
    return ladder.groups[step]


def _right(rows: CodedColumn, people: CodedColumn, of_rows: Codes, of_people: Codes, single: NDArray[np.bool_]) -> int:
    """How many of the people linked one-to-one were linked to their own row."""
    owner = np.full(int(max(of_rows.max(), of_people.max())) + 1, -1, dtype=np.int64)
    owner[of_rows] = rows.codes
    return int((owner[of_people[single]] == same_codes(people, rows)[single]).sum())
