"""What a person is ready to pay, as a loss, a share or an accuracy, and the noise it buys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeVar

from discreet.accounting.calibrate import epsilon_within, rho_within
from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Explanation
from discreet.core.sensitivity import Sensitivity
from discreet.errors import MISSING, InputError, Phrase
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["Price", "amount_within", "plan_at", "plan_within"]

Noise = Laplace | Gaussian


class _Charged(Protocol):
    @property
    def charge(self) -> Charge: ...


P = TypeVar("P", bound=_Charged)

_LARGEST = 10**100  # far beyond any use, and within what a float can show


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a whole job: `epsilon`, `rho`, a `share` of the allotment, or an accuracy (`within`)."""

    way: str
    amount: Fraction
    confidence: float = 0.95
    noise: str = "auto"

    @classmethod
    def read(
        cls,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        noise: str = "auto",
    ) -> Price:
        """Exactly one way of saying it."""
        ways = {"epsilon": epsilon, "rho": rho, "share": share, "within": within}
        given = {name: value for name, value in ways.items() if value is not None}
        if len(given) != 1:
            raise InputError(
                "price", Phrase(" and ".join(given)) if given else MISSING, "exactly one of epsilon, rho, share, within"
            )
        ((way, value),) = given.items()
        amount = as_written(value, way)
        if amount <= 0:
            raise InputError(way, value, "more than zero")
        if amount > _LARGEST:
            raise InputError(way, value, "less than 1e100")
        if way == "share" and amount > 1:
            raise InputError("share", value, "at most 1 (the whole allotment)")
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
            raise InputError("confidence", confidence, "strictly between 0 and 1, such as 0.95")
        if noise not in ("auto", "laplace", "gaussian"):
            raise InputError("noise", noise, among=("auto", "laplace", "gaussian"))
        return cls(way, amount, float(confidence), noise)

    def buys(self, allotment: Allotment, moved: Sequence[Sensitivity], steps: Sequence[Fraction | None]) -> list[Noise]:
        """Noise for each measure, given its sensitivity and (for `within`) the size of one of its steps.

        A step of None marks a measure whose output's error depends on the data (a mean, say).
        """
        kind = self.kind(allotment)
        if self.way == "within":
            kinds = ("laplace", "gaussian") if self.noise == "auto" and allotment.kind == "zcdp" else (kind,)
            found = []
            for m, step in zip(moved, steps, strict=True):
                offers = [self._accurate(kind, m, step) for kind in kinds]
                found.append(min(offers, key=lambda noise: allotment.price(noise.loss(m)).amount))
            return found
        amount = self.amount
        if self.way == "share":
            amount *= allotment.cap.amount
        each = amount / len(moved)
        return [self._bought(kind, each, m) for m in moved]

    def _bought(self, kind: str, amount: Fraction, moved: Sensitivity) -> Noise:
        try:
            return Laplace.for_epsilon(amount, moved) if kind == "laplace" else Gaussian.for_rho(amount, moved)
        except InputError as problem:  # the scale is not what a person wrote: name what is
            more = "Narrow the bounds, or lower the limits on groups and rows of the unit."
            too_small = amount < moved.l1
            allowed = f"{'larger' if too_small else 'smaller'}: the scale of its noise must be {problem.allowed}"
            said = Phrase(readable(self.amount, direction="near"))
            raise InputError(self.way, said, allowed, more if too_small else "") from None

    def part(self, share: Fraction) -> Price:
        """A part of this price, said in the same way."""
        return replace(self, amount=self.amount * share)

    def spent(self, allotment: Allotment) -> tuple[str, Fraction]:
        """What is paid with, "epsilon" or "rho", and how much of it."""
        currency = "epsilon" if self.kind(allotment) == "laplace" else "rho"
        return currency, self.amount * (allotment.cap.amount if self.way == "share" else 1)

    def kind(self, allotment: Allotment) -> str:
        """Laplace where epsilon is counted; Gaussian, which errs less for the same rho, where rho is."""
        if self.way == "rho" and allotment.kind == "pure":
            hint = "Give epsilon, share or within."
            raise InputError("rho", self.amount, f"left out: allotment {allotment.name!r} is pure", hint)
        counted = "laplace" if allotment.kind == "pure" or self.way == "epsilon" else "gaussian"
        if self.noise in ("auto", counted):
            return counted
        if self.noise == "laplace" and self.way == "within":
            return "laplace"
        hint = "Leave noise out, or give the price as " + ("epsilon." if self.noise == "laplace" else "rho.")
        raise InputError("noise", self.noise, f"{counted}, given the price and the allotment {allotment.name!r}", hint)

    def _accurate(self, kind: str, moved: Sensitivity, step: Fraction | None) -> Noise:
        if step is None:
            hint = "Ask for the accuracy of a count or a sum, or give epsilon, rho or share."
            raise InputError(
                "within", float(self.amount), "left out for means and variances: their error depends on data", hint
            )
        within = int(self.amount / step)
        found = epsilon_within if kind == "laplace" else rho_within
        return self._bought(kind, found(within, self.confidence, 1, moved), moved)


def plan_at(price: Price, allotment: Allotment, planned: Callable[[Price], P]) -> P:
    """The plan that `planned` makes at a price, with the better noise for the same charge.

    Where rho is counted, an `epsilon` stands for the charge of that job with pure noise; Gaussian noise at that charge
    has half the variance or less. `noise="laplace"` keeps the pure noise.

    Guarantee: the plan's charge is at most that of the plan with pure noise; what a plan costs is stated by the plan.
    """
    if price.way != "epsilon" or allotment.kind != "zcdp" or price.noise == "laplace":
        return planned(price)
    pure = planned(replace(price, noise="auto"))
    try:
        better = planned(replace(price, way="rho", amount=pure.charge.amount))
    except InputError:  # so near to exact that no Gaussian noise of that scale is made
        if price.noise != "auto":
            raise
        return pure
    return better if better.charge.within(pure.charge) else pure


class _Stated(_Charged, Protocol):
    def explained(self) -> Explanation: ...


S = TypeVar("S", bound=_Stated)
_DEAREST = 1_000_000
_TRIES = 60


def plan_within(price: Price, allotment: Allotment, planned: Callable[[Price], S], *, currency: str | None = None) -> S:
    """The plan that `planned` makes at a price, which may be an accuracy: then every error it states is at most that.

    The price is the least one, in three digits. `currency` is what it is counted in, that of the allotment unless said.
    """
    if price.way != "within":
        return plan_at(price, allotment, planned)
    way = allotment.currency if currency is None else currency

    def at(amount: Fraction) -> S:
        return plan_at(replace(price, way=way, amount=amount), allotment, planned)

    return at(amount_within(lambda amount: _error(at(amount)), float(price.amount), allotment))


def _error(plan: _Stated) -> float:
    """The largest error that a plan states."""
    halves = [one.half_width for one in plan.explained().errors if one.half_width is not None]
    if not halves:
        raise InputError(
            "within",
            Phrase("an accuracy"),
            "left out: the error of this is not known beforehand",
            "Give epsilon, rho or share.",
        )
    return max(halves)


def amount_within(error: Callable[[Fraction], float], within: float, part: Allotment) -> Fraction:
    """The least price, in three digits, whose error is at most `within`.

    `error` falls as the price rises. Too small a price for any noise is an error without end.
    """
    if not 0 < within < float("inf"):
        raise InputError("within", within, "more than zero")
    tried = min(part.cap.amount / 10, Fraction(_DEAREST))
    error(tried)  # what is wrong with the question shows here
    low, high = Fraction(0), Fraction(0)
    for _ in range(_TRIES):
        tried = Fraction(readable(tried, 3))
        if tried > _DEAREST:
            break
        try:
            off = error(tried)
        except InputError:
            off = float("inf")
        if off <= within:
            high = tried
        else:
            low = tried
        if high and low:
            after = Fraction(readable(low * Fraction(10001, 10000), 3))  # the next price in three digits
            if after >= high:
                return high
            middle = Fraction(readable((float(low) * float(high)) ** 0.5, 3, "down"))
            tried = max(middle, after)
        else:
            ratio = min(max(off / within, 1e-3), 1e3)
            tried *= Fraction(ratio * (1.01 if low else 0.99)).limit_denominator(10**9)
    raise InputError("within", within, "an error that some price buys", "Nothing was spent.")
