"""How a fit is charged: the ledger arguments of an estimator, its claim, and what its account must protect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from discreet.core.loss import Loss, Pure
from discreet.errors import InputError, kind_of
from discreet.learn.account import LedgerAccount
from discreet.learn.estimators.plan import Claim, FitPlan
from discreet.learn.estimators.rows import Rows
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer

__all__ = ["FitAccount"]

_ONE_ROW = (
    "an account whose unit is one row, added or removed",
    "A fit costs its price for each row. Of a person with several rows it would tell more than is charged; a row "
    "replaced is one removed and one added. Keep an account by rows, or use curator.train, which knows the unit.",
)


@dataclass(frozen=True, slots=True)
class FitAccount:
    """The account of an estimator, named in `privacy={...}`, or by arguments of its own."""

    account: LedgerAccount

    @classmethod
    def of(cls, estimator: Any) -> Self | None:
        """Of an estimator; None where no ledger is named. `InputError` where half of it is, or both ways are used."""
        names = LedgerAccount.names()
        given = {name: getattr(estimator, name) for name in names if getattr(estimator, name) is not None}
        grouped = estimator.privacy
        if grouped is not None:
            if not isinstance(grouped, Mapping):
                raise InputError("privacy", kind_of(grouped), f"a dictionary with any of {', '.join(names)}")
            for name in grouped:
                if name not in names:
                    raise InputError("privacy", name, "named by the argument of a ledger", among=names)
                if name in given:
                    raise InputError(name, getattr(estimator, name), "left out where privacy names it")
            given |= grouped
        account = LedgerAccount.read(given)
        return None if account is None else cls(account)

    @property
    def dataset(self) -> str:
        """The name of the data on the ledger."""
        return self.account.dataset

    def charge(self, plan: FitPlan, rows: Rows, claim: Claim) -> Answer:
        """Through the door: charged first, then measured, or the result that the id holds already."""
        with self.account.opened() as ledger:
            return self.account.charge(plan, rows, ledger, lambda part: _aim(part, claim), _ONE_ROW)

    def affordable(self, cost: Loss, claim: Claim) -> int:
        """How many fits of a cost are paid by what is left now."""
        return self.account.affordable(cost, lambda part: _aim(part, claim))


def _aim(part: Allotment, claim: Claim) -> Fraction | None:
    """The delta that a fit takes from an allotment of kind `plan`; others take none."""
    if part.kind != "plan":
        return None
    return Fraction(0) if isinstance(claim, Pure) else claim.delta
