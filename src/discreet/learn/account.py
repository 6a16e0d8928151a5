"""Where work on a caller's arrays is charged: an account on a ledger, and the id its result is recorded under."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from discreet.core.loss import Loss
from discreet.core.plan import Plan
from discreet.errors import InputError, kind_of
from discreet.learn.array_data import ArrayData, Arrays
from discreet.ledger.budget import Allotment, label
from discreet.ledger.door import Answer
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger
from discreet.ledger.pure_sum import epsilon_of

__all__ = ["LedgerAccount", "refuse_open_ledger"]

_OPEN = "the path or address of the ledger"
Aim = Callable[[Allotment], Fraction | None]
"""The delta that is taken from an allotment of kind `plan`; None of others."""


@dataclass(frozen=True, slots=True)
class LedgerAccount:
    """The ledger arguments of an estimator or of `train`, read."""

    ledger: Any
    dataset: str
    allotment: str | None = None
    who: str | None = None
    release: str | None = None

    @classmethod
    def names(cls) -> list[str]:
        """What the arguments are called."""
        return [field.name for field in fields(cls)]

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self | None:
        """Of the arguments that were given; None where no ledger is named. `InputError` where half of it is.

        A curator stands for its ledger, under its name, and for its dataset unless another is named.
        """
        known = {name: value for name, value in given.items() if value is not None}
        if "ledger" not in known:
            for name in ("dataset", "allotment", "release"):
                if name in known:
                    raise InputError("ledger", None, f"given where {name} is")
            return None
        if hasattr(known["ledger"], "ledger"):
            curator = known["ledger"]
            known = {"dataset": curator.declared.name, "who": curator.who, **known, "ledger": curator.ledger}
        if "dataset" not in known:
            raise InputError("dataset", None, "the name of the data on the ledger")
        if not isinstance(known["ledger"], (Ledger, str, Path)):
            raise InputError("ledger", kind_of(known["ledger"]), f"a Ledger, or {_OPEN}")
        for name in known.keys() - {"ledger"}:
            label(known[name], name)
        return cls(**known)

    @contextmanager
    def opened(self) -> Iterator[Ledger]:
        """The ledger; one that is named by its path or address is closed again."""
        if isinstance(self.ledger, Ledger):
            yield self.ledger
            return
        ledger = Ledger.open(self.ledger)
        try:
            yield ledger
        finally:
            ledger.close()

    def charge(self, plan: Plan, rows: Arrays, ledger: Ledger, aim: Aim, mismatch: tuple[str, str]) -> Answer:
        """Through the door: charged first, then measured, or the result that the id holds already for the same rows.

        Only to an account that protects what the cost is stated for; `mismatch` says what that is, and what to do.
        """
        account = ledger.account(self.dataset)
        if account.unit != str(plan.unit):
            allowed, hint = mismatch
            raise InputError("dataset", account.unit, allowed, hint)
        return through_the_door(
            plan,
            ArrayData(rows, self.release),
            ledger,
            who=getpass.getuser() if self.who is None else self.who,
            release=self.release,
            allotment=self.allotment,
            delta=aim(account.budget.allotment(self.allotment)),
        )

    def affordable(self, cost: Loss, aim: Aim) -> int:
        """How many results of a cost are paid by what is left now, by whichever of the ledger's sums pays for more."""
        with self.opened() as ledger:
            part = ledger.account(self.dataset).budget.allotment(self.allotment)
            charge, left = part.price(cost, aim(part)), ledger.remaining(self.dataset, part.name)
            sides = [(left.amount, charge.amount), (left.delta, charge.delta)]
            most = min(int(rest // price) for rest, price in sides if price)
            epsilons, epsilon = ledger.pure_left(self.dataset, part.name), epsilon_of(cost)
            return most if not epsilons or not epsilon else max(most, int(epsilons // epsilon))


def refuse_open_ledger(settings: Mapping[str, Any]) -> None:
    """Refuse to pickle an open ledger: the copy would have none of its guard, and fits of it would go uncharged."""
    grouped = settings.get("privacy")
    for ledger in (settings.get("ledger"), grouped.get("ledger") if isinstance(grouped, Mapping) else None):
        if isinstance(ledger, Ledger) or hasattr(ledger, "ledger"):
            hint = "An open ledger is not pickled, nor sent to other processes (n_jobs). Its charges would be lost."
            raise InputError(
                "ledger", kind_of(ledger), f"{_OPEN} where an estimator is copied to a file or process", hint
            )
