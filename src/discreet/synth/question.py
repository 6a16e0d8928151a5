"""Asking for a synthetic table: which columns, what to preserve, what cannot be. Nothing is spent by asking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from discreet.core.exact import Number
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.marginals.domain import BINS, Domain
from discreet.query.offer import Offer
from discreet.query.parse import parse_condition
from discreet.query.predicate import Predicate, checked
from discreet.query.price import Price
from discreet.query.within import plan_within
from discreet.synth.drawn import MOST_ROWS
from discreet.synth.impossible import read_conditions
from discreet.synth.methods import chosen_method, method_named
from discreet.synth.plan import SynthPlan
from discreet.synth.released import SyntheticRelease
from discreet.synth.wanted import Asked, Wanted, wanted

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["SynthQuestion", "synth_question"]

_FAR = 10**8  # a count that is off by more is no count
_DEAR = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class SynthQuestion:
    """A synthetic table to be made, being put together. Nothing happens until it is planned and released."""

    curator: Curator
    domain: Domain
    wanted: Wanted
    method: str
    rows: int | None
    condition: Predicate | None
    impossible: tuple[Predicate, ...]
    keys: tuple[tuple[str, str | int], ...]

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        allotment: str | None = None,
    ) -> Offer[SyntheticRelease]:
        """Price the whole table, by epsilon, rho, a share of the allotment, or `within` which half-width counts lie."""
        price = Price.read(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence)
        part = self.curator.allotment(allotment)
        if part.kind == "plan":
            raise InputError("allotment", part.name, "a pure or zcdp allotment")
        planned = plan_within(price, part, lambda paid: self._planned(paid, part))
        self._enough(planned, price)
        return Offer(self.curator, planned, SyntheticRelease.read)

    def _planned(self, price: Price, part: Allotment) -> SynthPlan:
        currency, amount = price.spent(part)
        plan = SynthPlan(
            schema=self.curator.schema,
            domain=self.domain,
            allotment=part,
            currency=cast(Any, currency),
            price=amount,
            method=self.method,
            workload=self.wanted.marginals,
            rows=self.rows,
            condition=self.condition,
            impossible=self.impossible,
            keys=self.keys,
            confidence=price.confidence,
            left_out=self.wanted.left_out,
            limit=self.wanted.limit,
        )
        return plan.by(*chosen_method(plan.domain, plan.workload)) if self.method == "auto" else plan

    def _enough(self, planned: SynthPlan, price: Price) -> None:
        """Refuse a price at which not even single columns could be told from noise, or which buys none."""
        width = len(self.domain)
        if planned.price > _DEAR:
            raise InputError(price.way, float(price.amount), f"at most {_DEAR:,}: noise for more hides nobody")
        try:
            off = planned.blank().noise(planned.price / width).error(price.confidence)
        except InputError:  # noise of that scale is not made
            off = _FAR
        if off >= _FAR:
            allowed = (
                f"more: a count of one of {width} columns would be off by +-{off:,} or more, which drowns any table"
            )
            raise InputError(price.way, float(price.amount), allowed, "Nothing was spent.")


def synth_question(
    curator: Curator,
    *,
    method: str = "auto",
    workload: Asked = None,
    columns: Iterable[str] | None = None,
    bins: int | dict[str, int] = BINS,
    rows: int | None = None,
    where: str | Predicate | None = None,
    impossible: Iterable[str | Predicate] = (),
    keys: Mapping[str, str | int] | None = None,
) -> SynthQuestion:
    """Read a description of a synthetic table against the curator's schema. Nothing is read and nothing is spent."""
    schema = curator.schema
    if method != "auto":
        method_named(method)
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS):
        hint = "More rows say no more: every count can be scaled up."
        raise InputError("rows", rows, f"a whole number from 1 to {MOST_ROWS:,}", hint)
    domain = Domain.of(schema, columns, bins)
    condition = parse_condition(where) if isinstance(where, str) else where
    return SynthQuestion(
        curator=curator,
        domain=domain,
        wanted=wanted(workload, domain, rows),
        method=method,
        rows=rows,
        condition=None if condition is None else checked(condition, schema),
        impossible=read_conditions(impossible, schema, domain),
        keys=_keys(keys if keys is not None else _numbered(schema, columns), domain),
    )


def _numbered(schema: Schema, columns: Iterable[str] | None) -> dict[str, str | int]:
    """Where all columns are made and one names persons, persons are numbered."""
    person = schema.unit.column
    if person is None or columns is not None:
        return {}
    column = schema.columns[person]
    return {person: max(int(column.lower), 0) if isinstance(column, Integer) else "{}"}


def _keys(keys: Mapping[str, str | int], domain: Domain) -> tuple[tuple[str, str | int], ...]:
    if not isinstance(keys, Mapping):
        raise InputError("keys", keys, 'a form for each column, such as {"person": "P{:06d}"}')
    for name, form in keys.items():
        if not isinstance(name, str) or not name or name in domain.names:
            raise InputError("keys", name, "a column that is not made of the data's")
        if isinstance(form, int) and not isinstance(form, bool):
            continue
        try:
            told_apart = isinstance(form, str) and form.format(1) != form.format(2)
        except (IndexError, KeyError, ValueError, AttributeError):
            told_apart = False
        if not told_apart:
            raise InputError(
                f"keys.{name}", form, 'text with a place for a number, such as "P{:06d}", or a first number'
            )
    return tuple(keys.items())
