"""How often a model is right, group by group, on private rows: a count of right and wrong answers, charged."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.core.digest import digest_of
from discreet.core.exact import Number
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.packing import pack, unpack
from discreet.core.unit import Unit
from discreet.core.wire import Json, loss_to_json
from discreet.errors import InputError, Phrase, kind_of
from discreet.learn.account import LedgerAccount
from discreet.learn.estimators.plan import FitPrice, Noise, claim_text, read_claim, read_price
from discreet.learn.group_accuracy import GroupAccuracy, columns_of, group_label, group_place
from discreet.ledger.budget import Allotment

if TYPE_CHECKING:
    from discreet.learn.release import ModelRelease

__all__ = ["AccuracyOffer", "AccuracyPlan", "NoisyAccuracy", "offer_accuracy", "right_and_wrong"]

_CONFIDENCE = 0.95
_MOST = 1000  # groups
_SIZES = (100, 1000, 10_000)
_ONE_ROW = (
    "an account whose unit is one row, added or removed",
    "Of a person with several rows such counts would tell more than is charged. Keep an account by rows.",
)


@dataclass(frozen=True, slots=True)
class NoisyAccuracy(GroupAccuracy):
    """Right answers among the private rows of one group, as noisy counts tell them.

    `lower` and `upper` are the ends of a 95% interval for the part that is right of *these* rows: of both counts, none
    is off by more than `off` with that probability. What other rows would have given is not in it.
    """

    off: float = 0.0

    @property
    def lower(self) -> float:
        """The lower end."""
        right, wrong = max(self.right - self.off, 0.0), max(self.rows - self.right, 0) + self.off
        return right / (right + wrong) if right else 0.0

    @property
    def upper(self) -> float:
        """The upper end."""
        right, wrong = self.right + self.off, max(self.rows - self.right - self.off, 0.0)
        return right / (right + wrong) if wrong else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        ends = {"lower": self.lower, "upper": self.upper}
        counts = {"group": self.group, "rows": self.rows, "right": self.right, "accuracy": self.accuracy}
        return {**counts, **ends, "off": self.off, "paid": self.paid}


@dataclass(frozen=True, eq=False)
class AccuracyPlan:
    """Two counts for each declared group, of rows that a model is right about and of others, priced.

    Guarantee: costs `cost` for each row added or removed. A row is in one group or none and its answer is right or
    wrong, which follows from that row and the published weights alone: it moves one of all counts, by one. What is
    made of the noisy counts is post-processing. Proof: docs/proofs/training.md.
    """

    kind: ClassVar[str] = "accuracy"
    version: ClassVar[int] = 1
    model: ModelRelease
    by: str
    groups: tuple[str, ...]
    price: FitPrice
    dataset: str

    @property
    def cost(self) -> Loss:
        """What the ledger is charged."""
        return self.price.cost

    @property
    def unit(self) -> Unit:
        """What is protected: one row, added or removed."""
        return Unit()

    @cached_property
    def noise(self) -> Noise:
        """On every count."""
        return self.price.noise(Fraction(1), l1=1, l2_squared=1)

    @property
    def mechanism(self) -> str:
        """What is done, in words."""
        return f"right and wrong answers of {len(self.groups):,} groups, {type(self.noise).__name__} noise"

    @property
    def query(self) -> dict[str, Json]:
        """What is asked, as plain values, for the record."""
        weights = hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in self.model.weights))
        asked: dict[str, Json] = {"model": self.model.id, "weights": weights.hexdigest(), "target": self.model.target}
        return {"accuracy": {**asked, "by": self.by, "groups": list(self.groups), "cost": loss_to_json(self.cost)}}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        return digest_of({"dataset": self.dataset, "query": self.query})

    def off(self) -> float:
        """How far neither count of a group is off, with 95% probability."""
        return float(self.noise.error(_CONFIDENCE, 2))

    def measure(self, data: _Judged, bits: Bits) -> dict[str, Any]:
        """Count and add the noise. Called by the one door only."""
        exact = right_and_wrong(self.model, data.rows, self.by, self.groups)
        return {"noisy": pack(self.noise.release(exact, bits=bits))}

    def publish(self, measured: Mapping[str, Any]) -> dict[str, Any]:
        """As it was measured."""
        return dict(measured)


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """Private rows, and the columns of them that decide the answer."""

    rows: Any
    names: tuple[str, ...]

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """What a fingerprint of the rows is made from."""
        return [np.array([str(value) for value in column]) for column in columns_of(self.rows, *self.names)]


@dataclass(frozen=True, eq=False, repr=False)
class AccuracyOffer:
    """The plan of such counts, and where it is paid. `print(offer)` before, `offer.release()` to spend."""

    plan: AccuracyPlan
    account: LedgerAccount
    rows: Any

    def explain(self) -> str:
        """The price, and how far off accuracies may be by the size of a group. Spends nothing and reads no row."""
        plan = self.plan
        price, off, many = claim_text(read_claim(plan.price)), plan.off(), len(plan.groups)
        # Both counts off by e and f move a share by |e W - f R| / (N N') <= off / (N - 2 off).
        sizes = [f"{rows:,} rows +-{min(off / max(rows - 2 * off, off), 1.0):.1%}" for rows in _SIZES]
        with self.account.opened() as ledger:
            left = ledger.remaining(self.account.dataset, self.account.allotment)
            part = ledger.account(self.account.dataset).budget.allotment(self.account.allotment)
        return "\n".join(
            [
                f"Right and wrong answers of {plan.model.id!r} by {plan.by}, {many:,} groups",
                f"Costs {price} from {part.name}, of which {part.currency} = {float(left.amount):.4g} is left.",
                f"Counts are within +-{off:,.0f} (95%). Accuracy of a group of " + ", of ".join(sizes) + " at most.",
            ]
        )

    def release(self) -> tuple[NoisyAccuracy, ...]:
        """Spend, open, count, record. `BudgetError` where it costs more than is left: nothing is read then."""
        plan = self.plan
        encoding = plan.model.encoding
        read = [name for part in encoding.parts for name in part.stored] if encoding is not None else []
        with self.account.opened() as ledger:
            rows = _Judged(self.rows, tuple(dict.fromkeys([*read, plan.by])))
            answer = self.account.charge(plan, rows, ledger, self._aim, _ONE_ROW)
        recorded = cast("dict[str, Any]", answer.result)
        noisy, off, paid = unpack(recorded["noisy"]), plan.off(), claim_text(read_claim(plan.price))
        found = []
        for group, (right, wrong) in zip(plan.groups, noisy.reshape(-1, 2).tolist(), strict=True):
            told, others = max(int(right), 0), max(int(wrong), 0)
            wide = off if told or others else max(off, 1.0)  # nothing is known of a group without rows
            found.append(NoisyAccuracy(group, max(told + others, 1), told, paid, wide))
        return tuple(found)

    def _aim(self, part: Allotment) -> Fraction | None:
        return (self.plan.price.delta or Fraction(0)) if part.kind == "plan" else None

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<accuracy by {self.plan.by}; print it to see its price>"


def offer_accuracy(
    model: ModelRelease,
    rows: Any,
    by: str,
    groups: Sequence[Any],
    price: tuple[Number | None, Number | None, Number | None],
    account: Mapping[str, Any],
) -> AccuracyOffer:
    """The counts of a model's right answers, priced; see `ModelRelease.private_accuracy`."""
    if model.encoding is None or not model.encoding.classes:
        raise InputError.refused("model", model.described["name"], "does not predict the classes of a table")
    if not isinstance(by, str) or not by:
        raise InputError("by", by, "the name of a column of the rows")
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise InputError("groups", kind_of(groups), "a list of the values that are counted: they are public")
    named = tuple(map(group_label, groups))
    if not 1 <= len(named) <= _MOST or len(set(named)) != len(named):
        raise InputError("groups", Phrase(f"{len(named):,}"), f"from 1 to {_MOST:,} different values")
    paid = LedgerAccount.read(account)
    if paid is None:
        hint = "What a model is right about on private rows is private. Public rows are counted by accuracy_by."
        raise InputError("ledger", None, "given: the counts are charged", hint)
    return AccuracyOffer(AccuracyPlan(model, by, named, read_price(*price), paid.dataset), paid, rows)


def right_and_wrong(model: ModelRelease, rows: Any, by: str, groups: Sequence[str]) -> NDArray[np.int64]:
    """How many rows of each group the model is right about, and how many not: in turn, all groups.

    Rows without a true answer count nowhere. What one row counts as does not depend on how a column is held: whole
    numbers, and yes and no, become floats where one of them is missing. Rows are judged one by one: how floats are
    added up for one must not depend on how many others there are.
    """
    if model.encoding is None:
        raise InputError.refused("model", model.described["name"], "does not predict the classes of a table")
    truth, (labels,) = model.encoding.truths(rows), columns_of(rows, by)
    counts = np.zeros(2 * len(groups), np.int64)
    for true, told, label in zip(truth, model.predict_each(rows), labels, strict=True):
        place = group_place(label, groups)
        if place is not None and true is not None:
            counts[2 * place + (told != true)] += 1
    return counts
