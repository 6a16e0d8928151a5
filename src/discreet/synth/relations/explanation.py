"""What there is to know about parents and child rows before they are paid: errors of both, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.core.explanation import Accuracy, Explanation
from discreet.core.note import Note
from discreet.core.release import plural
from discreet.data.column import Date, Integer, Real, Timestamp
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.query.notes import condition_notes, join_notes, unidentified_notes
from discreet.synth.count_errors import one_way_errors, pair_error, total_error
from discreet.synth.explanation import attribute_words
from discreet.synth.mosaic import column_prices
from discreet.synth.relations.chain import MOST_CHILD_ROWS
from discreet.synth.relations.coarse import child_bins, coarsened
from discreet.synth.relations.gaps import octaves
from discreet.synth.spikes import searched
from discreet.synth.synthetic import Synthetic, cut_note
from discreet.synth.workload import Workload, bearable

if TYPE_CHECKING:
    from discreet.synth.relations.plan import RelationsPlan

__all__ = ["declared_notes", "explained", "size_notes"]

_NAMED = 6  # columns named in a note


def explained(plan: RelationsPlan) -> Explanation:
    """What there is to know before it is paid."""
    levels, unit = plan.levels, plan.schema.unit
    many = "as many parents as there seem to be" if plan.rows is None else plural(plan.rows, "parent")
    pairs = len(levels.workload())
    facts: dict[str, Any] = {
        "parent": [one.name for one in levels.parent],
        "child": [one.name for one in levels.child],
        "order": None if levels.clock is None else levels.clock.column,
        "limit": levels.limit,
        "parent_share": float(plan.parent_share),
        "rows": plan.rows,
    }
    share = float(plan.parent_price / plan.price)
    parts = f"{share:.1%} of the price is for parents, the rest for child rows" if levels.steps else "one price"
    return Explanation(
        title=f"Plan for synthetic parents and child rows of {plan.dataset!r}",
        unit=str(unit),
        shape=(
            f"Makes {many} in {plural(len(levels.parent), 'column')}, each with 0 to {levels.limit:,} child rows in "
            f"{plural(len(levels.child), 'column')}; {unit.column} is made anew and joins them.",
            f"Preserves {plural(len(plan.preserved.marginals), 'marginal')} of parents and their number of child rows, "
            f"and {plural(pairs, 'marginal')} of child rows with their parent{_before(plan)}; {parts}.",
        ),
        errors=tuple(_errors(plan)),
        confidence=plan.confidence,
        notes=(
            "Single columns are measured first, with the errors stated; what is measured after them makes these "
            "smaller. Errors of two-way counts are for scale, with the rest of either part shared evenly.",
            f"One {unit.column} moves a count of parents by 1, one of child rows by up to {levels.steps:,}: a smaller "
            "limit has less noise and leaves out more rows.",
            *(note.text for note in declared_notes(plan)),
        ),
        facts=facts,
    )


def _before(plan: RelationsPlan) -> str:
    return "" if plan.levels.clock is None else " and the row before"


def _errors(plan: RelationsPlan) -> list[Accuracy]:
    """Errors by the noise alone: of the number of parents, of columns as they are measured first, and of pairs.

    Of child rows columns are measured in groups that come out of what was measured before: here in even ones.
    """
    levels = plan.levels
    workload = bearable(plan.preserved.marginals, levels.parents)
    meter = plan.parent_meter()
    total = total_error(meter, column_prices(meter, workload), plan.confidence, "parents")
    found = [_shared(total, meter, plan), *_counts(plan, meter, workload, "parents")]
    if levels.steps:
        gaps = None if levels.clock is None else octaves(levels.clock.gaps)
        meter = plan.child_meter(coarsened(levels.children, child_bins(levels, [], gaps)))
        found += _counts(plan, meter, levels.workload(), "child rows")
    return found


def _counts(plan: RelationsPlan, meter: Meter, workload: Workload, what: str) -> list[Accuracy]:
    """Errors of single columns and of pairs of one of the tables."""
    prices, of = column_prices(meter, workload), f" of {what}"
    made = (*plan.levels.parent, *plan.levels.child)
    names = [attribute_words(name, made) for name in meter.domain.names]
    errors = one_way_errors(meter, prices, names, plan.confidence, of)
    if left := meter.price - sum(prices):
        errors.append(pair_error(meter, left, len(dict.fromkeys(workload)), plan.confidence, of))
    return [_shared(one, meter, plan) for one in errors]


def _shared(error: Accuracy, meter: Meter, plan: RelationsPlan) -> Accuracy:
    return replace(error, share=float(meter.price / plan.price))


def declared_notes(plan: RelationsPlan) -> list[Note]:
    """What the tables leave out, as far as it was declared: nothing is read for it."""
    levels, person, clock = plan.levels, plan.schema.unit.column, plan.levels.clock
    which = "picked at random" if clock is None else f"the first by {clock.column}"
    notes = [
        Note(
            "rows",
            f"Each {person} has at most {plural(levels.limit, 'child row')}, {which}; what is beyond is left out.",
            (),
        ),
        Note(
            "rows",
            f"Where rows of one {person} differ in {_few([one.name for one in levels.parent], 'or')}, the least value "
            "counts, in the order of declaration; a missing one only if all are.",
            (),
        ),
    ]
    columns = {one.name: plan.schema.column(one.name) for one in (*levels.parent, *levels.child)}
    own = [one.name for one in levels.parent if not columns[one.name].nullable]
    if own:
        text = f"A {person} without a declared value of {_few(own, 'or')} is left out of everything."
        notes.append(Note("outside", text, ()))
    strict = [one.name for one in levels.child if not columns[one.name].nullable or _is_clock(one.name, plan)]
    text = f"A row without a declared value of {_few(strict, 'or')} is no child row." if strict else ""
    notes.append(Note("outside", text or "A row in which all child columns are missing is no child row.", ()))
    if gaps := [name for name, one in columns.items() if one.nullable and not _is_clock(name, plan)]:
        text = f"Missing and undeclared values of {_few(gaps)} count as missing, a value of its own."
        notes.append(Note("missing", text, ()))
    if bounded := [name for name, one in columns.items() if isinstance(one, Integer | Real | Date | Timestamp)]:
        text = f"Values of {_few(bounded)} outside the declared bounds are clipped to the nearer bound."
        notes.append(Note("bounds", text, ()))
    if plan.preserved.left_out:
        names = plan.levels.parents.names
        named = [" x ".join(names[column] for column in one) for one in plan.preserved.left_out]
        notes.append(Note("marginals", f"Not preserved, with too many cells: {_few(named)}.", ()))
    alike = "" if clock is not None else " Rows of one parent are alike only as far as their parent's columns tell."
    text = f"Child rows follow from their parent's columns in groups{_row_before(plan)}.{alike}"
    notes.append(Note("marginals", text, ()))
    notes += [Note("bins", text, ()) for text in _searched(plan)]
    notes += unidentified_notes(plan.schema.unit, ())
    notes += join_notes(plan.schema, columns, ())
    return [*notes, *condition_notes(plan.condition, (), plan.schema)]


def size_notes(parents: Synthetic, kept: int) -> list[Note]:
    """What was left out of the tables because no more rows are made, of a number of parents that noise may make."""
    notes = []
    if cut := cut_note(len(parents.codes), parents.total):
        counted = f"About {round(parents.total):,} parents were counted"
        notes.append(Note("rows", f"{counted}: {cut}.", ()))
    if kept < len(parents.codes):
        text = f"At most {MOST_CHILD_ROWS:,} child rows are made: of {len(parents.codes):,} parents {kept:,} are."
        notes.append(Note("rows", text, ()))
    return notes


def _searched(plan: RelationsPlan) -> list[str]:
    """What is spent before marginals are measured, and on what."""
    parts, levels, price = plan.parts, plan.levels, plan.price
    texts = []
    if share := float((parts.parents + parts.children) / price):
        own = (Domain(levels.own) if parts.children else Domain(())).attributes
        above = levels.parent_columns.attributes if parts.parents else ()
        made = (*levels.parent, *levels.child)
        names = [attribute_words(one.name, made) for one in searched(Domain((*above, *own))).attributes]
        texts.append(f"For {share:.1%} of the price, values of {_few(names)} that many rows share are looked for.")
    if parts.gaps:
        share = float(parts.gaps / price)
        texts.append(f"For {share:.1%} of the price, times between rows are counted by octaves: 1, 2 to 3, 4 to 7, ...")
    return texts


def _row_before(plan: RelationsPlan) -> str:
    return "" if plan.levels.clock is None else ", the row before and the time since it, and from nothing earlier"


def _is_clock(name: str, plan: RelationsPlan) -> bool:
    return plan.levels.clock is not None and name == plan.levels.clock.column


def _few(names: Iterable[str], last: str = "and") -> str:
    """A list in words, cut short if it is long."""
    listed = list(names)
    if len(listed) > _NAMED:
        listed = [*listed[: _NAMED - 1], f"{len(listed) - _NAMED + 1:,} more"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {last} {listed[-1]}"
