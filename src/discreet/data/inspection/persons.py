"""How much of the data the limits on one person leave out, and rows that belong to nobody."""

from __future__ import annotations

from typing import Any

from discreet.data.column import Boolean, Category
from discreet.data.inspection.finding import Finding
from discreet.data.read import as_declared, identity
from discreet.data.schema import Schema
from discreet.data.source import Connection

__all__ = ["inspect_persons"]

Expression = Any  # ibis expressions carry no useful static types here

_WHO = "the person"


def inspect_persons(connection: Connection, schema: Schema) -> list[Finding]:
    """Findings about the column of the person and its limits; where the unit is a row, about how many there are."""
    person, table = schema.unit.column, connection.table
    if schema.row_count is not None:
        return _declared_count(schema.row_count, _count(connection, table))
    if person is None or person not in table.columns:
        return []
    named = table.mutate(**{_WHO: identity(table[person])})
    rows, named = _count(connection, table), named.filter(named[_WHO].notnull())
    findings = []
    known = _count(connection, named)
    if known < rows:
        text = "no person, and left out of every answer"
        findings.append(Finding("no person", text, person, rows - known, rows))
    limit = schema.unit.rows
    cut, several = _cut(connection, named, limit)
    if cut:
        many = f"{several:,} person{'s' * (several != 1)} with more than {limit} row{'s' * (limit != 1)}"
        text = f"beyond rows = {limit}, and left out of a count of all ({many})"
        advice = "rows = ... under [unit], as many as a person has by what is public; more mean more noise."
        findings.append(Finding("limits", text, person, cut, rows, suggestion=advice))
    for name, column in schema.stored.items():
        if name == person or name not in table.columns or not isinstance(column, (Category, Boolean)):
            continue
        lost = _cut_by(connection, named, name, column, schema)
        if lost:
            text = f"beyond groups = {schema.unit.groups} and rows = {limit} where groups are {name}, as an average"
            advice = "groups = ... under [unit], or another question: groups that each person is in once."
            findings.append(Finding("limits", text, person, lost, rows, suggestion=advice, note=True))
    return findings


def _declared_count(declared: int, rows: int) -> list[Finding]:
    """Another number of rows than is declared: means and shares are divided by that."""
    if declared == rows:
        return []
    text = f"rows, and row_count = {declared:,} is declared: means and shares of all rows are divided by that"
    return [Finding("row count", text, rows=rows, of=rows, suggestion=f"row_count = {rows} under [dataset].")]


def _count(connection: Connection, table: Expression) -> int:
    return int(connection.integers(table.aggregate(rows=table.count().cast("int64")))["rows"][0])


def _cut(connection: Connection, table: Expression, limit: int) -> tuple[int, int]:
    """Rows beyond a limit for each person, and how many persons have some."""
    import ibis

    each = table.group_by(_WHO).aggregate(rows=table.count().cast("int64"))
    beyond = each.filter(each.rows > limit)
    zero = ibis.literal(0, "int64")
    sums = beyond.aggregate(
        rows=ibis.coalesce((beyond.rows - limit).sum(), zero).cast("int64"), persons=beyond.count().cast("int64")
    )
    found = connection.integers(sums)
    return int(found["rows"][0]), int(found["persons"][0])


def _cut_by(connection: Connection, table: Expression, name: str, column: Category | Boolean, schema: Schema) -> int:
    """Rows that count in no group on average, where a person's groups are picked at random."""
    import ibis

    limits = schema.unit
    grouped = table.select(who=table[_WHO], group=as_declared(table[name], column))
    grouped = grouped.filter(grouped.group.notnull())
    cells = grouped.group_by(["who", "group"]).aggregate(rows=grouped.count().cast("int64"))
    kept = ibis.cases((cells.rows > limits.rows, ibis.literal(limits.rows, "int64")), else_=cells.rows)
    each = (
        cells.mutate(kept=kept)
        .group_by("who")
        .aggregate(rows=lambda t: t.rows.sum(), kept=lambda t: t.kept.sum(), groups=lambda t: t.count())
    )
    part = ibis.cases(
        (each.groups > limits.groups, each.kept * float(limits.groups) / each.groups), else_=each.kept.cast("float64")
    )
    lost = each.aggregate(lost=ibis.coalesce((each.rows - part).sum(), ibis.literal(0.0)))
    return round(float(connection.values(lost)["lost"][0]))
