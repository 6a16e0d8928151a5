"""Where a fit is charged: an account on a ledger, and the id its result is recorded under."""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from discreet.core.loss import Loss, Pure
from discreet.errors import InputError, kind_of
from discreet.learn.estimators.plan import Claim, FitPlan
from discreet.learn.estimators.rows import ArrayData, Rows
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger
from discreet.ledger.pure_sum import epsilon_of

__all__ = ["FitAccount", "refuse_open_ledger"]

_OPEN = "the path or address of the ledger"


@dataclass(frozen=True, slots=True)
class FitAccount:
    """The ledger arguments of an estimator, read: from `privacy={...}`, or each by its own name."""

    ledger: Any
    dataset: str
    allotment: str | None = None
    who: str | None = None
    release: str | None = None

    @classmethod
    def of(cls, estimator: Any) -> Self | None:
        """Of an estimator; None where no ledger is named. `InputError` where half of it is, or both ways are used."""
        names = [field.name for field in fields(cls)]
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
            given |= {name: value for name, value in grouped.items() if value is not None}
        if "ledger" not in given:
            for name in ("dataset", "allotment", "release"):
                if name in given:
                    raise InputError("ledger", None, f"given where {name} is")
            return None
        if "dataset" not in given:
            raise InputError("dataset", None, "the name of the data on the ledger")
        if not isinstance(given["ledger"], (Ledger, str, Path)):
            raise InputError("ledger", kind_of(given["ledger"]), f"a Ledger, or {_OPEN}")
        return cls(**given)

    def charge(self, plan: FitPlan, rows: Rows, claim: Claim) -> Answer:
        """Through the door: charged first, then measured, or the result that the id holds already."""
        with self._opened() as ledger:
            return self._charge(plan, rows, ledger, claim)

    def affordable(self, cost: Loss, claim: Claim) -> int:
        """How many fits of a cost are paid by what is left now, by whichever of the ledger's sums pays for more."""
        with self._opened() as ledger:
            part = ledger.account(self.dataset).budget.allotment(self.allotment)
            charge, left = part.price(cost, _aim(part, claim)), ledger.remaining(self.dataset, part.name)
            sides = [(left.amount, charge.amount), (left.delta, charge.delta)]
            most = min(int(rest // price) for rest, price in sides if price)
            epsilons, epsilon = ledger.pure_left(self.dataset, part.name), epsilon_of(cost)
            return most if not epsilons or not epsilon else max(most, int(epsilons // epsilon))

    @contextmanager
    def _opened(self) -> Iterator[Ledger]:
        """The ledger; one that is named is closed again."""
        if isinstance(self.ledger, Ledger):
            yield self.ledger
            return
        ledger = Ledger.open(self.ledger)
        try:
            yield ledger
        finally:
            ledger.close()

    def _charge(self, plan: FitPlan, rows: Rows, ledger: Ledger, claim: Claim) -> Answer:
        """To an account that protects what the cost is stated for: a row, added or removed."""
        account = ledger.account(self.dataset)
        if account.unit != str(plan.unit):
            hint = (
                "A fit costs its price for each row. Of a person with several rows it would tell more than is charged; "
                "a row replaced is one removed and one added. Keep an account by rows, or use curator.train, which "
                "knows the unit."
            )
            raise InputError("dataset", account.unit, "an account whose unit is one row, added or removed", hint)
        return through_the_door(
            plan,
            ArrayData(rows, self.release),
            ledger,
            who=getpass.getuser() if self.who is None else self.who,
            release=self.release,
            allotment=self.allotment,
            delta=_aim(account.budget.allotment(self.allotment), claim),
        )


def _aim(part: Allotment, claim: Claim) -> Fraction | None:
    """The delta that a fit takes from an allotment of kind `plan`; others take none."""
    if part.kind != "plan":
        return None
    return Fraction(0) if isinstance(claim, Pure) else claim.delta


def refuse_open_ledger(settings: Mapping[str, Any]) -> None:
    """Refuse to pickle an open ledger: the copy would have none of its guard, and fits of it would go uncharged."""
    grouped = settings.get("privacy")
    for ledger in (settings.get("ledger"), grouped.get("ledger") if isinstance(grouped, Mapping) else None):
        if isinstance(ledger, Ledger):
            hint = "An open ledger is not pickled, nor sent to other processes (n_jobs). Its charges would be lost."
            raise InputError(
                "ledger", kind_of(ledger), f"{_OPEN} where an estimator is copied to a file or process", hint
            )
