"""What may be spent on a dataset, and how it is divided.

A budget is a promise about everything ever released from a dataset: pure `epsilon`, zCDP `rho` (with a `delta` for
failures, if any), or `(epsilon, delta)`. It is divided into allotments, each with its own way of counting and with caps
that are fixed when the budget is opened. Proofs: docs/proofs/ledger.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from discreet.core.exact import Number, as_written, round_up
from discreet.core.integers import largest
from discreet.core.loss import ZCDP, Loss
from discreet.core.wire import Json, fraction
from discreet.errors import InputError

__all__ = ["QUESTIONS", "Allotment", "Budget", "Charge", "Kind", "label", "largest_rho", "shorten", "shortened"]

_LONG = 1024  # bits; a sum with a longer denominator than this takes further charges rounded up
_FINE = 10**30

Kind = Literal["pure", "zcdp", "plan"]
QUESTIONS = "questions"
"""The allotment that pays where none is named: all of a budget that is not divided, or a part of one that is."""

_STEPS = 10**12  # the cap on rho is a multiple of 1/_STEPS


@dataclass(frozen=True, slots=True)
class Charge:
    """An amount in the currency of an allotment (epsilon, or rho for zcdp), and a delta."""

    amount: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Charge) -> Charge:
        return Charge(self.amount + other.amount, self.delta + other.delta)

    def within(self, cap: Charge) -> bool:
        """Whether both parts fit, each under its own cap: the filter's rule."""
        return self.amount <= cap.amount and self.delta <= cap.delta

    def left_of(self, cap: Charge) -> Charge:
        """What `cap` still has when this much is spent, never below zero."""
        zero = Fraction(0)
        return Charge(max(zero, cap.amount - self.amount), max(zero, cap.delta - self.delta))


@dataclass(frozen=True, slots=True)
class Allotment:
    """A named part of a budget with one way of counting and fixed caps.

    * `pure`: epsilons add up to at most `epsilon`.
    * `zcdp`: rhos add up to at most `cap.amount` and failure deltas to at most `cap.delta`. Given `(epsilon, delta)`,
      `failure_share` of delta becomes the failure cap, and rho the largest that converts to epsilon with the rest.
    * `plan`: jobs whose steps are all fixed before they start, each charged its own (epsilon, delta); both add up.

    Guarantee: everything charged to it, however adaptively it was chosen, is (epsilon, delta)-private (`pure`,
    `plan`, and `zcdp` given so) or delta-approximately rho-zCDP (`zcdp` given by rho), as stated when it was made.

    >>> Allotment("questions", "zcdp", epsilon=1, delta=1e-6).cap.delta
    Fraction(1, 2000000)
    """

    name: str
    kind: Kind
    epsilon: Fraction | None
    delta: Fraction
    cap: Charge

    def __init__(
        self,
        name: str,
        kind: Kind,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number = 0,
        failure_share: Number = Fraction(1, 2),
    ) -> None:
        label(name, "allotment.name")
        if kind not in get_args(Kind):
            raise InputError("allotment.kind", kind, among=("pure", "zcdp", "plan"))
        missed = _delta(delta, "allotment.delta")
        share = as_written(failure_share, "allotment.failure_share")
        if not 0 <= share < 1:
            raise InputError("allotment.failure_share", failure_share, "at least 0 and less than 1")
        if (epsilon is None) == (rho is None):
            raise InputError("allotment.epsilon", epsilon, "given if rho is not, and left out if it is")
        if rho is not None:
            if kind != "zcdp":
                raise InputError("allotment.rho", rho, f"left out: a {kind} allotment counts epsilon")
            self._set(name, kind, None, missed, Charge(_positive(rho, "allotment.rho"), missed))
            return
        target = _positive(epsilon, "allotment.epsilon")
        match kind:
            case "pure":
                if missed:
                    raise InputError("allotment.delta", delta, "0: a pure allotment has no delta")
                cap = Charge(target)
            case "plan":
                cap = Charge(target, missed)
            case "zcdp":
                failure = share * missed
                cap = Charge(largest_rho(target, missed - failure), failure)
        self._set(name, kind, target, missed, cap)

    def _set(self, name: str, kind: Kind, epsilon: Fraction | None, delta: Fraction, cap: Charge) -> None:
        for field, value in (("name", name), ("kind", kind), ("epsilon", epsilon), ("delta", delta), ("cap", cap)):
            object.__setattr__(self, field, value)

    @property
    def currency(self) -> str:
        """What the amount of a charge is called here."""
        return "rho" if self.kind == "zcdp" else "epsilon"

    def price(self, loss: Loss, delta: Number | None = None) -> Charge:
        """What `loss` costs here; `LossError` if it cannot be counted this way.

        `delta` is for `plan` allotments only: the share of delta that the job is to use.
        """
        from discreet.accounting.convert import approx, pure, zcdp

        if self.kind != "plan" and delta is not None:
            raise InputError("delta", delta, f"left out: a {self.kind} allotment takes no delta to aim at")
        match self.kind:
            case "pure":
                return Charge(pure(loss).epsilon)
            case "zcdp":
                spread = zcdp(loss)
                return Charge(spread.rho, spread.delta)
            case "plan":
                if delta is None:
                    hint = f"Pass delta=..., at most the {float(self.cap.delta):.3g} of the allotment."
                    raise InputError("delta", delta, f"given to charge the plan allotment {self.name!r}", hint)
                claim = approx(loss, delta)
                return Charge(claim.epsilon, claim.delta)

    def to_json(self) -> dict[str, Json]:
        """Plain values, caps included: they stay what they were, whatever later versions could compute."""
        return {
            "name": self.name,
            "kind": self.kind,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": str(self.delta),
            "cap": {"amount": str(self.cap.amount), "delta": str(self.cap.delta)},
        }

    @classmethod
    def from_json(cls, value: Any) -> Allotment:
        """Read back; the caps are taken as recorded."""
        allotment = object.__new__(cls)
        epsilon = value["epsilon"]
        allotment._set(
            value["name"],
            value["kind"],
            None if epsilon is None else fraction(epsilon, "allotment.epsilon"),
            fraction(value["delta"], "allotment.delta"),
            Charge(fraction(value["cap"]["amount"], "cap.amount"), fraction(value["cap"]["delta"], "cap.delta")),
        )
        return allotment


@dataclass(frozen=True, slots=True)
class Budget:
    """The promise for a whole dataset: `Budget(epsilon=1)`, `Budget(rho=0.5)` or `Budget(epsilon=3, delta=1e-6)`.

    Without `allotments` everything goes to one called "questions": pure for a pure budget, else zcdp.

    Guarantee: everything released under it is epsilon-private, delta-approximately rho-zCDP or (epsilon,
    delta)-private, as written. Across allotments the parts add up (basic composition); a division whose sum is more is
    refused.

    >>> Budget(rho=0.5).allotments[0].cap.amount
    Fraction(1, 2)
    """

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction
    allotments: tuple[Allotment, ...]

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
        delta: Number = 0,
        allotments: Iterable[Allotment] = (),
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise InputError("budget.epsilon", epsilon, "given if rho is not, and left out if it is")
        missed = _delta(delta, "budget.delta")
        total = None if epsilon is None else _positive(epsilon, "budget.epsilon")
        spread = None if rho is None else _positive(rho, "budget.rho")
        parts = tuple(allotments)
        if not parts:
            kind: Kind = "pure" if rho is None and not missed else "zcdp"
            parts = (Allotment(QUESTIONS, kind, epsilon=total, rho=spread, delta=missed),)
        self._set(total, spread, missed, parts)
        self._check()

    def _set(
        self, epsilon: Fraction | None, rho: Fraction | None, delta: Fraction, allotments: tuple[Allotment, ...]
    ) -> None:
        for field, value in (("epsilon", epsilon), ("rho", rho), ("delta", delta), ("allotments", allotments)):
            object.__setattr__(self, field, value)

    def _check(self) -> None:
        names = [part.name for part in self.allotments]
        if len(set(names)) < len(names):
            raise InputError("allotments", names, "names that differ")
        zero = Fraction(0)
        if self.rho is not None:
            wrong = [part.name for part in self.allotments if part.kind != "zcdp" or part.epsilon is not None]
            if wrong:
                raise InputError("allotments", wrong, "zcdp allotments given by rho, in a budget of rho")
            field, limit, asked = "rho", self.rho, sum((part.cap.amount for part in self.allotments), zero)
        else:
            wrong = [part.name for part in self.allotments if part.epsilon is None]
            if wrong:
                raise InputError("allotments", wrong, "allotments given by epsilon (and delta), in a budget of epsilon")
            field, limit = "epsilon", self.epsilon or zero
            asked = sum((part.epsilon or zero for part in self.allotments), zero)
        if asked > limit:
            raise InputError(f"allotments.{field}", asked, f"at most the budget's in all, {field} = {limit}")
        missed = sum((part.delta for part in self.allotments), zero)
        if missed > self.delta:
            raise InputError("allotments.delta", missed, f"at most the budget's in all, delta = {self.delta}")

    def allotment(self, name: str | None) -> Allotment:
        """The allotment called `name`. Without a name: the only one, or, of several, the one called `questions`."""
        if name is None and len(self.allotments) == 1:
            return self.allotments[0]
        wanted = QUESTIONS if name is None else name
        for part in self.allotments:
            if part.name == wanted:
                return part
        names = [part.name for part in self.allotments]
        hint = "The budget is divided; say which part pays." if name is None else ""
        raise InputError("allotment", name, hint=hint, among=names)

    def to_json(self) -> dict[str, Json]:
        """Plain values, exact."""
        return {
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "rho": None if self.rho is None else str(self.rho),
            "delta": str(self.delta),
            "allotments": [part.to_json() for part in self.allotments],
        }

    @classmethod
    def from_json(cls, value: Any) -> Budget:
        """Read back what `to_json` wrote."""
        budget = object.__new__(cls)
        epsilon, rho = value["epsilon"], value["rho"]
        budget._set(
            None if epsilon is None else fraction(epsilon, "budget.epsilon"),
            None if rho is None else fraction(rho, "budget.rho"),
            fraction(value["delta"], "budget.delta"),
            tuple(Allotment.from_json(part) for part in value["allotments"]),
        )
        budget._check()
        return budget


def shorten(price: Charge, spent: Charge) -> Charge:
    """The price, rounded up only if exact sums would otherwise grow without end."""
    total = spent + price
    if max(total.amount.denominator.bit_length(), total.delta.denominator.bit_length()) <= _LONG:
        return price
    return Charge(round_up(price.amount, _FINE), round_up(price.delta, _FINE))


def shortened(total: Fraction) -> Fraction:
    """A sum, rounded up only if it would otherwise grow without end."""
    return total if total.denominator.bit_length() <= _LONG else round_up(total, _FINE)


def label(value: str, field: str) -> str:
    """A name that can stand in a column, a file name or a message."""
    if not isinstance(value, str) or not 1 <= len(value) <= 200 or not value.isprintable():
        raise InputError(field, value, "a printable text of 1 to 200 characters")
    return value


def _positive(value: Number | None, field: str) -> Fraction:
    number = as_written(value if value is not None else "", field)
    if number <= 0:
        raise InputError(field, value, "more than zero")
    return number


def _delta(value: Number, field: str) -> Fraction:
    number = as_written(value, field)
    if not 0 <= number < 1:
        raise InputError(field, value, "at least 0 and less than 1", "Choose it well below 1 / (number of units).")
    return number


def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho (a multiple of 1/_STEPS) whose (epsilon, delta) is checked to be within epsilon."""
    from discreet.accounting.convert import approx

    if delta == 0:
        hint = "Give it a delta, or use a pure allotment."
        raise InputError("allotment.delta", 0, "more than zero for a zcdp allotment given by epsilon", hint)

    def fits(steps: int) -> bool:
        return approx(ZCDP(Fraction(steps, _STEPS)), delta, tight=False).epsilon <= epsilon

    steps = largest(fits)
    if steps == 0:
        raise InputError("allotment.epsilon", epsilon, "larger: at this delta no rho above 1e-12 fits in it")
    return Fraction(steps, _STEPS)
