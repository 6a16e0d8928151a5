"""The part of the owner's page that compares values: what differs most, columns, pairs, and the closest rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.show import Column as Bar
from discreet.show import (
    Markup,
    Picture,
    Table,
    Twin,
    brief,
    columns,
    element,
    matrix,
    share,
    shorten,
    twin_bars,
    twins,
)
from discreet.show.scale import round_up
from discreet.synth.junction import Floats
from discreet.synth.report.closest import Closest
from discreet.synth.report.comparison import Comparison
from discreet.synth.report.findings import Finding
from discreet.synth.report.histogram import Histogram
from discreet.synth.report.likeness import Likeness, chance_gap
from discreet.synth.report.pairs import Conditional, Given
from discreet.synth.report.words import CLOSEST, DIFFERS, GIVEN, PAIRS, ROUNDING, VALUES

__all__ = ["closest_rows", "differences", "value_sections"]

_FIRST = 10  # differences that are shown before the others are opened
_MATRIX = 40  # columns that a matrix shows
_WORST = 8
_TICK = 8  # letters that fit below a bar between others
_NAMES = ("Real rows", "Synthetic rows")


def differences(comparison: Comparison) -> list[Any]:
    """What differs most, in sentences."""
    found = comparison.findings
    parts: list[Any] = [element("h2", None, "What differs most"), _quiet(DIFFERS)]
    if not found:
        parts.append(element("p", {"class": "fine"}, "No column and no pair differs by 2% of the rows or more."))
        return parts
    parts.append(_list(found[:_FIRST], 1))
    if len(found) > _FIRST:
        more = element("summary", None, f"{len(found) - _FIRST} more")
        parts.append(element("details", None, more, _list(found[_FIRST:], _FIRST + 1)))
    return parts


def _list(found: Sequence[Finding], first: int) -> Markup:
    return element(
        "ol", {"class": "findings", "start": first}, *(element("li", None, *_sentence(one)) for one in found)
    )


def _sentence(finding: Finding) -> list[Any]:
    """The name of a column, or of a pair, stands out."""
    name, colon, rest = finding.text.partition(": ")
    return [element("strong", None, name), colon, rest]


def value_sections(comparison: Comparison) -> list[Any]:
    """Columns and pairs by their values."""
    return [*_columns(comparison), *_pairs(comparison), *_given(comparison)]


def _columns(comparison: Comparison) -> list[Any]:
    chance = share(chance_gap(*comparison.rows))
    rows = [_row(one) for one in comparison.columns]
    head = ["Column", "KS or TV", "Wasserstein", "in sd", "spike", "real", "synthetic", "rounding", "real", "synthetic"]
    return [
        element("h2", None, "Columns by their values"),
        _quiet(VALUES),
        element("div", {"class": "small"}, *(_card(one) for one in comparison.histograms)),
        element("h3", None, "Distances, spikes and rounding"),
        _quiet(ROUNDING.format(chance=chance)),
        Table.of(head, rows),
    ]


def _row(column: Likeness) -> list[str]:
    distance = column.tv if column.ks is None else column.ks
    atom = column.atoms[0] if column.atoms else None
    step = max(column.roundings, key=lambda one: one.real - one.synthetic, default=None)
    return [
        column.name,
        "" if distance is None else f"{distance:.4f}",
        "" if column.wasserstein is None else _moved(column),
        "" if column.deviations is None else brief(column.deviations),
        "" if atom is None else shorten(atom.text, 24),
        "" if atom is None else f"{atom.real:.1%}",
        "" if atom is None else f"{atom.synthetic:.1%}",
        "" if step is None else step.step,
        "" if step is None else f"{step.real:.1%}",
        "" if step is None else f"{step.synthetic:.1%}",
    ]


def _moved(column: Likeness) -> str:
    unit = {"day": " days", "days": " days", "instant": " s", "seconds": " s"}.get(column.kind, "")
    return f"{brief(column.wasserstein or 0.0)}{unit}"


def _card(histogram: Histogram) -> Markup:
    parts: list[Any] = [element("h3", None, histogram.name), _picture(histogram)]
    notes = []
    if any(histogram.missing):
        real, synthetic = histogram.missing
        notes.append(f"Missing: {real:.1%} of real rows, {synthetic:.1%} of synthetic rows.")
    if histogram.lopsided and not histogram.slots[0].label:
        notes.append("Heights are square roots of shares.")
    if notes:
        parts.append(_quiet(" ".join(notes)))
    return element("div", {"class": "card"}, *parts)


def _picture(histogram: Histogram) -> Picture:
    if histogram.slots[0].label:
        bars = [Twin(one.start, one.end, one.label, one.real, one.synthetic) for one in histogram.slots]
        return twin_bars(histogram.name, bars, names=_NAMES)
    bins = [Twin(one.start, one.end, one.words, one.real, one.synthetic) for one in histogram.slots]
    spikes = [Twin(one.value, one.value, one.text, one.real, one.synthetic) for one in histogram.spikes]
    return twins(histogram.name, bins, spikes=spikes, names=_NAMES, ticks=histogram.ticks, root=histogram.lopsided)


def _pairs(comparison: Comparison) -> list[Any]:
    if not comparison.pairs:
        return []
    names = comparison.names
    worst = sorted(comparison.pairs, key=lambda one: (-one.excess, -one.tv))[:_WORST]
    rows = [
        [
            " \u00d7 ".join(names[column] for column in one.columns),
            f"{one.tv:.1%}",
            f"{one.alone:.1%}",
            f"{one.chance:.1%}",
            f"{one.excess:.1%}",
        ]
        for one in worst
    ]
    parts: list[Any] = [element("h2", None, "Pairs by their values"), _quiet(PAIRS)]
    if len(names) <= _MATRIX:
        whole, added = comparison.matrix(lambda one: one.tv), comparison.matrix(lambda one: one.excess)
        cards = [_heat(names, *each) for each in (("Total variation", whole), ("What the pair adds", added))]
        parts.append(element("div", {"class": "matrices"}, *cards))
    head = ["Pair", "TV", "worse column", "chance", "added"]
    return [*parts, Table.of(head, rows)]


def _heat(names: Sequence[str], title: str, values: Floats) -> Markup:
    limit = min(round_up(max(float(np.nanmax(values)), 0.02)), 1.0)
    head = f"{title}, from 0 to {limit:g}"
    picture = matrix(head, names, values.tolist(), limit=limit, format="{:.3f}", unknown="not compared")
    return element("div", {"class": "card"}, element("h3", None, head), picture)


def _given(comparison: Comparison) -> list[Any]:
    if not comparison.given:
        return []
    return [
        element("h2", None, "One column given another"),
        _quiet(GIVEN),
        *(_conditional(one) for one in comparison.given),
    ]


def _conditional(pair: Conditional) -> Markup:
    cases = [element("div", None, *_case(one, pair)) for one in pair.cases]
    title = element("h3", None, f"{pair.name} given {pair.given}")
    return element("div", {"class": "card"}, title, element("div", {"class": "given"}, *cases))


def _case(case: Given, pair: Conditional) -> list[Any]:
    real, synthetic = case.rows
    bars = []
    last = len(pair.labels) - 1
    long = max(len(_end(label, False)) for label in pair.labels) > _TICK
    for place, label in enumerate(pair.labels):
        first, second = case.real[place], case.synthetic[place]
        tip = f"{label}: {share(first)} of real rows, {share(second)} of synthetic rows"
        tick = "" if long and 0 < place < last else _end(label, place == last)
        bars.append(Bar(label, 100 * second, None, None, 100 * first, tip, tick))
    name = f"{pair.given}: {case.label}"
    rows = f"{real:.1%} of real rows, {synthetic:.1%} of synthetic rows"
    picture = columns(f"{pair.name} where {name}", bars, width=240, height=96)
    return [element("h4", None, case.label), _quiet(rows), picture]


def _end(label: str, last: bool) -> str:
    """What is written below a bar: where its values begin or, below the last bar, where they end."""
    return label.split(" to ")[-1 if last else 0]


def closest_rows(found: Closest | None) -> list[Any]:
    """The distance to the closest record, labelled for what it is."""
    if found is None:
        return []
    rows = [
        [name, f"{found.rows[side]:,}", f"{found.copies[side]:.1%}", brief(found.low[side]), brief(found.median[side])]
        for side, name in enumerate(("Synthetic rows", "Other real rows"))
    ]
    head = [f"Distance to the closest of {found.among:,} real rows", "rows", "copies", "5% are below", "median"]
    return [element("h2", None, "Sanity check: distance to the closest record"), _quiet(CLOSEST), Table.of(head, rows)]


def _quiet(text: str) -> Markup:
    return element("p", {"class": "quiet"}, text)
