"""What differs most between synthetic and real rows, the worst first: sentences that a person can act on.

Every gap is a share of rows, so that gaps of different sorts can be compared: of a single value, of a distribution
function, of missing values, of times in the wrong order, of two values that go together. Rounding comes last: values
that lie next to where they should are a lesser evil than values that are not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.synth.report.likeness import Likeness, chance_gap
from discreet.synth.report.pairs import Conditional

__all__ = ["Finding", "findings_of"]

LEAST = 0.02
"""The smallest gap that is worth a sentence."""
_SPIKE = 0.8  # of the largest gap between distribution functions: a single value that explains so much of it is named
_ROWS = 0.005  # the share of rows of either table from which on the rows with a value are worth a sentence
_ROUNDED = 0.1  # the smallest gap of rounding that is worth a sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference: of which columns, of what sort, how large a share of the rows it concerns, and in words."""

    columns: tuple[str, ...]
    sort: Literal["value", "shape", "missing", "order", "pair", "rounding"]
    gap: float
    text: str


def findings_of(
    columns: Sequence[Likeness], given: Sequence[Conditional], rows: tuple[int, int]
) -> tuple[Finding, ...]:
    """Differences that are neither small nor chance, for tables of so many real and synthetic rows."""
    least = max(LEAST, chance_gap(*rows))
    found: list[Finding] = []
    rounded: list[Finding] = []
    for one in columns:
        here = _of_column(one)
        found += [finding for finding in here if finding.gap >= least]
        largest = max((finding.gap for finding in here), default=0.0)
        rounding = _rounding(one)
        # Where a spike was lost, the steps that it lay on were lost with it.
        if rounding is not None and rounding.gap >= max(least, _ROUNDED) and largest < rounding.gap / 2:
            rounded.append(rounding)
    found += [_pair(one) for one in given if one.error.excess >= least]
    return (*sorted(found, key=lambda one: -one.gap), *sorted(rounded, key=lambda one: -one.gap))


def _of_column(column: Likeness) -> list[Finding]:
    """What differs in one column; a difference that is explained by another is left out."""
    distribution, order = _distribution(column), _order(column)
    if distribution is not None and order is not None and distribution.sort == "shape":
        distribution = None if order.gap >= _SPIKE * distribution.gap else distribution
    return [finding for finding in (distribution, order, _missing(column)) if finding is not None]


def _distribution(column: Likeness) -> Finding | None:
    """The single value that explains most of the difference, or the difference of the distribution functions."""
    spike = column.atoms[0] if column.atoms else None
    if spike is not None and spike.gap >= _SPIKE * (column.ks or 0.0):
        exactly = "" if column.kind in ("category", "whole", "day") else "exactly "
        text = f"{column.name}: {exactly}{spike.text} {_in_both(spike.real, spike.synthetic)}."
        return Finding((column.name,), "value", spike.gap, text)
    if column.ks is None or column.farthest is None:
        return None
    point, real, synthetic = column.farthest
    text = f"{column.name}: at most {point} {_in_both(real, synthetic, 'values')} (Kolmogorov-Smirnov {column.ks:.1%})."
    return Finding((column.name,), "shape", column.ks, text)


def _missing(column: Likeness) -> Finding:
    real, synthetic = column.missing
    text = f"{column.name}: missing {_in_both(real, synthetic)}."
    return Finding((column.name,), "missing", abs(real - synthetic), text)


def _order(column: Likeness) -> Finding | None:
    if column.negative is None:
        return None
    real, synthetic = column.negative
    text = f"{column.name}: negative {_in_both(real, synthetic)}."
    return Finding((column.name,), "order", abs(real - synthetic), text)


def _rounding(column: Likeness) -> Finding | None:
    """Of the step that most real values lie on and synthetic ones do not; of equals the coarsest."""
    best = max(column.roundings, key=lambda one: one.real - one.synthetic, default=None)
    if best is None:
        return None
    text = f"{column.name}: on {best.step} {_in_both(best.real, best.synthetic, 'values')}."
    return Finding((column.name,), "rounding", best.gap, text)


def _pair(pair: Conditional) -> Finding:
    """In words, of the two values whose going together is most wrong."""
    # Where one table has hardly a row with a value, what these rows are like says nothing.
    cases = [case for case in pair.cases if min(case.rows) >= _ROWS] or pair.cases
    gaps = [
        (max(case.rows) * abs(real - synthetic), case, place)
        for case in cases
        for place, (real, synthetic) in enumerate(zip(case.real, case.synthetic, strict=True))
    ]
    _, case, place = max(gaps, key=lambda one: one[0])
    shares = _in_both(case.real[place], case.synthetic[place])
    text = f"where {pair.given} is {case.label}, {pair.name} is {pair.labels[place]} {shares}"
    apart = f"total variation {pair.error.tv:.1%}, of the worse column alone {pair.error.alone:.1%}"
    names = f"{pair.given} \u00d7 {pair.name}"
    return Finding((pair.given, pair.name), "pair", pair.error.excess, f"{names}: {text} ({apart}).")


def _in_both(real: float, synthetic: float, noun: str = "rows") -> str:
    """Two shares in words.

    >>> _in_both(0.951, 0.0134)
    'in 95.1% of real rows, 1.3% of synthetic rows'
    """
    return f"in {real:.1%} of real {noun}, {synthetic:.1%} of synthetic {noun}"
