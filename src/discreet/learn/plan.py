"""A priced training run: all of its steps are fixed before the first, and it is charged whole before anything is read.

Stopping early refunds nothing: the charge is for the plan, and what was computed may have been seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar, TypeVar

import numpy as np
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
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.encoding import Encoding
from discreet.learn.keys import bits_of
from discreet.learn.matrix import examples_of
from discreet.learn.model import Model, pack_weights
from discreet.learn.noise import drawn_noise
from discreet.learn.recipe import Recipe
from discreet.learn.run import Run, fingerprint, identity_of, resume
from discreet.ledger.budget import Allotment, Charge
from discreet.noise.laplace import laplace
from discreet.query.predicate import Predicate, columns_of, predicate_to

__all__ = ["TrainPlan", "planned_before"]

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class TrainPlan:
    """A model to be trained under one fixed price. Nothing is read and nothing is spent by making one.

    `count` is the epsilon that the number of examples is bought with; None where it was declared. `checkpoint` is where
    the run is kept; of what is computed it only decides when reported losses are shown.

    Guarantee
        The weights (every state of the run, the average, the reported losses and the count) cost `cost`: one row, or
        one person where the unit is a person, is added or removed. With noise "device" under `Recipe`'s premise.
        Proof: docs/proofs/training.md.
    """

    kind: ClassVar[str] = "train"
    version: ClassVar[int] = 1
    schema: Schema
    encoding: Encoding
    model: Model
    recipe: Recipe
    allotment: Allotment
    delta: Fraction
    condition: Predicate | None = None
    count: Fraction | None = None
    checkpoint: Path | None = None
    confidence: float = 0.95
    """Of the error that is stated; what is released does not depend on it."""
    warnings: tuple[str, ...] = ()
    """What to know of the price before it is paid."""
    earlier: Callable[[], TrainPlan] | None = None
    """Plans the same with the noise, or the steps, that were found before."""

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

    @cached_property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost, self.delta)

    def spent(self, steps: int) -> Fraction:
        """About the epsilon that the count and the first `steps` steps have cost, from above: for progress."""
        if self.count is None and not steps:
            return Fraction(0)
        parts: list[Loss] = [self.recipe.cost_of(steps)] if steps else []
        parts += [] if self.count is None else [LaplaceNoise(1 / self.count, 1)]
        return privacy_loss(Composed(parts), COARSE).epsilon(self.delta)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return (
            f"{self.recipe.noise_words} noise, multiplier {float(self.recipe.multiplier):.6g}, on clipped gradients of "
            f"Poisson lots (probability {float(self.recipe.probability):.6g}), {self.recipe.steps:,} steps"
            f"{f' in {self.recipe.bands} bands' if self.recipe.bands > 1 else ''}"
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the model computes and of where it starts."""
        x = np.zeros((2, self.encoding.width), dtype=np.float32)
        y = np.zeros(2, dtype=np.int32 if self.encoding.classes else np.float32)
        return fingerprint(self.model.losses, self.model.params, (x, y))

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        return {
            "train": {
                "model": {**self.model.described, "fingerprint": self.fingerprint},
                "encoding": self.encoding.to_dict(),
                "recipe": self.recipe.to_dict(),
                "where": None if self.condition is None else predicate_to(self.condition),
                "count": None if self.count is None else str(self.count),
                "delta": str(self.delta),
                "watched": self.watched,
            }
        }

    @property
    def watched(self) -> bool:
        """Whether noisy losses are shown as the run goes: only where the run can be gone on with after a crash."""
        return self.checkpoint is not None and self.recipe.report_loss is not None

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

    def resume(self, bits: Bits | None = None) -> Run:
        """The run as its checkpoint holds it, or a new one; refused if the file is of something else."""
        kept = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        identity = identity_of(self.recipe, self.fingerprint, plan=self.digest)
        return resume(self.model.losses, self.model.params, self.recipe, identity, checkpoint=kept, bits=bits)

    def clear(self) -> None:
        """Destroy the checkpoint, if it is of this plan and not of another run that was given the same file."""
        if self.checkpoint is not None:
            kept = Checkpoint(self.checkpoint)
            if kept.identity().get("plan") == self.digest:
                kept.destroy()

    def begun(self) -> bool:
        """Whether the checkpoint holds a run of this plan; refused if the file is of something else."""
        return self.resume().begun

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Lay out the examples in the engine, train. Called by the one door only."""
        run = self.resume(bits)
        run.keep()
        notify("laying out the examples in the engine")
        examples = examples_of(self.encoding, self.schema, data, bits_of(run.secret, "rows"), self.condition)
        recipe = self.recipe
        if self.count is not None:
            counted = len(examples[1]) + laplace(1 / self.count, bits=bits_of(run.secret, "count"))
            many = max(1, counted)
            recipe = evolve(recipe, examples=many, lot=recipe.probability * many)
        trained = replace(run, recipe=recipe).go(examples)
        notify("recording")
        return {
            "train": {
                **self.query["train"],
                "recipe": recipe.to_dict(),
                "weights": pack_weights(trained.params),
                "losses": trained.losses,
                "unit": str(self.schema.unit),
            }
        }

    def publish(self, measured: dict[str, Any]) -> dict[str, Any]:
        """As it was measured: weights with noise in every step are what is published."""
        return measured


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
        notes.append(f"Noise is exact, on integers: of delta, {added} is for how far it is from real noise.")
    else:
        notes.append(
            f"Noise is drawn on the device, on integers; of delta, {added} is for how far it is from real noise. "
            "Sums are single precision: that they are within a thousandth of the clipping bound is a premise. "
            "noise='exact' needs none and is slower."
        )
    if plan.count is not None:
        amount = readable(plan.count)
        notes.append(f"The number of examples is counted with discrete Laplace noise, epsilon = {amount} of it.")
    if plan.schema.unit.column is not None:
        notes.append(f"Of each {plan.schema.unit.column} one row counts, picked at random.")
    if recipe.report_loss is None:
        notes.append("The training loss is private and not shown; report_loss=... shows a noisy one at no charge.")
    elif plan.checkpoint is None:
        notes.append("The noisy loss is shown when the run is over; with a checkpoint it is shown as it goes.")
    if plan.watched:
        notes.append("The noisy loss is shown as the run goes. After a crash it only goes on from this checkpoint.")
    if plan.checkpoint is None and recipe.steps > 1:
        notes.append("Without a checkpoint a run that is stopped begins again.")
    return notes
