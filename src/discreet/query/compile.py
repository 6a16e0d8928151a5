"""A question as one engine expression: bounded integers per group, the same on every engine.

Values are read by the rules of `discreet.data.read`, so that no row can make the engine fail. For a person with
several rows, `discreet.query.contribution` says which groups count and limits what the person adds to each; then
groups are summed. What comes back is one row per non-empty group: small, and still private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.digest import digest_of, text_of
from discreet.core.lattice import Lattice
from discreet.data.column import Category, Column, Integer
from discreet.data.dialect import added, as_bytes, engine_of
from discreet.data.instant import Instant
from discreet.data.read import as_declared, as_label, as_stored, bounded, identity, whole, with_seconds
from discreet.data.schema import Schema
from discreet.query.cardinality import count_values, joined_counts, value_columns
from discreet.query.compatibility import names_in
from discreet.query.contribution import GROUP, PERSON, contributions, first_groups
from discreet.query.group import group_number
from discreet.query.measure import (
    Complete,
    Coordinate,
    Cross,
    Distinct,
    Measure,
    Moment,
    People,
    Rows,
    Total,
    with_values,
)
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate, columns_of
from discreet.query.question import Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.connection import Connection

__all__ = [
    "GROUP",
    "PERSON",
    "Reading",
    "chosen",
    "compile_parts",
    "compile_query",
    "count_groups",
    "measure_name",
    "measured",
    "row_value",
    "summed",
    "with_condition",
]

Expression = Any  # ibis expressions carry no useful static types here

_ORDER = "order"
_LAST = 2**53 - 1


def measure_name(index: int) -> str:
    """The column that holds the measure of this index."""
    return f"m{index}"


def count_groups(
    data: Connection, query: Query, schema: Schema, measures: Sequence[Measure], salt: Sequence[int]
) -> dict[str, NDArray[np.int64]]:
    """Count in the engine: the rows (group, m0, m1, ...) of `compile_query`, whose SQL is kept for the next release."""
    shape = digest_of(["groups", schema.to_dict(), query.to_dict(), list(map(text_of, measures))])
    return data.counted(shape, lambda table, words: compile_query(query, schema, measures, table, words), salt)


def compile_query(
    query: Query, schema: Schema, measures: Sequence[Measure], table: Expression, salt: Sequence[int]
) -> Expression:
    """The expression whose rows are (group, m0, m1, ...). `salt` is fresh random integers below 2**31."""
    plain = [measure for measure in measures if not isinstance(measure, Distinct)]
    if len(plain) == len(measures):
        return _summed(query, schema, measures, table, salt)
    names = {measure: measure_name(index) for index, measure in enumerate(measures)}
    own = {names[measure]: measure_name(index) for index, measure in enumerate(plain)}
    tables = [(_summed(query, schema, plain, table, salt), own)] if plain else []
    for measure, name in names.items():
        if isinstance(measure, Distinct):
            tables.append((_different(query, schema, measure, table, salt, name), {name: name}))
    return joined_counts(tables, [GROUP], list(names.values()))


def _summed(query: Query, schema: Schema, measures: Sequence[Measure], table: Any, salt: Sequence[int]) -> Expression:
    if schema.unit.column is None:
        return summed(_grouped(query, schema, measures, table), len(measures))
    return summed(compile_parts(query, schema, measures, table, salt), len(measures))


def _different(
    query: Query, schema: Schema, measure: Distinct, table: Expression, salt: Sequence[int], name: str
) -> Expression:
    """How many different values each group has, (group, name)."""
    table, number = group_number(query.keys, schema, chosen(query, schema, table), query.numbers(schema))
    rows = measured({GROUP: number, **value_columns(measure.column, schema, table, name)}, schema, (), table)
    rows = rows.filter(rows[GROUP].notnull())
    if schema.unit.column is not None:
        rows = first_groups(rows.filter(rows[PERSON].notnull()), schema.unit, query.groups(schema), salt, _ORDER)
    return count_values(rows, [GROUP], name, schema.unit, _ORDER, salt)


def compile_parts(
    query: Query,
    schema: Schema,
    measures: Sequence[Measure],
    table: Expression,
    salt: Sequence[int],
    *,
    named: bool = False,
) -> Expression:
    """What persons add to groups, before it is summed; `named`, with the person, who must then be text."""
    needed = with_values(measures, schema)
    rows = _grouped(query, schema, needed, table)
    rows = rows.filter(rows[PERSON].notnull())
    by_name = {measure_name(index): measure for index, measure in enumerate(needed)}
    return contributions(rows, by_name, schema.unit, query.groups(schema), salt, named=named)


def _grouped(query: Query, schema: Schema, measures: Sequence[Measure], table: Expression) -> Expression:
    table, number = group_number(query.keys, schema, chosen(query, schema, table), query.numbers(schema))
    rows = measured({GROUP: number}, schema, measures, table)
    return rows.filter(rows[GROUP].notnull())


def chosen(query: Query, schema: Schema, table: Expression) -> Expression:
    """The rows that meet the condition of a question, which compares values as they are stored.

    Guarantee: whether a row is one of them follows from that row and the question alone. Proof: docs/proofs/query.md.
    """
    if schema.persons is not None:
        from discreet.query.person_rows import person_rows  # which reads rows as this module does

        table = schema.computed(person_rows(schema, table), names_in(query))
    table = with_seconds(table, {name: schema.columns[name] for name in names_in(query) if name in schema.columns})
    if query.condition is None:
        return table
    return table.filter(_condition(query.condition, Reading(schema, table, as_stored)))


def with_condition(table: Expression, predicate: Predicate, schema: Schema, name: str) -> Expression:
    """The table with a column that says whether a row meets a condition; false where that is not known."""
    table = with_seconds(table, {one: schema.columns[one] for one in columns_of(predicate) if one in schema.columns})
    return table.mutate(**{name: _condition(predicate, Reading(schema, table, as_stored)).fill_null(False)})


def measured(
    keys: Mapping[str, Expression], schema: Schema, measures: Sequence[Measure], table: Expression
) -> Expression:
    """Every row with its keys, its person where there are persons, and what it adds to each measure."""
    read = Reading(schema, table)
    columns = dict(keys)
    if schema.unit.column is not None:
        columns[PERSON] = identity(table[schema.unit.column])
    for index, measure in enumerate(measures):
        if not measure.per_person:
            columns[measure_name(index)] = row_value(measure, read)
    return table.select(**columns)


def summed(parts: Expression, measures: int, by: Sequence[str] = (GROUP,), **others: Expression) -> Expression:
    """The sums per group. One too large (more than 2**32 rows of the largest value) is cut, so that none can fail."""
    engine = engine_of(parts)
    names = [measure_name(index) for index in range(measures)]
    return parts.group_by(list(by)).aggregate(**others, **{name: added(parts[name], engine) for name in names})


class Reading:
    """The table's columns as their declared types, by one rule; missing where a value cannot be read."""

    def __init__(
        self, schema: Schema, table: Expression, rule: Callable[[Expression, Column], Expression] = as_declared
    ) -> None:
        self.schema = schema
        self.table = table
        self.rule = rule

    def raw(self, name: str) -> Expression:
        """A column as it is stored."""
        return self.table[self.schema.slot(name)]

    def __getitem__(self, name: str) -> Expression:
        return self.rule(self.raw(name), self.schema.columns[name])


def row_value(measure: Measure, read: Reading) -> Expression:
    """What one row adds to a measure: an integer, never missing."""
    import ibis

    match measure:
        case Rows(column=None):
            return ibis.literal(1, "int32")
        case Rows(column=name):
            return _present(read, str(name)).ifelse(ibis.literal(1, "int32"), ibis.literal(0, "int32"))
        # Declared complete: a gap counts as the middle of the bounds.
        case Total(column=name, lattice=lattice):
            gap = 0 if read.schema.columns[name].nullable else (lattice.lowest + lattice.highest) // 2
            return _steps(read, name, lattice, lambda steps: steps, gap)
        case Moment(column=name, lattice=lattice):
            gap = 0 if read.schema.columns[name].nullable else measure.of(measure.middle)
            return _where_complete(measure.weight, read, _steps(read, name, lattice, measure.of, gap))
        case Cross(first=first, second=second):
            away, other = (
                _steps(read, each.column, each.lattice, each.of, 0).cast("int64") for each in (first, second)
            )
            return _where_complete(measure.weight, read, measure.of(away, other).cast("int32"))
        case Coordinate(weight=weight):
            return _where_complete(weight, read, _coordinate(measure, read))
        case Complete():
            return _where_complete(measure, read, ibis.literal(1, "int32"))
        case People() | Distinct():
            raise TypeError("persons and different values are counted after rows are gathered")


def _coordinate(measure: Coordinate, read: Reading) -> Expression:
    """A coordinate of a vector, cut to its radius: whole steps, towards zero, times radius over the length above.

    Sums of squares are below 2**44 (`VectorMean`), so that the root of one in floats is right to far less than what
    two whole squares differ by, and its ceiling is at least the length on every engine.
    """
    import ibis

    pairs = zip(measure.columns, measure.lattices, strict=True)
    steps = [_steps(read, name, lattice, lambda value: value, 0).cast("int64") for name, lattice in pairs]
    squares = steps[0] * steps[0]
    for each in steps[1:]:
        squares = squares + each * each
    length = ibis.greatest(squares.cast("float64").sqrt().ceil().cast("int64"), ibis.literal(1, "int64"))
    own = steps[measure.place]
    cut = ((own.abs() * measure.radius).cast("float64") / length.cast("float64")).floor().cast("int64")
    shorter = (own < 0).ifelse(-cut, cut)
    return (squares <= measure.radius**2).ifelse(own, shorter).cast("int32")


def _where_complete(weight: Rows | Complete, read: Reading, value: Expression) -> Expression:
    """A value where all columns that its number of rows is of have one, and nothing elsewhere."""
    import ibis

    columns = weight.columns if isinstance(weight, Complete) else ()
    present = _joined([_present(read, name) for name in columns], "and") if columns else None
    return value if present is None else present.ifelse(value, ibis.literal(0, "int32"))


def _present(read: Reading, name: str) -> Expression:
    return read[name].notnull()


def _steps(read: Reading, name: str, lattice: Lattice, value: Callable[[Any], Any], missing: int) -> Expression:
    """A value of a column's whole lattice steps (halves up). Bounds are points of the lattice: none is overstepped."""
    import ibis

    step, column = float(lattice.step), read.schema.columns[name]

    def inside(number: Expression) -> Expression:
        if isinstance(column, Integer):
            number = whole(number)
            if step <= 1:
                return value(number * int(1 / step)).cast("int32")
        # As floats: DuckDB takes a written fraction for a decimal, and whole numbers of few bits times it for one that
        # overflows. Half a step first: a number too small to be scaled down is then no reason for an engine to fail.
        number = number.cast("float64")
        return value(((number + step / 2) * (1 / step)).floor().cast("int64")).cast("int32")

    return bounded(
        read.table[read.schema.slot(name)],
        lattice.lowest * step,
        lattice.highest * step,
        inside=inside,
        below=ibis.literal(value(lattice.lowest), "int32"),
        above=ibis.literal(value(lattice.highest), "int32"),
        missing=ibis.literal(missing, "int32"),
    )


def _condition(predicate: Predicate, read: Reading) -> Expression:
    match predicate:
        case Compare(name, operator, constant):
            value, read_constant = _compared(name, read)
            wanted = read_constant(constant)
            comparisons = {
                "==": value == wanted,
                "!=": value != wanted,
                "<": value < wanted,
                "<=": value <= wanted,
                ">": value > wanted,
                ">=": value >= wanted,
            }
            return comparisons[operator]
        case IsIn(name, values):
            value, read_constant = _compared(name, read)
            return value.isin([read_constant(constant) for constant in values])
        case IsMissing(name):
            return _compared(name, read)[0].isnull()
        case And(parts):
            return _joined([_condition(part, read) for part in parts], "and")
        case Or(parts):
            return _joined([_condition(part, read) for part in parts], "or")
        case Not(part):
            return ~_condition(part, read)


def _compared(name: str, read: Reading) -> tuple[Expression, Callable[[Any], Any]]:
    """A column as a condition compares it, and how a constant is compared with it.

    Categories are compared byte by byte, so that a row has one of the declared values or none: a rule of its column may
    take "a" for "A", and rows that meet conditions which exclude each other.
    """
    import ibis

    column = read.schema.columns[name]
    if not isinstance(column, Category) or not read.raw(name).type().is_string():
        return read[name], lambda constant: _constant(constant, column)
    engine = engine_of(read.table)
    word = as_bytes(as_label(read.raw(name), column), engine)
    labels = [as_bytes(ibis.literal(label), engine) for label in column.values]
    known = word.isin(labels).ifelse(word, ibis.null(word.type()))
    return known, lambda constant: as_bytes(ibis.literal(constant), engine)


def _constant(constant: Any, column: Column) -> Any:
    """A constant as an engine compares it. From 2**53 on floats skip whole numbers, so that a stored one would compare
    differently where its column is read as floats: there every constant stands for the last before.
    """
    if isinstance(constant, Instant):
        return int(constant)
    wanted = float(constant) if isinstance(constant, Fraction) else constant
    return max(-_LAST, min(_LAST, wanted)) if isinstance(column, Integer) else wanted


def _joined(conditions: Sequence[Expression], how: str) -> Expression:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = whole & condition if how == "and" else whole | condition
    return whole
