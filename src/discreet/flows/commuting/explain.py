"""What the plan of synthetic commuters says of itself: noise or priors, and what is public."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.accounting.words import readable
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Approx
from discreet.query.plan import noise_name

if TYPE_CHECKING:
    from discreet.flows.commuting.plan import CommutePlan

__all__ = ["CELLS", "SIZES", "explained"]

CELLS, SIZES = Fraction(38, 40), Fraction(1, 40)
"""The parts of the price that noisy cells, and each kind of noisy totals, get. Tuned on made-up flows."""
_CONFIDENCE = 0.95


def explained(plan: CommutePlan) -> Explanation:
    """What there is to know before it is paid."""
    land = plan.land
    sizes = "measured, and made to agree" if plan.sizes is None else "public, and kept"
    steps, notes = ([], _near()) if plan.method == "modern" else _classic(plan)
    if land.farthest is not None:
        notes.append(f"Rows from farther than {land.farthest:g} are dealt to nearer origins.")
    notes += [note.text for note in plan.notes]
    return Explanation(
        title=f"Plan for synthetic commuters of {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=(
            f"Releases rows from {land.origins:,} origins to {land.destinations:,} destinations; sizes are {sizes}.",
        ),
        errors=tuple(_errors(plan)),
        confidence=_CONFIDENCE,
        steps=tuple(steps),
        notes=tuple(notes),
        facts={"method": plan.method, "origins": land.origins, "destinations": land.destinations},
    )


def _errors(plan: CommutePlan) -> list[Accuracy]:
    """The errors of what is measured."""
    if plan.method == "modern":
        parts = {"cells": CELLS if plan.sizes is None else CELLS + SIZES, "origins": SIZES}
        parts |= {"destinations": SIZES} if plan.sizes is None else {}
    else:
        parts = {"sizes": SIZES} if plan.sizes is None else {}
    errors = []
    for name, part in parts.items():
        noise = plan.noise(part)
        errors.append(Accuracy(name, noise_name(noise), noise.error(_CONFIDENCE), share=float(part)))
    return errors


def _near() -> list[str]:
    return ["These are the errors of what is measured. Cells that are mostly empty end up far nearer."]


def _classic(plan: CommutePlan) -> tuple[list[str], list[str]]:
    """The draws of the classic method, and what to know of its prior."""
    urns, one = plan.urns, plan.one
    steps = [f"Draws from an urn for each destination, {urns.prior} prior, epsilon {readable(urns.epsilon)} a row."]
    notes = []
    if isinstance(one, Approx):
        steps.append(f"The cost is (epsilon, delta)-differential privacy with delta {readable(one.delta)} a row.")
    if urns.prior == "probabilistic":
        notes.append(
            f"It was made for probabilistic differential privacy at delta {readable(urns.chance)}, which "
            "later processing need not keep. The cost says what it does keep."
        )
    if urns.prior == "accepted":
        steps.append(f"Each destination is refused with a chance of at most {readable(urns.chance)}.")
    if priors := plan.priors():
        steps.append(f"Prior: {min(priors):,.3g} to {max(priors):,.3g} made-up workers in each cell of an urn.")
    return steps, notes
