"""Released numbers of any kind, read from the ledger: with intervals, those before the repair, and a report."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from discreet.core.note import Note
from discreet.core.publication import Publication, rows_table
from discreet.core.release import Release
from discreet.ledger.door import Answer
from discreet.query.release import read_table

__all__ = ["HiddenNumbers"]


@dataclass(frozen=True, slots=True, eq=False)
class HiddenNumbers(Publication):
    """Released numbers, as far as `report` says they meet what was asked.

    `table` has every number with an interval for the true one, `noisy` the numbers before the repair: private as well,
    and unbiased.
    """

    output: ClassVar[str] = "value"
    """The column that holds the numbers."""
    table: Release
    noisy: tuple[float, ...]
    report: Mapping[str, Any]

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> Self:
        """From an answer on the ledger."""
        result: Any = answer.result
        table = read_table(answer, cost, remaining)
        said = Note("repaired", " ".join(cls.sentences(result["report"])), (cls.output,))
        values = {"noisy": tuple(result["noisy"]), "report": result["report"], **cls.more(result)}
        head = answer.provenance(cost, remaining)
        return cls(table=replace(table, notes=(*table.notes, said)), **values, stale=answer.stale, **head)

    @classmethod
    @abstractmethod
    def sentences(cls, report: Mapping[str, Any]) -> list[str]:
        """What the repair made of the noisy numbers."""

    @classmethod
    def more(cls, result: Mapping[str, Any]) -> dict[str, Any]:
        """Further fields, from a record."""
        return {}

    def tables(self) -> dict[str, Release]:
        """The released numbers, and those before the repair."""
        noisy = {**{key: self.table[key] for key in self.table.keys}, self.output: list(self.noisy)}
        return {"": self.table, "noisy": rows_table(noisy, self)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the numbers with their intervals, those before the repair, and the report."""
        return {**self.table.to_dict(), "noisy": list(self.noisy), "report": dict(self.report)}

    @property
    def columns(self) -> Mapping[str, list[Any]]:
        """The released numbers with their intervals, by column."""
        return self.table.columns

    def moved_to(self, values: Sequence[float], notes: Sequence[Note], report: Mapping[str, Any]) -> Self:
        """The same with other numbers, made of these alone; intervals are widened where numbers left them."""
        name = self.output
        low = [min(end, value) for end, value in zip(self.table[f"{name}_lower"], values, strict=True)]
        high = [max(end, value) for end, value in zip(self.table[f"{name}_upper"], values, strict=True)]
        columns = {**self.table.columns, name: list(values), f"{name}_lower": low, f"{name}_upper": high}
        return replace(self, table=replace(self.table, columns=columns, notes=tuple(notes)), report=dict(report))
