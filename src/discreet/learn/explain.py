"""What the plan of a training run says of itself: sampling, steps, noise, and what a run costs to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.accounting.words import readable
from discreet.core.explanation import Explanation

if TYPE_CHECKING:
    from discreet.learn.plan import TrainPlan

__all__ = ["explained"]


def explained(plan: TrainPlan) -> Explanation:
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


def _notes(plan: TrainPlan) -> list[str]:
    recipe = plan.recipe
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
