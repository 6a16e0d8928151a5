"""Groups, such as households, by their size: how they are counted, and how far one unit can move the counts.

A group is a value of a column in a leaf region. Its size is how many rows it has; where the unit is a person, how many
persons; where the unit is the group itself, how many rows, in one of its regions. Proof: docs/proofs/hierarchy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.note import Note
from discreet.core.release import plural
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.join import sort_key
from discreet.data.read import identity
from discreet.data.source import Connection
from discreet.query.compile import GROUP, PERSON
from discreet.query.contribution import numbered, order_of
from discreet.query.notes import promise_notes, unidentified_notes

__all__ = ["SIZE_NAME", "Sizes", "count_sizes", "move_sizes", "size_name", "size_notes"]

Expression = Any  # ibis expressions carry no useful static types here

SIZE_NAME = "size_name"
"""The column of files that has sizes in words: `6 or more`."""

_SIZE = "discreet size"
_MEMBERS = "discreet group"
_TURN = "discreet turn"
_BITS = 31


@dataclass(frozen=True, slots=True)
class Sizes:
    """Groups, such as households, counted by their size: `column` names the group of a row, `largest` is the last size.

    Larger groups count as groups of that size. If `cumulative`, cell s counts the groups of at least s members, which
    one person more or less changes in one place only; else the groups of exactly s, which changes two. Where the unit
    is the group itself, it is the other way round: a group more or less changes one count of exact sizes.
    """

    column: str
    largest: int
    cumulative: bool = True


def size_name(size: int, largest: int) -> str:
    """What a size is called in files of exactly each size.

    >>> size_name(5, 6), size_name(6, 6)
    ('5', '6 or more')
    """
    return f"{size} or more" if size == largest else str(size)


def move_sizes(sizes: Sizes, unit: Unit, outputs: int) -> tuple[Sensitivity, bool]:
    """How far one unit can move `outputs` counts of sizes, and whether only the norms of its move are known."""
    twice = 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2
    if unit.column == sizes.column:
        places = twice * (sizes.largest if sizes.cumulative else 1)
        return Sensitivity(1, min(places, outputs)), False
    groups = unit.most_groups
    if sizes.cumulative:
        return Sensitivity(groups, min(twice, outputs)), groups > 1
    # A member who leaves one group of size s and joins another of size s takes two from that count.
    return Sensitivity(twice * groups, min(2, outputs)), twice * groups > 1


def count_sizes(
    sizes: Sizes, unit: Unit, table: Expression, leaf: Expression, leaves: int, data: Connection, salt: Sequence[int]
) -> NDArray[np.int64]:
    """The exact counts, one row a leaf and one column a size: private still. `leaf` is the number of a row's region."""
    import ibis

    named = {GROUP: leaf, _MEMBERS: identity(table[sizes.column])}
    persons = unit.column is not None and unit.column != sizes.column
    if persons:
        named[PERSON] = identity(table[unit.column])
    rows = table.select(**named)
    for name in named:
        rows = rows.filter(rows[name].notnull())
    if persons:
        rows = _one_each(rows, unit.most_groups, salt)
    groups = rows.group_by([GROUP, _MEMBERS]).aggregate(**{_SIZE: rows.count()})
    if unit.column == sizes.column:
        turn = ibis.row_number().over(ibis.window(group_by=_MEMBERS, order_by=GROUP))
        ranked = groups.mutate(**{_TURN: turn})
        groups = ranked.filter(ranked[_TURN] == 0)
    cut = groups.select(**{GROUP: groups[GROUP], _SIZE: ibis.least(groups[_SIZE], sizes.largest)})
    found = data.integers(cut.group_by([GROUP, _SIZE]).aggregate(n=cut.count()))
    exact = np.zeros((leaves, sizes.largest), dtype=np.int64)
    exact[found[GROUP], found[_SIZE] - 1] = found["n"]
    return exact[:, ::-1].cumsum(axis=1)[:, ::-1] if sizes.cumulative else exact


def _one_each(rows: Expression, most: int, salt: Sequence[int]) -> Expression:
    """Each person once in each of at most `most` groups, picked by a keyed hash of what the person's own rows say."""
    import ibis

    once = rows.select(GROUP, _MEMBERS, PERSON).distinct()
    mask = 2**_BITS - 1
    code = (numbered(once[_MEMBERS]) & mask) ^ (once[GROUP].cast("int64") & mask)
    keyed = once.mutate(**{_TURN: order_of(once[PERSON], code, _BITS, salt)})
    # Groups that share a hash are put in the order of their values, so that nobody else's rows decide.
    order = [keyed[_TURN], keyed[GROUP], sort_key(keyed[_MEMBERS])]
    ranked = keyed.mutate(**{_SIZE: ibis.row_number().over(ibis.window(group_by=keyed[PERSON], order_by=order))})
    return ranked.filter(ranked[_SIZE] < most)


def size_notes(sizes: Sizes, unit: Unit) -> list[Note]:
    """What is left out of the counts of sizes."""
    notes = [Note("outside", f"Rows without a value of {sizes.column} are left out.", ())]
    if unit.column == sizes.column:
        text = f"A {sizes.column} with rows in several regions counts in the first of them, with its rows there."
        notes.append(Note("groups", text, ()))
    elif unit.column is not None:
        most = plural(unit.most_groups, "group")
        text = f"Each {unit.column} counts once in at most {most} of one {sizes.column}, picked at random; what they"
        notes.append(Note("groups", f"{text} have in others is left out.", ()))
        notes += unidentified_notes(unit, ())
    notes += promise_notes(unit, ())
    largest = f"{sizes.largest:,}"
    return [*notes, Note("bounds", f"A group of more than {largest} counts as one of {largest}.", ())]
