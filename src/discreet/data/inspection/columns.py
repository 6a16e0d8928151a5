"""What the values of each column are that its declaration does not fit: one pass to count, one more where some are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.inspection.finding import Finding
from discreet.data.inspection.spelling import date_advice, label_advice, number_advice
from discreet.data.layout import Layout
from discreet.data.read import as_day, as_declared, as_number, as_stored, problem
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.data.toml import toml_table

__all__ = ["inspect_columns"]

Expression = Any  # ibis expressions carry no useful static types here

_LOOKED_AT = 1000  # different values that are looked at to say how they are written
_RAW = "as stored {}"
_OFFSET = r":[0-9.,]+ ?([Zz]|UTC|[+-][0-9]{2}(:?[0-9]{2})?)\s*$"
_LOCAL = "local"  # counted beside those with an offset, and said of those alone


@dataclass(frozen=True, slots=True)
class _Question:
    """Which rows of a column do not fit in one way, and how that is said."""

    column: str
    kind: str
    holds: Expression
    text: str
    suggestion: str = ""
    listed: bool = True
    note: bool = False


def inspect_columns(
    connection: Connection, schema: Schema, columns: Mapping[str, Column], *, tries: bool, most: int = 5
) -> tuple[int, list[Finding]]:
    """The number of rows, and findings about these columns of a table whose text is as it is stored."""
    stored = connection.table.schema()
    findings, fitting = [], {}
    for name, column in columns.items():
        reason = problem(column, stored[name], tries=tries)
        if reason is not None:
            findings.append(Finding("stored type", f"stored as {stored[name]}; it must be {reason}", name))
        else:
            fitting[name] = column
    slots = {name: _RAW.format(number) for number, name in enumerate(fitting)}
    table = connection.table.mutate(**{slot: connection.table[name] for name, slot in slots.items()})
    table = schema.layout.plain(table, fitting)
    questions = [
        question
        for name, column in fitting.items()
        for question in _questions(name, column, table[name], table[slots[name]], stored[name].is_string())
    ]
    counts = _counts(connection, table, questions)
    local = {
        question.column: rows for question, rows in zip(questions, counts[1:], strict=True) if question.kind == _LOCAL
    }
    for question, rows in zip(questions, counts[1:], strict=True):
        mixed = question.kind != "offset" or local[question.column]
        if rows and question.kind != _LOCAL and mixed:
            values = _values(connection, table, question, slots) if question.listed else ()
            advice = _advice(columns[question.column], question, values, schema.layout)
            findings.append(
                Finding(
                    question.kind,
                    question.text,
                    question.column,
                    rows,
                    counts[0],
                    values[:most],
                    advice,
                    question.note,
                )
            )
    places = {name: place for place, name in enumerate(columns)}
    return counts[0], sorted(findings, key=lambda finding: places[finding.column])


def _questions(name: str, column: Column, read: Expression, raw: Expression, text: bool) -> Iterable[_Question]:
    blank = raw.isnull() | (raw.strip() == "") if text else raw.isnull()
    if not text and raw.type().is_floating():
        blank = blank | raw.isnan()
    where = f"under {toml_table('columns', name)}"
    if not column.nullable and not isinstance(column, Text):
        said = "missing, in a column that is declared complete"
        yield _Question(name, "missing", blank, said, f"nullable = true {where}", listed=False)
    match column:
        case Integer() | Real():
            number = as_number(read)
            low, high = float(column.lower), float(column.upper)
            yield _Question(name, "unreadable", ~blank & number.isnull(), "no number, and so missing:")
            wider = f"A codebook or the law may allow wider bounds: lower = ..., upper = ... {where}."
            yield _Question(name, "below", number < low, f"below {column.lower}, and counted as {column.lower}:", wider)
            yield _Question(
                name, "above", number > high, f"above {column.upper}, and counted as {column.upper}:", wider
            )
            if isinstance(column, Integer) and not read.type().is_integer():
                inside = (number >= low) & (number <= high)
                real = f'type = "real" {where}'
                yield _Question(
                    name, "fraction", inside & (number != number.floor()), "fractions, which are rounded:", real
                )
        case Date():
            day = as_day(read)
            yield _Question(name, "unreadable", ~blank & day.isnull(), "no day, and so missing:")
            wider = f"lower = ..., upper = ... {where}, if the time that the data covers is public"
            yield _Question(
                name, "below", day < column.lower, f"before {column.lower}, and counted as that day:", wider
            )
            yield _Question(name, "above", day > column.upper, f"after {column.upper}, and counted as that day:", wider)
            if text:
                offset = raw.re_search(_OFFSET)
                said = "times with a zone; the day that is written counts, whatever zone follows:"
                yield _Question(name, "time zone", offset, said, "Write days, or moments of one zone.", note=True)
        case Timestamp():
            second = as_stored(read, column)
            yield _Question(name, "unreadable", ~blank & second.isnull(), "no time, and so missing:")
            wider = f"lower = ..., upper = ... {where}, if the time that the data covers is public"
            low, high = int(column.lower), int(column.upper)
            yield _Question(name, "below", second < low, f"before {column.lower}, and counted as then:", wider)
            yield _Question(name, "above", second > high, f"after {column.upper}, and counted as then:", wider)
            if text:
                offset = raw.re_search(_OFFSET) & second.notnull()
                local = f"naive = ... {where}, the zone of the others, if it is not {column.naive}"
                yield _Question(name, "offset", offset, "with an offset or zone, and others without:", local, note=True)
                yield _Question(name, _LOCAL, second.notnull() & ~offset, "", listed=False)
        case Category() | Boolean():
            unknown = ~blank & as_declared(read, column).isnull()
            said = (
                "not declared, and so missing:"
                if isinstance(column, Category)
                else "not true or false, and so missing:"
            )
            yield _Question(name, "undeclared", unknown, said)
        case Text():
            return


def _counts(connection: Connection, table: Expression, questions: list[_Question]) -> list[int]:
    import ibis

    one, zero = ibis.literal(1, "int64"), ibis.literal(0, "int64")
    sums = {
        f"q{number}": ibis.coalesce(ibis.cases((question.holds, one), else_=zero).sum(), zero).cast("int64")
        for number, question in enumerate(questions)
    }
    counted = connection.integers(table.aggregate(rows=table.count().cast("int64"), **sums))
    return [int(counted[name][0]) for name in ("rows", *sums)]


def _values(
    connection: Connection, table: Expression, question: _Question, slots: Mapping[str, str]
) -> tuple[tuple[str, int], ...]:
    import ibis

    some = table.filter(question.holds).select(value=table[slots[question.column]].cast("string"))
    counted = some.group_by("value").aggregate(rows=some.count())
    first = counted.order_by([ibis.desc("rows"), "value"]).limit(_LOOKED_AT)
    columns = connection.values(first)
    return tuple((str(value), int(rows)) for value, rows in zip(columns["value"], columns["rows"], strict=True))


def _advice(column: Column, question: _Question, values: tuple[tuple[str, int], ...], layout: Layout) -> str:
    """What to write, by how the values look; what is said anyway where they say nothing."""
    match column:
        case Integer() | Real() if question.kind == "unreadable":
            return number_advice(values, layout)
        case Date() | Timestamp() if question.kind in ("unreadable", "below", "above"):
            return date_advice(values, layout) or question.suggestion
        case Category() if question.kind == "undeclared":
            table = toml_table("columns", question.column)
            general = f"Those that are public, by a codebook, belong into values = [...] under {table}."
            return " ".join(part for part in (label_advice(values, column), general) if part)
    return question.suggestion
