"""The caps of a ledger for its custodian: set, lowered, taken away, and what each caller has left of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.exact import Number
from discreet.ledger.budget import Charge
from discreet.ledger.cap import Cap, CapStanding, caps_of, change_cap, check_cap, spending_of

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["Caps"]


class Caps:
    """The caps on one ledger: `Caps(ledger).set("visits", "bob", epsilon="0.5", who="carla")`.

    A cap is policy and no guarantee of privacy: that is the budget. It holds for whoever spends under a name, on a
    server, at a terminal and in Python, and is looked at in the transaction that spends.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def set(
        self,
        dataset: str,
        caller: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        period: str = "day",
        allotment: str | None = None,
        who: str,
        why: str = "",
    ) -> tuple[Cap, ...]:
        """At most so much in any period for a caller, or for each who has no cap of their own ("*"). On record.

        Neither `epsilon` nor `rho` takes the cap away. Returns all caps of the dataset.
        """
        amount = epsilon if rho is None else rho
        with self._ledger._write() as writer:
            account = self._ledger._account(writer, dataset)
            counted = account.budget.allotment(allotment).currency
            currency = counted if amount is None else "epsilon" if rho is None else "rho"
            how = {"allotment": allotment, "currency": currency, "period": period}
            return change_cap(writer, account, caller, amount, **how, who=who, why=why)  # type: ignore[arg-type]

    def listed(self, dataset: str) -> tuple[Cap, ...]:
        """All caps of a dataset."""
        with self._ledger._store.read() as reader:
            return caps_of(reader, dataset)

    def standing(self, dataset: str, caller: str) -> list[CapStanding]:
        """The caps that hold for a caller, with what they used and have left."""
        with self._ledger._store.read() as reader:
            return spending_of(reader).standing(reader, self._ledger._account(reader, dataset), caller)

    def check(self, dataset: str, allotment: str, charge: Charge, caller: str) -> None:
        """`CapError` if a caller could not be charged this now. Nothing is reserved: the charge looks again."""
        with self._ledger._store.read() as reader:
            account = self._ledger._account(reader, dataset)
            check_cap(reader, account, account.budget.allotment(allotment), charge, caller)
