"""What there is to know about a synthetic table before it is paid: errors, how values are told apart, what is lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.explanation import Accuracy, Explanation
from discreet.core.note import Note
from discreet.core.release import plural
from discreet.data.column import Date, Integer, Real, Timestamp
from discreet.errors import InputError
from discreet.ledger.budget import largest_rho
from discreet.marginals.domain import Attribute
from discreet.marginals.engine import moved_by
from discreet.marginals.meter import Meter
from discreet.marginals.partition import Labels, Partition
from discreet.query.key import Bin
from discreet.query.notes import cell_notes, join_notes
from discreet.synth.count_errors import one_way_errors, pair_error, total_error
from discreet.synth.discovery import explain_search, searched_column
from discreet.synth.measurement import no_counts
from discreet.synth.method_option import option_words
from discreet.synth.methods import column_prices_of, outline_of
from discreet.synth.parts import MadeColumn
from discreet.synth.spikes import SHARE, least_rows, searched

if TYPE_CHECKING:
    from discreet.synth.plan import SynthPlan

__all__ = ["attribute_words", "declared_notes", "explained"]

_DELTA = Fraction(1, 10**6)
_MINUTE = 60
_NAMED = 6  # columns or marginals named in a note


def explained(plan: SynthPlan) -> Explanation:
    """What there is to know before it is paid."""
    many = "as many rows as there seem to be" if plan.rows is None else f"{plan.rows:,} rows"
    most = max((plan.domain.cells(one) for one in plan.workload), default=0)
    method = f"{plan.method} with {option_words(plan.options)}" if plan.options else plan.method
    outline, blank = outline_of(plan.method, plan.options), plan.blank()
    steps = [] if outline is None else outline(blank, plan.workload, plan.confidence)
    prices = column_prices_of(plan.method, blank, plan.workload, plan.options)
    errors = _errors(plan, blank, prices)
    drowned = f"{blank.noise(blank.price / len(plan.domain)).error(plan.confidence):,}"
    facts: dict[str, Any] = {
        "method": plan.method,
        "why": plan.why,
        **({"options": dict(plan.options)} if plan.options else {}),
        "rows": plan.rows,
        "columns": {one.name: None if one.unknown else one.size for one in plan.domain.attributes},
        "marginals": len(plan.workload),
        "left_out": [[plan.domain.names[column] for column in one] for one in plan.left_out],
    }
    return Explanation(
        title=f"Plan for synthetic rows of {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=(
            f"Makes {many}, in {plural(len(plan.made), 'column')}. Method: {method}: {plan.why}.",
            f"Preserves {plural(len(plan.workload), 'marginal')}, of up to {most:,} cells.",
        ),
        errors=tuple(errors),
        confidence=plan.confidence,
        steps=tuple(steps),
        notes=(
            *_scale(errors),
            *_grown(plan, prices),
            f"Whatever the method, a table of about {drowned} rows or fewer would be lost in the noise.",
            *_dear(plan, errors[-1], sum(prices) / blank.price),
            *(note.text for note in declared_notes(plan)),
            *_made(plan),
        ),
        facts=facts,
    )


def _errors(plan: SynthPlan, blank: Meter, prices: Sequence[Fraction]) -> list[Accuracy]:
    """Errors by the noise alone: of the number of rows, of columns as they are measured first, and of pairs."""
    pairs = {tuple(sorted((a, b))) for one in plan.workload for a in one for b in one if a != b}
    names = [attribute_words(one.name, plan.made) for one in plan.domain.attributes]
    left = blank.price - sum(prices)
    return [
        total_error(blank, prices, plan.confidence),
        *one_way_errors(blank, prices, names, plan.confidence),
        *([pair_error(blank, left, len(pairs), plan.confidence)] if pairs and left else []),
    ]


def _scale(errors: Sequence[Accuracy]) -> list[str]:
    """What the errors of pairs are, where there are any."""
    if not errors[-1].output.startswith("a two-way"):
        return []
    return [
        "Single columns are measured first, with the errors stated; what is measured after them makes these smaller. "
        "The error of two-way counts is for scale, with the rest of the price shared evenly."
    ]


def _grown(plan: SynthPlan, prices: Sequence[Fraction]) -> list[str]:
    """That errors are not exact where the price goes by the number of codes and values found become codes."""
    if not (plan.search or plan.discovery) or min(prices) == max(prices):
        return []
    return [
        "Values that are found get codes, and longer columns a larger part of the price: the errors of the other "
        "columns are then somewhat larger than stated."
    ]


def _dear(plan: SynthPlan, largest: Accuracy, alone: Fraction) -> list[str]:
    """What a guarantee of the same epsilon would buy where a small delta is allowed: far more, for many counts."""
    if plan.currency != "epsilon" or alone == 1:
        return []
    rho = largest_rho(plan.price, _DELTA)
    meter = Meter(no_counts(plan.domain), moved_by(plan.schema.unit), "rho", rho)
    pairs = max(len(plan.workload), 1)
    try:
        other = meter.noise((1 - alone) * rho / pairs).error(plan.confidence)
    except InputError:  # noise of that scale is not made
        return []
    if largest.half_width is None or other >= largest.half_width:
        return []
    return [
        "Pure epsilon is expensive for many counts: from an allotment that counts rho, (epsilon, delta) = "
        f"({float(plan.price):.3g}, {float(_DELTA):.0e}) would have two-way counts within +-{other:,}."
    ]


def declared_notes(plan: SynthPlan) -> list[Note]:
    """What the rows leave out of the table they are made from, as far as it was declared: nothing is read for it."""
    attributes = plan.domain.attributes
    notes = [Note("bins", text, ()) for text in (*_put_together(plan), *_values(plan))]
    found = [searched_column(one) for one in plan.searches]
    if plan.prior is not None:
        notes.append(Note("prior", plan.prior.explain(plan.domain, plan.schema), ()))
    notes += [Note("discovered", explain_search(one, len(found)), ()) for one in plan.searches]
    notes += [Note("bins", _binned(one), ()) for one in attributes if one.partition is None and _is_binned(one)]
    columns = {one.name: plan.schema.column(one.name) for one in plan.made}
    if bounded := [name for name, one in columns.items() if isinstance(one, Integer | Real | Date | Timestamp)]:
        text = f"Values of {_few(bounded)} outside the declared bounds are clipped to the nearer bound."
        notes.append(Note("bounds", text, ()))
    strict = [name for name, one in columns.items() if not one.nullable and name not in found]
    if strict:
        text = (
            f"A row without a declared value of {_few(strict, 'or')} is left out of everything; to keep such rows, "
            "with the value missing, declare the column nullable."
        )
        notes.append(Note("outside", text, ()))
    if gaps := [name for name, one in columns.items() if one.nullable and name not in found]:
        text = f"Missing and undeclared values of {_few(gaps)} count as missing, a value of its own."
        notes.append(Note("missing", text, ()))
    notes += cell_notes(plan.schema, (), plan.condition, cells=None, cell="combination", of=" of values")
    notes += join_notes(plan.schema, plan.domain.names, ())
    if plan.left_out:
        named = [" x ".join(plan.domain.names[column] for column in one) for one in plan.left_out]
        text = f"Not preserved, with more than {plan.limit:,} cells: {plural(len(named), 'marginal')}, {_few(named)}."
        notes.append(Note("marginals", text, ()))
    return [*notes, *_unseen(plan)]


def _unseen(plan: SynthPlan) -> list[Note]:
    """Pairs of columns that no marginal of the workload holds: nobody looks at what they have to do with each other."""
    held = {pair for columns in plan.workload for pair in itertools.combinations(columns, 2)}
    width = len(plan.domain)
    pairs = [pair for pair in itertools.combinations(range(width), 2) if pair not in held and pair not in plan.left_out]
    if not pairs:
        return []
    named = [" x ".join(attribute_words(plan.domain.names[column], plan.made) for column in pair) for pair in pairs]
    text = f"{plural(len(pairs), 'pair')} of columns not in the workload, which may come out as independent"
    return [Note("marginals", f"{text}: {_few(named)}.", ())]


def _made(plan: SynthPlan) -> list[str]:
    """What is made up, and what is changed."""
    made = []
    if plan.keys:
        made.append(f"{_few([name for name, _ in plan.keys])}: generated anew, a different one for every row.")
    if plan.impossible:
        rules = plural(len(plan.impossible), "condition")
        made.append(f"Impossible rows ({rules}) are changed until they are possible; this costs nothing.")
    return made


def _put_together(plan: SynthPlan) -> list[str]:
    """Columns that are made of parts."""
    lines = []
    for one in plan.made:
        if one.base is not None:
            text = f"{one.name} is made from {one.base} and the difference between them"
            rest = f"; where only {one.base} is missing, {one.name} is drawn without it" if len(one.parts) > 1 else ""
            lines.append(f"{text}{rest}.")
        elif not one.plain:
            step = getattr(plan.schema.column(one.name), "step", None)
            seconds = "; seconds are drawn uniformly" if step is None or step < _MINUTE else ""
            lines.append(f"{one.name} is put together from its day and its time of day{seconds}.")
    return lines


def _values(plan: SynthPlan) -> list[str]:
    """How numbers and days are told apart, and which values are found."""
    runs: dict[str, list[str]] = {}
    for one in plan.domain.attributes:
        cut = one.partition
        if not isinstance(cut, Partition) or not isinstance(one.labels, Labels):
            continue
        coarse = one.labels.kind == "integer" and cut.unit > (getattr(plan.schema.column(one.name), "step", None) or 1)
        if one.labels.kind == "real" or (coarse and one.name in plan.schema.columns):
            runs.setdefault(f"{float(cut.unit):.12g}", []).append(one.name)
    lines = [f"{_few(names)}: in steps of {step}." for step, names in runs.items()]
    fine = searched(plan.domain).attributes
    if not fine:
        return lines
    noise = plan.blank().noise(plan.search / len(fine))
    least = [least_rows(one, noise) for one in fine]
    many = f"{min(least):,}" if min(least) == max(least) else f"{min(least):,} to {max(least):,}"
    named = _few([attribute_words(one.name, plan.made) for one in fine])
    return [
        *lines,
        f"For {float(SHARE):.0%} of the price, values of {named} that more than about {many} rows share are found and "
        "get a code of their own, and so are coarser steps that nearly all values are on. Other values are grouped in "
        "runs, shorter near zero, and drawn uniformly inside a run.",
    ]


def attribute_words(attribute: str, made: Sequence[MadeColumn]) -> str:
    """What people call an attribute: the time of pickup, say."""
    for one in made:
        if attribute in one.parts and not one.plain and one.base is None:
            return f"the {'day' if attribute == one.parts[0] else 'time'} of {one.name}"
    return attribute


def _is_binned(attribute: Attribute) -> bool:
    return isinstance(attribute.labels[0], Bin)


def _binned(attribute: Attribute) -> str:
    bins = [label for label in attribute.labels if isinstance(label, Bin)]
    text = f"{attribute.name} is measured in {len(bins):,} bins, {bins[0]}, ... {bins[-1]}"
    return f"{text}; values inside a bin are drawn uniformly."


def _few(names: Iterable[str], last: str = "and") -> str:
    """A list in words, cut short if it is long."""
    listed = list(names)
    if len(listed) > _NAMED:
        listed = [*listed[: _NAMED - 1], f"{len(listed) - _NAMED + 1:,} more"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {last} {listed[-1]}"
