"""What is protected: one row, everything of one person and how much of it may count, or one value up to a distance."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from discreet.core.exact import exactly
from discreet.errors import InputError, Phrase

__all__ = ["MOST", "Metric", "Neighbours", "Protected", "Unit"]


class Neighbours(StrEnum):
    """How the data of one unit may differ between two datasets that must look alike."""

    ADD_REMOVE = "add-remove"
    """One unit is present in one and absent from the other; the number of units is private."""

    REPLACE = "replace"
    """One unit has other values; the number of units is public."""


class _Unstated(int):
    """A limit that nobody stated. It is 1, the least there is, so that nothing computed with it promises too much."""

    __slots__ = ()


_UNSTATED: Final = _Unstated(1)

MOST: Final = 2**20
"""No limit on a person is larger."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The thing whose presence or values no release may give away.

    Without `column` it is one row; or, where `rows` is more, any so many rows: nobody has more of them, though no
    column says whose they are. That is a promise of the custodian's, which nothing enforces.

    With `column`, every row that shares a value of it belongs to one person; of a person's rows, those in at most
    `groups` groups of a question count, and in each group as at most `rows` rows; with `rows_total`, at most so many
    over all groups. A schema takes a person only with the first two limits stated: what is beyond them is left out of
    every answer.

    Its text is its identity: two units with the same text protect the same thing. The limits are not in it, because
    they decide how far a unit moves an answer, which is part of the price.
    """

    column: str | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    groups: int = _UNSTATED
    rows: int = _UNSTATED
    rows_total: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", read_neighbours(self.neighbours, "unit.neighbours"))
        if self.column is not None and (not isinstance(self.column, str) or not self.column):
            raise InputError("unit.column", self.column, "the name of the column that identifies a person")
        for field in ("groups", "rows", "rows_total"):
            value = getattr(self, field)
            if field == "rows_total" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
                raise InputError(f"unit.{field}", value, "a whole number from 1 to 2**20")
        if self.column is None and (self.groups, self.rows_total) != (1, None):
            hint = "Name the column that identifies a person, or give rows alone: nobody has more of them."
            raise InputError(
                "unit",
                Phrase("limits without a column"),
                "a column that identifies a person, where limits are given",
                hint,
            )

    @property
    def most_groups(self) -> int:
        """In how many groups rows of one unit count at most."""
        if self.column is None:
            return self.rows
        return self.groups if self.rows_total is None else min(self.groups, self.rows_total)

    @property
    def most_rows(self) -> int:
        """As how many rows one unit counts in one group at most."""
        return self.rows if self.rows_total is None else min(self.rows, self.rows_total)

    @property
    def most_total(self) -> int:
        """As how many rows one unit counts over all groups at most.

        >>> Unit("patient", groups=5, rows=4, rows_total=6).most_total
        6
        """
        if self.column is None:
            return self.rows
        every = self.most_groups * self.most_rows
        return every if self.rows_total is None else min(every, self.rows_total)

    @property
    def shares(self) -> bool:
        """Whether the rows that count in all groups have a limit of their own, beside those of each group."""
        return self.rows_total is not None or self.promised

    @property
    def promised(self) -> bool:
        """Whether a unit is several rows that no column tells from others'."""
        return self.column is None and self.rows > 1

    def check_named(self, job: str) -> None:
        """`InputError` where a unit is several rows of nobody knows whom, for a job that must know whose they are."""
        if self.promised:
            hint = "Name the column that identifies a person: [unit] column = ..., groups = ..., rows = ..."
            raise InputError("unit.rows", self.rows, f"given with a column where {job}", hint)

    @property
    def unstated(self) -> tuple[str, ...]:
        """The limits on a person that nobody stated.

        >>> Unit("patient", rows=3).unstated
        ('groups',)
        """
        if self.column is None:
            return ()
        return tuple(name for name in ("groups", "rows") if isinstance(getattr(self, name), _Unstated))

    def __str__(self) -> str:
        row = "one row" if self.rows == 1 else f"any {self.rows} rows"
        what = row if self.column is None else f"everything of one {self.column}"
        other = "replaced by others" if self.promised else "replaced by another"
        how = "added or removed" if self.neighbours is Neighbours.ADD_REMOVE else other
        return f"{what}, {how}"


@dataclass(frozen=True, slots=True)
class Metric:
    """One value that may differ by at most a distance: the unit of metric privacy. It never mixes with rows or people.

    >>> print(Metric("one load", Fraction(1, 2), "MW"))
    one load, moved by at most 0.5 MW
    """

    value: str
    distance: Fraction
    measure: str

    def __post_init__(self) -> None:
        if exactly(self.distance, "unit.distance") <= 0:
            raise InputError("unit.distance", self.distance, "more than zero")

    @property
    def reach(self) -> str:
        """The distance with its measure, such as `0.5 MW`."""
        short = f"{float(self.distance):.12g}"
        exact = short if Fraction(short) == self.distance else str(self.distance)
        return f"{exact} {self.measure}"

    def __str__(self) -> str:
        return f"{self.value}, moved by at most {self.reach}"


Protected = Unit | Metric
"""What a plan, a charge and an account protect."""


def read_neighbours(value: Neighbours | str, field: str = "neighbours") -> Neighbours:
    """What a neighbouring table is, by its name."""
    try:
        return Neighbours(value)
    except (ValueError, TypeError):
        allowed = " or ".join(repr(str(kind)) for kind in Neighbours)
        raise InputError(field, value, allowed) from None
