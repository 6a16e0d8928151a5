"""What the plan of a synthetic table says of itself: method and why, what is measured, binned and left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.core.explained import Expected, Explained
from discreet.marginals.domain import Attribute
from discreet.query.key import Bin
from discreet.query.plan import noise_name
from discreet.synth.methods import outline_of

if TYPE_CHECKING:
    from discreet.synth.plan import SynthPlan

__all__ = ["explained"]

_NAMED = 6  # columns or marginals named in a note


def explained(plan: SynthPlan) -> Explained:
    """What there is to know before it is paid."""
    many = "as many rows as there seem to be" if plan.rows is None else f"{plan.rows:,} rows"
    most = max((plan.domain.cells(one) for one in plan.workload), default=0)
    outline = outline_of(plan.method)
    steps = [] if outline is None else outline(plan.blank(), plan.workload, plan.confidence)
    errors = _errors(plan)
    drowned = f"{errors[0].half_width or 0:,.0f}"
    facts: dict[str, Any] = {
        "method": plan.method,
        "why": plan.why,
        "rows": plan.rows,
        "columns": dict(zip(plan.domain.names, plan.domain.sizes, strict=True)),
        "marginals": len(plan.workload),
        "left_out": [[plan.domain.names[column] for column in one] for one in plan.left_out],
    }
    return Explained(
        title=f"Plan for synthetic rows of {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=(
            f"Makes {many}, in {_counted(len(plan.domain), 'column')}. Method: {plan.method}: {plan.why}.",
            f"Preserves {_counted(len(plan.workload), 'marginal')}, of up to {most:,} cells.",
        ),
        errors=tuple(errors),
        confidence=plan.confidence,
        steps=tuple(steps),
        notes=(
            "Errors are for scale, with the price shared evenly: methods share it unevenly.",
            f"Whatever the method, a table of about {drowned} rows or fewer would be lost in the noise.",
            *_notes(plan),
        ),
        facts=facts,
    )


def _errors(plan: SynthPlan) -> list[Expected]:
    """The error of one-way and two-way counts by the noise alone, if the price were shared evenly among them."""
    blank = plan.blank()
    pairs = {tuple(sorted((a, b))) for one in plan.workload for a in one for b in one if a != b}
    errors = []
    for kind, many in (("one-way", len(plan.domain)), ("two-way", len(pairs))):
        if many:
            noise = blank.noise(plan.price / many)
            name = f"a {kind} count, one of {_counted(many, 'marginal')}"
            errors.append(Expected(name, noise_name(noise), noise.error(plan.confidence)))
    return errors


def _notes(plan: SynthPlan) -> list[str]:
    attributes, unit = plan.domain.attributes, plan.schema.unit
    notes = [_binned(one) for one in attributes if isinstance(one.labels[0], Bin)]
    strict = [one.name for one in attributes if not one.missing]
    if strict:
        notes.append(
            f"A row without a declared value of {_few(strict, 'or')} is left out of everything; to keep such rows, "
            "with the value missing, declare the column nullable."
        )
    if gaps := [one.name for one in attributes if one.missing]:
        notes.append(f"Missing and undeclared values of {_few(gaps)} are a value of their own: missing.")
    if unit.column is not None:
        few = "1 combination of values" if unit.groups == 1 else f"{unit.groups:,} combinations of values"
        most = "1 row" if unit.rows == 1 else f"{unit.rows:,} rows"
        notes.append(f"A {unit.column} counts with at most {few}, picked at random, as at most {most} of each.")
    if plan.keys:
        notes.append(f"{_few([name for name, _ in plan.keys])}: made anew, another for every row.")
    if plan.left_out:
        named = [" x ".join(plan.domain.names[column] for column in one) for one in plan.left_out]
        too_many = _counted(len(named), "marginal")
        notes.append(f"Not preserved, with more than {plan.limit:,} cells: {too_many}, {_few(named)}.")
    if plan.impossible:
        rules = _counted(len(plan.impossible), "condition")
        notes.append(f"Rows that cannot be ({rules}) are changed until they can; that costs nothing.")
    return notes


def _binned(attribute: Attribute) -> str:
    bins = [label for label in attribute.labels if isinstance(label, Bin)]
    text = f"{attribute.name} is told apart in {len(bins):,} bins, {bins[0]}, ... {bins[-1]}"
    return f"{text}; inside one, values are drawn evenly."


def _counted(many: int, what: str) -> str:
    return f"{many:,} {what}" + ("" if many == 1 else "s")


def _few(names: Iterable[str], last: str = "and") -> str:
    """A list in words, cut short if it is long."""
    listed = list(names)
    if len(listed) > _NAMED:
        listed = [*listed[: _NAMED - 1], f"{len(listed) - _NAMED + 1:,} more"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {last} {listed[-1]}"
