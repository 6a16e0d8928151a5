"""One line of the ledger, chained to the line before it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

from discreet.core.version import DataVersion
from discreet.core.wire import Json, canonical, fraction
from discreet.errors import LedgerError
from discreet.ledger.budget import Charge

__all__ = ["GENESIS", "Head", "Kind", "Record"]

Kind = Literal["open", "charge", "measurement", "answer", "failure", "note", "close", "cap", "custody"]

# Fields that 0.1 did not write: left out where they say nothing, so that its hashes stay what they are.
_LATER = {"unit": "", "cover": None, "totals": "", "accounts": "", "epsilons": ""}
_DOMAIN = b"discreet ledger record 1\n"  # so that no other hash of ours can be mistaken for one of these


class Head(NamedTuple):
    """Where a chain ends: its last sequence number and hash."""

    sequence: int
    hash: str


GENESIS = Head(0, "0" * 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What happened, once and for all.

    * `open`: a budget was opened, raised or lowered; `detail` holds it, with the unit of privacy.
    * `close`: nothing is charged to the dataset any more.
    * `charge`: `charge` was spent from `allotment` for `release`; `loss`, `query`, `digest`, `mechanism` say on what,
      `unit` for whom (charges of 0.1 have none); `cover` names the paid release of a step that costs nothing;
      `detail` says which version of the data is read, and what was asked for at which price.
    * `measurement`: what was drawn for `release`, as JSON text: all that its answer is made from. Since 0.2.
    * `answer`: the result of `release`, as JSON text; none where it is the measurement as it stands. `detail` of these
      two names the kind of job and the version of the form they are in (records before 0.2 have none).
    * `failure`: `release` has no answer and never will; `detail` holds a reason code.
    * `cap`: how much callers may spend of a dataset in a period; `detail` holds all caps from then on. Since 0.2.
    * `custody`: what people changed on a server: tokens, schemas, surveys; `detail` says which and how. Since 0.2.
    * `note`: something a custodian should see, such as a second attempt at a release whose answer was lost.

    `totals` is a hash of all totals after the record, `accounts` one of all `open` and `close` records before it, in
    records since 0.2; `epsilons` one of all plain sums of epsilons after it, in ledgers of format 2.
    `hash` is SHA-256 over the canonical JSON of every other field, `previous` among them.
    """

    sequence: int
    time: str
    kind: Kind
    dataset: str
    who: str
    previous: str
    allotment: str = ""
    amount: Fraction | None = None
    delta: Fraction | None = None
    why: str = ""
    release: str = ""
    digest: str = ""
    mechanism: str = ""
    loss: Json = None
    query: Json = None
    detail: Json = None
    result: str | None = None
    unit: str = ""
    cover: Json = None
    totals: str = ""
    accounts: str = ""
    epsilons: str = ""

    @classmethod
    def after(cls, head: Head, *, charge: Charge | None = None, **values: Any) -> Record:
        """The record that follows `head`, now."""
        spent: dict[str, Any] = {} if charge is None else {"amount": charge.amount, "delta": charge.delta}
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        return cls(sequence=head.sequence + 1, time=now, previous=head.hash, **spent, **values)

    @property
    def charge(self) -> Charge:
        """What was spent; nothing, for records that are not charges."""
        return Charge(self.amount or Fraction(0), self.delta or Fraction(0))

    @property
    def data(self) -> DataVersion | None:
        """The version of the data a charge was made for; None if it names none, as in the first version."""
        return DataVersion.from_json(self.detail.get("data")) if isinstance(self.detail, dict) else None

    @property
    def head(self) -> Head:
        """The end of a chain that ends here."""
        return Head(self.sequence, self.hash)

    @property
    def hash(self) -> str:
        """SHA-256 over everything else."""
        return self.hash_of(self.body())

    @staticmethod
    def hash_of(body: str) -> str:
        """The hash of a record's body."""
        return hashlib.sha256(_DOMAIN + body.encode()).hexdigest()

    def body(self) -> str:
        """The text that is hashed and kept."""
        return canonical(self.to_json(), "record")

    def to_json(self) -> dict[str, Json]:
        """Plain values, exact."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("amount", "delta"):
            values[name] = None if values[name] is None else str(values[name])
        return {name: value for name, value in values.items() if name not in _LATER or value != _LATER[name]}

    @classmethod
    def from_body(cls, body: str) -> Record:
        """Read a record as kept; `LedgerError` if it is not one."""
        try:
            values = json.loads(body)
        except ValueError as error:
            raise _unreadable(error) from None
        return cls.from_values(values)

    @classmethod
    def from_values(cls, values: Any) -> Record:
        """Read a record from the plain values of its body; `LedgerError` if they are not those of one."""
        try:
            exact = {
                name: None if values[name] is None else fraction(values[name], name) for name in ("amount", "delta")
            }
            if values["kind"] not in get_args(Kind):
                raise ValueError(values["kind"])
            return cls(**{**values, **exact})
        except (ValueError, TypeError, KeyError) as error:
            raise _unreadable(error) from None


def _unreadable(error: Exception) -> LedgerError:
    return LedgerError(
        f"The ledger holds a record that cannot be read ({type(error).__name__}). Run `discreet ledger verify`."
    )
