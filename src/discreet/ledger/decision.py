"""What a custodian decides about a budget: checked, said in words, and done once somebody agreed.

Commands and pages show the same lines, ask the same question and make the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from discreet.core.unit import Protected
from discreet.errors import InputError, Phrase
from discreet.ledger.account import Account, spent_of
from discreet.ledger.budget import Budget
from discreet.ledger.custody import Change, check_change
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text

__all__ = [
    "Decision",
    "change_of",
    "check_reason",
    "decide_change",
    "decide_closing",
    "decide_opening",
    "known_account",
]

_UNCHANGED = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Decision:
    """A change that is allowed and not made yet: what it does, what to agree to, and what is said afterwards."""

    dataset: str
    changes: tuple[tuple[str, str, str], ...]
    """Of each allotment its name, what it has and what it will have; nothing where it is new, or will be gone."""
    heading: str
    promise: tuple[str, ...]
    question: str
    done: str
    act: Callable[[str, str], Account]
    reasoned: bool = True
    """Whether a reason goes on the record with it."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What was and what will be, a line for each allotment."""
        first = not any(before for _, before, _ in self.changes)
        return tuple(f"{name}: {_line(before, after, first)}." for name, before, after in self.changes)

    @property
    def words(self) -> tuple[str, ...]:
        """Everything to read before the question."""
        return (self.heading, *(f"  {line}" for line in self.lines), *self.promise)

    def make(self, *, who: str, why: str = "") -> Account:
        """Put it on record."""
        return self.act(who, check_reason(why) if self.reasoned else "")


@dataclass(frozen=True, slots=True)
class _Way:
    """How one kind of change is spoken of."""

    promise: tuple[str, ...]
    question: str
    done: str
    act: Callable[..., Account]


_WAYS: dict[Change, _Way] = {
    "raise": _Way(
        ("The promise becomes the larger one, for everything released before as well.",),
        "Raise it?",
        "is raised",
        Ledger.raise_budget,
    ),
    "lower": _Way((), "Lower it?", "is lowered", Ledger.lower_budget),
    "divide": _Way(
        ("The promise of the whole becomes no larger.",), "Divide it so?", "is divided anew", Ledger.divide_budget
    ),
}


def check_reason(why: str, field: str = "why") -> str:
    """The reason itself, which must say something."""
    if not why.strip():
        raise InputError(field, why, "a reason, in words: it is recorded", _UNCHANGED)
    return why


def known_account(ledger: Ledger, dataset: str) -> Account:
    """The account of a dataset whose budget is on record."""
    if dataset not in ledger.datasets():
        allowed = "a dataset with a budget on this ledger"
        raise InputError("dataset", dataset, allowed, _UNCHANGED, among=ledger.datasets())
    return ledger.account(dataset)


def decide_opening(ledger: Ledger, dataset: str, budget: Budget, unit: Protected) -> Decision:
    """Open the budget of a dataset that has none on record; one that it has already must be the same."""
    known = ledger.datasets()
    new = dataset not in known
    other = (f"This ledger has budgets for {', '.join(known)}. Is {dataset!r} none of them?",) if known and new else ()
    return Decision(
        dataset,
        tuple((part.name, "", price_text(part, part.cap, "down")) for part in budget.allotments),
        f"Opens a budget for {dataset!r}, which protects {unit}:",
        other,
        "Open it?",
        "is open" if new else "was open already",
        lambda who, why: ledger.create(dataset, budget, unit=unit, who=who),
        reasoned=False,
    )


def decide_change(ledger: Ledger, dataset: str, budget: Budget, change: Change) -> Decision:
    """Give a dataset another budget, in one of three ways; `InputError` where that way does not lead there."""
    account = known_account(ledger, dataset)
    account.check_open()
    with ledger._store.read() as reader:
        check_change(account, change, budget, spent_of(reader, account))
    if budget == account.budget and change != "lower":
        size = "larger than" if change == "raise" else "divided otherwise than"
        hint = "Nothing was changed. Write the new budget into the schema, or name it with --epsilon or --rho."
        raise InputError("budget", Phrase("the same"), f"{size} {dataset!r} has already", hint)
    way = _WAYS[change]
    return Decision(
        dataset,
        tuple(_changes(account, budget)),
        f"The budget of {dataset!r}, which protects {account.unit}:",
        way.promise,
        way.question,
        way.done,
        lambda who, why: way.act(ledger, dataset, budget, who=who, why=why),
    )


def change_of(account: Account, budget: Budget) -> Change:
    """Which way leads from the budget of an account to another one: larger, smaller, or the same divided otherwise."""
    old = {part.name: part for part in account.budget.allotments}
    new = {part.name: part for part in budget.allotments}
    if all(name in new and part.cap.within(new[name].cap) for name, part in old.items()):
        return "raise"
    if all(name in old and part.cap.within(old[name].cap) for name, part in new.items()):
        return "lower"
    return "divide"


def decide_closing(ledger: Ledger, dataset: str) -> Decision:
    """Charge nothing to a dataset any more."""
    known_account(ledger, dataset)
    return Decision(
        dataset,
        (),
        f"Nothing more will be released from {dataset!r}. This cannot be undone.",
        (),
        "Close it?",
        "is closed",
        lambda who, why: ledger.close_budget(dataset, who=who, why=why),
    )


def _changes(account: Account, budget: Budget) -> Iterator[tuple[str, str, str]]:
    old = {part.name: price_text(part, part.cap, "down") for part in account.budget.allotments}
    new = {part.name: price_text(part, part.cap, "down") for part in budget.allotments}
    yield from ((name, old.get(name, ""), after) for name, after in new.items())
    yield from ((name, before, "") for name, before in old.items() if name not in new)


def _line(before: str, after: str, first: bool) -> str:
    if not before:
        return after if first else f"new: {after}"
    return f"{before} -> {after or 'none'}"
