"""Synthetic rows against real ones, value by value: everything that the owner's report knows beyond counts of bins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.data.column import Column
from discreet.synth.junction import Floats
from discreet.synth.report.closest import Closest, closest
from discreet.synth.report.findings import Finding, findings_of
from discreet.synth.report.histogram import Histogram, histogram_of
from discreet.synth.report.likeness import Likeness, likeness_of
from discreet.synth.report.pairs import Conditional, PairError, conditionals, groups_of, pair_errors
from discreet.synth.report.values import derived_values, paired_values
from discreet.synth.rows import ColumnValues

__all__ = ["Comparison", "comparison_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """How near synthetic values are to real ones. None of it is private: it is for the owner of the data.

    `columns` are those of the table and then those derived from its times; `pairs` are of the table's columns.
    """

    rows: tuple[int, int]
    names: tuple[str, ...]
    findings: tuple[Finding, ...]
    columns: tuple[Likeness, ...]
    histograms: tuple[Histogram, ...]
    pairs: tuple[PairError, ...]
    given: tuple[Conditional, ...]
    closest: Closest | None

    def matrix(self, figure: Callable[[PairError], float]) -> Floats:
        """A figure of every pair, as a square; NaN where none was taken."""
        found = np.full((len(self.names), len(self.names)), np.nan)
        for pair in self.pairs:
            a, b = pair.columns
            found[a, b] = found[b, a] = figure(pair)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "findings": [asdict(one) for one in self.findings],
            "columns": [asdict(one) for one in self.columns],
            "pairs": [
                {**asdict(one), "columns": [self.names[column] for column in one.columns], "excess": one.excess}
                for one in sorted(self.pairs, key=lambda one: -one.tv)
            ],
            "closest": None if self.closest is None else asdict(self.closest),
        }


def comparison_of(
    columns: Mapping[str, Column],
    real: Mapping[str, ColumnValues],
    synthetic: Mapping[str, ColumnValues],
) -> Comparison:
    """Two tables that were read by the same rules. Reads the real one: what comes out is not private."""
    stored = paired_values(columns, real, synthetic)
    values = [*stored, *derived_values(stored)]
    alike = tuple(likeness_of(one) for one in values)
    drawn = (histogram_of(one, two) for one, two in zip(values, alike, strict=True))
    groups = [groups_of(one) for one in stored]
    errors = pair_errors(groups)
    given = tuple(conditionals(groups, errors))
    rows = (len(stored[0].real), len(stored[0].synthetic))
    return Comparison(
        rows,
        tuple(columns),
        findings_of(alike, given, rows),
        alike,
        tuple(one for one in drawn if one is not None),
        tuple(errors),
        given,
        closest(stored),
    )
