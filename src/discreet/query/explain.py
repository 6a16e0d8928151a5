"""A plan in words: what it costs, what is added, how far answers may be off, what clipping may do."""

from __future__ import annotations

import math

from discreet.accounting.calibrate import epsilon_for_rho
from discreet.accounting.words import readable
from discreet.core.release import number, percent
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms import QuantileTree
from discreet.query.batch import BatchPlan
from discreet.query.column import Text
from discreet.query.discovery import DiscoveryPlan
from discreet.query.joined import JoinedPlan
from discreet.query.kinds import Planned
from discreet.query.notes import declared_notes
from discreet.query.plan import Expectation, QueryPlan, noise_name
from discreet.query.private_bounds import SEARCHED, BoundsPlan
from discreet.query.quantile_plan import QuantilePlan, RankExpectation
from discreet.query.range_search import SURE
from discreet.query.top import TopPlan
from discreet.query.unknown import LONGEST

__all__ = ["explain", "explain_batch", "price_lines", "price_text"]

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
    lines += price_lines(plan.allotment, plan.charge, left)
    for name, part in plan.parts:
        lines += [f"{name}:", *("  " + line for line in explain(part).splitlines()[1:])]
    return "\n".join(lines)


def explain(plan: Planned, left: Charge | None = None) -> str:
    """The plan for a person who is about to spend on it."""
    lines = [f"Plan for {plan.dataset!r}; protects {plan.schema.unit}."]
    lines += price_lines(plan.allotment, plan.charge, left)
    lines += _shape(plan)
    parts = plan.parts if isinstance(plan, JoinedPlan) else (plan,)
    lines += [line for part in parts if isinstance(part, BoundsPlan) for line in _searches(part)]
    lines.extend(_expectation(expected, plan.confidence) for expected in plan.expected())
    notes = [note for part in parts for note in _notes(part)]
    return "\n".join([*lines, *(f"  Note: {note}" for note in dict.fromkeys(notes))])


def _shape(plan: Planned) -> list[str]:
    """Which rows there will be."""
    if isinstance(plan, DiscoveryPlan):
        return _discovered(plan)
    if isinstance(plan, TopPlan):
        column, of = plan.question.key.column, len(plan.question.labels(plan.schema))
        return [f"Releases {plan.groups:,} of the {of:,} values of {column}, the most common first, as noise allows."]
    groups = "1 row" if plan.groups == 1 else f"{plan.groups:,} rows, one for each group, empty ones too"
    return [f"Releases {groups}."]


def _searches(plan: BoundsPlan) -> list[str]:
    """How bounds come to be found, and at which price the answer is then made."""
    currency, whole = plan.price.spent(plan.allotment)
    lines = []
    for search in plan.searches:
        grid, share = search.grid, SEARCHED / len(plan.searches)
        lines += [
            f"  First, bounds of {search.column}, for {currency} = {readable(whole * share)} ({share}): counts of "
            f"{grid.bins:,} bins that end at round numbers in {float(grid.edges[0]):g}..{float(grid.edges[-1]):g}; "
            f"{noise_name(search.noise)}.",
            f"    Bins of more than {2 * search.sure:,} rows are within the bounds, and no empty one is by itself "
            f"({percent(SURE)}). Beside the others an empty bin is added with a chance of at most 1/20.",
        ]
    rest = 1 - SEARCHED
    return [*lines, f"  Then, for {currency} = {readable(whole * rest)} ({rest}) whatever was found, the answer:"]


def _discovered(plan: DiscoveryPlan) -> list[str]:
    """How keys come to appear, and how likely it is."""
    who = "rows" if plan.schema.unit.column is None else "people"
    names = ", ".join(key.column for key in plan.question.keys)
    sure = plan.selection.certain_at
    chances = ", ".join(f"{_chance(chance)} at {crowd:,}" for crowd, chance in plan.chances if crowd < sure)
    parts = len(plan.measures) + 1
    return [
        f"Releases a row for each {names} that enough {who} share: how many is itself private, and a result.",
        f"  Selection: 1/{parts} of the price, and all of the delta. The chance that one appears, by how many {who} "
        f"have it: {chances}; always from {sure:,} on. What nobody has never appears.",
    ]


def _chance(chance: float) -> str:
    # Two digits, upward; but a chance of 1e-7 that is a bound from above by a last bit is not 1.1e-7.
    return "above 0.99" if chance > 0.99 else readable(chance * (1 - 1e-12), 2)


def price_lines(allotment: Allotment, charge: Charge, left: Charge | None) -> list[str]:
    """What a job costs, and what is left before and after."""
    lines = [f"Cost: {price_text(allotment, charge)} from allotment {allotment.name!r} (the whole question)."]
    if allotment.currency == "rho" and charge.amount:
        epsilon = readable(epsilon_for_rho(charge.amount), digits=4, direction="near")
        lines.append(f"  As much as a release of pure epsilon = {epsilon} costs here.")
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
    of = f", {expected.unit}" if expected.half_width is None and expected.unit else f" {expected.unit}".rstrip()
    if expected.choice:
        behind = number(math.ceil(expected.half_width or 0))
        error = f"each at most {behind} behind the most common one left, all of them"
    elif expected.half_width is not None:
        error = f"+-{number(expected.half_width)}{of}"
    else:
        sizes = ", ".join(f"about +-{number(half)} at {rows:,} rows" for rows, half in expected.by_rows)
        error = f"{sizes} in the group{of}"
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


def _notes(plan: QueryPlan | BoundsPlan | QuantilePlan | DiscoveryPlan | TopPlan) -> list[str]:
    """What the answer will be off by beside its noise, and what becomes of values between the points of a grid."""
    notes = plan.notes if isinstance(plan, TopPlan) else declared_notes(plan.question, plan.schema)
    return [*(note.text for note in notes), *_clipping(plan)]


def _clipping(plan: QueryPlan | BoundsPlan | QuantilePlan | DiscoveryPlan | TopPlan) -> list[str]:
    """What becomes of values outside bounds that are not known yet, and intervals that nobody pays for."""
    if isinstance(plan, QuantilePlan):
        bare = not isinstance(plan.search, QuantileTree) and plan.search.confidence is None
        return [f"No interval of {plan.column} was paid for: its ends are the bounds."] if bare else []
    notes = _found(plan) if isinstance(plan, BoundsPlan) else []
    if isinstance(plan, DiscoveryPlan):
        free = [key.column for key in plan.question.discovered if isinstance(plan.schema.columns[key.column], Text)]
        notes += [f"A {name} of more than {LONGEST} characters counts as missing." for name in free]
    return notes


def _found(plan: BoundsPlan) -> list[str]:
    """What becomes of values outside bounds that are not known yet."""
    notes = []
    for search in plan.searches:
        name = search.column
        notes += [
            f"Values of {name} outside {name}_low..{name}_high, which are released too, go to the nearer end: "
            "intervals hold the noise, not what is clipped. "
            "If no bin seems to have rows, the bounds are the declared ones.",
        ]
    return notes
