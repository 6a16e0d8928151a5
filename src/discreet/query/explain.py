"""A plan in words: what it costs, what is added, how far answers may be off, what clipping may do."""

from __future__ import annotations

from discreet.accounting.words import readable
from discreet.core.release import number, percent
from discreet.ledger.budget import Allotment, Charge
from discreet.query.batch import BatchPlan
from discreet.query.measure import Total
from discreet.query.plan import Expectation, QueryPlan

__all__ = ["explain", "explain_batch", "price_text"]


def price_text(allotment: Allotment, charge: Charge, direction: str = "up") -> str:
    """An amount in the currency of an allotment, rounded away from the promise."""
    text = f"{allotment.currency} = {readable(charge.amount, direction=direction)}"  # type: ignore[arg-type]
    if charge.delta:
        text += f", delta = {readable(charge.delta, direction=direction)}"  # type: ignore[arg-type]
    return text


def explain_batch(plan: BatchPlan, left: Charge) -> str:
    """The whole price of a batch, then its parts."""
    lines = [f"Batch of {len(plan.parts)} questions about {plan.dataset!r}, one price."]
    lines += _price(plan.allotment, plan.charge, left)
    for name, part in plan.parts:
        lines += [f"{name}:", *("  " + line for line in explain(part).splitlines()[1:])]
    return "\n".join(lines)


def explain(plan: QueryPlan, left: Charge | None = None) -> str:
    """The plan for a person who is about to spend on it."""
    lines = [f"Plan for {plan.dataset!r}; protects {plan.schema.unit}."]
    lines += _price(plan.allotment, plan.charge, left)
    groups = "1 row" if plan.groups == 1 else f"{plan.groups:,} rows, one for each group, empty ones too"
    lines.append(f"Releases {groups}.")
    lines.extend(_expectation(expected, plan.confidence) for expected in plan.expected())
    lines.extend(_clipping(plan))
    return "\n".join(lines)


def _price(allotment: Allotment, charge: Charge, left: Charge | None) -> list[str]:
    lines = [f"Cost: {price_text(allotment, charge)} from allotment {allotment.name!r} (the whole question)."]
    if left is None:
        return lines
    now = price_text(allotment, left, "down")
    if charge.within(left):
        after = price_text(allotment, charge.left_of(left), "down")
        return [*lines, f"Left: {now} now, {after} after."]
    return [*lines, f"Left: {now}: not enough, this plan would be refused."]


def _expectation(expected: Expectation, confidence: float) -> str:
    if expected.half_width is not None:
        error = f"+-{number(expected.half_width)}"
    else:
        sizes = ", ".join(f"about +-{number(half)} at {rows:,} rows" for rows, half in expected.by_rows)
        error = f"{sizes} in the group"
    return f"  {expected.output}: {error} ({percent(confidence)}); {expected.noise}."


def _clipping(plan: QueryPlan) -> list[str]:
    """What the limits may cost, in words: noise is not the only error."""
    notes = []
    unit = plan.schema.unit
    if unit.column is not None:
        if plan.groups > unit.groups:
            few = "1 group" if unit.groups == 1 else f"{unit.groups:,} groups"
            notes.append(
                f"A {unit.column} counts in at most {few}, picked at random; what they have in others is left out."
            )
        if any(not measure.per_person for measure in plan.measures):
            rows = "1 row" if unit.rows == 1 else f"{unit.rows:,} rows"
            notes.append(f"In a group a {unit.column} counts as at most {rows}; more are clipped.")
    for measure in plan.measures:
        if isinstance(measure, Total):
            ends = f"{float(measure.lattice.lower):g}..{float(measure.lattice.upper):g}"
            notes.append(f"Values of {measure.column} outside {ends} go to the nearer end{_grid(measure)}.")
    return [f"  Note: {note}" for note in dict.fromkeys(notes)]


def _grid(measure: Total) -> str:
    step = measure.lattice.step
    return f" and are rounded to multiples of {float(step):g}" if step != 1 else ""
