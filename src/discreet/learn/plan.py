"""A priced training run: all of its steps are fixed before the first, and it is charged whole before anything is read.

Stopping early refunds nothing: the charge is for the plan, and what was computed may have been seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeVar

from attrs import evolve

from discreet.accounting.pld import COARSE, privacy_loss
from discreet.accounting.words import readable
from discreet.core.digest import digest_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Composed, LaplaceNoise, Loss
from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.learn.encoding import Encoding
from discreet.learn.examples import count_rows
from discreet.learn.keys import bits_of
from discreet.learn.matrix import examples_of
from discreet.learn.model import two_rows
from discreet.learn.noise import drawn_noise
from discreet.learn.run_plan import RunPlan
from discreet.noise.laplace import laplace
from discreet.query.predicate import Predicate, columns_of, predicate_to

__all__ = ["TrainPlan", "planned_before"]

P = TypeVar("P")


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainPlan(RunPlan):
    """A model to be trained on a table under one fixed price. Nothing is read and nothing is spent by making one.

    `count` is the epsilon that the number of examples is bought with; None where it was declared.

    Guarantee
        The weights (every state of the run, the average, the reported losses and the count) cost `cost`: one row, or
        one person where the unit is a person, is added or removed. With noise "device" under `Recipe`'s premise.
        Proof: docs/proofs/training.md.
    """

    schema: Schema
    encoding: Encoding
    condition: Predicate | None = None
    count: Fraction | None = None
    confidence: float = 0.95
    """Of the error that is stated; what is released does not depend on it."""
    warnings: tuple[str, ...] = ()
    """What to know of the price before it is paid."""
    earlier: Callable[[], TrainPlan] | None = None
    """Plans the same with the noise, or the steps, that were found before."""

    @property
    def version(self) -> int:
        """The form of its record: the first, unless it names something that came later."""
        return 1 if self.recipe.rows == 1 else 2

    @property
    def former(self) -> tuple[TrainPlan, ...]:
        """What was made of the same ask before grids of losses were narrowed: more noise. A search of seconds."""
        return planned_before(self.earlier)

    @property
    def dataset(self) -> str:
        """The dataset's name, as the ledger knows it."""
        return self.schema.name

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return self.schema.unit

    @property
    def cost(self) -> Loss:
        """The price of the whole run."""
        if self.count is None:
            return self.recipe.cost
        return Composed([self.recipe.cost, LaplaceNoise(1 / self.count, 1)])

    def spent(self, steps: int) -> Fraction:
        """About the epsilon that the count and the first `steps` steps have cost, from above: for progress."""
        if self.count is None and not steps:
            return Fraction(0)
        parts: list[Loss] = [self.recipe.cost_of(steps)] if steps else []
        parts += [] if self.count is None else [LaplaceNoise(1 / self.count, 1)]
        return privacy_loss(Composed(parts), COARSE).epsilon(self.delta)

    @property
    def two(self) -> tuple[Any, Any]:
        """Two made-up rows, as the encoding lays them out."""
        return two_rows(self.encoding)

    @property
    def asked(self) -> dict[str, Any]:
        """What is recorded of the question beside model and recipe."""
        return {
            "encoding": self.encoding.to_dict(),
            "where": None if self.condition is None else predicate_to(self.condition),
            "count": None if self.count is None else str(self.count),
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {"schema": self.schema.to_dict(), "query": self.query}
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        named = [part.name for part in self.encoding.parts]
        named += [] if self.condition is None else columns_of(self.condition)
        return named if self.schema.unit.column is None else [*named, self.schema.unit.column]

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        return _explain(self)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Lay out the examples in the engine, train. Called by the one door only."""
        run = self.resume(bits)
        run.keep()
        notify("laying out the examples in the engine")
        recipe, bits = self.recipe, bits_of(run.secret, "rows")
        examples = examples_of(self.encoding, self.schema, data, bits, self.condition, recipe.rows)
        if self.count is not None:
            counted = count_rows(examples) + laplace(1 / self.count, bits=bits_of(run.secret, "count"))
            many = max(1, counted)
            recipe = evolve(recipe, examples=many, lot=recipe.probability * many)
        return self.recorded(replace(run, recipe=recipe).go(examples, self.watch))


def planned_before(earlier: Callable[[], P] | None) -> tuple[P, ...]:
    """The plan that was made of an ask before, if any: none where no noise in reach of that search was enough."""
    if earlier is None:
        return ()
    try:
        return (earlier(),)
    except InputError:
        return ()


def _explain(plan: TrainPlan) -> Explanation:
    """What there is to know before it is paid. How good the model will be is not among it: only the data can say."""
    recipe = plan.recipe
    sizes = f" with hidden layers of {', '.join(map(str, plan.model.hidden))}" if plan.model.hidden else ""
    wide = f"{plan.encoding.width:,} inputs from {len(plan.encoding.features)} columns"
    share = readable(recipe.probability, 4, "near")
    lot = "" if plan.count is not None else f", about {float(recipe.lot):,.6g} of {recipe.examples:,}"
    return Explanation(
        title=f"Plan for a model of {plan.encoding.target.name!r} on {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=(
            f"Model: {plan.model.name}{sizes}; {wide}.",
            f"Each of {recipe.steps:,} steps samples every example with probability {share}{lot}.",
            f"Each gradient is clipped to {recipe.bound:g}; noise multiplier {readable(recipe.multiplier, 5)} "
            f"({recipe.noise}); accountant: privacy loss distribution.",
        ),
        errors=() if plan.count is not None else (_gradient_error(plan),),
        confidence=plan.confidence,
        notes=(*plan.warnings, *_notes(plan)),
        facts={
            "epsilon": float(plan.charge.amount),
            "exact_epsilon": str(plan.charge.amount),
            "inputs": list(plan.encoding.labels),
            "classes": list(plan.encoding.classes),
            "recipe": recipe.to_dict(),
            "count_epsilon": None if plan.count is None else float(plan.count),
            "warnings": list(plan.warnings),
        },
    )


def _gradient_error(plan: TrainPlan) -> Accuracy:
    """The noise on each entry of the mean gradient of a step; nothing where the number of examples is bought."""
    recipe = plan.recipe
    noise = f"{recipe.noise_words}, multiplier {readable(recipe.multiplier, 5)}"
    half = drawn_noise(recipe, plan.model.params) * NormalDist().inv_cdf((1 + plan.confidence) / 2)
    return Accuracy("each entry of a step's mean gradient", noise, half)


def _notes(plan: TrainPlan) -> list[str]:
    recipe = plan.recipe
    notes = ["How good the model will be is not known beforehand: only the data can say."]
    notes.append("The whole run is charged before its first step. Stopping early refunds nothing.")
    if recipe.bands > 1:
        notes.append(
            f"Noise is correlated over {recipe.bands} steps. Each example is in one of {recipe.bands} groups, and a "
            f"lot is drawn from one of them: this counts as {recipe.rounds(recipe.steps):,} steps of {recipe.bands} "
            "times the probability."
        )
    added = readable(recipe.noise_delta())
    if recipe.noise == "exact":
        notes.append(f"Noise is exact, on integers; {added} of delta covers its distance from real-valued noise.")
    else:
        notes.append(
            f"Noise is drawn on the device, on integers; {added} of delta covers its distance from real-valued noise. "
            "Sums are single precision: that they are within a thousandth of the clipping bound is a premise. "
            "noise='exact' needs none and is slower."
        )
    if plan.count is not None:
        amount = readable(plan.count)
        notes.append(f"The number of examples is counted with discrete Laplace noise, epsilon = {amount} of it.")
    if plan.schema.unit.column is not None:
        notes.append(_person_note(plan.schema.unit, recipe.rows))
    if recipe.report_loss is None:
        notes.append("The training loss is private and not shown; report_loss=... shows a noisy one at no charge.")
    elif plan.checkpoint is None:
        notes.append("The noisy loss is shown when the run is over; with a checkpoint it is shown as it goes.")
    if plan.watched:
        notes.append("The noisy loss is shown as the run goes. After a crash it only goes on from this checkpoint.")
    if plan.checkpoint is None and recipe.steps > 1:
        notes.append("Without a checkpoint a run that is stopped begins again.")
    return notes


def _person_note(unit: Unit, rows: int) -> str:
    """How much of a person counts."""
    if rows > 1:
        return f"Up to {rows} rows of each {unit.column} count: the mean of their gradients is clipped."
    more = "" if unit.most_rows == 1 else f" rows={unit.most_rows} would average up to {unit.most_rows}."
    return f"One row of each {unit.column} counts, picked at random.{more}"
