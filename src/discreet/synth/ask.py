"""Asking for a synthetic table: which columns, what to preserve, what cannot be. Nothing is spent by asking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from attrs import frozen

from discreet.core.exact import Number
from discreet.data.column import Boolean, Category, Integer, Text
from discreet.data.schema import Schema
from discreet.errors import InputError, kind_of
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.marginals.domain import Domain
from discreet.query.ask import Ask, Checked, Form, option
from discreet.query.forms import (
    AMOUNT,
    CONDITION,
    CONDITIONS,
    NAMES,
    TEXT,
    WHOLE,
    check_condition,
    names_in,
    pairs_in,
    sizes_in,
)
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.synth.discovery import check_discovered, plan_values
from discreet.synth.exclusions import read_conditions
from discreet.synth.method_option import Options, check_options
from discreet.synth.methods import METHODS, chosen_method, method_named, options_of, outline_of
from discreet.synth.parts import MadeColumn, made_columns, partitions_of
from discreet.synth.plan import SynthPlan
from discreet.synth.public_table import PublicTable, columns_of_csv, public_columns
from discreet.synth.release import SyntheticRelease
from discreet.synth.synthetic import check_rows
from discreet.synth.workload import WorkloadMarginals, resolve_workload

__all__ = ["CheckedSynth", "SynthAsk"]

_FAR = 10**8  # a count that is off by more is no count
_DEAR = 1_000_000


def _workload(value: Any) -> Any:
    """A word, or marginals: names in tuples, with a weight for each where they were given."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    if isinstance(value, Mapping):
        return {_marginal(one): weight for one, weight in value.items()}
    return tuple(_marginal(one) for one in value)


def _marginal(names: Any) -> Any:
    return names if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)


def _workload_to(value: Any) -> Any:
    if isinstance(value, str):
        return value
    listed = [[one] if isinstance(one, str) else list(one) for one in value]
    if not isinstance(value, Mapping):
        return listed
    return [{"columns": names, "weight": weight} for names, weight in zip(listed, value.values(), strict=True)]


def _workload_from(value: Any, schema: Schema) -> Any:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(one, (str, list, Mapping)) for one in value):
        raise InputError("workload", value, '"pairs", "triples", or a list such as [["age", "sex"]]')
    if not any(isinstance(one, Mapping) for one in value):
        return [one if isinstance(one, str) else tuple(one) for one in value]
    if not all(isinstance(one, Mapping) and set(one) == {"columns", "weight"} for one in value):
        raise InputError("workload", value, '{"columns": [...], "weight": 2} for every marginal, or for none')
    return {tuple(one["columns"]): one["weight"] for one in value}


WORKLOAD = Form(
    str | list[list[str] | dict[str, Any]],
    settle=_workload,
    write=_workload_to,
    read=_workload_from,
    parse=lambda texts: texts[0] if texts in (["pairs"], ["triples"]) else [names_in(text) for text in texts],
    repeated=True,
)


def _bins(texts: list[str]) -> Any:
    """32, or age=16; several of them are for several columns."""
    if len(texts) == 1 and texts[0].isdecimal():
        return int(texts[0])
    return {name: many for text in texts for name, many in sizes_in(text, "bins", "age=16").items()}


def _key_forms(texts: list[str]) -> dict[str, Any]:
    """person=P{:06d}, or a first number; the word none for no such column."""
    if texts == ["none"]:
        return {}
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, form = text.partition("=")
        if not sign or not name:
            raise InputError("keys", text, "NAME=FORM, such as person=P{:06d}, or none")
        found[name] = int(form) if form.isdecimal() else form
    return found


def _public_from(value: Any, schema: Schema) -> Any:
    if not isinstance(value, Mapping):
        raise InputError("prior", kind_of(value), "a table of columns: lists of text by name")
    return value


def _differences(texts: list[str]) -> dict[str, str]:
    """dropoff=pickup; the word none for no such column."""
    if texts == ["none"]:
        return {}
    found: dict[str, str] = {}
    for text in texts:
        name, sign, base = text.partition("=")
        if not sign or not name or not base:
            raise InputError("differences", text, "NAME=BASE, such as dropoff=pickup, or none")
        found[name] = base
    return found


def _options(texts: list[str]) -> dict[str, Any]:
    """rounds=5, or several with commas between them; repeated for more."""
    pairs = {name: value for text in texts for name, value in pairs_in(text, "options", "rounds=5").items()}
    return {name: int(value) if value.lstrip("-").isdecimal() else value for name, value in pairs.items()}


PUBLIC_TABLE = Form(
    dict[str, list[str | None]],
    settle=lambda value: public_columns(value, "prior"),
    read=_public_from,
    parse=lambda text: columns_of_csv(text.splitlines(), "prior"),  # a page sends the file itself, and no path
    load=lambda path: public_columns(path, "prior"),
)
NUMBERS = Form(int | dict[str, int], settle=lambda value: dict(value) if isinstance(value, Mapping) else value)
COLUMN_BINS = Form(NUMBERS.wire, settle=NUMBERS.settle, parse=_bins, repeated=True)
KEY_FORMS = Form(
    dict[str, str | int],
    settle=lambda value: dict(value) if isinstance(value, Mapping) else value,
    parse=_key_forms,
    repeated=True,
)


DIFFERENCES = Form(
    dict[str, str],
    settle=lambda value: dict(value) if isinstance(value, Mapping) else value,
    parse=_differences,
    repeated=True,
)


METHOD_OPTIONS = Form(
    dict[str, int | str],
    settle=lambda value: dict(value) if isinstance(value, Mapping) else value,
    parse=_options,
    repeated=True,
)


@frozen(eq=False)
class SynthAsk(Ask):
    """Synthetic rows: for every use, at one price."""

    kind: ClassVar[str] = "synth"

    method: str = option(
        TEXT, "auto", help="auto, or a method by name: " + ", ".join(METHODS), choices=("auto", *METHODS)
    )
    workload: Any = option(
        WORKLOAD,
        None,
        flags=("workload", "marginal"),
        help="What to preserve: pairs or triples of columns, or a marginal such as age,pay; repeat for more",
        choices=("pairs", "triples"),
    )
    columns: tuple[str, ...] | None = option(
        NAMES, None, help="Columns to make, age,sex,pay; all by default", names_columns=True
    )
    bins: int | dict[str, int] | None = option(
        COLUMN_BINS,
        None,
        help="Number of equal bins for numbers and days, instead of single values: 32, or age=16; repeat",
    )
    rows: int | None = option(WHOLE, None, help="How many rows to make; by default as many as there seem to be")
    where: str | Predicate | None = option(CONDITION, None, help="Which rows of the data count")
    impossible: tuple[str | Predicate, ...] = option(
        CONDITIONS, (), help='A condition that no row meets: "age < 16 and employed"; repeat for more'
    )
    differences: Mapping[str, str] | None = option(
        DIFFERENCES,
        None,
        flags=("difference",),
        help="Make a column from another and their difference: dropoff=pickup; repeat for more, or none",
    )
    keys: Mapping[str, str | int] | None = option(
        KEY_FORMS, None, flags=("key",), help="A column generated anew: person=P{:06d}; repeat for more, or none"
    )
    discover: tuple[str, ...] = option(
        NAMES, (), help="Columns of text whose values are found in the data: zip,diagnosis", names_columns=True
    )
    prior: dict[str, list[str | None]] | None = option(
        PUBLIC_TABLE, None, help="A public table to start from, .csv or .parquet, with some of the columns"
    )
    options: Mapping[str, int | str] | None = option(
        METHOD_OPTIONS, None, flags=("option",), help="How the method works, of rap: rounds=5; repeat for more"
    )
    delta: Number | None = option(AMOUNT, None, help="Beside the price, for discovered values: such as 1e-7", late=True)

    def checked(self, schema: Schema) -> CheckedSynth:
        """The same, read against a schema."""
        if self.method != "auto":
            method_named(self.method)
        rows = self.rows
        check_rows(rows)
        made = made_columns(schema, self.columns, self.differences)
        parts = [part for one in made for part in one.parts]
        _check_bins(self.bins, schema)
        discovered = check_discovered(self.discover, parts, schema)
        domain = Domain.of(schema, parts, self.bins, partitions_of(made, schema), discovered)
        keys = self.keys if self.keys is not None else _numbered(schema, self.columns)
        return CheckedSynth(
            schema=schema,
            made=made,
            domain=domain,
            workload=resolve_workload(self.workload, domain, rows, {one.name: one.parts for one in made}),
            method=self.method,
            rows=rows,
            condition=check_condition(self.where, schema),
            impossible=read_conditions(self.impossible, schema, domain, made),
            keys=_keys(keys, [one.name for one in made]),
            discover=discovered,
            delta=self.delta,
            prior=None if self.prior is None else PublicTable.checked(self.prior, domain, schema),
            options=self._options(len(domain)),
        )

    def _options(self, columns: int) -> Options:
        """Options of the method that is named."""
        if self.options is None:
            return ()
        if self.method == "auto" and self.options != {}:
            raise InputError("options", self.options, "left out with method auto", "Name the method they are for.")
        return (
            () if self.method == "auto" else check_options(options_of(self.method), self.options, self.method, columns)
        )


@dataclass(frozen=True, eq=False)
class CheckedSynth(Checked[SyntheticRelease]):
    """A synthetic table to be made, with its domain and workload."""

    schema: Schema
    made: tuple[MadeColumn, ...]
    domain: Domain
    workload: WorkloadMarginals
    method: str
    rows: int | None
    condition: Predicate | None
    impossible: tuple[Predicate, ...]
    keys: tuple[tuple[str, str | int], ...]
    discover: tuple[str, ...] = ()
    delta: Number | None = None
    prior: PublicTable | None = None
    options: Options = ()

    def read(self, answer: Answer, cost: str, remaining: str) -> SyntheticRelease:
        """The rows that an answer holds."""
        return SyntheticRelease.read(answer, cost, remaining)

    def priced(self, allotment: Allotment, price: Price | None) -> SynthPlan:
        """The plan at a price, if it buys more than noise."""
        if allotment.kind == "plan":
            raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
        planned: SynthPlan = super().priced(allotment, price)
        if price is not None:
            self._enough(planned, price)
        return planned

    def plan(self, allotment: Allotment, price: Price) -> SynthPlan:
        """The whole table at a price."""
        currency, amount = price.spent(allotment)
        plan = SynthPlan(
            schema=self.schema,
            made=self.made,
            domain=self.domain,
            allotment=allotment,
            currency=cast(Any, currency),
            price=amount,
            method=self.method,
            workload=self.workload.marginals,
            rows=self.rows,
            condition=self.condition,
            impossible=self.impossible,
            keys=self.keys,
            confidence=price.confidence,
            left_out=self.workload.left_out,
            limit=self.workload.limit,
            prior=self.prior,
            options=self.options,
            searches=plan_values(self.discover, self.schema, self.condition, allotment, price, self.delta),
        )
        return plan.by(*chosen_method(plan.domain, plan.workload, plan.currency)) if self.method == "auto" else plan

    def _enough(self, planned: SynthPlan, price: Price) -> None:
        """Refuse a price at which not even single columns could be told from noise, or which buys none."""
        width = len(self.domain)
        if planned.price > _DEAR:
            raise InputError(price.way, float(price.amount), f"at most {_DEAR:,}: with more, noise protects nobody")
        try:
            off = planned.blank().noise(planned.price / width).error(price.confidence)
            if planned.options and (outline := outline_of(planned.method, planned.options)):
                outline(planned.blank(), planned.workload, price.confidence)  # as options divide the price
        except InputError:  # noise of that scale is not made
            off = _FAR
        if off >= _FAR:
            allowed = f"more: a count of one of {width} columns would be off by +-{off:,} or more, which says nothing"
            raise InputError(price.way, float(price.amount), allowed, "Nothing was spent.")


def _check_bins(bins: Any, schema: Schema) -> None:
    """Refuse bins of a column that has none: its values are told apart as they are."""
    for name in bins if isinstance(bins, Mapping) else ():
        column = schema.columns.get(name)
        if isinstance(column, Category | Boolean | Text):
            hint = f"Every declared value of {name} has a code of its own."
            raise InputError(f"bins.{name}", kind_of(column), "given for a column of numbers or days", hint)


def _numbered(schema: Schema, columns: Iterable[str] | None) -> dict[str, str | int]:
    """Where all columns are made and one names persons, persons are numbered."""
    person = schema.unit.column
    if person is None or columns is not None:
        return {}
    column = schema.columns[person]
    return {person: max(int(column.lower), 0) if isinstance(column, Integer) else "{}"}


def _keys(keys: Mapping[str, str | int], made: Sequence[str]) -> tuple[tuple[str, str | int], ...]:
    if not isinstance(keys, Mapping):
        raise InputError("keys", keys, 'a form for each column, such as {"person": "P{:06d}"}')
    for name, form in keys.items():
        if not isinstance(name, str) or not name or name in made:
            raise InputError("keys", name, "a column that is not made from the data")
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
