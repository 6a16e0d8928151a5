"""Values that many parents or many child rows share, found under the budget in both tables: a fee of exactly 20.

The search is that of single tables (`synth.spikes`), in codes of each level that tell every value apart. The column by
which rows follow each other is left out: times come from gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.core.mechanism import Bits
from discreet.core.unit import Unit
from discreet.data.source import Connection
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts
from discreet.marginals.meter import Currency
from discreet.synth.relations.codes import child_moved, parent_moved
from discreet.synth.relations.gaps import SHARE as GAPS
from discreet.synth.relations.levels import Levels
from discreet.synth.spikes import SHARE, Spikes, find_spikes, searched

__all__ = ["SearchParts", "find_level_spikes"]

Expression = Any  # ibis expressions carry no useful static types here


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What is spent before marginals are: on values of parents, on values of child rows, and on gaps."""

    parents: Fraction = Fraction(0)
    children: Fraction = Fraction(0)
    gaps: Fraction = Fraction(0)

    @classmethod
    def of(cls, levels: Levels, parents: Fraction, children: Fraction) -> SearchParts:
        """Parts of the prices of both tables; nothing where there is nothing to look for."""
        return cls(
            SHARE * parents if len(searched(levels.parent_columns)) else Fraction(0),
            SHARE * children if len(searched(_own(levels))) else Fraction(0),
            GAPS * children if levels.clock is not None else Fraction(0),
        )


def find_level_spikes(
    levels: Levels,
    unit: Unit,
    currency: Currency,
    parts: SearchParts,
    data: Connection,
    encode: Callable[[Levels], tuple[Expression, Expression]],
    bits: Bits,
) -> Spikes:
    """The steps of columns of both tables, and the values that stand out in any of them.

    Guarantee
        Costs `parts.parents + parts.children`: codes of other columns of the same persons, as `encode` makes them, of
        which a person has one parent and at most `levels.limit` child rows. Proof: docs/proofs/synth-relations.md.
    """
    found = [Spikes()]
    if parts.parents:

        def above(fine: Domain) -> EngineCounts:
            other = replace(levels, parent_columns=fine, clock=None)
            return EngineCounts.of_codes(other.parents, data, encode(other)[0])

        found.append(find_spikes(levels.parent_columns, above, parent_moved(unit), currency, parts.parents, bits))
    if parts.children:
        first = len(levels.heads)

        def below(fine: Domain) -> EngineCounts:
            rows = encode(replace(levels, child_columns=fine, clock=None))[1]
            own = {f"c{place}": rows[f"c{first + place}"] for place in range(len(fine))}
            return EngineCounts.of_codes(fine, data, rows.select(**own))

        moved = child_moved(unit, levels.limit)
        found.append(find_spikes(_own(levels), below, moved, currency, parts.children, bits))
    points = {name: many for one in found for name, many in one.points.items()}
    return Spikes(points, {name: step for one in found for name, step in one.steps.items()})


def _own(levels: Levels) -> Domain:
    return Domain(levels.own)
