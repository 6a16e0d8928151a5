"""The measures of a question by the rules as they are stated, one row at a time, in plain Python. Slow on purpose."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from discreet.data.column import Boolean, Category, Date, Integer, Real, Timestamp
from discreet.data.instant import Instant
from discreet.query.measure import Moment, People, Rows, Total, lattice_for
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or

MASK = 2**31 - 1


def measures_of(query, schema):
    """The measures a plan would take, each once."""
    return list(dict.fromkeys(m for _, aggregate in query.outputs for m in aggregate.measures(schema)))


def number(value):
    """A stored value as a number; None where it is missing."""
    if value is None or isinstance(value, (date, datetime)):
        return None
    if isinstance(value, str):
        if not value.isascii():
            return None
        try:
            value = float(value.strip(" "))
        except ValueError:
            return None
    if isinstance(value, Decimal):
        value = None if value.is_nan() else float(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return int(value) if isinstance(value, bool) else value


def clamp(value, low, high):
    return low if value < low else high if value > high else value


def text(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value == math.floor(value) and abs(value) < 2**53 else None
    return str(value)


def declared(value, column):
    """A stored value as what its column is declared to be; None where it is missing."""
    match column:
        case Integer():
            found = number(value)
            return None if found is None else math.floor(clamp(found, int(column.lower), int(column.upper)) + 0.5)
        case Real():
            found = number(value)
            return None if found is None else clamp(found, float(column.lower), float(column.upper))
        case Category():
            return text(value) if text(value) in column.values else None
        case Boolean():
            word = text(value)
            word = None if word is None else word.lower()
            return True if word in ("true", "t", "1", "yes") else False if word in ("false", "f", "0", "no") else None
        case Date():
            if isinstance(value, str):
                try:
                    value = date.fromisoformat(value[:10])
                except ValueError:
                    return None
            if isinstance(value, datetime):
                value = value.date()
            return None if value is None else clamp(value, column.lower, column.upper)
        case Timestamp():
            found = instant(value, column)
            return None if found is None else Instant(clamp(found, column.lower, column.upper), column.timezone)
        case _:
            return None if isinstance(value, float) and math.isnan(value) else value


def instant(value, column):
    """A stored time as seconds in UTC, by Python's own rules."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip(" "))
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value is None:
        return None
    if value.tzinfo is None:
        value = value.replace(tzinfo=ZoneInfo(column.naive), fold=0)
    return (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


def steps(value, lattice):
    """Whole steps of a lattice, halves up; a bound is a point of the lattice."""
    step = float(lattice.step)
    bounded = clamp(value, lattice.lowest * step, lattice.highest * step)
    return math.floor((bounded + step / 2) / step)


def row_value(measure, row, schema):
    """What one row adds to a measure."""
    match measure:
        case Rows(column=None):
            return 1
        case Rows(column=name):
            return int(declared(row[name], schema.columns[name]) is not None)
        case Total(column=name, lattice=lattice):
            found = declared(row[name], schema.columns[name])
            if found is None:
                return 0 if schema.columns[name].nullable else (lattice.lowest + lattice.highest) // 2
            return steps(found, lattice)
        case Moment(column=name, lattice=lattice):
            found = declared(row[name], schema.columns[name])
            if found is None:
                return 0 if schema.columns[name].nullable else -measure.centre
            away = steps(found, lattice) - measure.middle
            if measure.power == 1:
                return away
            return math.floor(Fraction(away**2, 2**measure.shift) + Fraction(1, 2)) - measure.centre
        case People():
            return 0


def stored(value, column):
    """A stored value as a condition compares it: not moved into the bounds; None where it is missing."""
    if isinstance(column, Date):
        return declared(value, Date(date.min, date.max))
    if isinstance(column, Timestamp):
        found = instant(value, column)
        return None if found is None else clamp(found, *column.reach)
    if isinstance(column, Integer | Real) and outside(value, column):
        return number(value)
    return declared(value, column)


def true_of(predicate, row, schema):
    """Three-valued logic: True, False or None."""
    match predicate:
        case Compare(name, operator, constant):
            value = stored(row[name], schema.columns[name])
            if value is None:
                return None
            constant = float(constant) if isinstance(constant, Fraction) else constant
            return {
                "==": lambda: value == constant,
                "!=": lambda: value != constant,
                "<": lambda: value < constant,
                "<=": lambda: value <= constant,
                ">": lambda: value > constant,
                ">=": lambda: value >= constant,
            }[operator]()
        case IsIn(name, values):
            value = stored(row[name], schema.columns[name])
            return None if value is None else value in [float(v) if isinstance(v, Fraction) else v for v in values]
        case IsMissing(name):
            return stored(row[name], schema.columns[name]) is None
        case And(parts):
            found = [true_of(part, row, schema) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [true_of(part, row, schema) for part in parts]
            return True if True in found else None if None in found else False
        case Not(part):
            found = true_of(part, row, schema)
            return None if found is None else not found


def outside(value, column):
    """Whether a stored number or day is beyond the declared bounds."""
    if isinstance(column, Date):
        unbounded = declared(value, Date(date.min, date.max, nullable=False))
        return unbounded is not None and not column.lower <= unbounded <= column.upper
    if isinstance(column, Timestamp):
        found = instant(value, column)
        return found is not None and not column.lower <= found <= column.upper
    found = number(value)
    return found is not None and not float(column.lower) <= found <= float(column.upper)


def code(key, row, schema):
    """The place of a row among the labels of a key; None if it has none."""
    value, labels = declared(row[key.column], schema.columns[key.column]), key.labels(schema)
    if key.edges is None:
        if isinstance(schema.columns[key.column], Integer) and outside(row[key.column], schema.columns[key.column]):
            return None
        return labels.index(value) if value in labels else None
    marks = [float(edge) if isinstance(edge, Fraction) else edge for edge in key.edges]
    if value is None:
        return len(labels) - 1 if None in labels else None
    if outside(row[key.column], schema.columns[key.column]) or not marks[0] <= value <= marks[-1]:
        return None
    return next((i for i in range(len(marks) - 1) if marks[i] <= value < marks[i + 1]), len(marks) - 2)


def group(query, row, schema):
    """The number of the group a row belongs to; None if it belongs to none or fails the condition."""
    if query.condition is not None and true_of(query.condition, row, schema) is not True:
        return None
    place = 0
    for key in query.keys:
        found = code(key, row, schema)
        if found is None:
            return None
        place = place * len(key.labels(schema)) + found
    return place


def of_rows(query, schema, measures, rows):
    """The exact measures when the unit is a row: {group: [m0, m1, ...]}."""
    found = defaultdict(lambda: [0] * len(measures))
    for row in rows:
        place = group(query, row, schema)
        if place is not None:
            for index, measure in enumerate(measures):
                found[place][index] += row_value(measure, row, schema)
    return dict(found)


def of_each_person(query, schema, measures, rows):
    """What every person would add to every group they have rows in: {person: {group: [m0, m1, ...]}}."""
    unit = schema.unit
    sums = defaultdict(lambda: defaultdict(lambda: [0] * len(measures)))
    for row in rows:
        person, place = row[unit.column], group(query, row, schema)
        if person is None or (isinstance(person, float) and math.isnan(person)) or place is None:
            continue
        for index, measure in enumerate(measures):
            sums[person][place][index] += row_value(measure, row, schema)
    for places in sums.values():
        for place, values in places.items():
            places[place] = [counted_as(measure, values, measures, unit) for measure in measures]
    return sums


def counted_as(measure, values, measures, unit):
    """What a person's sum of a measure counts as."""
    found = values[measures.index(measure)]
    if isinstance(measure, People):
        return 1
    if isinstance(measure, Moment):
        many = values[measures.index(measure.weight)]
        return math.floor(Fraction(found * unit.rows, many) + Fraction(1, 2)) if many > unit.rows else found
    return clamp(found, min(0, unit.rows * measure.lowest), max(0, unit.rows * measure.highest))


def order(person, place, width, salt):
    """The hash that picks, as the engine computes it for persons who are whole numbers."""
    first, second = (word & (2**30 - 1) | 2**29 | 1 for word in salt[:2])
    mixed = ((((person ^ (person >> 31)) & MASK) * first + place * second) >> 11) & MASK
    for word in salt[2:4]:
        mixed = (((mixed ^ (word & MASK)) ** 2) >> 15) & MASK
    return (mixed & (MASK - 2**width + 1)) | place if width <= 10 else (mixed << width) | place


def of_persons(query, schema, measures, rows, salt):
    """The exact measures when the unit is a person with a whole number for a name: {group: [m0, m1, ...]}."""
    found, groups = defaultdict(lambda: [0] * len(measures)), query.groups(schema)
    width = (groups - 1).bit_length()
    for person, places in of_each_person(query, schema, measures, rows).items():
        picked = sorted(places, key=lambda place: order(person, place, width, salt))
        for place in picked[: schema.unit.groups]:
            for index, value in enumerate(places[place]):
                found[place][index] += value
    return dict(found)


def person_rows(schema, rows):
    """The table of persons, row by row, by the rules as they are stated."""
    persons = schema.persons
    table, base = persons.table, persons.rows
    mine = defaultdict(list)
    for row in rows:
        kept = table.condition is None or true_of(table.condition, row, base) is True
        if row[base.unit.column] is None or not kept:
            continue
        by = tuple((name, declared(row[column], base.columns[column])) for name, column in table.keys)
        mine[row[base.unit.column], by].append(row)
    return [
        {base.unit.column: person, **dict(by)}
        | {name: person_value(each, schema.columns[name], base, theirs) for name, each in table.columns}
        for (person, by), theirs in mine.items()
    ]


def person_value(each, made, base, rows):
    """What a person's rows come to."""
    if each.column is None:
        return clamp(len(rows), int(made.lower), int(made.upper))
    column = base.columns[each.column]
    read = [value for row in rows if (value := declared(row[each.column], column)) is not None]
    if each.of in ("count", "distinct"):
        return clamp(len(set(read) if each.of == "distinct" else read), int(made.lower), int(made.upper))
    if each.of in ("min", "max"):
        order = str.encode if isinstance(column, Category) else None
        return (min if each.of == "min" else max)(read, key=order) if read else None
    total = Total(each.column, lattice_for(column, column.lower, column.upper))
    step, taken = total.lattice.step, sum(row_value(total, row, base) for row in rows)
    many = len(read) if column.nullable else len(rows)
    if not many:
        return None
    if each.of == "mean":
        return float(taken) / float(many) * float(step)
    taken = clamp(taken, math.ceil(made.lower / step), math.floor(made.upper / step))
    return taken if isinstance(made, Integer) else taken * float(step)
