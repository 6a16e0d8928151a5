"""The verb of a curator for private numbers that are no table: each hidden up to a distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from discreet.core.exact import Number
from discreet.curator.desk import Desk
from discreet.curator.draft import Draft
from discreet.errors import MISSING, InputError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger

if TYPE_CHECKING:
    from discreet.constraints.convex import Convex
    from discreet.constraints.hidden.release import HiddenValues
    from discreet.constraints.system import Constraint

__all__ = ["ValuesJobs"]


class _OnLedger(Protocol):
    """Whoever has a ledger, and a name."""

    desk: Desk

    @property
    def ledger(self) -> Ledger: ...
    @property
    def who(self) -> str: ...


class ValuesJobs:
    """Numbers beside the table, on the same ledger."""

    def hide(
        self: _OnLedger,
        values: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        alpha: Number | None = None,
        objective: Convex | None = None,
        constraints: Sequence[Convex | Constraint] = (),
        dataset: str = "values",
        measure: str = "units",
        budget: Budget | None = None,
    ) -> Draft[HiddenValues]:
        """Private numbers, each hidden up to `alpha`, released as numbers that meet `constraints`: docs/guides/hide.md.

        They are a dataset of their own on this curator's ledger, with a `budget` of their own. `objective` is a convex
        function whose value at the released numbers is to be about that at the true ones. See `hide_values`. A curator
        of a file whose schema has [values] takes neither: numbers and distance are declared; on a server, so are
        constraints and objective.
        """
        from discreet.curator.hidden import draft_values, hide_values

        if values is None:
            return draft_values(self.desk, alpha, objective, constraints)
        if alpha is None:
            raise InputError("alpha", MISSING, "given: the distance that any one number is hidden up to")

        how = {"objective": objective, "constraints": constraints, "dataset": dataset, "measure": measure}
        return hide_values(values, self.ledger, alpha=alpha, budget=budget, who=self.who, **how)  # type: ignore[arg-type]
