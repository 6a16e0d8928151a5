"""A priced release of private numbers: noise on every one, then the nearest numbers that meet what is public."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.constraints.convex import Convex, Fit, Window, fit
from discreet.constraints.hidden.distance_plan import NO_NUMBER, ROOM, DistancePlan, Repaired, Steps
from discreet.constraints.hidden.slope import check_slope, exact_slope, public_points
from discreet.constraints.hidden.terms import (
    check_confidence,
    check_noise,
    check_steps,
    read_part,
    read_positive,
    read_share,
)
from discreet.constraints.hidden.values import ValuesSchema
from discreet.constraints.quadratic import Quadratic
from discreet.constraints.system import Between, Constraint, stack
from discreet.core.exact import as_written
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.release import number, percent
from discreet.core.wire import Json
from discreet.errors import MISSING, InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Laplace
from discreet.query.plan import noise_name

if TYPE_CHECKING:
    from discreet.constraints.hidden.ask import HideAsk

__all__ = ["HidePlan", "plan_hidden"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HidePlan(DistancePlan):
    """How private numbers will be released, and the price. Nothing is read and nothing is spent by making one.

    Guarantee
        Whatever `measure` returns is epsilon-differentially private, with epsilon the whole price, for neighbours that
        differ in one number by at most `alpha`; numbers that are k steps apart in sum are indistinguishable up to
        epsilon * k / shift (with a measured optimum, where k is at least `shift`). Constraints, bounds and a declared
        optimum are public. A measured optimum relies on `lipschitz`: that the objective, between the bounds, moves by
        at most that for each unit that one number moves. Of a `Quadratic` that is checked, and its value is exact; of
        other functions the custodian declares it, and they are computed to a few last digits of their largest value.
        Proof: docs/proofs/constraints.md.
    """

    kind: ClassVar[str] = "hidden"
    schema: ValuesSchema
    declared: Fraction | None
    lipschitz: Fraction | None
    objective: Convex | None = field(default=None, repr=False)
    constraints: tuple[Convex | Constraint, ...] = field(default=(), repr=False)

    @property
    def money(self) -> Fraction:
        """What a measured optimum is rounded to: what the objective moves at most for one step of one number."""
        return (self.lipschitz or Fraction(1)) * self.step

    @property
    def optimum_noise(self) -> Laplace | None:
        """What is added to a measured optimum, in steps of `money`: one more than the shift, for what floats lose."""
        return None if self.optimum_epsilon is None else Laplace.for_epsilon(self.optimum_epsilon, self.shift + 1)

    def optimum_loss(self) -> Loss | None:
        """What a measured optimum costs."""
        return None if self.optimum_noise is None else self.optimum_noise.loss(self.shift + 1)

    @property
    def optimum_mechanism(self) -> str:
        """What adds noise to a measured optimum, in words."""
        return "" if self.optimum_noise is None else f"{noise_name(self.optimum_noise)} on the optimum"

    @property
    def query(self) -> dict[str, Json]:
        """The question as plain values, for the record."""
        found: dict[str, Json] = {
            "hidden": list(self.schema.names),
            "alpha": str(self.schema.alpha),
            "measure": self.schema.counted_in,
            "step": str(self.step),
            "bounds": [str(self.least * self.step), str(self.most * self.step)],
            "constraints": [one.name for one in self.constraints],
        }
        if self.objective is not None:
            said = "measured" if self.declared is None else f"declared public: {float(self.declared):.12g}"
            found |= {"objective": self.objective.name, "optimum": said, "beta": str(self.beta)}
        return {**found, "rules": self.schema.rules.to_dict()} if self.schema.rules else found

    @property
    def law(self) -> dict[str, Json]:
        """The optimum, and which function a measured one is that of: its values at public points."""
        exact = {"exact": self.objective.to_dict()} if isinstance(self.objective, Quadratic) else {}
        return {"optimum": [str(self.declared), str(self.lipschitz)], "objective": self._objective_at(), **exact}

    def _objective_at(self) -> list[Json]:
        if self.objective is None or self.optimum_epsilon is None:
            return []
        low, high = float(self.least * self.step), float(self.most * self.step)
        return [f"{self.objective.value(x):.9g}" for x in public_points(len(self.schema.names), low, high)]

    @property
    def keys(self) -> dict[str, list[Any]]:
        """The names of the numbers."""
        return {"name": list(self.schema.names)}

    def shape(self) -> str:
        """What is released, and what is taken for public."""
        ends = f"{float(self.least * self.step):g} to {float(self.most * self.step):g} in steps of {float(self.step):g}"
        return f"Releases {len(self.schema.names):,} numbers, {ends}. Public: their names, constraints, bounds."

    @property
    def facts(self) -> dict[str, Any]:
        """How many numbers there are."""
        return {"values": len(self.schema.names)}

    def steps_taken(self) -> list[str]:
        """What becomes of the optimum, and the repair."""
        steps = []
        if self.objective is not None and self.optimum_noise is not None:
            half = number(float(self.optimum_noise.error(self.confidence) * self.money))
            paid = f"measured with epsilon = {float(self.optimum_epsilon or 0):g}"
            word = "as its weights and the bounds have it" if self._known else "declared by the custodian"
            slope = f"moves by at most {float(self.lipschitz or 0):g} for each unit of a number: {word}"
            sure = percent(self.confidence)
            steps.append(f"Optimum of {self.objective.name}: {paid}, +-{half} ({sure}); it {slope}.")
        elif self.objective is not None:
            public = number(float(self.declared or 0))
            steps.append(f"Optimum of {self.objective.name}: {public}, declared public, not paid for.")
        if self.objective is not None or self.constraints:
            names = ", ".join(one.name for one in self.constraints) or "the bounds"
            near = f", with {self.objective.name} within {percent(float(self.beta))} of it" if self.objective else ""
            steps.append(f"Repair: the nearest numbers found that meet {names}{near}.")
        return steps

    @property
    def unread(self) -> str:
        """What becomes of text that is no number, in a file."""
        return NO_NUMBER if self.schema.column else ""

    @property
    def _known(self) -> bool:
        """Whether how far the objective moves is known, and not believed."""
        return isinstance(self.objective, Quadratic)

    def optimum(self, exact: Steps, noisy: Steps, bits: Bits) -> float | None:
        """The objective of the true numbers, with noise; None where it is not measured."""
        noise = self.optimum_noise
        if noise is None or self.objective is None:
            return None
        return float(int(noise.release([self.height(exact)], bits=bits)[0]) * self.money)

    def height(self, steps: Steps) -> int:
        """The objective of numbers in whole steps, in units of `money`, without noise.

        Whatever it does, there is one: an error would tell of the numbers.
        """
        if isinstance(self.objective, Quadratic):
            value = self.objective.exact([int(count) * self.step for count in steps])
            return max(-ROOM, min(ROOM, (value / self.money + Fraction(1, 2)).__floor__()))
        try:
            found = float(self.objective.function(self.numbers(steps))) / float(self.money)  # type: ignore[union-attr]
        except Exception:
            found = 0.0
        return 0 if math.isnan(found) else round(max(min(found, float(ROOM)), -float(ROOM)))

    def repaired(self, noisy: Steps, measured: float | None) -> Repaired:
        """The nearest numbers that meet constraints, with the objective in its window, and how far that went."""
        window = self.window(measured)
        found, met = self._met(self.numbers(noisy), window)
        report = {
            "objective": found.objective,
            "optimum": None if window is None else window.optimum,
            "optimum_is": "measured" if self.declared is None else "declared public",
            "beta": float(self.beta),
            "within": found.within,
            "nearest": found.nearest,
            "violation": found.violation,
        }
        values = [float(f"{value:.12g}") for value in found.values.tolist()]
        return Repaired(values, report, (*self._promise(), *met))

    def window(self, measured: float | None) -> Window | None:
        """Where the objective is to lie: about the declared optimum, or the measured one; None without either."""
        optimum = float(self.declared) if self.declared is not None else measured
        if self.objective is None or optimum is None:
            return None
        return Window(self.objective, optimum, float(self.beta))

    def _met(self, noisy: NDArray[np.float64], window: Window | None) -> tuple[Fit, list[Note]]:
        """The nearest numbers that meet constraints, without the window where noise moved it out of their reach."""
        try:
            return self.nearest(noisy, window), []
        except InputError:
            if window is None:
                raise
        found = self.nearest(noisy, None)  # what was paid for is published
        cost = float(window.objective.function(found.values))
        moved = f"Noise moved the {window.objective.name} that was measured out of their reach."
        reason = (
            moved if self.declared is None else f"What was declared of {window.objective.name} is out of their reach."
        )
        text = f"Numbers meet the constraints alone. {reason}"
        return replace(found, objective=cost, within=False), [Note("repaired", text, ("value",))]

    def nearest(self, noisy: NDArray[np.float64], window: Window | None) -> Fit:
        """The nearest numbers that meet constraints."""
        bounds = Between("bounds", float(self.least * self.step), float(self.most * self.step))
        if not self.constraints and window is None:
            inside = np.clip(noisy, float(bounds.lower), float(bounds.upper))
            return Fit(inside, None, 0.0, within=True, nearest=True, rounds=0)
        return fit(noisy, [bounds, *self.constraints], window=window)

    def _promise(self) -> list[Note]:
        """What the price of a measured optimum rests on."""
        if self.objective is None or self.lipschitz is None or self._known:
            return []
        slope = f"moves by at most {float(self.lipschitz):g} for each unit of a number"
        text = (
            f"The custodian declares that {self.objective.name}, which was measured, {slope}. The guarantee rests on "
            "that."
        )
        return [Note("promise", text, ("value",))]


def plan_hidden(
    schema: ValuesSchema, ask: HideAsk, allotment: Allotment, epsilon: Fraction, confidence: float
) -> HidePlan:
    """Read what is asked and price it. Every error comes from here, before anything is read or spent."""
    check_confidence(confidence)
    step = read_positive(ask.step, "step")
    if ask.highest is None:
        raise InputError("highest", MISSING, "given: the most that one number may be, which is public")
    low, high = as_written(ask.lowest, "lowest"), as_written(ask.highest, "highest")
    least, most = -((-low / step).__floor__()), (high / step).__floor__()
    if low >= high:
        raise InputError("highest", ask.highest, "more than lowest")
    check_steps(least, most, ask.step, "between the bounds")
    if schema.alpha > high - low:
        raise InputError("alpha", float(schema.alpha), f"at most {float(high - low):g}, the distance of the bounds")
    constraints = tuple(ask.constraints or ())
    ends = Between("bounds", float(low), float(high))
    stack([ends, *(one for one in constraints if not isinstance(one, Convex))], len(schema.names))
    for one in (ask.objective, *constraints):
        if isinstance(one, Quadratic):
            one.check(len(schema.names))
    declared, paid = _optimum(ask, epsilon)
    slope = None if paid is None else _slope(ask, len(schema.names), least * step, most * step)
    plan = HidePlan(
        schema=schema,
        allotment=allotment,
        step=step,
        least=least,
        most=most,
        values_epsilon=epsilon - (paid or 0),
        optimum_epsilon=paid,
        declared=declared,
        beta=read_part(ask.beta, "beta"),
        lipschitz=slope,
        confidence=confidence,
        objective=ask.objective,
        constraints=constraints,
    )
    check_noise(plan, ask.step)
    if ask.objective is not None and slope is not None:
        check_slope(plan, ask.objective)
    if constraints or ask.objective is not None:
        middle = np.full(len(schema.names), float(low + high) / 2)
        if ask.objective is not None:
            ask.objective.value(middle)
        plan.nearest(middle, plan.window(None))  # a contradiction, or a missing solver, is told before it costs
    return plan


def _optimum(ask: HideAsk, epsilon: Fraction) -> tuple[Fraction | None, Fraction | None]:
    """A declared optimum, or what measuring it costs."""
    if ask.objective is None:
        for name in ("optimum", "lipschitz"):
            if getattr(ask, name) is not None:
                raise InputError(name, getattr(ask, name), "left out without an objective")
        return None, None
    if ask.optimum is None:
        raise InputError("optimum", MISSING, 'given with an objective: a number that is public anyway, or "measured"')
    if ask.optimum != "measured":
        try:
            return as_written(ask.optimum, "optimum"), None
        except InputError:
            raise InputError("optimum", ask.optimum, 'a number that is public anyway, or "measured"') from None
    return None, epsilon * read_share(ask.optimum_share, "optimum_share")


def _slope(ask: HideAsk, count: int, low: Fraction, high: Fraction) -> Fraction:
    """How far the objective moves at most: as declared, or as it follows from a linear or quadratic one."""
    if ask.lipschitz is not None:
        return read_positive(ask.lipschitz, "lipschitz")
    if isinstance(ask.objective, Quadratic):
        return exact_slope(ask.objective, count, low, high)
    hint = "It decides how much noise a measured optimum needs, and is declared by the custodian."
    raise InputError("lipschitz", MISSING, "given: how far the objective moves where one number moves by one", hint)
