"""Released numbers, read from the ledger: near the noisy ones, and as constraints and an objective have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.constraints.convex import Convex, Window, fit
from discreet.constraints.system import Constraint
from discreet.core.note import Note
from discreet.core.publication import Publication, rows_table
from discreet.core.release import Release, number, percent, plural
from discreet.core.signature import typed
from discreet.errors import MISSING, InputError
from discreet.ledger.door import Answer
from discreet.query.release import read_table

__all__ = ["HiddenValues"]


@dataclass(frozen=True, slots=True, eq=False)
class HiddenValues(Publication):
    """Released numbers: as far as `report` says they meet constraints, with the objective within beta of its optimum.

    `table` has every number with an interval for the true one, `noisy` the numbers before the repair: private as well,
    and unbiased.
    """

    table: Release
    noisy: tuple[float, ...]
    report: Mapping[str, Any]

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> HiddenValues:
        """From an answer on the ledger."""
        result: Any = answer.result
        table = read_table(answer, cost, remaining)
        table = replace(table, notes=(*table.notes, Note("repaired", _repaired(result["report"]), ("value",))))
        head = answer.provenance(cost, remaining)
        return cls(table=table, noisy=tuple(result["noisy"]), report=result["report"], stale=answer.stale, **head)

    def tables(self) -> dict[str, Release]:
        """The released numbers, and those before the repair."""
        noisy = {"name": self.table["name"], "value": list(self.noisy)}
        return {"": self.table, "noisy": rows_table(noisy, self)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the numbers with their intervals, those before the repair, and the report."""
        return {**self.table.to_dict(), "noisy": list(self.noisy), "report": dict(self.report)}

    @property
    def columns(self) -> Mapping[str, list[Any]]:
        """The released numbers with their intervals, by column."""
        return self.table.columns

    @property
    def values(self) -> list[float]:
        """The released numbers."""
        return self.table["value"]

    @typed
    def again(
        self,
        constraints: Sequence[Convex | Constraint] = (),
        *,
        objective: Convex | None = None,
        optimum: float | None = None,
        beta: float = 0.01,
    ) -> HiddenValues:
        """The same noisy numbers, repaired for other constraints and another objective. Costs nothing.

        `optimum` is the one on record unless another public number is given.
        """
        window = None
        if objective is not None:
            known = self.report["optimum"] if optimum is None else optimum
            if known is None:
                raise InputError("optimum", MISSING, "given: none is on record")
            window = Window(objective, float(known), float(beta))
        found = fit(list(self.noisy), list(constraints), window=window)
        values = [float(f"{value:.12g}") for value in found.values.tolist()]
        low = [min(end, value) for end, value in zip(self.table["value_lower"], values, strict=True)]
        high = [max(end, value) for end, value in zip(self.table["value_upper"], values, strict=True)]
        columns = {**self.table.columns, "value": values, "value_lower": low, "value_upper": high}
        told = {"objective": found.objective, "within": found.within, "nearest": found.nearest}
        told |= {"violation": found.violation, "beta": beta, "optimum": None if window is None else window.optimum}
        report = {**self.report, **told}
        notes = tuple(note for note in self.table.notes if note.kind != "repaired")
        note = Note("repaired", _repaired(report), ("value",))
        return replace(self, table=replace(self.table, columns=columns, notes=(*notes, note)), report=report)

    def __str__(self) -> str:
        head = f"{plural(len(self.table), 'number')}. {_repaired(self.report)}"
        return f"{head}\n[{percent(self.table.confidence)} intervals; {self.about}]"


def _repaired(report: Mapping[str, Any]) -> str:
    """What the repair made of the noisy numbers, in sentences."""
    found = "The nearest numbers that meet the constraints." if report["nearest"] else "Near the noisy numbers."
    if report["optimum"] is None:
        return found
    near = "within" if report["within"] else "NOT within"
    return (
        f"{found} Optimum: {number(report['optimum'])}, {report['optimum_is']}; objective of the released numbers: "
        f"{number(report['objective'])} ({near} {percent(report['beta'])} of it)."
    )
