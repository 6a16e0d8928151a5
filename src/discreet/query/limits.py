"""How much of one person counts in one question, where that is another amount than the schema states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from discreet.core.unit import MOST
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, Phrase, kind_of

__all__ = ["PersonLimits"]


@dataclass(frozen=True, slots=True)
class PersonLimits:
    """The limits on one person that a question sets itself; those that it leaves out are the schema's.

    They say how much of each person counts, never who is protected: the unit of the schema keeps its text.

    >>> PersonLimits(rows=5).to_dict()
    {'rows': 5}
    """

    groups: int | None = None
    rows: int | None = None
    rows_total: int | None = None

    def __post_init__(self) -> None:
        if not self.to_dict():
            names = " or ".join(each.name for each in fields(self))
            raise InputError("limits", MISSING, f"at least one of {names}", "Such as limits(groups=3, rows=10).")
        for name, value in self.to_dict().items():
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
                raise InputError(f"limits.{name}", value, f"a whole number from 1 to {MOST:,}")

    def applied(self, schema: Schema) -> Schema:
        """The schema with these limits in force; refused where no person is declared."""
        if schema.unit.column is None:
            hint = "Leave them out, or declare the person: [unit] column = ..., groups = ..., rows = ..."
            raise InputError("limits", Phrase("given"), "left out: the unit of this schema is a row", hint)
        given: dict[str, Any] = self.to_dict()
        return replace(schema, columns=schema.stored, unit=replace(schema.unit, **given))

    def merged(self, later: PersonLimits) -> PersonLimits:
        """These, and those of `later` where it sets them."""
        return replace(self, **later.to_dict())

    def to_dict(self) -> dict[str, int]:
        """As plain JSON values: what is set."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    @classmethod
    def from_dict(cls, entry: Any) -> PersonLimits:
        """From its JSON values."""
        known = [each.name for each in fields(cls)]
        if not isinstance(entry, Mapping):
            raise InputError("limits", kind_of(entry), "an object: {'groups': 3, 'rows': 10}")
        if unknown := [name for name in entry if name not in known]:
            raise InputError.unknown(f"limits.{unknown[0]}", known)
        return cls(**entry)
