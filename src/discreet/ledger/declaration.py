"""The budget a dataset is to have: written in a schema, on the books with the first charge."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from discreet.core.unit import Protected
from discreet.core.wire import Json
from discreet.errors import InputError, Phrase, kind_of
from discreet.ledger.account import Account, opened_datasets, unit_text
from discreet.ledger.budget import Budget, label
from discreet.ledger.custody import append
from discreet.ledger.store import Reader, Writer

__all__ = ["Declaration"]


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
        """Whether the books have this budget; False if they have none; `InputError` if it is another one."""
        old = reader.latest(self.dataset, "open")
        if old is not None and not self._same(old.detail):
            hint = "Nothing was changed. A custodian changes it with `discreet ledger raise` or `lower`, on record."
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
        if any(_folded(name) == _folded(self.dataset) for name in opened_datasets(writer)):
            self.check_name(writer)
        append(writer, kind="open", dataset=self.dataset, who=self.who, detail=self._detail)


def _folded(name: str) -> str:
    """A name without what a reader overlooks: case, width and spaces."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
