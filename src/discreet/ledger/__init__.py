"""Budgets that cannot be overspent: durable charges before any data is read, and the one door behind which it is read.

* `Ledger` holds records; `Budget` and `Allotment` say what may be spent, a `Charge` what was, a `Quote` what would be.
* `release` is the door, the only place that opens private data; `publish` makes an `Answer` of what is on record.
* `Account`, `Outcome`, `Record`, `Verification` and `Discrepancy` are what a ledger says of itself.

Stores are SQLite and PostgreSQL; `guard` and `anchor` notice a ledger restored from an old copy; `verification` checks
everything again from the records; `export` writes them for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.ledger.account import Account as Account
    from discreet.ledger.account import Standing as Standing
    from discreet.ledger.budget import Allotment as Allotment
    from discreet.ledger.budget import Budget as Budget
    from discreet.ledger.budget import Charge as Charge
    from discreet.ledger.discrepancy import Discrepancy as Discrepancy
    from discreet.ledger.door import Answer as Answer
    from discreet.ledger.door import publish as publish
    from discreet.ledger.door import release as release
    from discreet.ledger.ledger import Ledger as Ledger
    from discreet.ledger.outcome import Outcome as Outcome
    from discreet.ledger.quote import Quote as Quote
    from discreet.ledger.record import Record as Record
    from discreet.ledger.verification import Verification as Verification

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "account": ("Account", "Standing"),
        "budget": ("Allotment", "Budget", "Charge"),
        "discrepancy": ("Discrepancy",),
        "door": ("Answer", "publish", "release"),
        "ledger": ("Ledger",),
        "outcome": ("Outcome",),
        "quote": ("Quote",),
        "record": ("Record",),
        "verification": ("Verification",),
    },
)
