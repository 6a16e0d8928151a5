"""A priced release of private numbers, each hidden up to a distance: noise on every one, then a repair.

The steps are the same for all numbers: rounded to whole steps, noise on each, beside them perhaps a measurement of
something that all of them decide (an optimum, a cost), and from these numbers alone the nearest ones that meet what is
public. A kind says what is measured beside, and how it repairs.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.constraints.hidden.terms import read_part
from discreet.core.decimal_steps import Exact, to_steps
from discreet.core.exact import Number
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.release import number
from discreet.core.sensitivity import Sensitivity
from discreet.core.sensitivity import steps as whole_steps
from discreet.core.unit import Metric
from discreet.core.wire import Json, canonical
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms import Laplace
from discreet.query.plan import noise_name
from discreet.query.table_plan import at_confidence

__all__ = ["NO_NUMBER", "ROOM", "DistancePlan", "Repaired", "Steps"]

Steps = NDArray[np.int64]
NO_NUMBER = "; text that is no number counts as 0"
ROOM = 1 << 60
"""Heights beyond this are clamped: far from any optimum, and within what noise is added to."""


class Distances(Protocol):
    """What is declared of numbers that are hidden up to a distance."""

    @property
    def name(self) -> str:
        """The dataset, as the ledger knows it."""
        ...

    @property
    def alpha(self) -> Fraction:
        """The distance."""
        ...

    @property
    def times(self) -> int:
        """How often each number is there."""
        ...

    @property
    def unit(self) -> Metric:
        """What is protected."""
        ...


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair made of noisy numbers: numbers, what it reached, and what is to be said of it."""

    values: list[float]
    report: Mapping[str, Any]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DistancePlan(ABC):
    """How private numbers will be released, and the price. Nothing is read and nothing is spent by making one.

    Guarantee
        Noisy numbers are private to `values_epsilon` for neighbours that differ in one number by at most alpha, at
        every one of the times: one integer at each moves, by at most `shift`. If what `optimum` returns is private to
        `optimum_epsilon`, whatever the noisy numbers are, all that `measure` returns is private to the sum of both.
        Proof: docs/proofs/constraints.md.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    noun: ClassVar[str] = "number"
    output: ClassVar[str] = "value"
    """The column that holds the numbers."""
    aside: ClassVar[str] = "optimum"
    """What is measured beside them, as the record calls it."""
    counted_in: ClassVar[str] = ""

    schema: Distances
    allotment: Allotment
    step: Fraction
    least: int
    most: int
    values_epsilon: Fraction
    optimum_epsilon: Fraction | None  # None where nothing is measured beside the numbers
    beta: Fraction
    confidence: float

    # --- what a kind says of itself ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def query(self) -> dict[str, Json]:
        """The question as plain values, for the record."""

    @property
    @abstractmethod
    def law(self) -> dict[str, Json]:
        """What beside the question and its price decides the law of the result."""

    @property
    @abstractmethod
    def keys(self) -> dict[str, list[Any]]:
        """The columns that name the numbers."""

    @abstractmethod
    def optimum(self, exact: Steps, noisy: Steps, bits: Bits) -> Any:
        """What is measured beside the numbers, with noise of its own; None where nothing is."""

    @abstractmethod
    def repaired(self, noisy: Steps, measured: Any) -> Repaired:
        """The numbers that are published, from noisy and public ones alone."""

    @property
    @abstractmethod
    def optimum_noise(self) -> Laplace | None:
        """What is added to it, at most; None where nothing is measured."""

    @abstractmethod
    def optimum_loss(self) -> Loss | None:
        """What measuring beside the numbers costs; None where nothing is measured."""

    @property
    @abstractmethod
    def optimum_mechanism(self) -> str:
        """What adds noise to it, in words; empty where nothing does."""

    @abstractmethod
    def shape(self) -> str:
        """What is released, and what is taken for public."""

    @abstractmethod
    def steps_taken(self) -> list[str]:
        """What is done beside adding noise to the numbers."""

    @property
    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """The size of it."""

    @property
    def unread(self) -> str:
        """What becomes of text that is no number, where there can be such."""
        return ""

    def remarks(self) -> tuple[str, ...]:
        """What else is to be said before it is paid."""
        return ()

    # --- what all of them do -----------------------------------------------------------------------------------------

    @property
    def dataset(self) -> str:
        """The name of the dataset, as the ledger knows it."""
        return self.schema.name

    @property
    def unit(self) -> Metric:
        """What is protected."""
        return self.schema.unit

    @property
    def times(self) -> int:
        """How often each number is there."""
        return self.schema.times

    @property
    def shift(self) -> int:
        """How many steps a number can move between neighbours: alpha in steps, rounded up, for numbers as written."""
        return whole_steps(self.schema.alpha, self.step)

    @property
    def moved(self) -> Sensitivity:
        """How far neighbours move the integers: one number, at every time."""
        return Sensitivity(each=self.shift, outputs=self.times)

    @property
    def noise(self) -> Laplace:
        """What is added to every number, at every time."""
        return Laplace.for_epsilon(self.values_epsilon, self.moved)

    @property
    def cost(self) -> Loss:
        """The price of the whole release: the numbers, and what is measured beside them."""
        values, beside = self.noise.loss(self.moved), self.optimum_loss()
        return values if beside is None else compose([values, beside])

    @property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        values = f"{noise_name(self.noise)}, on steps of {float(self.step):g}{self.counted_in}"
        return "; ".join(part for part in (values, self.optimum_mechanism) if part)

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Json] = {
            "dataset": self.dataset,
            "query": self.query,
            "epsilons": [str(self.values_epsilon), str(self.optimum_epsilon)],
            "confidence": self.confidence,
            **self.law,
        }
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    @property
    def columns(self) -> list[str]:
        """The numbers are no table: there is nothing to check before they are read."""
        return []

    def value_error(self) -> float:
        """What the noise on one number stays within, at the plan's confidence."""
        return float(self.noise.error(self.confidence) * self.step)

    def explained(self) -> Explanation:
        """What there is to know before it is paid, and what is taken for public."""
        typical = number(self.noise.expected_l1() * float(self.step))
        noise = f"On average a {self.noun} is off by {typical}{self.counted_in} before the repair."
        return Explanation(
            title=f"Plan for {self.dataset!r}",
            unit=str(self.unit),
            shape=(self.shape(),),
            errors=(Accuracy(self.output, self.mechanism, self.value_error()),),
            confidence=self.confidence,
            steps=(noise, *self.steps_taken()),
            notes=self.remarks(),
            facts=self.facts,
        )

    def measure(self, data: Exact, bits: Bits) -> dict[str, Any]:
        """Round, add noise, measure what is asked for beside. Called by the one door only."""
        exact = to_steps(data, self.step, self.most, self.least)
        noisy = self.noise.release(exact, bits=bits)
        return {"noisy": pack(noisy), self.aside: self.optimum(exact, noisy, bits)}

    def numbers(self, steps: Steps) -> NDArray[np.float64]:
        """Whole steps as the numbers they stand for."""
        return np.array([float(int(count) * self.step) for count in steps])

    def publish(
        self, measured: Mapping[str, Any], *, beta: Number | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """The table and the report; repaired to be within another `beta` of the optimum, if one is given."""
        plan = replace(at_confidence(self, confidence), beta=self.beta if beta is None else read_part(beta, "beta"))
        return plan.table(unpack(measured["noisy"]), measured[self.aside])

    def table(self, noisy: Steps, measured: Any) -> dict[str, Any]:
        """The table and the report, from noisy and public numbers alone."""
        found, half = self.repaired(noisy, measured), self.noise.error(self.confidence)
        low, high = (self.numbers(np.clip(end, self.least, self.most)).tolist() for end in (noisy - half, noisy + half))
        return {
            "columns": {
                **self.keys,
                self.output: found.values,
                f"{self.output}_lower": [min(end, value) for end, value in zip(low, found.values, strict=True)],
                f"{self.output}_upper": [max(end, value) for end, value in zip(high, found.values, strict=True)],
            },
            "keys": list(self.keys),
            "outputs": [self.output],
            "confidence": self.confidence,
            "notes": [note.to_dict() for note in (self.bounds(), *found.notes)],
            "noisy": self.numbers(noisy).tolist(),
            "report": dict(found.report),
        }

    def bounds(self) -> Note:
        """The same whatever the numbers are: that one was moved must not be told."""
        low, high, step = (f"{float(one):.12g}" for one in (self.least * self.step, self.most * self.step, self.step))
        text = (
            f"{self.noun.capitalize()}s outside {low}..{high}{self.counted_in} are clipped to the nearer bound and "
            f"rounded to multiples of {step}{self.unread}."
        )
        return Note("bounds", text, (self.output,))
