"""A release in a notebook: pictures, the table, what to know of it and where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from discreet.core.release_page import figures, page_table
from discreet.errors import InputError
from discreet.show import Markup, Table, cell, element, facts, fold

if TYPE_CHECKING:
    from discreet.core.publication import Publication
    from discreet.core.release import Release

__all__ = ["publication_cell", "release_cell", "table_parts", "tables_cell"]

_ROWS = 50  # of a table, before it says how many more there are
_DRAWN = 60  # groups of a picture
_OUTPUTS = 3  # pictures
_TABLES = 4  # of a release that has several


def release_cell(release: Release) -> str:
    """A table with its intervals, and a picture of each output."""
    told = [_notes(str(note) for note in release.notes), _origin(release)]
    return cell(release.title, *table_parts(release), *told, kind=f"Release from {release.dataset}")


def table_parts(release: Release) -> list[Markup | Table]:
    """A picture of each output, and the table."""
    return [*_pictures(release), _table(release)]


def tables_cell(tables: Mapping[str, Release], heading: str = "") -> str:
    """Several tables of one release, below each other."""
    named = list(tables.items())
    parts: list[Any] = []
    for name, table in named[:_TABLES]:
        parts += [element("h3", None, name) if name else None, _table(table)]
    if len(named) > _TABLES:
        rest = ", ".join(name for name, _ in named[_TABLES:])
        parts.append(element("p", {"class": "note"}, f"And {len(named) - _TABLES} more: {rest}."))
    first = named[0][1] if named else None
    about = "" if first is None else f"Release from {first.dataset}"
    told = [] if first is None else [_notes(str(note) for note in first.notes), _origin(first)]
    return cell(heading or f"{len(named)} tables", *parts, *told, kind=about)


def publication_cell(release: Publication) -> str:
    """A release of any kind: what it shows, or else its tables; what to know of it, where it came from."""
    parts = list(release.shown())
    if not parts:
        for name, table in list(release.tables().items())[:_TABLES]:
            parts += [element("h3", None, name) if name else None, _table(table)]
    try:
        notes = _notes(release.notes)
    except InputError as problem:  # what was measured is stored, and could not be published by this method
        notes = element("p", {"class": "alert"}, str(problem))
    return cell(release.heading, *parts, notes, _origin(release), kind=f"Release from {release.dataset}")


def _pictures(release: Release) -> list[Markup]:
    """A picture of each output, as long as they can be taken in at a glance."""
    return figures(release)[:_OUTPUTS] if 1 < len(release) <= _DRAWN else []


def _table(release: Release) -> Table | Markup:
    shown = page_table(release, _ROWS)
    return element("p", {"class": "care"}, "No row.") if shown is None else shown


def _notes(notes: Iterable[str]) -> Markup | None:
    items = [element("li", None, note) for note in notes]
    return element("ul", {"class": "plainlist note"}, *items) if items else None


def _origin(release: Release | Publication) -> Markup:
    """Price and id in a line, the rest below it."""
    left = f"; {release.remaining} left" if release.remaining else ""
    told = {
        "Cost": f"{release.cost}{left}",
        "Noise": release.mechanism,
        "Data version": release.data,
        "Release": element("code", None, release.id),
        "Digest of the plan": element("code", None, release.digest),
    }
    read = element("code", None, f'curator.release("{release.id}")')
    again = element("p", {"class": "note"}, "Reading it again is free: ", read)
    return fold(f"Cost {release.cost}; provenance", facts(told) or "", again)
