"""Released numbers, read from the ledger: near the noisy ones, and as constraints and an objective have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.constraints.convex import Convex, Window, fit
from discreet.constraints.hidden.numbers import HiddenNumbers
from discreet.constraints.system import Constraint
from discreet.core.note import Note
from discreet.core.release import number, percent, plural
from discreet.core.signature import typed
from discreet.errors import MISSING, InputError

__all__ = ["HiddenValues"]


@dataclass(frozen=True, slots=True, eq=False)
class HiddenValues(HiddenNumbers):
    """Released numbers: as far as `report` says they meet constraints, with the objective within beta of its optimum.

    `table` has every number with an interval for the true one, `noisy` the numbers before the repair: private as well,
    and unbiased.
    """

    @classmethod
    def sentences(cls, report: Mapping[str, Any]) -> list[str]:
        """What the repair made of the noisy numbers."""
        return [_repaired(report)]

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
        told = {"objective": found.objective, "within": found.within, "nearest": found.nearest}
        told |= {"violation": found.violation, "beta": beta, "optimum": None if window is None else window.optimum}
        report = {**self.report, **told}
        notes = tuple(note for note in self.table.notes if note.kind != "repaired")
        note = Note("repaired", _repaired(report), ("value",))
        return self.moved_to(values, (*notes, note), report)

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
