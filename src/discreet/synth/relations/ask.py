"""Asking for parents and child rows: whose columns are whose, what orders the rows. Nothing is spent by asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

from attrs import frozen

from discreet.core.exact import Number, as_written
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Ask, Checked, Form, option
from discreet.query.forms import AMOUNT, COLUMN, CONDITION, CONDITIONS, NAMES, WHOLE, check_condition
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.synth.ask import DIFFERENCES
from discreet.synth.exclusions import read_conditions
from discreet.synth.relations.levels import Levels, read_levels
from discreet.synth.relations.plan import RelationsPlan
from discreet.synth.relations.release import RelationsRelease
from discreet.synth.synthetic import check_rows
from discreet.synth.workload import WorkloadMarginals, resolve_workload

__all__ = ["CheckedRelations", "RelationsAsk"]

PARENT_SHARE = Fraction(1, 3)
"""The part of the price that parents get: one person moves their counts less than those of child rows."""
_FAR = 10**8  # a count that is off by more is no count
_DEAR = 1_000_000

KEY_FORM = Form(str | int, parse=lambda text: int(text) if text.isdecimal() else text)


@frozen(eq=False)
class RelationsAsk(Ask):
    """Synthetic parents and child rows: two tables with a key between them."""

    kind: ClassVar[str] = "relations"

    parent: tuple[str, ...] = option(
        NAMES, help="Columns of the parent, such as a patient's age,sex", names_columns=True
    )
    child: tuple[str, ...] | None = option(
        NAMES, None, help="Columns of the child rows, ward,day; by default all others", names_columns=True
    )
    order: str | None = option(
        COLUMN,
        None,
        help="Column by which a parent's rows follow each other: a day, time or number",
        names_columns=True,
    )
    limit: int | None = option(
        WHOLE, None, help="How many child rows of one parent count; by default as many as the schema's limits allow"
    )
    rows: int | None = option(WHOLE, None, help="How many parents to make; by default as many as there seem to be")
    where: str | Predicate | None = option(CONDITION, None, help="Which rows of the data count")
    differences: Mapping[str, str] | None = option(
        DIFFERENCES,
        None,
        flags=("difference",),
        help="Make a column from another and their difference: discharged=admitted; repeat for more, or none",
    )
    impossible: tuple[str | Predicate, ...] = option(
        CONDITIONS, (), help="A condition that no row meets: \"age < 16 and ward = 'maternity'\"; repeat for more"
    )
    key: str | int | None = option(KEY_FORM, None, help="How parents are named: P{:06d}, or a first number")
    parent_share: Number | None = option(
        AMOUNT, None, help="The part of the price that parents get, such as 1/4; the rest is for child rows"
    )

    def checked(self, schema: Schema) -> CheckedRelations:
        """The same, read against a schema."""
        check_rows(self.rows)
        levels = read_levels(schema, self.parent, self.child, self.order, self.limit, self.differences)
        share = PARENT_SHARE if self.parent_share is None else as_written(self.parent_share, "parent_share")
        if not 0 < share < 1:
            raise InputError("parent_share", self.parent_share, "strictly between 0 and 1, such as 1/4")
        return CheckedRelations(
            schema=schema,
            levels=levels,
            preserved=resolve_workload(None, levels.parents),
            parent_share=share,
            rows=self.rows,
            condition=check_condition(self.where, schema),
            key=_key(self.key, schema),
            impossible=read_conditions(self.impossible, schema, levels.both, [*levels.parent, *levels.child]),
        )


@dataclass(frozen=True, eq=False)
class CheckedRelations(Checked[RelationsRelease]):
    """Parents and child rows to be made, with the codes of both."""

    schema: Schema
    levels: Levels
    preserved: WorkloadMarginals
    parent_share: Fraction
    rows: int | None
    condition: Predicate | None
    key: str | int
    impossible: tuple[Predicate, ...] = ()

    def read(self, answer: Answer, cost: str, remaining: str) -> RelationsRelease:
        """The tables that an answer holds."""
        return RelationsRelease.read(answer, cost, remaining)

    def priced(self, allotment: Allotment, price: Price | None) -> RelationsPlan:
        """The plan at a price, if it buys more than noise."""
        if allotment.kind == "plan":
            raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
        planned: RelationsPlan = super().priced(allotment, price)
        if price is not None:
            self._enough(planned, price)
        return planned

    def plan(self, allotment: Allotment, price: Price) -> RelationsPlan:
        """Both tables at a price."""
        currency, amount = price.spent(allotment)
        return RelationsPlan(
            schema=self.schema,
            levels=self.levels,
            allotment=allotment,
            currency=cast(Any, currency),
            price=amount,
            parent_share=self.parent_share,
            preserved=self.preserved,
            key=self.key,
            rows=self.rows,
            condition=self.condition,
            confidence=price.confidence,
            impossible=self.impossible,
        )

    def _enough(self, planned: RelationsPlan, price: Price) -> None:
        """Refuse a price at which not even single columns could be told from noise, or which buys none."""
        if planned.price > _DEAR:
            raise InputError(price.way, float(price.amount), f"at most {_DEAR:,}: with more, noise protects nobody")
        meter, width = planned.parent_meter(), len(self.levels.parents)
        if self.levels.steps:
            meter, width = planned.child_meter(), len(self.levels.children)
        try:
            off = meter.noise(meter.price / width).error(price.confidence)
        except InputError:  # noise of that scale is not made
            off = _FAR
        if off >= _FAR:
            allowed = f"more: a count of one of {width} columns would be off by +-{off:,} or more, which says nothing"
            raise InputError(price.way, float(price.amount), allowed, "Nothing was spent.")


def _key(form: str | int | None, schema: Schema) -> str | int:
    """How parents are named: a text with a place for a number, or numbers from a first one on."""
    if form is None:
        column = schema.columns[str(schema.unit.column)]
        return max(int(column.lower), 0) if isinstance(column, Integer) else "{}"
    if isinstance(form, int) and not isinstance(form, bool):
        return form
    try:
        told_apart = isinstance(form, str) and form.format(1) != form.format(2)
    except (IndexError, KeyError, ValueError, AttributeError):
        told_apart = False
    if not told_apart:
        raise InputError("key", form, 'text with a place for a number, such as "P{:06d}", or a first number')
    return form
