"""A release as one HTML file that needs nothing else: title, pictures, table, notes, code that asks it, a citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.core.chart import caption, charts, drawable, format_of, undrawn, vague
from discreet.core.metadata import metadata, released_on
from discreet.core.period import period_label
from discreet.core.release import UNKNOWN, percent
from discreet.show import Markup, Table, element, page

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = ["figures", "page_table", "release_page", "table_cells"]


def release_page(release: Release) -> str:
    """The page. Its policy lets nothing else in, and it has no script."""
    facts = [(name, value) for name, value in _facts(release) if value]
    listed = [part for name, value in facts for part in (element("dt", None, name), element("dd", None, value))]
    code = [
        element("section", None, element("h2", None, name), element("pre", {"class": "wrap"}, *_lines(text)))
        for name, text in release.facts.get("code", {}).items()
    ]
    body: list[Any] = [
        element("p", {"class": "eyebrow"}, " \u00b7 ".join(filter(None, (release.dataset, released_on(release))))),
        element("h1", None, release.title),
        *figures(release),
        page_table(release) or element("p", None, "No row."),
        _notes(release),
        *code,
        element("h2", None, "Provenance"),
        element("dl", {"class": "facts"}, *listed),
        element("h2", None, "How to cite it"),
        element("p", {"class": "citation"}, metadata(release)["citation"]),
    ]
    return page(release.title, body, kind="release", data=metadata(release))


def _lines(text: str) -> list[Any]:
    """The lines of a text, each escaped, with the breaks between them kept."""
    return [part for line in text.split("\n") for part in (line, Markup("\n"))]


def figures(release: Release) -> list[Markup]:
    """A card for each output that has a picture: one, or a small one for each value of a third key."""
    cards = []
    for output in drawable(release) if len(release) else ():
        drawn = charts(release, output)
        said = element("figcaption", None, caption(release, output, drawn))
        if len(drawn) == 1:
            inside = [element("figure", None, said, drawn[0])]
        else:
            small = [element("div", None, element("h3", None, one.title), one) for one in drawn]
            inside = [element("figure", None, said, element("div", {"class": "panels"}, *small))]
        left = undrawn(release, output)
        cards.append(
            element("div", {"class": "card"}, *inside, *([element("p", {"class": "note"}, left)] if left else ()))
        )
    return cards


def table_cells(release: Release, places: Sequence[int] | None = None) -> list[tuple[list[str], list[tuple[str, str]]]]:
    """The rows as people read them, all or those at `places`: keys, then each number and its interval.

    Digits that an interval leaves without a meaning are not shown; nor is a number that says nothing.
    """
    formats = {name: format_of(release, name) for name in release.outputs}
    unclear = {name: vague(release, name) for name in release.outputs}
    absent = {(name, place) for name, places in release.absent.items() for place in places}
    rows = []
    chosen = range(len(release)) if places is None else places
    for place, row in zip(chosen, _picked(release, places).labelled(), strict=True):
        cells = []
        for name in release.outputs:
            low, high, written = row[f"{name}_lower"], row[f"{name}_upper"], formats[name]
            known = low is not None or high is not None
            interval = "" if not known or (low == high and name == "noise") else f"{written(low)} to {written(high)}"
            if (name, place) in absent:
                cells.append(("\u2013", ""))
            elif row[name] is None or place in unclear[name]:
                cells.append((UNKNOWN, interval))
            else:
                cells.append((written(row[name]), interval))
        rows.append(([period_label(row[key]) for key in release.keys], cells))
    return rows


def _picked(release: Release, places: Sequence[int] | None) -> Release:
    """A table with the rows at some places alone: a page of one has few, and to label all takes long."""
    if places is None:
        return release
    columns = {name: [values[place] for place in places] for name, values in release.columns.items()}
    gone = {name: set(rows) for name, rows in release.absent.items()}
    absent = {name: [at for at, place in enumerate(places) if place in rows] for name, rows in gone.items()}
    return replace(release, columns=columns, absent=absent)


def page_table(release: Release, most: int | None = None) -> Table | None:
    """The table with its intervals, of at most so many rows; None where it has none."""
    head = [*release.keys, *(text for name in release.outputs for text in (name, "interval"))]
    rows = [[*keys, *(text for cell in cells for text in cell)] for keys, cells in table_cells(release)]
    if not rows or not head:
        return None
    said = f"{percent(release.confidence)} confidence intervals (not simultaneous)" if release.outputs else "Rows"
    if most is not None and len(rows) > most:
        said += f". The first {most} of {len(rows):,} rows"
    return Table.of(head, rows[:most], said, range(len(release.keys), len(head)))


def _notes(release: Release) -> Any:
    if not release.notes:
        return ""
    items = [element("li", None, str(note)) for note in release.notes]
    return element("section", None, element("h2", None, "What to know"), element("ul", {"class": "plainlist"}, *items))


def _facts(release: Release) -> list[tuple[str, str]]:
    told = metadata(release)
    numbers = ", ".join(f"{name} = {told[name]:g}" for name in ("epsilon", "delta", "rho") if name in told)
    return [
        ("Dataset", release.dataset),
        ("Rows that count", told.get("filter", "")),
        ("Protects", told.get("unit", "")),
        ("Cost", release.cost),
        ("Privacy", "" if numbers == release.cost else numbers),
        ("Confidence", percent(release.confidence) if release.outputs else ""),
        ("Noise", release.mechanism),
        ("Data version", release.data),
        ("Release", release.id),
        ("Digest of the plan", release.digest),
    ]
