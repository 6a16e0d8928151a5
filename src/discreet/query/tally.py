"""How many rows of each group lie in each bin of a grid, as one engine expression; no person counts beyond the limits.

Of a person's groups the first `unit.groups` count, in the order of `discreet.query.contribution`. Of a person's rows
in a group at most `unit.rows` count, drawn evenly: rows are told apart by bin and by number within the bin, and a keyed
hash of both puts them in order. So what is kept follows from the person's own rows, and equal rows need no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.core.unit import Unit
from discreet.data.read import identity
from discreet.data.schema import Schema
from discreet.query.compile import chosen
from discreet.query.contribution import GROUP, PERSON, first_groups, order_of
from discreet.query.grid import Grid
from discreet.query.group import group_codes, group_number, numbered_groups
from discreet.query.key import Key
from discreet.query.question import Query

__all__ = ["BIN", "ROWS", "compile_tally", "compile_values"]

Expression = Any  # ibis expressions carry no useful static types here

BIN = "bin"
ROWS = "rows"

_ORDER = "order"
_ROW = "row"
_WIDE = 31  # bits for a bin and a number within it
_NUMBERED = 2**15 - 1  # rows of one person, group and bin beyond this one share a number, which changes no count


def compile_tally(
    query: Query, schema: Schema, column: str, grid: Grid, table: Expression, salt: Sequence[int]
) -> Expression:
    """The expression whose rows are (group, bin, rows), for non-empty bins only."""
    table, number = group_number(query.keys, schema, chosen(query, schema, table), query.numbers(schema))
    return _tallied(query, schema, table, number, grid.place(table[schema.slot(column)]), salt)


def compile_values(query: Query, schema: Schema, values: Key, table: Expression, salt: Sequence[int]) -> Expression:
    """The expression whose rows are (group, bin, rows), where bins are the places of a value among those listed."""
    table, codes = group_codes((*query.keys, values), schema, chosen(query, schema, table))
    number = numbered_groups(query.keys, codes[:-1], schema, query.numbers(schema))
    return _tallied(query, schema, table, number, codes[-1].cast("int32"), salt)


def _tallied(
    query: Query, schema: Schema, table: Expression, number: Expression, place: Expression, salt: Sequence[int]
) -> Expression:
    """How many rows of each group are at each place.

    Guarantee: the rows of one person that are counted lie in at most `unit.groups` groups, at most `unit.rows` in
    each, and which they are depends on that person's rows and the salt alone. Proof: docs/proofs/query-quantiles.md.
    """
    unit = schema.unit
    columns = {GROUP: number, BIN: place}
    if unit.column is not None:
        columns[PERSON] = identity(table[unit.column])
    rows = table.select(**columns)
    rows = rows.filter(rows[GROUP].notnull())
    if unit.column is None:
        rows = rows.filter(rows[BIN].notnull())
    else:
        rows = _limited(rows.filter(rows[PERSON].notnull()), unit, query.groups(schema), salt)
    return rows.group_by([GROUP, BIN]).aggregate(**{ROWS: rows.count().cast("int64")})


def _limited(rows: Expression, unit: Unit, groups: int, salt: Sequence[int]) -> Expression:
    """The rows that count."""
    import ibis

    rows = first_groups(rows, unit, groups, salt, _ORDER)
    # Only now: a group counts for a person whether there is a value or not, as it does where rows are counted.
    rows = rows.filter(rows[BIN].notnull())
    # Ordered by a hash of the name: text may be compared by a rule under which "a" equals "A", and then rows of one
    # person have several hashes. Rows equal in hash and bin are equal in everything that matters.
    repeated = ibis.row_number().over(ibis.window(group_by=[PERSON, GROUP, BIN], order_by=_ORDER))
    rows = rows.mutate(repeated=ibis.least(repeated, _NUMBERED))
    told = rows[BIN].cast("int64") + rows["repeated"].cast("int32").cast("int64") * 2**16
    rows = rows.mutate(**{_ROW: order_of(rows[_ORDER].cast("int64"), told, _WIDE, salt[5:10])})
    kept = ibis.row_number().over(ibis.window(group_by=[PERSON, GROUP], order_by=_ROW))
    rows = rows.mutate(kept=kept)
    rows = rows.filter(rows["kept"] < unit.rows)
    if unit.rows_total is None:
        return rows
    # Over all groups in the same order. Rows that agree in both columns are equal in all that is counted.
    rows = rows.mutate(kept=ibis.row_number().over(ibis.window(group_by=PERSON, order_by=[_ROW, _ORDER])))
    return rows.filter(rows["kept"] < unit.rows_total)
