"""A question as one engine expression: bounded integers per group, the same on every engine.

Values are read by the rules of `discreet.query.read`, so that no row can make the engine fail. For a person with
several rows, a keyed hash picks which groups count; each person's part of a group is clamped; then groups are summed.
What comes back is one row per non-empty group: small, and still private.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.query.column import Category, Integer
from discreet.query.key import Key
from discreet.query.measure import ROOM, Measure, People, Rows, Squares, Total, contribution
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate
from discreet.query.question import Query
from discreet.query.read import as_declared, as_text, clamp, identity
from discreet.query.schema import Schema

__all__ = ["GROUP", "compile_query", "measure_name"]

GROUP = "group"  # the column that numbers the groups
_PERSON = "person"
_MASK = 2**31 - 1
_SHORT_CASE = 12  # up to so many values are compared one by one, more in a search tree

Expression = Any  # ibis expressions carry no useful static types here


def measure_name(index: int) -> str:
    """The column that holds the measure of this index."""
    return f"m{index}"


def compile_query(
    query: Query, schema: Schema, measures: Sequence[Measure], table: Expression, salt: Sequence[int]
) -> Expression:
    """The expression whose rows are (group, m0, m1, ...). `salt` is fresh random integers below 2**31."""
    import ibis

    unit = schema.unit
    read = _Reader(schema, table)
    if query.condition is not None:
        read = read.filtered(_condition(query.condition, read))
    columns: dict[str, Expression] = {GROUP: _group(query.keys, schema, read)}
    if unit.column is not None:
        columns[_PERSON] = identity(read.table[unit.column])
    for index, measure in enumerate(measures):
        if not measure.per_person:
            columns[measure_name(index)] = _row_value(measure, read)
    rows = read.table.select(**columns)
    rows = rows.filter(rows[GROUP].notnull())
    if unit.column is None:
        return _summed(rows, len(measures))

    rows = rows.filter(rows[_PERSON].notnull())
    if query.groups(schema) > unit.groups:
        order = _pick_order(rows, salt, query.groups(schema))
        ranked = rows.mutate(place=ibis.dense_rank().over(ibis.window(group_by=_PERSON, order_by=order)))
        rows = ranked.filter(ranked["place"] < unit.groups)
    sums = {measure_name(i): rows[measure_name(i)].sum() for i, m in enumerate(measures) if not m.per_person}
    people = rows.group_by([_PERSON, GROUP]).aggregate(**sums)
    clamped = {GROUP: people[GROUP]}
    for index, measure in enumerate(measures):
        name = measure_name(index)
        if measure.per_person:
            clamped[name] = ibis.literal(1, "int64")
        else:
            low, high = contribution(measure, unit)
            clamped[name] = ibis.greatest(ibis.least(people[name], high), low).cast("int64")
    return _summed(people.select(**clamped), len(measures))


def _summed(parts: Expression, measures: int) -> Expression:
    """The sums per group. One too large (more than 2**32 rows of the largest value) is cut, so that none can fail."""
    import ibis

    cut = {
        name: ibis.greatest(ibis.least(parts[name].sum(), ROOM), -ROOM).cast("int64")
        for name in (measure_name(index) for index in range(measures))
    }
    return parts.group_by(GROUP).aggregate(**cut)


class _Reader:
    """The table's columns as their declared types, missing where a value cannot be read."""

    def __init__(self, schema: Schema, table: Expression) -> None:
        self.schema = schema
        self.table = table

    def filtered(self, condition: Expression) -> _Reader:
        return _Reader(self.schema, self.table.filter(condition))

    def __getitem__(self, name: str) -> Expression:
        return as_declared(self.table[name], self.schema.columns[name])

    def text(self, name: str) -> Expression:
        """A category before undeclared values are struck out: enough where the declared ones are looked up anyway."""
        return as_text(self.table[name])


def _row_value(measure: Measure, read: _Reader) -> Expression:
    """What one row adds to a measure: an integer, never missing."""
    import ibis

    match measure:
        case Rows(column=None):
            return ibis.literal(1, "int32")
        case Rows(column=name):
            return _present(read, str(name)).ifelse(ibis.literal(1, "int32"), ibis.literal(0, "int32"))
        case Total(column=name, lattice=lattice, centre=centre):
            steps = _steps(read[name], lattice)
            if not read.schema.columns[name].nullable:
                # Declared complete: a gap counts as the middle of the bounds.
                steps = steps.fill_null((lattice.lowest + lattice.highest) // 2)
            return (steps - centre).fill_null(0).cast("int32")
        case Squares(column=name, lattice=lattice):
            distance = _steps(read[name], lattice) - measure.middle
            if not read.schema.columns[name].nullable:
                distance = distance.fill_null(0)
            return (distance * distance - measure.centre).fill_null(0).cast("int32")
        case People():
            raise TypeError("persons are counted after their rows are gathered")


def _present(read: _Reader, name: str) -> Expression:
    return read[name].notnull()


def _steps(value: Expression, lattice: Any) -> Expression:
    """Whole lattice steps, halves up. Clamped in steps, so that no rounding of a bound can add one."""
    steps = (value * float(1 / lattice.step) + 0.5).floor()
    return clamp(steps, float(lattice.lowest), float(lattice.highest)).cast("int64")


def _group(keys: Sequence[Key], schema: Schema, read: _Reader) -> Expression:
    """The number of the group a row belongs to, in the order of publication; missing if it belongs to none."""
    import ibis

    number = ibis.literal(0, "int64")
    for key in keys:
        number = number * len(key.labels(schema)) + _code(key, schema, read)
    return number.cast("int32")


def _code(key: Key, schema: Schema, read: _Reader) -> Expression:
    import ibis

    column, labels = schema.columns[key.column], key.labels(schema)
    simple = isinstance(column, Category) and None not in labels
    value = read.text(key.column) if simple else read[key.column]
    if key.edges is not None:
        return _bin_code(key.edges, value)
    if isinstance(column, Integer) and key.values is None:
        code = (value - float(column.lower)).cast("int64")
        return code.fill_null(len(labels) - 1) if column.nullable else code
    if isinstance(column, Integer):
        value = value.cast("int64")
    named = {label: index for index, label in enumerate(labels) if label is not None}
    other = ibis.literal(labels.index(None), "int64") if None in labels else ibis.null("int64")
    if len(named) <= _SHORT_CASE:
        code = value.cases(*((label, ibis.literal(i, "int64")) for label, i in named.items()), else_=ibis.null("int64"))
    else:
        code = _balanced(*_in_order(value, named))
    return value.isnull().ifelse(other, code) if None in labels else code


def _in_order(value: Expression, named: dict[Any, int]) -> tuple[Expression, list[tuple[Any, int]]]:
    """A value and its labels in one order that Python and the engine agree on.

    Text is ordered by code points here and in DuckDB; PostgreSQL orders it by the column's language, but not bytes.
    """
    import ibis

    if not value.type().is_string() or "postgres" not in {engine.name for engine in value._find_backends()[0]}:
        return value, sorted(named.items())

    @ibis.udf.scalar.builtin(signature=(("string", "string"), "binary"))  # type: ignore[untyped-decorator]
    def convert_to(text: Any, encoding: Any) -> Any: ...

    return convert_to(value, "UTF8"), sorted((label.encode(), index) for label, index in named.items())


def _balanced(value: Expression, ordered: Sequence[tuple[Any, int]]) -> Expression:
    """A search tree of comparisons: as many as the logarithm of the number of labels, on every row."""
    import ibis

    if len(ordered) == 1:
        label, index = ordered[0]
        return (value == label).ifelse(ibis.literal(index, "int64"), ibis.null("int64"))
    middle = len(ordered) // 2
    return (value < ordered[middle][0]).ifelse(_balanced(value, ordered[:middle]), _balanced(value, ordered[middle:]))


def _bin_code(edges: Sequence[Any], value: Expression) -> Expression:
    """Which bin a value is in: the last edge belongs to the last bin, what is outside to none."""
    import ibis

    marks = [float(edge) if isinstance(edge, Fraction) else edge for edge in edges]
    inside = (value >= marks[0]) & (value <= marks[-1])
    code = _bin_search(value, marks[1:-1], 0)
    return inside.ifelse(code, ibis.null("int64"))


def _bin_search(value: Expression, inner: Sequence[Any], offset: int) -> Expression:
    import ibis

    if not inner:
        return ibis.literal(offset, "int64")
    middle = len(inner) // 2
    left = _bin_search(value, inner[:middle], offset)
    right = _bin_search(value, inner[middle + 1 :], offset + middle + 1)
    return (value < inner[middle]).ifelse(left, right)


def _pick_order(rows: Expression, salt: Sequence[int], groups: int) -> Expression:
    """The order in which a person's groups are picked: a keyed hash, then the group, in one integer.

    The bound on groups holds for any order; the hash only decides which groups, evenly, and anew for every release.
    """
    import ibis

    person = rows[_PERSON]
    if not person.type().is_signed_integer():  # an unsigned one may not fit 64 bits with a sign
        person = (person if person.type().is_string() else person.cast("string")).hash()
    mixed = ibis.literal(int(salt[0]) & _MASK, "int64")
    group = rows[GROUP].cast("int64")
    parts = [person.cast("int64") & _MASK, (person.cast("int64") >> 31) & _MASK, group, None, None]
    for part, factor in zip(parts, salt[1:], strict=False):
        word = mixed if part is None else mixed ^ part
        mixed = ((word * (int(factor) & _MASK | 1)) >> 13) & _MASK
    width = max(1, (groups - 1).bit_length())
    return (mixed << width) | group


def _condition(predicate: Predicate, read: _Reader) -> Expression:
    match predicate:
        case Compare(name, operator, constant):
            value = read[name]
            wanted = float(constant) if isinstance(constant, Fraction) else constant
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
            return read[name].isin([float(v) if isinstance(v, Fraction) else v for v in values])
        case IsMissing(name):
            return ~_present(read, name)
        case And(parts):
            return _joined([_condition(part, read) for part in parts], "and")
        case Or(parts):
            return _joined([_condition(part, read) for part in parts], "or")
        case Not(part):
            return ~_condition(part, read)


def _joined(conditions: Sequence[Expression], how: str) -> Expression:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = whole & condition if how == "and" else whole | condition
    return whole
