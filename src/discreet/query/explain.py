"""A plan in words: what it costs, what is added, how far answers may be off, what clipping may do."""

from __future__ import annotations

import math

from discreet.accounting.words import readable
from discreet.core.release import number, percent
from discreet.ledger.budget import Allotment, Charge
from discreet.query.batch import BatchPlan
from discreet.query.grid import Decades
from discreet.query.joined import Job, JoinedPlan
from discreet.query.measure import Total
from discreet.query.plan import Expectation, QueryPlan
from discreet.query.quantile_plan import QuantilePlan, RankExpectation

__all__ = ["explain", "explain_batch", "price_text"]

_SIZES = (100, 1_000, 10_000)


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


def explain(plan: Job, left: Charge | None = None) -> str:
    """The plan for a person who is about to spend on it."""
    lines = [f"Plan for {plan.dataset!r}; protects {plan.schema.unit}."]
    lines += _price(plan.allotment, plan.charge, left)
    groups = "1 row" if plan.groups == 1 else f"{plan.groups:,} rows, one for each group, empty ones too"
    lines.append(f"Releases {groups}.")
    lines.extend(_expectation(expected, plan.confidence) for expected in plan.expected())
    parts = plan.parts if isinstance(plan, JoinedPlan) else (plan,)
    notes = [note for part in parts for note in (*_limits(part), *_clipping(part))]
    return "\n".join([*lines, *(f"  Note: {note}" for note in dict.fromkeys(notes))])


def _price(allotment: Allotment, charge: Charge, left: Charge | None) -> list[str]:
    lines = [f"Cost: {price_text(allotment, charge)} from allotment {allotment.name!r} (the whole question)."]
    if left is None:
        return lines
    now = price_text(allotment, left, "down")
    if charge.within(left):
        after = price_text(allotment, charge.left_of(left), "down")
        return [*lines, f"Left: {now} now, {after} after."]
    return [*lines, f"Left: {now}: not enough, this plan would be refused."]


def _expectation(expected: Expectation | RankExpectation, confidence: float) -> str:
    if isinstance(expected, RankExpectation):
        return _ranks(expected, confidence)
    if expected.half_width is not None:
        error = f"+-{number(expected.half_width)}"
    else:
        sizes = ", ".join(f"about +-{number(half)} at {rows:,} rows" for rows, half in expected.by_rows)
        error = f"{sizes} in the group"
    return f"  {expected.output}: {error} ({percent(confidence)}); {expected.noise}."


def _ranks(expected: RankExpectation, confidence: float) -> str:
    """How many rows a quantile may be off, and which quantiles that makes it in groups of some sizes."""
    off = math.ceil(expected.half_width)
    text = f"  {expected.output}: a rank within {off:,} rows of the one asked for ({percent(confidence)})"
    sizes = []
    for rows in _SIZES:
        pairs = [(max(0.0, float(q) - off / rows), min(1.0, float(q) + off / rows)) for q in expected.ranks]
        spans = [
            "any value" if pair == (0.0, 1.0) else "{:.3g}%..{:.3g}%".format(*(100 * p for p in pair)) for pair in pairs
        ]
        sizes.append(f"{' and '.join(dict.fromkeys(spans))} at {rows:,} rows")
    return f"{text}: {', '.join(sizes)} in the group; {expected.noise}."


def _limits(plan: QueryPlan | QuantilePlan) -> list[str]:
    """What the limits on a person may cost, in words: noise is not the only error."""
    unit = plan.schema.unit
    if unit.column is None:
        return []
    notes = []
    if plan.groups > unit.groups:
        few = "1 group" if unit.groups == 1 else f"{unit.groups:,} groups"
        notes.append(
            f"A {unit.column} counts in at most {few}, picked at random; what they have in others is left out."
        )
    rows = "1 row" if unit.rows == 1 else f"{unit.rows:,} rows"
    if isinstance(plan, QuantilePlan):
        notes.append(f"In a group a {unit.column} counts with at most {rows}, picked at random.")
    elif any(not measure.per_person for measure in plan.measures):
        notes.append(f"In a group a {unit.column} counts as at most {rows}; more are clipped.")
    return notes


def _clipping(plan: QueryPlan | QuantilePlan) -> list[str]:
    """What becomes of values outside the bounds, and between the points of a grid."""
    if isinstance(plan, QuantilePlan):
        grid = plan.grid
        ends = f"{grid.start(0):g}..{grid.end(grid.bins - 1):g}"
        if isinstance(grid, Decades):
            return [f"Values of {plan.column} are sorted into {grid.bins:,} bins that end at round numbers in {ends}."]
        wide = f" and are told apart in steps of {float(grid.width):g}" if not grid.whole or grid.width > 1 else ""
        return [f"Values of {plan.column} outside {ends} go to the nearer end{wide}."]
    notes = []
    for measure in plan.measures:
        if isinstance(measure, Total):
            ends = f"{float(measure.lattice.lower):g}..{float(measure.lattice.upper):g}"
            notes.append(f"Values of {measure.column} outside {ends} go to the nearer end{_grid(measure)}.")
    return notes


def _grid(measure: Total) -> str:
    step = measure.lattice.step
    return f" and are rounded to multiples of {float(step):g}" if step != 1 else ""
