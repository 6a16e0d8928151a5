"""Conditions that no parent and no child row meets: public knowledge, of either table or of both together.

Parents are changed first, by conditions on their columns alone. A child row that meets a condition then gets columns of
another child row; its parent and its time stay as they are. One that cannot be changed so is left out. Only synthetic
rows are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.marginals.domain import Domain
from discreet.query.predicate import Predicate
from discreet.synth.exclusions import named_columns, repaired, repaired_beside
from discreet.synth.parts import assemble
from discreet.synth.relations.record import Level
from discreet.synth.rows import ColumnValues
from discreet.synth.sample import Codes

__all__ = ["PossibleRows", "parent_conditions", "possible_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class PossibleRows:
    """Values of both tables, whose each child row is, and how many rows were changed and left out for it."""

    parents: dict[str, ColumnValues]
    children: dict[str, ColumnValues]
    owner: Codes
    changed: int
    left_out: int


def parent_conditions(conditions: Sequence[Predicate], names: Sequence[str]) -> list[Predicate]:
    """Those that are about parents alone, which have columns and parts of these names."""
    return [one for one in conditions if set(named_columns(one)) <= set(names)]


def possible_rows(above: Level, below: Level, conditions: Sequence[Predicate]) -> PossibleRows:
    """The values of both tables, none of whose rows meets a condition."""
    own = parent_conditions(conditions, _names(above))
    codes, parents, changed = repaired(above.domain, above.declared, above.codes, own, above.parts)
    owner = np.zeros(0, dtype=np.int64) if below.owner is None else below.owner
    drawn = below.drawn()
    other = [one for one in conditions if one not in own]
    if not other:
        return PossibleRows(parents, assemble(below.parts, below.declared, drawn), owner, changed, 0)
    domain = Domain((*above.domain.attributes, *below.domain.attributes))
    both = {name: one.taken(owner) for name, one in parents.items()} | drawn
    settled = {*_names(above), *below.times_of()}
    mended, mended_rows, bad = repaired_beside(
        domain,
        above.declared | below.declared,
        np.concatenate([codes[owner], below.codes], axis=1),
        both,
        other,
        [*above.parts, *below.parts],
        settled,
    )
    kept = np.flatnonzero(~bad)
    values = assemble(below.parts, below.declared, mended)
    children = {name: one.taken(kept) for name, one in values.items()}
    return PossibleRows(parents, children, owner[kept], changed + mended_rows, len(owner) - len(kept))


def _names(level: Level) -> list[str]:
    return [*level.domain.names, *(one.name for one in level.parts)]
