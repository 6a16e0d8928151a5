"""A priced release of private numbers: noise on every one, then the nearest numbers that meet what is public."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.constraints.convex import Convex, Fit, Window, fit
from discreet.constraints.hidden.slope import compare_digits, compare_slope, public_points
from discreet.constraints.hidden.values import Exact, ValuesSchema
from discreet.constraints.system import Between, Constraint, stack
from discreet.core.decimal_steps import to_steps
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.release import number, percent
from discreet.core.sensitivity import Sensitivity
from discreet.core.sensitivity import steps as whole_steps
from discreet.core.unit import Metric
from discreet.core.wire import Json, canonical
from discreet.errors import MISSING, InputError
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms import Laplace
from discreet.query.plan import noise_name
from discreet.query.table_plan import at_confidence

if TYPE_CHECKING:
    from discreet.constraints.hidden.ask import HideAsk

__all__ = ["HidePlan", "plan_hidden"]

Steps = NDArray[np.int64]
_ROOM = 1 << 60  # heights beyond this are clamped: far from any objective, and within what noise is added to
_LONGEST = 10**9  # steps between the bounds


@dataclass(frozen=True, slots=True, eq=False)
class HidePlan:
    """How private numbers will be released, and the price. Nothing is read and nothing is spent by making one.

    Guarantee
        Whatever `measure` returns is epsilon-differentially private, with epsilon the whole price, for neighbours that
        differ in one number by at most `alpha`; numbers that are k steps apart in sum are indistinguishable up to
        epsilon * k / shift (with a measured optimum, where k is at least `shift`). Constraints, bounds and a declared
        optimum are public. A measured optimum relies on `lipschitz`: that the objective, between the bounds, moves by
        at most that for each unit that one number moves, which the custodian declares; and on the objective being
        computed to a few last digits of its largest value. Proof: docs/proofs/constraints.md.
    """

    kind: ClassVar[str] = "hidden"
    version: ClassVar[int] = 1
    schema: ValuesSchema
    allotment: Allotment
    step: Fraction
    least: int
    most: int
    values_epsilon: Fraction
    optimum_epsilon: Fraction | None  # None where the optimum is declared, or there is no objective
    declared: Fraction | None
    beta: Fraction
    lipschitz: Fraction | None
    confidence: float
    objective: Convex | None = field(default=None, repr=False)
    constraints: tuple[Convex | Constraint, ...] = field(default=(), repr=False)

    @property
    def dataset(self) -> str:
        """The name of the dataset, as the ledger knows it."""
        return self.schema.name

    @property
    def unit(self) -> Metric:
        """What is protected."""
        return self.schema.unit

    @property
    def shift(self) -> int:
        """How many steps a number can move between neighbours: alpha in steps, rounded up, for numbers as written."""
        return whole_steps(self.schema.alpha, self.step)

    @property
    def noise(self) -> Laplace:
        """What is added to every number."""
        return Laplace.for_epsilon(self.values_epsilon, self.shift)

    @property
    def money(self) -> Fraction:
        """What a measured optimum is rounded to: what the objective moves at most for one step of one number."""
        return (self.lipschitz or Fraction(1)) * self.step

    @property
    def optimum_noise(self) -> Laplace | None:
        """What is added to a measured optimum, in steps of `money`: one more than the shift, for what floats lose."""
        return None if self.optimum_epsilon is None else Laplace.for_epsilon(self.optimum_epsilon, self.shift + 1)

    @property
    def cost(self) -> Loss:
        """The price of the whole release: the numbers, and the optimum where it is measured."""
        values, optimum = self.noise.loss(Sensitivity(self.shift)), self.optimum_noise
        return values if optimum is None else compose([values, optimum.loss(self.shift + 1)])

    @property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        said = f"{noise_name(self.noise)}, on steps of {float(self.step):g}"
        return said if self.optimum_noise is None else f"{said}; {noise_name(self.optimum_noise)} on the optimum"

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
        return found

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Json] = {
            "dataset": self.dataset,
            "query": self.query,
            "optimum": [str(self.declared), str(self.lipschitz)],
            "epsilons": [str(self.values_epsilon), str(self.optimum_epsilon)],
            "objective": self._objective_at(),
            "confidence": self.confidence,
        }
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    def _objective_at(self) -> list[Json]:
        """Which function a measured optimum is that of: its values at public points."""
        if self.objective is None or self.optimum_epsilon is None:
            return []
        low, high = float(self.least * self.step), float(self.most * self.step)
        return [f"{self.objective.value(x):.9g}" for x in public_points(len(self.schema.names), low, high)]

    @property
    def columns(self) -> list[str]:
        """The numbers are no table: there is nothing to check before they are read."""
        return []

    def explained(self) -> Explanation:
        """What there is to know before it is paid, and what is taken for public."""
        typical = number(self.noise.expected_l1() * float(self.step))
        steps = [f"On average a number is off by {typical} before the repair."]
        if self.objective is not None and self.optimum_noise is not None:
            half = number(float(self.optimum_noise.error(self.confidence) * self.money))
            paid = f"measured with epsilon = {float(self.optimum_epsilon or 0):g}"
            slope = f"moves by at most {float(self.lipschitz or 0):g} for each unit of a number: the custodian's word"
            sure = percent(self.confidence)
            steps.append(f"Optimum of {self.objective.name}: {paid}, +-{half} ({sure}); it {slope}.")
        elif self.objective is not None:
            public = number(float(self.declared or 0))
            steps.append(f"Optimum of {self.objective.name}: {public}, declared public, not paid for.")
        if self.objective is not None or self.constraints:
            names = ", ".join(one.name for one in self.constraints) or "the bounds"
            near = f", with {self.objective.name} within {percent(float(self.beta))} of it" if self.objective else ""
            steps.append(f"Repair: the nearest numbers found that meet {names}{near}.")
        ends = f"{float(self.least * self.step):g} to {float(self.most * self.step):g} in steps of {float(self.step):g}"
        return Explanation(
            title=f"Plan for {self.dataset!r}",
            unit=str(self.unit),
            shape=(f"Releases {len(self.schema.names):,} numbers, {ends}. Public: their names, constraints, bounds.",),
            errors=(Accuracy("value", self.mechanism, float(self.noise.error(self.confidence) * self.step)),),
            confidence=self.confidence,
            steps=tuple(steps),
            facts={"values": len(self.schema.names)},
        )

    def measure(self, data: Exact, bits: Bits) -> dict[str, Any]:
        """Round, add noise, measure the optimum if asked to. Called by the one door only."""
        exact = to_steps(data, self.step, self.most, self.least)
        noisy = self.noise.release(exact, bits=bits)
        return {"noisy": pack(noisy), "optimum": self._optimum(exact, bits)}

    def _optimum(self, exact: Steps, bits: Bits) -> float | None:
        noise = self.optimum_noise
        if noise is None or self.objective is None:
            return None
        return float(int(noise.release([self.height(exact)], bits=bits)[0]) * self.money)

    def height(self, steps: Steps) -> int:
        """The objective of numbers in whole steps, in units of `money`, without noise.

        Whatever it does, there is one: an error would tell of the numbers.
        """
        try:
            found = float(self.objective.function(self.numbers(steps))) / float(self.money)  # type: ignore[union-attr]
        except Exception:
            found = 0.0
        return 0 if math.isnan(found) else round(max(min(found, float(_ROOM)), -float(_ROOM)))

    def numbers(self, steps: Steps) -> NDArray[np.float64]:
        """Whole steps as the numbers they stand for."""
        return np.array([float(int(count) * self.step) for count in steps])

    def publish(
        self, measured: Mapping[str, Any], *, beta: Number | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """The table and the report; repaired to be within another `beta` of the optimum, if one is given."""
        plan = replace(at_confidence(self, confidence), beta=self.beta if beta is None else _part(beta, "beta"))
        return plan.table(unpack(measured["noisy"]), measured["optimum"])

    def table(self, noisy: Steps, measured: float | None) -> dict[str, Any]:
        """The table and the report, from noisy and public numbers alone."""
        optimum = float(self.declared) if self.declared is not None else measured
        bounds = Between("bounds", float(self.least * self.step), float(self.most * self.step))
        window = None
        if self.objective is not None and optimum is not None:
            window = Window(self.objective, optimum, float(self.beta))
        found, met = self._met(self.numbers(noisy), bounds, window)
        half = self.noise.error(self.confidence)
        low, high = (np.clip(end, self.least, self.most) * float(self.step) for end in (noisy - half, noisy + half))
        values = np.array([float(f"{value:.12g}") for value in found.values.tolist()])
        return {
            "columns": {
                "name": list(self.schema.names),
                "value": values.tolist(),
                "value_lower": np.minimum(low, values).tolist(),
                "value_upper": np.maximum(high, values).tolist(),
            },
            "keys": ["name"],
            "outputs": ["value"],
            "confidence": self.confidence,
            "notes": [note.to_dict() for note in (self._bounds(), *self._promise(), *met)],
            "noisy": self.numbers(noisy).tolist(),
            "report": {
                "objective": found.objective,
                "optimum": optimum if window is not None else None,
                "optimum_is": "measured" if self.declared is None else "declared public",
                "beta": float(self.beta),
                "within": found.within,
                "nearest": found.nearest,
                "violation": found.violation,
            },
        }

    def _met(self, noisy: NDArray[np.float64], bounds: Between, window: Window | None) -> tuple[Fit, list[Note]]:
        """The nearest numbers that meet constraints, without the window where noise moved it out of their reach."""
        try:
            return self.repaired(noisy, bounds, window), []
        except InputError:
            if window is None or self.declared is not None:
                raise
        found = self.repaired(noisy, bounds, None)
        cost = float(window.objective.function(found.values))
        reason = f"Noise moved the {window.objective.name} that was measured out of their reach."
        text = f"Numbers meet the constraints alone. {reason}"
        return replace(found, objective=cost, within=False), [Note("repaired", text, ("value",))]

    def repaired(self, noisy: NDArray[np.float64], bounds: Between, window: Window | None) -> Fit:
        """The nearest numbers that meet constraints."""
        if not self.constraints and window is None:
            inside = np.clip(noisy, float(bounds.lower), float(bounds.upper))
            return Fit(inside, None, 0.0, within=True, nearest=True, rounds=0)
        return fit(noisy, [bounds, *self.constraints], window=window)

    def _promise(self) -> list[Note]:
        """What the price of a measured optimum rests on."""
        if self.objective is None or self.lipschitz is None:
            return []
        slope = f"moves by at most {float(self.lipschitz):g} for each unit of a number"
        text = (
            f"That {self.objective.name}, which was measured, {slope} is the custodian's word. Its noise is for that."
        )
        return [Note("promise", text, ("value",))]

    def _bounds(self) -> Note:
        """The same whatever the numbers are: that one was moved must not be told."""
        low, high, step = (f"{float(one):.12g}" for one in (self.least * self.step, self.most * self.step, self.step))
        text = f"Numbers outside {low}..{high} go to the nearer end and are rounded to multiples of {step}."
        return Note("bounds", text, ("value",))


def plan_hidden(
    schema: ValuesSchema, ask: HideAsk, allotment: Allotment, epsilon: Fraction, confidence: float
) -> HidePlan:
    """Read what is asked and price it. Every error comes from here, before anything is read or spent."""
    if not 0 < confidence < 1:
        raise InputError("confidence", confidence, "strictly between 0 and 1, such as 0.95")
    step = _positive(ask.step, "step")
    if ask.highest is None:
        raise InputError("highest", MISSING, "given: the most that one number may be, which is public")
    low, high = as_written(ask.lowest, "lowest"), as_written(ask.highest, "highest")
    least, most = -((-low / step).__floor__()), (high / step).__floor__()
    if low >= high:
        raise InputError("highest", ask.highest, "more than lowest")
    if not 1 <= most - least <= _LONGEST or max(abs(least), abs(most)) > _LONGEST:
        raise InputError("step", ask.step, f"a length that fits 1 to {_LONGEST:,} times between the bounds")
    if schema.alpha > high - low:
        raise InputError("alpha", float(schema.alpha), f"at most {float(high - low):g}, the distance of the bounds")
    constraints = tuple(ask.constraints or ())
    ends = Between("bounds", float(low), float(high))
    stack([ends, *(one for one in constraints if not isinstance(one, Convex))], len(schema.names))
    declared, slope, paid = _optimum(ask, epsilon)
    plan = HidePlan(
        schema=schema,
        allotment=allotment,
        step=step,
        least=least,
        most=most,
        values_epsilon=epsilon - (paid or 0),
        optimum_epsilon=paid,
        declared=declared,
        beta=_part(ask.beta, "beta"),
        lipschitz=slope,
        confidence=confidence,
        objective=ask.objective,
        constraints=constraints,
    )
    try:
        _ = plan.noise, plan.optimum_noise
    except InputError as problem:  # the scale is not what a person wrote: name what is
        hint = "A larger step or epsilon, or a smaller alpha, needs noise of a smaller scale."
        raise InputError("step", ask.step, f"such that the scale of the noise is {problem.allowed}", hint) from None
    if ask.objective is not None and slope is not None:
        compare_slope(ask.objective, slope, len(schema.names), float(low), float(high))
        compare_digits(plan, ask.objective)
    if constraints or ask.objective is not None:
        middle = np.full(len(schema.names), float(low + high) / 2)
        if ask.objective is not None:
            ask.objective.value(middle)
        plan.repaired(middle, ends, None)  # a contradiction, or a missing solver, is told before anything is spent
    return plan


def _optimum(ask: HideAsk, epsilon: Fraction) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """A declared optimum; or a declared slope, and what measuring costs."""
    if ask.objective is None:
        for name in ("optimum", "lipschitz"):
            if getattr(ask, name) is not None:
                raise InputError(name, getattr(ask, name), "left out without an objective")
        return None, None, None
    if ask.optimum is None:
        raise InputError("optimum", MISSING, 'given with an objective: a number that is public anyway, or "measured"')
    if ask.optimum != "measured":
        return as_written(ask.optimum, "optimum"), None, None
    if ask.lipschitz is None:
        hint = "It decides how much noise a measured optimum needs, and is the custodian's word."
        raise InputError("lipschitz", MISSING, "given: how far the objective moves where one number moves by one", hint)
    share = as_written(ask.optimum_share, "optimum_share")
    if not 0 < share < 1:
        raise InputError("optimum_share", ask.optimum_share, "a share of the price, strictly between 0 and 1")
    return None, _positive(ask.lipschitz, "lipschitz"), epsilon * share


def _part(value: Number, field: str) -> Fraction:
    found = _positive(value, field)
    if found >= 1:
        raise InputError(field, value, "a part below 1, such as 0.01 for one per cent")
    return found


def _positive(value: Number, field: str) -> Fraction:
    found = as_written(value, field)
    if found <= 0:
        raise InputError(field, value, "more than zero")
    return found
