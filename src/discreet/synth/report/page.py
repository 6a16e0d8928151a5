"""The page of a quality report: one HTML file, no script, no request."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.release import percent
from discreet.marginals.counts import Columns
from discreet.show import Column as Bar
from discreet.show import Markup, Span, Table, brief, clean, columns, dots, element, matrix, span, span_key
from discreet.show import page as shell
from discreet.synth.report.figures import Answer, Column, Figures, Real
from discreet.synth.report.notes import note_lists
from discreet.synth.report.owner_page import closest_rows, differences, value_sections
from discreet.synth.report.words import (
    ASKS,
    BANNER,
    GAPS,
    INTERVALS,
    NO_NOISE,
    OWNER,
    PUBLIC,
    REAL,
    TOGETHER,
    WARNING,
    clock_range,
    column_titles,
    is_time_of_day,
    privacy,
)

if TYPE_CHECKING:
    from discreet.synth.release import SyntheticRelease

__all__ = ["page", "sections"]

_WAYS = {1: "one column", 2: "two columns", 3: "three columns"}
_WORST = 8
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT")
_MATRIX = 40  # columns that a matrix shows
_NIL = 0.05  # a deviation of noise below which whole counts are exact


def page(release: SyntheticRelease, figures: Figures) -> str:
    """The whole page."""
    owner = figures.real is not None
    title = f"{'Owner only: ' if owner else ''}synthetic rows of {clean(release.dataset)}"
    body = [
        *([_banner()] if owner else []),
        element("h1", None, f"Synthetic rows of {release.dataset}"),
        _quiet(f"Quality report. Release {release.id}, made by {release.method}."),
        *sections(release, figures),
        _footer(figures),
    ]
    return shell(title, body, kind="report", private=owner)


def sections(release: SyntheticRelease, figures: Figures) -> list[Any]:
    """What the page says, without its heading and its end: for other pages."""
    names, real = column_titles(release.domain.names, release.parts), figures.real
    hours = [is_time_of_day(name, release.parts) for name in release.domain.names]
    return [
        _tiles(release, figures),
        element("div", {"class": "privacy"}, element("p", None, privacy(release.cost, real is not None))),
        *([] if real is None else [*differences(real.values), *value_sections(real.values)]),
        *_asks(figures),
        *_columns(figures, names, hours),
        *([] if real is None else [*_real(names, real), *closest_rows(real.values.closest)]),
        *_measured(names, figures),
        *_together(names, figures),
        *note_lists(release),
    ]


def _banner() -> Markup:
    return element(
        "div", {"class": "banner", "role": "alert"}, element("strong", None, BANNER), element("p", None, WARNING)
    )


def _quiet(text: str) -> Markup:
    return element("p", {"class": "quiet"}, text)


def _tiles(release: SyntheticRelease, figures: Figures) -> Markup:
    sure = percent(figures.confidence)
    total = figures.total
    seen = "" if total is None else f"between {total.lower:,.0f} and {total.upper:,.0f} ({sure})"
    tiles = [
        ("Synthetic rows", f"{len(release):,}", f"{len(release.domain)} columns"),
        ("Rows counted, about", f"{max(release.total, 0):,.0f}", seen),
        ("Cost", release.cost, "and nothing more, ever"),
        (
            "Measured cells where the rows agree",
            f"{figures.inside:.1%}",
            f"inside the {sure} interval for the true count",
        ),
    ]
    if figures.real is not None:
        real = figures.real
        pairs = real.distances.get(2) or real.distances[1]
        off = float(np.mean([one.tv for one in pairs]))
        tiles.append(("Real rows", f"{real.rows:,}", "with a declared value in every column"))
        tiles.append(
            (f"Mean distance, {_WAYS[len(pairs[0].columns)]}", f"{off:.1%}", "total variation, real to synthetic")
        )
        if real.prediction is not None:
            learnt = real.prediction
            told = f"trained on real rows: {learnt.real.auc:.3f}"
            tiles.append(("Trained on synthetic rows: AUC", f"{learnt.synthetic.auc:.3f}", told))
    found = [
        element("div", None, element("dt", None, name), element("dd", None, value, element("small", None, more)))
        for name, value, more in tiles
    ]
    return element("dl", {"class": "tiles"}, *found)


def _asks(figures: Figures) -> list[Any]:
    if not figures.asks:
        return []
    sure = percent(figures.confidence)
    tried = f"tried out, about {sure}: noise and draws only, from {figures.copies} trials" if figures.copies else ""
    return [
        element("h2", None, "Questions answered from the rows"),
        _quiet(ASKS),
        span_key(
            known=f"true answer, from the noisy counts ({sure}, holds whatever the rows are like)",
            about=tried,
            draws=f"{figures.copies} other draws" if figures.copies else "",
            real="real rows" if figures.real is not None else "",
        ),
        element("div", {"class": "asks"}, *(_ask(one, figures.confidence) for one in figures.asks)),
    ]


def _ask(asked: Answer, confidence: float) -> Markup:
    shown = brief if asked.mean else _share
    lines = [("From these rows", shown(asked.answer))]
    if asked.real is not None:
        lines.append(("Real rows", shown(asked.real)))
    if asked.known is not None:
        lines.append(
            (f"True answer ({percent(confidence)})", f"{shown(asked.known.lower)} to {shown(asked.known.upper)}")
        )
    else:
        lines.append(("True answer", "no interval is known: its columns were not measured together"))
    if asked.about is not None:
        lines.append((f"Tried out ({percent(confidence)})", f"{shown(asked.about[0])} to {shown(asked.about[1])}"))
    told = element(
        "dl",
        None,
        *(piece for name, value in lines for piece in (element("dt", None, name), element("dd", None, value))),
    )
    known = None if asked.known is None else (asked.known.lower, asked.known.upper)
    row = Span(asked.answer, known, asked.about, tuple(one for one in asked.draws if math.isfinite(one)), asked.real)
    picture: Any = element("p", None, "No question was given.")
    if math.isfinite(asked.answer):
        picture = span(asked.text, row, part=not asked.mean)
    words = element("div", None, element("div", {"class": "mono"}, asked.text), told)
    return element("div", {"class": "card ask"}, words, picture)


def _share(value: float) -> str:
    return f"{value:.2%}" if math.isfinite(value) else "none"


def _columns(figures: Figures, names: Sequence[str], hours: Sequence[bool]) -> list[Any]:
    sure = percent(figures.confidence)
    real = " The line in another colour is the number of real rows." if figures.real is not None else ""
    return [
        element("h2", None, "Single columns"),
        _quiet(
            f"Bars are synthetic rows, scaled to the rows counted. Whiskers hold the true count with {sure} "
            f"confidence (not simultaneously): they come from the noisy counts.{real}"
        ),
        element("div", {"class": "small"}, *map(_column, figures.columns, names, hours)),
    ]


def _column(column: Column, name: str, hours: bool) -> Markup:
    data = []
    for group in column.groups:
        label = clock_range(group.label) if hours else group.label
        told = f"{label}: {group.synthetic:,.0f} synthetic"
        if group.lower is not None and group.upper is not None:
            told += f", true count {group.lower:,.0f} to {group.upper:,.0f}"
        if group.real is not None:
            told += f", real {group.real:,.0f}"
        tick = _tick(label, group is column.groups[-1])
        data.append(Bar(label, group.synthetic, group.lower, group.upper, group.real, told, tick))
    return element("div", {"class": "card"}, element("h3", None, name), columns(name, data))


def _tick(label: str, last: bool) -> str:
    """What is written under a bar: of a range its start, at the end of the line its end, in few digits.

    >>> _tick("78125..84375", False), _tick("147656.25..150000", True), _tick("Ash", True)
    ('78.1k', '150k', 'Ash')
    >>> _tick("2024-07-01T00:00:00+02:00..2024-08-01T00:00:00+02:00", True)
    '2024-08-01'
    """
    start, dots, end = label.partition("..")
    text = end if last and dots else start
    try:
        number = float(text)
    except ValueError:
        return text[:10] if _INSTANT.match(text) else text
    return f"{number / 1000:.3g}k" if 10_000 <= abs(number) < 1e6 else f"{number:.4g}"


def _measured(names: Sequence[str], figures: Figures) -> list[Any]:
    groups: dict[str, list[tuple[float, str]]] = {}
    noisy = [one for one in figures.agreements if one.deviation >= _NIL]
    for one in sorted(noisy, key=lambda one: len(one.columns)):
        way = _WAYS.get(len(one.columns), f"{len(one.columns)} columns")
        groups.setdefault(way, []).append((one.gap, f"{_named(names, one.columns)}: {brief(one.gap)}"))
    worst = sorted(figures.agreements, key=lambda one: (-one.gap if one in noisy else 0, -one.largest))[:_WORST]
    exact = len(figures.agreements) - len(noisy)
    rows = [
        [
            _named(names, one.columns),
            f"{one.cells:,}",
            brief(one.deviation) if one in noisy else "none",
            f"\u00b1{one.half_width:,}",
            f"{one.gap:.2f}" if one in noisy else "",
            f"{one.inside:.1%}",
            brief(one.largest),
        ]
        for one in worst
    ]
    head = ["Farthest off", "cells", "noise (sd)", "interval", "gap", "inside", "largest gap"]
    return [
        element("h2", None, "Rows against the noisy counts"),
        _quiet(GAPS),
        *([element("div", {"class": "card"}, dots("Gaps of measured marginals", groups, mark=1.0))] if noisy else []),
        *([element("p", None, NO_NOISE.format(exact=exact, every=len(figures.agreements)))] if exact else []),
        Table.of(head, rows),
    ]


def _together(names: Sequence[str], figures: Figures) -> list[Any]:
    if not 2 <= len(names) <= _MATRIX:
        return []
    shown = [("Synthetic rows", figures.association, "{:.2f}")]
    if figures.real is not None:
        shown.append(("Real rows", figures.real.association, "{:.2f}"))
        shown.append(("Synthetic less real", figures.association - figures.real.association, "{:+.2f}"))
    elif figures.copies:
        shown.append(("How far trials strayed", figures.spread, "{:.3f}"))
    cards = [
        element(
            "div", {"class": "card"}, element("h3", None, title), matrix(title, names, values.tolist(), format=tips)
        )
        for title, values, tips in shown
    ]
    return [
        element("h2", None, "What goes together"),
        _quiet(TOGETHER),
        element("div", {"class": "matrices"}, *cards),
    ]


def _real(names: Sequence[str], real: Real) -> list[Any]:
    groups = {
        _WAYS[ways]: [(one.tv, f"{_named(names, one.columns)}: {one.tv:.1%}") for one in every]
        for ways, every in real.distances.items()
        if every
    }
    rows = [
        [
            _WAYS[ways].capitalize(),
            f"{len(every):,}",
            f"{np.mean([one.tv for one in every]):.4f}",
            f"{max(one.tv for one in every):.4f}",
            f"{max(one.largest for one in every):.4f}",
            _named(names, max(every, key=lambda one: one.tv).columns),
        ]
        for ways, every in real.distances.items()
        if every
    ]
    parts = [
        element("h2", None, "Marginals against the real rows"),
        _quiet(REAL),
        element("div", {"class": "card"}, dots("Distances of marginals", groups)),
        Table.of(
            ["Marginals of", "compared", "mean TV", "largest TV", "max error", "farthest off"],
            rows,
            numbers=(1, 2, 3, 4),
        ),
    ]
    if real.prediction is not None:
        learnt = real.prediction
        rows = [
            ["Trained on synthetic rows", f"{learnt.synthetic.auc:.4f}", f"{learnt.synthetic.accuracy:.2%}"],
            ["Trained on the other half of the real rows", f"{learnt.real.auc:.4f}", f"{learnt.real.accuracy:.2%}"],
            ["The more common answer, always", "0.5000", f"{learnt.common:.2%}"],
        ]
        parts += [
            element("h2", None, "Train on synthetic, test on real"),
            _quiet("A logistic regression on all other columns, tested on half of the real rows. It predicts:"),
            element("p", {"class": "mono"}, learnt.text),
            Table.of(["Model", "AUC", "right"], rows),
        ]
    return parts


def _footer(figures: Figures) -> Markup:
    return element("footer", None, _quiet(PUBLIC if figures.real is None else OWNER), _quiet(INTERVALS))


def _named(names: Sequence[str], columns: Columns) -> str:
    return " \u00d7 ".join(names[column] for column in columns)
