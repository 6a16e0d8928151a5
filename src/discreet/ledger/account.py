"""A dataset in the books: its budget, and where each allotment stands."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.wire import Json
from discreet.errors import BudgetError, InputError
from discreet.ledger.budget import Allotment, Budget, Charge
from discreet.ledger.store import Reader

__all__ = ["Account", "Standing", "account_of", "refusal"]


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of a dataset and what it protects."""

    dataset: str
    budget: Budget
    unit: Json
    since: str

    def check_raise(self, budget: Budget) -> None:
        """`InputError` unless `budget` has every allotment of this one, at least as large and counted the same way."""
        parts = {part.name: part for part in budget.allotments}
        for old in self.budget.allotments:
            new = parts.get(old.name)
            if new is None or new.kind != old.kind or not old.cap.within(new.cap):
                got = "absent" if new is None else f"a {new.kind} one" if new.kind != old.kind else "less"
                allowed = f"a {old.kind} allotment of at least what it has now"
                hint = "Nothing was changed. A budget can grow, never shrink."
                raise InputError(f"budget.allotments.{old.name}", got, allowed, hint)


@dataclass(frozen=True, slots=True)
class Standing:
    """What one allotment has spent and has left."""

    dataset: str
    allotment: Allotment
    spent: Charge
    left: Charge


def account_of(reader: Reader, dataset: str) -> Account:
    """The account as last opened or raised; `InputError` if there is none."""
    record = reader.latest(dataset, "open")
    if record is None or not isinstance(record.detail, dict):
        hint = "Open one first: ledger.create(dataset, Budget(epsilon=1), who=...)."
        raise InputError("dataset", dataset, "one that this ledger has a budget for", hint)
    return Account(dataset, Budget.from_json(record.detail["budget"]), record.detail["unit"], record.time)


def refusal(dataset: str, part: Allotment, asked: Charge, spent: Charge) -> BudgetError:
    """The error that says what was asked, what is left, that nothing was spent, and what to do."""
    from discreet.accounting.words import readable

    left = spent.left_of(part.cap)
    wanted, rest = readable(asked.amount), readable(left.amount, direction="down")
    if asked.delta or part.cap.delta:
        wanted += f" and delta = {readable(asked.delta)}"
        rest += f" and delta = {readable(left.delta, direction='down')}"
    cap = readable(part.cap.amount, direction="down")
    text = (
        f"The budget of {dataset!r} does not cover this: asked {part.currency} = {wanted}; the allotment {part.name!r} "
        f"has {part.currency} = {rest} left, of {cap}. Nothing was spent and no data was read. "
        "Ask for less, use another allotment, or let the custodian raise the budget."
    )
    return BudgetError(text, asked=asked, left=left, allotment=part.name)
