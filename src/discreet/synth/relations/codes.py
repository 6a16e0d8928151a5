"""Parents and child rows as codes, in the engine: two tables that depend on each person's own rows only.

A person's own value of a column is the least code that its rows have. Child rows are those with a code for every child
column; they are in the order of their time, ties in the order of their codes, or, where nothing orders them, in that of
a keyed hash. The first `limit` of a person count. Proof: docs/proofs/synth-relations.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Date
from discreet.data.expression.calendar import day_number
from discreet.data.read import as_declared, identity
from discreet.data.schema import Schema
from discreet.marginals.engine import code_columns
from discreet.query.compile import chosen
from discreet.query.contribution import order_of
from discreet.query.predicate import Predicate
from discreet.query.question import Query
from discreet.synth.relations.levels import Bins, Levels

__all__ = ["child_moved", "encode_levels", "parent_moved"]

Expression = Any  # ibis expressions carry no useful static types here

_PERSON, _CHILD, _PLACE, _FAN, _TIME, _MINUTE, _ORDER = "person", "child", "place", "fan", "time", "minute", "order"
_BITS = 31
_MASK = 2**_BITS - 1


def parent_moved(unit: Unit) -> Sensitivity:
    """How far one person moves a marginal of the parents: one parent appears, disappears, or becomes another.

    Also where the first child row is counted with its parent: there is one of it.
    """
    return Sensitivity(1, 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2)


def child_moved(unit: Unit, steps: int) -> Sensitivity:
    """How far one person moves a marginal of the child rows: all of its rows may be in one cell."""
    return Sensitivity(steps, 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2)


def encode_levels(
    levels: Levels, schema: Schema, table: Expression, salt: Sequence[int], condition: Predicate | None = None
) -> tuple[Expression, Expression]:
    """The parents and the child rows, each as a table of codes, c0, c1, ..., of `levels.parents` and `.children`."""
    import ibis

    rows, above, below = _coded(levels, schema, table, condition)
    person = ibis.window(group_by=_PERSON)
    rows = rows.mutate(
        **{name: rows[name].min().over(person) for name in above},
        **{_CHILD: _is_child(rows, below, levels).ifelse(1, 0).cast("int64")},
    )
    rows = rows.filter(*(rows[name].notnull() for name in above))
    if levels.clock is None:
        rows = rows.mutate(**{_ORDER: _hashed(rows, below, salt)})
    order = [ibis.desc(rows[_CHILD]), *(rows[name] for name in _ordered(levels, below))]
    fan = ibis.least(rows[_CHILD].sum().over(person).cast("int64"), levels.limit)
    before = ibis.window(group_by=_PERSON, order_by=order)
    rows = rows.mutate(
        **{_FAN: fan.cast("int16"), _PLACE: ibis.row_number().over(before)},
        **{_last(name): rows[name].lag().over(before) for name in ([] if levels.clock is None else [*below, _TIME])},
    )
    heads = rows.filter(rows[_PLACE] == 0)
    first = [] if levels.clock is None else _first(levels, heads, below)
    parents = heads.select(**_numbered([*(heads[name] for name in (*above, _FAN)), *first]))
    kept = rows.filter((rows[_CHILD] == 1) & (rows[_PLACE] < levels.limit))
    kept = kept if levels.clock is None else kept.filter(kept[_PLACE] > 0)
    children = kept.select(**_numbered([*(kept[name] for name in (*above, _FAN)), *_row(levels, kept, below)]))
    return parents, children


def _first(levels: Levels, heads: Expression, below: Sequence[str]) -> list[Expression]:
    """The codes of a parent's first row; their last one for a parent without rows."""
    import ibis

    attributes = levels.child_columns.attributes
    return [
        (heads[_CHILD] == 1).ifelse(heads[name].cast("int32"), ibis.literal(one.size, "int32"))
        for name, one in zip(below, attributes, strict=True)
    ]


def _coded(
    levels: Levels, schema: Schema, table: Expression, condition: Predicate | None
) -> tuple[Expression, list[str], list[str]]:
    """Every row with its person, the codes of parent and child columns, and its time."""
    many = len(levels.parent_columns)
    table, codes = code_columns(levels.both, schema, chosen(Query(condition), schema, table))
    named = dict(zip([*(f"p{place}" for place in range(many)), *_below(levels)], codes.values(), strict=True))
    named[_PERSON] = identity(table[str(schema.unit.column)])
    if levels.clock is not None:
        named[_TIME] = levels.clock.points.coded(_number(levels.clock.attribute, schema, table), whole=True)
        minute = levels.clock.minute
        named[_MINUTE] = named[_TIME] if minute is None else _number(minute, schema, table)
    rows = table.select(**named)
    return rows.filter(rows[_PERSON].notnull()), [f"p{place}" for place in range(many)], _below(levels)


def _below(levels: Levels) -> list[str]:
    return [f"k{place}" for place in range(len(levels.child_columns))]


def _number(name: str, schema: Schema, table: Expression) -> Expression:
    column = schema.columns[name]
    value = as_declared(table[schema.slot(name)], column)
    return day_number(value) if isinstance(column, Date) else value


def _is_child(rows: Expression, below: Sequence[str], levels: Levels) -> Expression:
    """Whether a row is a child row: it has a code for every child column, and they are not all missing."""
    import ibis

    attributes = levels.child_columns.attributes
    every = ibis.literal(True)
    for name in below:
        every = every & rows[name].notnull()
    if not all(one.missing for one in attributes):
        return every
    some = ibis.literal(False)
    for name, one in zip(below, attributes, strict=True):
        some = some | (rows[name].fill_null(one.size - 1) < one.size - 1)
    return every & some


def _hashed(rows: Expression, below: Sequence[str], salt: Sequence[int]) -> Expression:
    """The order of a person's rows where nothing else orders them: by a hash of person and codes, under a salt."""
    import ibis

    folded = ibis.literal(0, "int64")
    factor = (salt[5] & _MASK) | 2**30 | 1
    for name in below:
        folded = (folded * factor + rows[name].fill_null(0).cast("int64") + salt[6]) & _MASK
    return order_of(rows[_PERSON], folded, _BITS, salt)


def _ordered(levels: Levels, below: Sequence[str]) -> list[str]:
    return [_ORDER, *below] if levels.clock is None else [_TIME, _MINUTE, *below]


def _row(levels: Levels, rows: Expression, below: Sequence[str]) -> list[Expression]:
    """A child row's own codes; for one after another, the time since, and the groups of that row's codes."""
    import ibis

    clock = levels.clock
    attributes = levels.child_columns.attributes
    if clock is None:
        return [rows[name] for name in below]
    own = [rows[name] for name, one in zip(below, attributes, strict=True) if one.name != clock.attribute]
    gap = clock.gaps.coded(ibis.greatest(rows[_TIME] - rows[_last(_TIME)], 0), whole=True)
    before = [_grouped(rows[_last(name)], groups) for name, groups in zip(below, levels.groups, strict=True)]
    return [*own, gap, *before]


def _last(name: str) -> str:
    return f"last_{name}"


def _grouped(code: Expression, groups: Bins) -> Expression:
    """The group of a code: runs of codes in one group are told apart by halves."""
    starts = [0, *(place for place in range(1, len(groups)) if groups[place] != groups[place - 1])]
    if len(starts) == len(groups):
        return code.cast("int32")
    return _run(code, starts, [int(groups[start]) for start in starts]).cast("int32")


def _run(code: Expression, starts: Sequence[int], groups: Sequence[int]) -> Expression:
    import ibis

    if len(starts) == 1:
        return ibis.literal(groups[0], "int32")
    middle = len(starts) // 2
    left, right = _run(code, starts[:middle], groups[:middle]), _run(code, starts[middle:], groups[middle:])
    return (code < starts[middle]).ifelse(left, right)


def _numbered(codes: Sequence[Expression]) -> dict[str, Expression]:
    return {f"c{place}": code.cast("int32") for place, code in enumerate(codes)}
