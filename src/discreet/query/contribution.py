"""Which groups of a person count, and what the person adds to each: the bound on what one can move.

A keyed hash puts a person's groups in an order that is new for every release; the first `unit.groups` of them count.
Hash and group share one integer, so the order has no ties, exactly so many groups are kept, and the engine sorts by one
short key, which is where most of the time goes.

Counts and sums are cut at the limits. A moment is scaled down instead, by the same factor as the number of values it
belongs to, so that a mean made of the two stays a mean; a vector too, all coordinates by one factor.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.mechanism import Bits
from discreet.core.unit import Unit
from discreet.data.dialect import engine_of, gathered, hashed, joins_quickly, shuffles
from discreet.noise.bits import words
from discreet.query.measure import WEIGHTED, Coordinate, Measure, Rows, Total, contribution

__all__ = [
    "GROUP",
    "ORDER",
    "PERSON",
    "SALTS",
    "contributions",
    "drawn",
    "first_groups",
    "fresh_salt",
    "limited",
    "numbered",
    "order_of",
    "with_order",
]

Expression = Any  # ibis expressions carry no useful static types here

GROUP = "group"  # the column that numbers the groups
PERSON = "person"
ORDER = "order"  # the column in whose order a person's groups count

SALTS = 10  # fresh random integers below 2**31 that one expression takes at most

_ROWS = "rows"
_BITS = 31
_MASK = 2**_BITS - 1
_SKIP = 2.0**53  # from here on, floats skip whole numbers
_SHORT = 10  # group numbers of so many bits leave the hash 21 bits of a 32-bit key; a tie is settled by the number


def fresh_salt(bits: Bits) -> list[int]:
    """What decides which groups and rows of a person count. All parts of one question share it, and so the groups.

    It is drawn independently of the data, and every guarantee holds for each value of it.
    """
    return [int(word) & _MASK for word in words(bits, SALTS)]


def contributions(
    rows: Expression,
    measures: Mapping[str, Measure],
    unit: Unit,
    groups: int,
    salt: Sequence[int],
    *,
    named: bool = False,
) -> Expression:
    """Parts (group and measures) whose sums per group are what persons add to it, each within the unit's limits.

    `named` parts keep the person, who must then be text: of whole numbers some parts are shared.

    Guarantee: the parts of one person, those shared with others included, are in at most `unit.groups` groups and
    within `contribution` in each, whatever the hash does. Proof: docs/proofs/query.md.
    """
    engine = engine_of(rows)
    sums = [name for name, measure in measures.items() if not measure.per_person and measure != Rows()]
    if unit.rows_total is not None:
        rows = drawn(first_groups(rows, unit, groups, salt, ORDER), [GROUP], sums, unit, salt)
    elif groups > unit.groups:
        # A single row may be more than a person may add, where that has bounds of its own: then all keep their names.
        # On a cluster, too: rows that were brought together by person are not sent around again to be summed.
        own = any(isinstance(measure, Total) and measure.person is not None for measure in measures.values())
        rows = _picked(rows, sums, unit.groups, (groups - 1).bit_length(), salt, whole=own or shuffles(engine))
    parts = rows.group_by([GROUP, PERSON]).aggregate(
        **{_ROWS: rows.count()}, **{name: gathered(rows[name], engine) for name in sums}
    )
    several_persons = parts[PERSON].isnull()
    bounded = {GROUP: parts[GROUP]} | ({PERSON: parts[PERSON]} if named else {})
    found = {measure: parts[name if name in sums else _ROWS] for name, measure in measures.items()}
    found[Rows()] = parts[_ROWS]  # a person's rows, or persons with a row each
    for name, measure in measures.items():
        values = found[measure.weight] if isinstance(measure, WEIGHTED) else parts[_ROWS]
        if isinstance(measure, Total):
            values = found.get(Rows(measure.column), values)  # there where it is needed: `with_values`
        bounded[name] = several_persons.ifelse(found[measure], limited(measure, found[measure], values, unit))
    return parts.select(**bounded)


def drawn(rows: Expression, keys: Sequence[str], values: Sequence[str], unit: Unit, salt: Sequence[int]) -> Expression:
    """At most `unit.rows_total` rows of each person, at most `unit.rows` of them with the same `keys`, drawn evenly.

    A person's rows are gone through in the order of a keyed hash; one whose group is full is passed over. Rows are told
    apart by `ORDER` (a hash of person and group), by `values` and by number among equal ones, so what is kept follows
    from the person's own rows. Proof: docs/proofs/query.md.
    """
    import ibis

    same = ibis.window(group_by=[PERSON, *keys, *values], order_by=ORDER)
    rows = rows.mutate(repeated=ibis.row_number().over(same).cast("int64"))
    code = rows["repeated"].cast("int32").cast("int64")  # Spark numbers rows in 32 bits, and ibis does not know it
    for word, value in zip(itertools.cycle(salt), values, strict=False):
        code = ((code & _MASK) * ((int(word) & (2**30 - 1)) | 1) + (rows[value].cast("int64") & _MASK)) & _MASK
    turn = order_of(rows[ORDER].cast("int64"), code & _MASK, _BITS, [*salt[4:], *salt[:4]])
    rows = rows.mutate(turn=turn)
    order = ["turn", ORDER, *keys, *values, "repeated"]
    if unit.rows < (unit.rows_total or 0):
        rows = rows.mutate(taken=ibis.row_number().over(ibis.window(group_by=[PERSON, *keys], order_by=order)))
        rows = rows.filter(rows["taken"] < unit.rows)
    rows = rows.mutate(taken=ibis.row_number().over(ibis.window(group_by=PERSON, order_by=order)))
    return rows.filter(rows["taken"] < unit.rows_total)


def _picked(
    rows: Expression, sums: Sequence[str], kept: int, width: int, salt: Sequence[int], *, whole: bool
) -> Expression:
    """The rows that count. Where one is all a person has in a group, it is within the limits: it needs no name.

    Such rows, often nearly all, are then added up by group at once, without a sum for each person first. If `whole`,
    all keep their names.
    """
    import ibis

    order = ibis.window(group_by=PERSON, order_by=ORDER)
    keyed = with_order(rows, ORDER, rows[PERSON], rows[GROUP], width, salt).select(PERSON, *sums, ORDER)
    place = ibis.dense_rank().over(order)
    # Only of whole numbers is it certain that equal ones have equal hashes, which makes a group one run of
    # neighbours: text may be compared by a rule of its column under which "a" equals "A".
    exact = keyed[PERSON].type().is_signed_integer()
    if kept == 1 and exact and joins_quickly(engine_of(rows)):
        least = keyed.group_by(PERSON).aggregate(**{ORDER: keyed[ORDER].min()})
        left = keyed.semi_join(least, [PERSON, ORDER])
        return left.select(PERSON, *sums, **{GROUP: (left[ORDER] & (2**width - 1)).cast("int32")})
    if whole or not exact:
        left = keyed.mutate(place=place)
        left = left.filter(left["place"] < kept)
        return left.select(PERSON, *sums, **{GROUP: (left[ORDER] & (2**width - 1)).cast("int32")})
    after = keyed[ORDER].lead().over(order)
    # As many rows as groups so far, and the next one is in another group. After a group with several rows the counts
    # differ: what follows keeps its name, needlessly but rightly.
    alone = (ibis.row_number().over(order) == place) & (after.isnull() | (after != keyed[ORDER]))
    ranked = keyed.mutate(place=place, alone=alone)
    left = ranked.filter(ranked["place"] < kept)
    person = left["alone"].ifelse(ibis.null(left[PERSON].type()), left[PERSON])
    return left.select(*sums, **{GROUP: (left[ORDER] & (2**width - 1)).cast("int32"), PERSON: person})


def first_groups(rows: Expression, unit: Unit, groups: int, salt: Sequence[int], order: str) -> Expression:
    """The rows of the groups of each person that count, with the hash of person and group as `order`."""
    import ibis

    rows = with_order(rows, order, rows[PERSON], rows[GROUP], (groups - 1).bit_length(), salt)
    if groups <= unit.groups:
        return rows
    rows = rows.mutate(place=ibis.dense_rank().over(ibis.window(group_by=PERSON, order_by=order)))
    return rows.filter(rows["place"] < unit.groups)


def order_of(person: Expression, group: Expression, width: int, salt: Sequence[int]) -> Expression:
    """A hash of person and group under the salt, then the group itself in the last `width` bits.

    The middle of a sum of products, squared twice: plain arithmetic that no engine does differently and that stays
    within 64 bits. Without the squares, the hashes of two groups would differ by the same for nearly every person, and
    so most persons would choose alike (tests/query/test_contribution.py).
    """
    mixed = _mixed(person, group, salt)
    for word in salt[2:4]:
        mixed = _squared(mixed, word)
    return _with_group(mixed, group, width)


def with_order(
    rows: Expression, name: str, person: Expression, group: Expression, width: int, salt: Sequence[int]
) -> Expression:
    """The rows with `order_of` person and group, columns of theirs, as `name`.

    In steps: as one expression, each square writes all that is squared twice, and the engine takes longer to read the
    text than to run it on a small table.
    """
    steps = rows.mutate(**{name: _mixed(person, group, salt)})
    for word in salt[2:4]:
        steps = steps.mutate(**{name: _squared(steps[name], word)})
    return steps.mutate(**{name: _with_group(steps[name], steps[group.get_name()], width)})


def _mixed(person: Expression, group: Expression, salt: Sequence[int]) -> Expression:
    person = numbered(person)
    first, second = ((int(word) & (2**30 - 1)) | 2**29 | 1 for word in salt[:2])
    folded = (person ^ (person >> _BITS)) & _MASK
    return ((folded * first + group.cast("int64") * second) >> 11) & _MASK


def _squared(mixed: Expression, word: int) -> Expression:
    mixed = mixed ^ (int(word) & _MASK)
    return ((mixed * mixed) >> 15) & _MASK


def _with_group(mixed: Expression, group: Expression, width: int) -> Expression:
    group = group.cast("int64")
    if width <= _SHORT:
        return ((mixed & (_MASK - 2**width + 1)) | group).cast("int32")
    return (mixed << width) | group


def numbered(person: Expression) -> Expression:
    """A whole number that follows from a name or another value alone, the same on every engine."""
    kind = person.type()
    if kind.is_signed_integer():
        return person.cast("int64")
    if kind.is_floating():  # by exact arithmetic: engines write floats differently
        near = (person.abs() < _SKIP).ifelse(person, person * (1 / _SKIP))
        near = (near.abs() < _SKIP).ifelse(near, 0.0)
        whole = near.floor()
        return whole.cast("int64") ^ ((near - whole) * _SKIP).floor().cast("int64")
    return hashed(person if kind.is_string() else person.cast("string"), engine_of(person))


def limited(measure: Measure, found: Expression, values: Expression, unit: Unit) -> Expression:
    """A person's sum `found` of a measure, made of so many `values`, as it counts under the unit's limits.

    Guarantee: the result lies within `contribution(measure, unit)`, whatever `found` and `values` are, and follows
    from them alone. Proof: docs/proofs/query.md.
    """
    import ibis

    low, high = contribution(measure, unit)
    if isinstance(measure, Total) and measure.person is not None:
        low, high = measure.person  # within the contribution, which also holds what nobody adds
        if measure.raised:
            return (values > 0).ifelse(ibis.greatest(ibis.least(found, high), low), 0)
    if isinstance(measure, Coordinate):
        found = (values > unit.rows).ifelse(_shortened(found, values, unit.rows), found)
    elif isinstance(measure, WEIGHTED):
        found = (values > unit.rows).ifelse(_scaled(measure.lowest, found, values, unit.rows), found)
    return ibis.greatest(ibis.least(found, high), low)


def _scaled(lowest: int, found: Expression, values: Expression, rows: int) -> Expression:
    """`found * rows / values` to the nearest whole number, halves up: in whole numbers alone, none of them negative.

    With found - lowest * values = whole * values + rest it is rows * (lowest + whole) + rest * rows / values, in
    which nothing is larger than 64 bits hold.
    """
    import ibis

    count = ibis.greatest(values, 1)
    above = found - lowest * count
    rest = above % count
    part = _divided(rest * (2 * rows) + count, count * 2)
    return (_divided(above, count) + lowest) * rows + part


def _shortened(found: Expression, values: Expression, rows: int) -> Expression:
    """`found * rows / values`, towards zero, in whole numbers: a vector of such is never longer than the exact one."""
    import ibis

    count, size = ibis.greatest(values, 1), found.abs()
    short = _divided(size, count) * rows + _divided((size % count) * rows, count)
    return (found < 0).ifelse(-short, short)


def _divided(above: Expression, below: Expression) -> Expression:
    """The whole part of a quotient of two whole numbers, at least 0 and at least 1, if it is less than 2**50.

    A multiple is divided, so that the exact quotient is whole and floats, correct to 2**-52 of it, are nearest to it.
    """
    multiple = above - above % below
    return (multiple.cast("float64") / below.cast("float64") + 0.5).floor().cast("int64")
