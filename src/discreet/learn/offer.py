"""The plan of a training run, in words and numbers, and where to release it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.accounting.words import readable
from discreet.errors import RunError
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.plan import TrainPlan
from discreet.learn.released import ModelRelease
from discreet.query.explain import price_lines, price_text

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["TrainOffer"]


@dataclass(frozen=True)
class TrainOffer:
    """A plan and where to release it. `print(offer)` before, `offer.release()` to spend."""

    curator: Curator
    plan: TrainPlan
    warnings: tuple[str, ...] = ()

    def explain(self) -> str:
        """Cost, sampling, steps, noise, and what there is to know. Spends nothing."""
        plan, recipe = self.plan, self.plan.recipe
        left = self.curator.ledger.remaining(plan.dataset, plan.allotment.name)
        lines = [f"Plan for a model of {plan.encoding.target.name!r} on {plan.dataset!r}; protects {plan.schema.unit}."]
        lines += price_lines(plan.allotment, plan.charge, left)
        sizes = f" with hidden layers of {', '.join(map(str, plan.model.hidden))}" if plan.model.hidden else ""
        wide = f"{plan.encoding.width:,} inputs from {len(plan.encoding.features)} columns"
        lines.append(f"Model: {plan.model.name}{sizes}; {wide}.")
        share = readable(recipe.probability, 4, "near")
        lot = "" if plan.count is not None else f", about {float(recipe.lot):,.6g} of {recipe.examples:,}"
        lines.append(f"Each of {recipe.steps:,} steps samples every example with probability {share}{lot}.")
        lines.append(
            f"Each gradient is clipped to {recipe.bound:g}; noise multiplier {readable(recipe.multiplier, 5)} "
            f"({recipe.noise}); accountant: privacy loss distribution."
        )
        notes = [*self.warnings, *self._notes()]
        return "\n".join([*lines, *(f"  Note: {note}" for note in notes)])

    def _notes(self) -> list[str]:
        plan, recipe = self.plan, self.plan.recipe
        notes = ["The whole run is charged before its first step. Stopping early refunds nothing."]
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

    def release(self, *, release: str | None = None, why: str = "") -> ModelRelease:
        """Spend, open, train, record. The same `release` id again returns the stored model at no cost.

        After a crash the same id goes on from the checkpoint under the same charge, as often as it takes. Without it
        the run begins again with other noise, twice at most, and not at all where losses were shown as it went. When
        the model is on the books, or the run has failed, the checkpoint and the secret in it are destroyed.
        """
        plan = self.plan
        known = None if release is None else self.curator.ledger.find(release)
        if plan.checkpoint is not None and (known is None or known.answer is None):
            plan.taken_up()  # a checkpoint of something else is refused before anything is spent
        try:
            answer = self.curator.through_the_door(plan, plan.columns, release=release, why=why, delta=plan.delta)
        except RunError:
            self._clear()
            raise
        self._clear()
        left = self.curator.ledger.remaining(plan.dataset, plan.allotment.name)
        return ModelRelease.read(
            answer, price_text(plan.allotment, answer.charge), price_text(plan.allotment, left, "down"), plan.model
        )

    def _clear(self) -> None:
        """Destroy the checkpoint, if it is of this plan and not of another run that was given the same file."""
        if self.plan.checkpoint is not None:
            kept = Checkpoint(self.plan.checkpoint)
            if kept.identity().get("plan") == self.plan.digest:
                kept.destroy()

    def __str__(self) -> str:
        return self.explain()
