"""The page of a quality report: one HTML file, no script, no request, nothing but its own style sheet."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.release import percent
from discreet.synth.counts import Columns
from discreet.synth.report.draw import Bar, Markup, Row, bars, brief, clean, dots, matrix, spans, tag
from discreet.synth.report.figures import Asked, Column, Figures, Real
from discreet.synth.report.words import (
    ASKS,
    BANNER,
    GAPS,
    INTERVALS,
    OWNER,
    PUBLIC,
    REAL,
    TOGETHER,
    WARNING,
    privacy,
)

if TYPE_CHECKING:
    from discreet.synth.released import SyntheticRelease

__all__ = ["page", "sections"]

_WAYS = {1: "one column", 2: "two columns", 3: "three columns"}
_WORST = 8
_MATRIX = 40  # columns that a matrix shows


def page(release: SyntheticRelease, figures: Figures) -> str:
    """The whole page.

    Its content security policy forbids every request, every script and every style but its own (by hash), so even a
    mistake in escaping would not run anything.
    """
    style = (files(__package__) / "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    owner = figures.real is not None
    title = f"{'Owner only: ' if owner else ''}synthetic rows of {clean(release.dataset)}"
    head = [
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        *([Markup('<meta name="robots" content="noindex">')] if owner else []),
        tag("title", None, title),
        tag("style", None, Markup(style)),
    ]
    body = [
        *([_banner()] if owner else []),
        tag("h1", None, f"Synthetic rows of {release.dataset}"),
        _quiet(f"Quality report. Release {release.id}, made by {release.method}. {_notes(release)}"),
        *sections(release, figures),
        _footer(figures),
    ]
    return f"<!doctype html>\n{tag('html', {'lang': 'en'}, tag('head', None, *head), tag('body', None, *body))}\n"


def sections(release: SyntheticRelease, figures: Figures) -> list[Markup]:
    """What the page says, without its heading and its end: for other pages, which have their own style sheet."""
    names = release.domain.names
    return [
        _tiles(release, figures),
        tag("div", {"class": "privacy"}, tag("p", None, privacy(release.cost, figures.real is not None))),
        *_asks(figures),
        *_columns(figures),
        *([] if figures.real is None else _real(names, figures.real)),
        *_measured(names, figures),
        *_together(names, figures),
    ]


def _banner() -> Markup:
    return tag("div", {"class": "banner", "role": "alert"}, tag("strong", None, BANNER), tag("p", None, WARNING))


def _quiet(text: str) -> Markup:
    return tag("p", {"class": "quiet"}, text)


def _notes(release: SyntheticRelease) -> str:
    return " ".join(f"{note[:1].upper()}{note[1:]}." for note in release.notes)


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
        tag("div", None, tag("dt", None, name), tag("dd", None, value, tag("small", None, more)))
        for name, value, more in tiles
    ]
    return tag("dl", {"class": "tiles"}, *found)


def _asks(figures: Figures) -> list[Markup]:
    if not figures.asks:
        return []
    sure = percent(figures.confidence)
    real = figures.real is not None
    legend = [
        ("M11 2l5 5l-5 5l-5-5z", "answer", "from these rows"),
        (
            "M2 2v10M2 7H20M20 2v10",
            "known",
            f"true answer, from the noisy counts ({sure}, holds whatever the rows are like)",
        ),
    ]
    keys = [_key(tag("path", {"class": kind, "d": path}), text) for path, kind, text in legend]
    if figures.copies:
        band = tag("rect", {"class": "about", "x": 1, "y": 1, "width": 20, "height": 12, "rx": 3})
        keys.append(_key(band, f"tried out, about {sure}: noise and draws only, from {figures.copies} trials"))
        keys.append(_key(tag("circle", {"class": "draw", "cx": 11, "cy": 7, "r": 3}), f"{figures.copies} other draws"))
    if real:
        keys.append(_key(tag("path", {"class": "truth", "d": "M11 1v12"}), "real rows"))
    return [
        tag("h2", None, "Questions asked of the rows"),
        _quiet(ASKS),
        tag("ul", {"class": "legend"}, *keys),
        tag("div", {"class": "asks"}, *(_ask(one, figures.confidence) for one in figures.asks)),
    ]


def _key(shape: Markup, text: str) -> Markup:
    return tag("li", None, tag("svg", {"viewBox": "0 0 22 14", "aria-hidden": "true"}, shape), text)


def _ask(asked: Asked, confidence: float) -> Markup:
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
    told = tag(
        "dl", None, *(piece for name, value in lines for piece in (tag("dt", None, name), tag("dd", None, value)))
    )
    known = None if asked.known is None else (asked.known.lower, asked.known.upper)
    row = Row(asked.answer, known, asked.about, tuple(one for one in asked.draws if math.isfinite(one)), asked.real)
    picture = (
        spans(row, *_reach(row, not asked.mean), not asked.mean)
        if math.isfinite(asked.answer)
        else tag("p", None, "No row is asked about.")
    )
    return tag("div", {"class": "card ask"}, tag("div", None, tag("div", {"class": "mono"}, asked.text), told), picture)


def _reach(row: Row, share: bool) -> tuple[float, float]:
    """The ends of a line that shows everything, with a little room."""
    every = [row.answer, *row.draws, *(row.known or ()), *(row.about or ()), *([] if row.real is None else [row.real])]
    low, high = min(every), max(every)
    room = max((high - low) * 0.08, abs(high) * 0.01, 1e-6)
    low, high = low - room, high + room
    return (max(low, 0.0), min(high, 1.0)) if share else (low, high)


def _share(value: float) -> str:
    return f"{value:.2%}" if math.isfinite(value) else "none"


def _columns(figures: Figures) -> list[Markup]:
    sure = percent(figures.confidence)
    real = " The line in another colour is the number of real rows." if figures.real is not None else ""
    return [
        tag("h2", None, "Columns by themselves"),
        _quiet(
            f"Bars are synthetic rows, scaled to the rows counted. Whiskers hold the true count with {sure} "
            f"confidence, each by itself: they come from the noisy counts.{real}"
        ),
        tag("div", {"class": "columns"}, *(_column(one) for one in figures.columns)),
    ]


def _column(column: Column) -> Markup:
    data = []
    for group in column.groups:
        told = f"{group.label}: {group.synthetic:,.0f} synthetic"
        if group.lower is not None and group.upper is not None:
            told += f", true count {group.lower:,.0f} to {group.upper:,.0f}"
        if group.real is not None:
            told += f", real {group.real:,.0f}"
        tick = _tick(group.label, group is column.groups[-1])
        data.append(Bar(group.label, group.synthetic, group.lower, group.upper, group.real, told, tick))
    return tag("div", {"class": "card"}, tag("h3", None, column.name), bars(column.name, data))


def _tick(label: str, last: bool) -> str:
    """What is written under a bar: of a range its start, at the end of the line its end, in few digits.

    >>> _tick("78125..84375", False), _tick("147656.25..150000", True), _tick("Ash", True)
    ('78.1k', '150k', 'Ash')
    """
    start, dots, end = label.partition("..")
    text = end if last and dots else start
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number / 1000:.3g}k" if 10_000 <= abs(number) < 1e6 else f"{number:.4g}"


def _measured(names: Sequence[str], figures: Figures) -> list[Markup]:
    groups: dict[str, list[tuple[float, str]]] = {}
    for one in sorted(figures.agreements, key=lambda one: len(one.columns)):
        way = _WAYS.get(len(one.columns), f"{len(one.columns)} columns")
        groups.setdefault(way, []).append((one.gap, f"{_named(names, one.columns)}: {brief(one.gap)}"))
    worst = sorted(figures.agreements, key=lambda one: -one.gap)[:_WORST]
    rows = [
        [
            _named(names, one.columns),
            f"{one.cells:,}",
            brief(one.deviation),
            f"\u00b1{one.half_width:,}",
            f"{one.gap:.2f}",
            f"{one.inside:.1%}",
            brief(one.largest),
        ]
        for one in worst
    ]
    head = ["Farthest off", "cells", "noise (sd)", "interval", "gap", "inside", "largest gap"]
    return [
        tag("h2", None, "Rows against the noisy counts"),
        _quiet(GAPS),
        tag("div", {"class": "card"}, dots("Gaps of measured marginals", groups, mark=1.0)),
        _table(head, rows),
    ]


def _together(names: Sequence[str], figures: Figures) -> list[Markup]:
    if not 2 <= len(names) <= _MATRIX:
        return []
    shown = [("Synthetic rows", figures.association, "{:.2f}")]
    if figures.real is not None:
        shown.append(("Real rows", figures.real.association, "{:.2f}"))
        shown.append(("Synthetic less real", figures.association - figures.real.association, "{:+.2f}"))
    elif figures.copies:
        shown.append(("How far trials strayed", figures.spread, "{:.3f}"))
    cards = [
        tag("div", {"class": "card"}, tag("h3", None, title), matrix(title, names, values, "both", tips))
        for title, values, tips in shown
    ]
    return [
        tag("h2", None, "What goes together"),
        _quiet(TOGETHER),
        tag("div", {"class": "matrices"}, *cards),
    ]


def _real(names: Sequence[str], real: Real) -> list[Markup]:
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
        tag("h2", None, "Marginals against the real rows"),
        _quiet(REAL),
        tag("div", {"class": "card"}, dots("Distances of marginals", groups)),
        _table(["Marginals of", "compared", "mean TV", "largest TV", "max error", "farthest off"], rows),
    ]
    if real.prediction is not None:
        learnt = real.prediction
        rows = [
            ["Trained on synthetic rows", f"{learnt.synthetic.auc:.4f}", f"{learnt.synthetic.accuracy:.2%}"],
            ["Trained on the other half of the real rows", f"{learnt.real.auc:.4f}", f"{learnt.real.accuracy:.2%}"],
            ["The more common answer, always", "0.5000", f"{learnt.common:.2%}"],
        ]
        parts += [
            tag("h2", None, "Train on synthetic, test on real"),
            _quiet("A logistic regression on all other columns, tested on half of the real rows. It predicts:"),
            tag("p", {"class": "mono"}, learnt.text),
            _table(["Model", "AUC", "right"], rows),
        ]
    return parts


def _footer(figures: Figures) -> Markup:
    return tag("footer", None, _quiet(PUBLIC if figures.real is None else OWNER), _quiet(INTERVALS))


def _named(names: Sequence[str], columns: Columns) -> str:
    return " \u00d7 ".join(names[column] for column in columns)


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> Markup:
    top = tag("thead", None, tag("tr", None, *(tag("th", {"scope": "col"}, one) for one in head)))
    body = tag("tbody", None, *(tag("tr", None, *(tag("td", None, one) for one in row)) for row in rows))
    return tag("div", {"class": "scroll"}, tag("table", None, top, body))
