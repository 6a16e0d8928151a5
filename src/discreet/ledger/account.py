"""A dataset in the books: its budget, and where each allotment stands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.core.unit import Protected, Unit
from discreet.core.wire import Json, canonical
from discreet.errors import BudgetError, InputError
from discreet.ledger.budget import Allotment, Budget, Charge
from discreet.ledger.store import Reader

__all__ = ["Account", "Standing", "account_of", "refusal", "unit_text"]

_WORDS = re.compile(
    r"(one row|everything of one .+), (added or removed|replaced by another)|.+, moved by at most \S+ \S+", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of a dataset and what it protects, as the text of a unit."""

    dataset: str
    budget: Budget
    unit: str
    since: str

    @property
    def comparable(self) -> bool:
        """Whether the unit is one that plans can have. In 0.1 it could be written in words of one's own."""
        return _WORDS.fullmatch(self.unit) is not None

    def check_unit(self, unit: Protected) -> None:
        """`InputError` unless the account protects `unit`: a loss is a loss for one unit only."""
        if not isinstance(unit, Protected):
            raise InputError("unit", type(unit).__name__, "a Unit, such as Unit() or Unit('patient')", "Nothing spent.")
        if str(unit) == self.unit:
            return
        hint = "Nothing was spent and no data was read. What is stated for one unit says nothing about another: "
        if self.comparable:
            hint += "correct [unit] in the schema, or keep a dataset of its own for this unit."
        else:
            hint += "this account of 0.1 describes its unit in words of its own; the custodian states which one is "
            hint += "meant with Ledger.raise_budget(..., unit=Unit(...)), which goes on record."
        raise InputError("unit", str(unit), f"what the account of {self.dataset!r} protects: {self.unit}", hint)

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
    return Account(dataset, Budget.from_json(record.detail["budget"]), unit_text(record.detail["unit"]), record.time)


def unit_text(recorded: Json) -> str:
    """The text of a unit as an account has it. What 0.1 wrote where nobody named a unit is one row."""
    if recorded == "one row":
        return str(Unit())
    return recorded if isinstance(recorded, str) else canonical(recorded)


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
