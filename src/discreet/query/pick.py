"""Which groups of a person count, and what the person's rows add up to in each: the bound on what one can move.

A keyed hash puts a person's groups in an order that is new for every release; the first `unit.groups` of them count.
Hash and group share one integer, so the order has no ties, exactly so many groups are kept, and the engine sorts by one
short key, which is where most of the time goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["GROUP", "PERSON", "WORDS", "gather", "order_of"]

Expression = Any  # ibis expressions carry no useful static types here

GROUP = "group"  # the column that numbers the groups
PERSON = "person"
WORDS = 6  # random words a salt must have

_ORDER = "place_of_group"
_BITS = 31
_MASK = 2**_BITS - 1
_SHORT = 10  # group numbers of so many bits leave the hash 21 bits of a 32-bit key; a tie is settled by the number
_SUMS_PER_GROUP = 3


def gather(rows: Expression, sums: Sequence[str], kept: int, groups: int, salt: Sequence[int]) -> Expression:
    """One row for every person and group that counts, with the person's `sums` there.

    Guarantee: no person has more than `kept` rows in the result, one per group, whatever the hash does.
    """
    if groups <= kept:
        return rows.group_by([PERSON, GROUP]).aggregate(**{name: rows[name].sum() for name in sums})
    width = (groups - 1).bit_length()
    keyed = rows.select(PERSON, *sums, **{_ORDER: order_of(rows[PERSON], rows[GROUP], width, salt)})
    # Rows of one person and group are neighbours once sorted. Summing there costs the same whatever is kept; summing
    # in a second pass costs by the rows that are left. Both give the same integers.
    # Only of whole numbers is it certain that equal ones have equal hashes, which makes a group one run of neighbours:
    # text may be compared by a rule of its column under which "a" equals "A".
    if rows[PERSON].type().is_signed_integer() and kept >= _SUMS_PER_GROUP * len(sums):
        firsts = _summed_in_order(keyed, sums, kept)
        return firsts.select(*sums, **{GROUP: _group_in(firsts, width)})
    return _summed_after(keyed, sums, kept, width)


def _group_in(keyed: Expression, width: int) -> Expression:
    return (keyed[_ORDER] & (2**width - 1)).cast("int32")


def _summed_in_order(keyed: Expression, sums: Sequence[str], kept: int) -> Expression:
    """The first row of each person's group stands for all of them."""
    import ibis

    order = ibis.window(group_by=PERSON, order_by=_ORDER)
    alike = ibis.range_window(group_by=PERSON, order_by=_ORDER, preceding=0, following=0)
    ranked = keyed.select(
        _ORDER,
        place=ibis.dense_rank().over(order),
        first=ibis.row_number().over(order) == ibis.rank().over(order),
        **{name: keyed[name].sum().over(alike) for name in sums},
    )
    return ranked.filter((ranked["place"] < kept) & ranked["first"])


def _summed_after(keyed: Expression, sums: Sequence[str], kept: int, width: int) -> Expression:
    """By person and group, not by order: one row for each even if a person's hash were not always the same."""
    import ibis

    order = ibis.window(group_by=PERSON, order_by=_ORDER)
    ranked = keyed.mutate(place=ibis.dense_rank().over(order))
    left = ranked.filter(ranked["place"] < kept)
    left = left.select(PERSON, *sums, **{GROUP: _group_in(left, width)})
    return left.group_by([PERSON, GROUP]).aggregate(**{name: left[name].sum() for name in sums})


def order_of(person: Expression, group: Expression, width: int, salt: Sequence[int]) -> Expression:
    """A hash of person and group under the salt, then the group itself in the last `width` bits.

    Rounds of multiplication, each keeping the middle of a 62-bit product: plain arithmetic that no engine does
    differently and that stays within 64 bits.
    """
    import ibis

    if not person.type().is_signed_integer():  # an unsigned one may not fit 64 bits with a sign
        person = (person if person.type().is_string() else person.cast("string")).hash()
    person, group = person.cast("int64"), group.cast("int64")
    mixed = ibis.literal(int(salt[0]) & _MASK, "int64")
    for part, factor in zip((person & _MASK, (person >> _BITS) & _MASK, group, None, None), salt[1:WORDS], strict=True):
        word = mixed if part is None else mixed ^ part
        mixed = ((word * (int(factor) & _MASK | 1)) >> 13) & _MASK
    if width <= _SHORT:
        return ((mixed & (_MASK - 2**width + 1)) | group).cast("int32")
    return (mixed << width) | group
