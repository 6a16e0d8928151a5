"""The plan of a synthetic table, in words and numbers, and where to release it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.release import percent
from discreet.query.explain import price_lines, price_text
from discreet.query.key import Bin
from discreet.query.plan import noise_name
from discreet.synth.counts import Columns
from discreet.synth.domain import Attribute
from discreet.synth.methods import outline_of
from discreet.synth.plan import SynthPlan
from discreet.synth.released import SyntheticRelease

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["Scale", "SynthOffer"]

_NAMED = 6  # columns or marginals named in a note


@dataclass(frozen=True, slots=True)
class Scale:
    """How far counts of one kind would be off if the whole price were shared evenly among them."""

    marginals: int
    noise: str
    half_width: int


@dataclass(frozen=True)
class SynthOffer:
    """A plan and where to release it. `print(offer)` before, `offer.release()` to spend."""

    curator: Curator
    plan: SynthPlan
    why: str
    left_out: tuple[Columns, ...] = ()
    limit: int = 0

    @property
    def expected(self) -> dict[str, Scale]:
        """The error of one-way and two-way counts by the noise alone, for scale: methods share the price unevenly."""
        plan, blank = self.plan, self.plan.blank()
        pairs = {tuple(sorted((a, b))) for one in plan.workload for a in one for b in one if a != b}
        found = {}
        for kind, many in (("one-way", len(plan.domain)), ("two-way", len(pairs))):
            if many:
                noise = blank.noise(plan.price / many)
                found[kind] = Scale(many, noise_name(noise), noise.error(plan.confidence))
        return found

    def explain(self) -> str:
        """Cost, method and why, what is measured, how far counts may be off, what is binned and left out."""
        plan = self.plan
        left = self.curator.ledger.remaining(plan.dataset, plan.allotment.name)
        lines = [f"Plan for synthetic rows of {plan.dataset!r}; protects {plan.schema.unit}."]
        lines += price_lines(plan.allotment, plan.charge, left)
        many = "as many rows as there seem to be" if plan.rows is None else f"{plan.rows:,} rows"
        lines.append(f"Makes {many}, in {_counted(len(plan.domain), 'column')}. Method: {plan.method}: {self.why}.")
        most = max((plan.domain.cells(one) for one in plan.workload), default=0)
        lines.append(f"Preserves: {_counted(len(plan.workload), 'marginal')}, of up to {most:,} cells.")
        outline = outline_of(plan.method)
        told = [] if outline is None else outline(plan.blank(), plan.workload, plan.confidence)
        lines += [f"  {line}" for line in told]
        for kind, scale in self.expected.items():
            which = "1 marginal" if scale.marginals == 1 else f"all {scale.marginals:,}"
            lines.append(
                f"  For scale: the price shared evenly by {which}, a {kind} count would be off by "
                f"+-{scale.half_width:,} ({percent(plan.confidence)}; {scale.noise})."
            )
        drowned = self.expected["one-way"].half_width
        lines.append(f"  Whatever the method, a table of about {drowned:,} rows or fewer would be lost in the noise.")
        return "\n".join([*lines, *(f"  Note: {note}" for note in self._notes())])

    def _notes(self) -> list[str]:
        plan = self.plan
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
        if self.left_out:
            named = [" x ".join(plan.domain.names[column] for column in one) for one in self.left_out]
            too_many = _counted(len(named), "marginal")
            notes.append(f"Not preserved, with more than {self.limit:,} cells: {too_many}, {_few(named)}.")
        if plan.impossible:
            rules = _counted(len(plan.impossible), "condition")
            notes.append(f"Rows that cannot be ({rules}) are changed until they can; that costs nothing.")
        return notes

    def release(self, *, release: str | None = None, why: str = "") -> SyntheticRelease:
        """Spend, open, run, record. The same `release` id again returns the stored rows at no cost."""
        answer = self.curator.through_the_door(self.plan, self.plan.columns, release=release, why=why)
        left = self.curator.ledger.remaining(self.plan.dataset, self.plan.allotment.name)
        return SyntheticRelease.read(
            answer, price_text(self.plan.allotment, answer.charge), price_text(self.plan.allotment, left, "down")
        )

    def __str__(self) -> str:
        return self.explain()


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
