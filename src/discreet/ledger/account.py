"""The account of a dataset: its budget, declared or opened, what it protects, and what each allotment has left."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.core.unit import Protected, Unit
from discreet.core.wire import Json, canonical
from discreet.errors import GIVEN, MISSING, BudgetError, InputError, Phrase, kind_of
from discreet.ledger.budget import Allotment, Budget, Charge, label
from discreet.ledger.chain import append, epsilon_sums
from discreet.ledger.pure_sum import PureSum
from discreet.ledger.store import Reader, Writer

__all__ = [
    "Account",
    "Declaration",
    "Spent",
    "Standing",
    "account_of",
    "allotment_history",
    "closed_refusal",
    "opened_datasets",
    "refusal",
    "same_name",
    "spent_of",
    "standing_of",
    "unit_text",
]

_UNCHANGED = "Nothing was changed."
_KEEP = "Keep (epsilon, delta), with an epsilon of at least that sum."
_WORDS = re.compile(
    r"(one row|any \d+ rows|everything of one .+), (added or removed|replaced by (another|others))|"
    r".+, moved by at most \S+ \S+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of a dataset and what it protects, as the text of a unit."""

    dataset: str
    budget: Budget
    unit: str
    since: str
    closed: bool = False
    """Whether nothing is charged to it any more."""

    def check_open(self) -> None:
        """`InputError` if it is closed."""
        if self.closed:
            hint = "Nothing was changed. What was released stays readable."
            raise InputError("dataset", self.dataset, "a dataset whose budget is not closed", hint)

    @property
    def comparable(self) -> bool:
        """Whether the unit is one that plans can have. In 0.1 it could be written in words of one's own."""
        return _WORDS.fullmatch(self.unit) is not None

    def check_unit(self, unit: Protected) -> None:
        """`InputError` unless the account protects `unit`: a loss is a loss for one unit only."""
        if not isinstance(unit, Protected):
            raise InputError("unit", kind_of(unit), "a Unit, such as Unit() or Unit('patient')", "Nothing was spent.")
        if str(unit) == self.unit:
            return
        hint = "Nothing was spent and no data was read. A guarantee for one unit says nothing about another: "
        if self.comparable:
            hint += "correct [unit] in the schema, or keep a dataset of its own for this unit."
        else:
            hint += "this account of 0.1 describes its unit in words of its own; the custodian states which one is "
            hint += "meant with Ledger.raise_budget(..., unit=Unit(...)), which goes on record."
        raise InputError(
            "unit", Phrase(unit), f"the unit that the account of {self.dataset!r} protects: {self.unit}", hint
        )

    def check_raise(self, budget: Budget, spent: Mapping[str, Spent]) -> None:
        """`InputError` unless `budget` has every allotment of this one, at least as large and counted the same way.

        What was charged within the plain sum of epsilons may be beyond the cap on rho: it must be within what is new.
        """
        parts = {part.name: part for part in budget.allotments}
        for old in self.budget.allotments:
            new = parts.get(old.name)
            if new is None or new.kind != old.kind or not old.cap.within(new.cap):
                got = MISSING if new is None else Phrase(f"a {new.kind} one" if new.kind != old.kind else "less")
                allowed = f"a {old.kind} allotment of at least what it has now"
                hint = "Nothing was changed. A budget is made smaller with `discreet ledger lower`."
                raise InputError(f"budget.allotments.{old.name}", got, allowed, hint)
            if spent[old.name].fits(old) and not spent[old.name].fits(new):
                hint = f"Nothing was changed. Pure releases were paid by the plain sum of their epsilons. {_KEEP}"
                field = f"budget.allotments.{old.name}"
                raise InputError(field, Phrase("another promise"), "one that covers what was charged", hint)

    def check_lower(self, budget: Budget, spent: Mapping[str, Spent]) -> None:
        """`InputError` unless `budget` has allotments of this one only, none larger, none below what is `spent`."""
        self._check_promise(budget)
        parts = {part.name: part for part in self.budget.allotments}
        for new in budget.allotments:
            old = parts.pop(new.name, None)
            if old is None or new.kind != old.kind or not _no_larger(new, old):
                got = GIVEN if old is None else Phrase(f"a {new.kind} one" if new.kind != old.kind else "more")
                allowed = "left out: it is new" if old is None else f"a {old.kind} allotment of at most what it has now"
                hint = "Nothing was changed. A budget is made larger with `discreet ledger raise`."
                raise InputError(f"budget.allotments.{new.name}", got, allowed, hint)
            if not spent[new.name].fits(new):
                raise InputError(f"budget.allotments.{new.name}", Phrase("less"), "at least what is spent", _UNCHANGED)
        for name in parts:
            if spent[name].any:
                raise InputError(
                    f"budget.allotments.{name}",
                    MISSING,
                    "part of the new budget: something was spent from it",
                    _UNCHANGED,
                )

    def check_divide(self, budget: Budget, spent: Mapping[str, Spent]) -> None:
        """`InputError` unless `budget` promises no more than this one, and each of its parts covers what is `spent`."""
        self._check_promise(budget)
        parts = {part.name: part for part in budget.allotments}
        for part in self.budget.allotments:
            kept, used = parts.get(part.name), spent[part.name]
            if kept is None and used.any:
                raise InputError(
                    f"budget.allotments.{part.name}",
                    MISSING,
                    "part of the new budget: something was spent from it",
                    _UNCHANGED,
                )
            if kept is not None and kept.kind != part.kind:
                got = Phrase(f"a {kept.kind} one")
                raise InputError(f"budget.allotments.{part.name}", got, f"a {part.kind} allotment", _UNCHANGED)
            if kept is not None and not used.fits(kept):
                raise InputError(f"budget.allotments.{part.name}", Phrase("less"), "at least what is spent", _UNCHANGED)

    def _check_promise(self, budget: Budget) -> None:
        """`InputError` if the whole of `budget` promises more than this one, or is counted otherwise."""
        if (budget.rho is None) != (self.budget.rho is None):
            raise InputError("budget", Phrase("another currency"), "counted as it is now", _UNCHANGED)
        for field in ("epsilon", "rho", "delta"):
            most, got = getattr(self.budget, field) or 0, getattr(budget, field) or 0
            if got > most:
                hint = "Nothing was changed. A budget is made larger with `discreet ledger raise`."
                raise InputError(f"budget.{field}", got, f"at most {most}, as before", hint)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was charged to an allotment: its total, and the plain sum of the epsilons where that counts."""

    total: Charge
    plain: PureSum

    @property
    def any(self) -> bool:
        """Whether anything was charged."""
        return bool(self.total.amount or self.total.delta)

    def fits(self, part: Allotment) -> bool:
        """Whether the promise of `part` holds for it, by either sum."""
        return self.total.within(part.cap) or self.plain.within(part)


@dataclass(frozen=True, slots=True)
class Standing:
    """What one allotment has spent and has left."""

    dataset: str
    allotment: Allotment
    spent: Charge
    left: Charge


def opened_datasets(reader: Reader) -> tuple[str, ...]:
    """Every dataset with a budget, in the order they came."""
    return tuple(dict.fromkeys(entry.dataset for entry in reader.accounts() if entry.kind == "open"))


def account_of(reader: Reader, dataset: str) -> Account:
    """The account as last opened or raised; `InputError` if there is none."""
    record = reader.latest(dataset, "open")
    closed = reader.latest(dataset, "close") is not None
    if record is None or not isinstance(record.detail, dict):
        hint = "Open one first: discreet ledger open, or ledger.create(dataset, Budget(epsilon=1), who=...)."
        raise InputError(
            "dataset", dataset, "a dataset with a budget on this ledger", hint, among=opened_datasets(reader)
        )
    budget = _budget(canonical(record.detail["budget"]))
    return Account(dataset, budget, unit_text(record.detail["unit"]), record.time, closed)


@lru_cache(maxsize=64)
def _budget(text: str) -> Budget:
    """A budget, of its canonical text: it is read for every charge, and is seldom another."""
    return Budget.from_json(json.loads(text))


def allotment_history(reader: Reader, dataset: str, allotment: str) -> list[Allotment]:
    """An allotment as each budget of a dataset defined it, the latest first."""
    opened = [entry.sequence for entry in reader.accounts() if (entry.kind, entry.dataset) == ("open", dataset)]
    rows = [row for sequence in reversed(opened) if (row := reader.row(sequence)) is not None]
    details = [row.record().detail for row in rows]
    budgets = [Budget.from_json(detail["budget"]) for detail in details if isinstance(detail, dict)]
    return [part for budget in budgets for part in budget.allotments if part.name == allotment]


def standing_of(reader: Reader, account: Account) -> tuple[Standing, ...]:
    """Where every allotment of an account stands; of a closed one nothing is left."""
    found = []
    for part in account.budget.allotments:
        spent = reader.total(account.dataset, part.name)
        left = Charge(Fraction(0)) if account.closed else spent.left_of(part.cap)
        found.append(Standing(account.dataset, part, spent, left))
    return tuple(found)


def spent_of(reader: Reader, account: Account) -> dict[str, Spent]:
    """What was charged to every allotment of an account, by both sums."""
    sums = epsilon_sums(reader)
    found = {}
    for part in account.budget.allotments:
        key = (account.dataset, part.name)
        found[part.name] = Spent(reader.total(*key), PureSum(sums.get(key, Fraction(0))))
    return found


def _no_larger(new: Allotment, old: Allotment) -> bool:
    """Whether an allotment takes no more than another one, by either sum."""
    return new.cap.within(old.cap) and (new.epsilon or 0) <= (old.epsilon or 0)


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
    priced = (
        f"it costs {part.currency} = {wanted}" if part.currency == "epsilon" else f"it costs rho = {wanted} in zCDP"
    )
    text = (
        f"The budget of {dataset!r} does not cover this: {priced}; the allotment {part.name!r} "
        f"has {part.currency} = {rest} left, of {cap}. Nothing was spent and no data was read. "
        "Ask for less, use another allotment, or let the custodian raise the budget."
    )
    return BudgetError(text, asked=asked, left=left, allotment=part.name)


def closed_refusal(dataset: str, part: Allotment, asked: Charge) -> BudgetError:
    """The error for a charge to a budget that is closed."""
    text = (
        f"The budget of {dataset!r} is closed: nothing more is released from it. Nothing was spent and no data was "
        "read. Past releases can still be read for free."
    )
    return BudgetError(text, asked=asked, left=Charge(Fraction(0)), allotment=part.name)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A budget and a unit for a dataset, as its custodian declares them."""

    dataset: str
    budget: Budget
    unit: Protected
    who: str
    new: bool = False
    """Whether the custodian said that the ledger may have other names and not this one."""

    def __post_init__(self) -> None:
        label(self.dataset, "dataset")
        unit: object = self.unit
        if not isinstance(unit, Protected):
            allowed = "a Unit: Unit() is one row, Unit('patient') everything of one patient"
            raise InputError("unit", unit if isinstance(unit, str) else kind_of(unit), allowed)

    @property
    def account(self) -> Account:
        """The account that it will be."""
        return Account(self.dataset, self.budget, str(self.unit), "")

    @property
    def _detail(self) -> dict[str, Json]:
        return {"budget": self.budget.to_json(), "unit": str(self.unit)}

    def matches(self, reader: Reader) -> bool:
        """Whether the ledger has this budget; False if it has none; `InputError` if it is another one."""
        old = reader.latest(self.dataset, "open")
        if old is not None and not self._same(old.detail):
            hint = (
                "Nothing was changed. A custodian changes it with `discreet ledger raise` or `lower`, on record. "
                "Then write the new [budget] into the schema: `discreet ledger show` says what it is."
            )
            raise InputError(
                "budget", Phrase("another budget or unit"), f"the one that {self.dataset!r} has already", hint
            )
        return old is not None

    def _same(self, detail: Json) -> bool:
        return isinstance(detail, dict) and detail | {"unit": unit_text(detail["unit"])} == self._detail

    def check_name(self, reader: Reader) -> None:
        """`InputError` if the ledger has budgets and none for this name, unless it is new: it may be misspelt."""
        known = opened_datasets(reader)
        if self.new or not known or self.dataset in known:
            return
        hint = "A dataset that is new to this ledger gets its budget with: discreet ledger open."
        raise InputError("dataset", self.dataset, "a dataset with a budget on this ledger", hint, among=known)

    def record(self, writer: Writer) -> None:
        """Open the budget, unless it was opened under another spelling since it was declared."""
        if any(same_name(name, self.dataset) for name in opened_datasets(writer)):
            self.check_name(writer)
        append(writer, kind="open", dataset=self.dataset, who=self.who, detail=self._detail)


def same_name(one: str, other: str) -> bool:
    """Whether a reader would take one name of a dataset for the other."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    """A name without what a reader overlooks: case, width and spaces."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
