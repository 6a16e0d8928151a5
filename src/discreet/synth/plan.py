"""A priced synthetic table: its columns, what it is to preserve, by which method, and what it costs. One charge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from discreet.core.digest import digest_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.progress import listening, notify
from discreet.core.release import plural
from discreet.data.column import Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.engine import EngineCounts, moved_by
from discreet.marginals.meter import Meter
from discreet.query.key import Bin
from discreet.query.notes import cell_notes, join_notes
from discreet.query.plan import noise_name
from discreet.query.predicate import Predicate, columns_of, predicate_to
from discreet.query.table_plan import TablePlan
from discreet.synth.measurement import Measurement, RecordedMeter, measured, no_counts
from discreet.synth.methods import method_named, outline_of
from discreet.synth.record import domain_to, synthetic_to
from discreet.synth.rescue import independent_rows, run_with_rescue
from discreet.synth.synthetic import check_rows

__all__ = ["SynthPlan"]

_NAMED = 6  # columns or marginals named in a note


@dataclass(frozen=True, slots=True, eq=False)
class SynthPlan(TablePlan):
    """A synthetic table under one fixed price. Nothing is read and nothing is spent by making one.

    Guarantee
        Everything released costs `cost`: rows and measurements come out of a meter with that price, and what is made
        of them sees nothing else. Proof: docs/proofs/synth.md and docs/proofs/synth-counts.md.
    """

    kind: ClassVar[str] = "synth"
    version: ClassVar[int] = 2
    schema: Schema
    domain: Domain
    allotment: Allotment
    currency: Literal["epsilon", "rho"]
    price: Fraction
    method: str
    workload: Mapping[Columns, float]
    rows: int | None = None
    condition: Predicate | None = None
    impossible: tuple[Predicate, ...] = ()
    keys: tuple[tuple[str, str | int], ...] = ()
    confidence: float = 0.95
    why: str = "asked for"
    """Why this method."""
    left_out: tuple[Columns, ...] = ()
    """What has more cells than `limit`, and is not preserved."""
    limit: int = 0

    @property
    def cost(self) -> Loss:
        """The price of the whole table."""
        return Pure(self.price) if self.currency == "epsilon" else ZCDP(self.price)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        noise = "discrete Laplace" if self.currency == "epsilon" else "discrete Gaussian"
        return f"{noise} on marginals, chosen by the exponential mechanism where any are; then {self.method}"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        names = self.domain.names
        return {
            "synth": {
                "columns": [one.key.to_dict() for one in self.domain.attributes],
                "workload": [[[names[column] for column in one], weight] for one, weight in self.workload.items()],
                "rows": self.rows,
                "where": None if self.condition is None else predicate_to(self.condition),
                "impossible": [predicate_to(condition) for condition in self.impossible],
                "keys": [list(key) for key in self.keys],
            },
            "method": self.method,
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {"schema": self.schema.to_dict(), "query": self.query, "price": [self.currency, str(self.price)]}
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        named = list(self.domain.names)
        named += [] if self.condition is None else columns_of(self.condition)
        return named if self.schema.unit.column is None else [*named, self.schema.unit.column]

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        return _explained(self)

    def by(self, method: str, why: str) -> SynthPlan:
        """The same by another method."""
        return replace(self, method=method, why=why)

    def blank(self) -> Meter:
        """A meter of the same price on no data: for asking how much noise an amount buys."""
        return Meter(no_counts(self.domain), moved_by(self.schema.unit), self.currency, self.price)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, measure what the method asks for. Called by the one door only."""
        notify("reading codes in the engine")
        counts = EngineCounts(self.domain, self.schema, data, bits, self.condition)
        return measured(method_named(self.method), counts, self.blank(), bits, self.workload).to_json()

    def publish(
        self, measured: dict[str, Any], *, rows: int | None = None, method: str | None = None
    ) -> dict[str, Any]:
        """Rows, by the plan's method or `independent`, as many as the plan says or another number."""
        check_rows(rows)
        notify("making rows")
        record, count = Measurement.from_json(measured), self.rows if rows is None else rows
        meter = RecordedMeter(self.blank(), record)
        if method in (None, self.method):
            with listening(lambda stage, done: None):  # its stages were told when it was measured
                made = run_with_rescue(method_named(self.method), meter, self.workload, count)
        elif method == "independent":
            made = independent_rows(meter, count, "every column alone: columns are independent")
        else:
            allowed = f"{self.method}, by which it was measured, or independent"
            raise InputError("method", method, allowed, "Another method asks for other marginals, which are charged.")
        notify("recording")
        return {
            "synth": {
                "domain": domain_to(self.domain, self.schema.columns),
                "made": synthetic_to(made, record),
                "method": self.method if method is None else method,
                "impossible": [predicate_to(condition) for condition in self.impossible],
                "keys": [list(key) for key in self.keys],
            },
            "notes": [note.to_dict() for note in _declared_notes(self)],
        }


def _explained(plan: SynthPlan) -> Explanation:
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
    return Explanation(
        title=f"Plan for synthetic rows of {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=(
            f"Makes {many}, in {plural(len(plan.domain), 'column')}. Method: {plan.method}: {plan.why}.",
            f"Preserves {plural(len(plan.workload), 'marginal')}, of up to {most:,} cells.",
        ),
        errors=tuple(errors),
        confidence=plan.confidence,
        steps=tuple(steps),
        notes=(
            "Errors are for scale, with the price shared evenly: methods share it unevenly.",
            f"Whatever the method, a table of about {drowned} rows or fewer would be lost in the noise.",
            *(note.text for note in _declared_notes(plan)),
            *_made(plan),
        ),
        facts=facts,
    )


def _errors(plan: SynthPlan) -> list[Accuracy]:
    """The error of one-way and two-way counts by the noise alone, if the price were shared evenly among them."""
    blank = plan.blank()
    pairs = {tuple(sorted((a, b))) for one in plan.workload for a in one for b in one if a != b}
    errors = []
    for kind, many in (("one-way", len(plan.domain)), ("two-way", len(pairs))):
        if many:
            noise = blank.noise(plan.price / many)
            name = f"a {kind} count, one of {plural(many, 'marginal')}"
            errors.append(Accuracy(name, noise_name(noise), noise.error(plan.confidence)))
    return errors


def _declared_notes(plan: SynthPlan) -> list[Note]:
    """What the rows leave out of the table they are made from, as far as it was declared: nothing is read for it."""
    attributes = plan.domain.attributes
    notes = [Note("bins", _binned(one), ()) for one in attributes if isinstance(one.labels[0], Bin)]
    if bounded := [one.name for one in attributes if isinstance(plan.schema.columns[one.name], Integer | Real | Date)]:
        text = f"Values of {_few(bounded)} outside the declared bounds go to the nearer end."
        notes.append(Note("bounds", text, ()))
    strict = [one.name for one in attributes if not one.missing]
    if strict:
        text = (
            f"A row without a declared value of {_few(strict, 'or')} is left out of everything; to keep such rows, "
            "with the value missing, declare the column nullable."
        )
        notes.append(Note("outside", text, ()))
    if gaps := [one.name for one in attributes if one.missing]:
        text = f"Missing and undeclared values of {_few(gaps)} are a value of their own: missing."
        notes.append(Note("missing", text, ()))
    notes += cell_notes(plan.schema, (), plan.condition, cells=None, cell="combination", of=" of values")
    notes += join_notes(plan.schema, plan.domain.names, ())
    if plan.left_out:
        named = [" x ".join(plan.domain.names[column] for column in one) for one in plan.left_out]
        text = f"Not preserved, with more than {plan.limit:,} cells: {plural(len(named), 'marginal')}, {_few(named)}."
        notes.append(Note("marginals", text, ()))
    return notes


def _made(plan: SynthPlan) -> list[str]:
    """What is made up, and what is changed."""
    made = []
    if plan.keys:
        made.append(f"{_few([name for name, _ in plan.keys])}: made anew, another for every row.")
    if plan.impossible:
        rules = plural(len(plan.impossible), "condition")
        made.append(f"Rows that cannot be ({rules}) are changed until they can; that costs nothing.")
    return made


def _binned(attribute: Attribute) -> str:
    bins = [label for label in attribute.labels if isinstance(label, Bin)]
    text = f"{attribute.name} is told apart in {len(bins):,} bins, {bins[0]}, ... {bins[-1]}"
    return f"{text}; inside one, values are drawn evenly."


def _few(names: Iterable[str], last: str = "and") -> str:
    """A list in words, cut short if it is long."""
    listed = list(names)
    if len(listed) > _NAMED:
        listed = [*listed[: _NAMED - 1], f"{len(listed) - _NAMED + 1:,} more"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {last} {listed[-1]}"
