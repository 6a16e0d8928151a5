"""What the page of a table shows: pictures of one output, a page of rows in the order asked for, code, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

from discreet.core.chart import caption, charts, drawable, undrawn
from discreet.core.metadata import citation
from discreet.core.release import Release
from discreet.core.release_page import table_cells
from discreet.data.schema import Schema
from discreet.query.code import ordered_outputs, price_paid, question_python, question_sql
from discreet.show import Picture
from discreet.show.scale import finite

__all__ = ["ROWS", "Heading", "ReleaseView", "view_release", "with_code"]

ROWS = 25
"""Rows on one page of a table."""
FILES = (
    ("csv", "CSV", "the table"),
    ("csv-metadata.json", "CSV metadata", "JSON that belongs beside the CSV"),
    ("json", "JSON", "numbers as numbers, with metadata"),
    ("parquet", "Parquet", "with metadata"),
    ("svg", "SVG", "the chart"),
    ("png", "PNG", "the chart"),
    ("html", "HTML", "a self-contained page"),
    ("md", "Markdown", "the table"),
)
"""Endings of files, what they are called, and what they hold."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a column: its name, what it is, where a click leads, and how the table is sorted by it."""

    name: str
    words: str
    link: str
    order: str
    number: bool
    interval: bool = False


@dataclass(frozen=True, slots=True)
class ReleaseView:
    """A table release as its page shows it."""

    release: Release
    output: str
    outputs: list[tuple[str, str, str]]
    """Name, words and link of each output that has a picture."""
    caption: str
    pictures: list[Picture]
    undrawn: str
    """What the pictures leave out."""
    figures: list[tuple[str, str, str, str]]
    """Where there is one row: name, words, number and interval of each output."""
    headings: list[Heading]
    rows: list[tuple[list[str], list[tuple[str, str]], list[str]]]
    """Keys, numbers with their intervals, and what each column is sorted by, in text."""
    pages: list[tuple[int, str]]
    page: int
    shown: tuple[int, int, int]
    """The first and the last row on this page, and how many there are."""
    code: Mapping[str, str]
    citation: str
    remarks: list[tuple[str, list[str]]]
    """Notes by the outputs they are about: those about all first."""
    files: list[tuple[str, str, str]]


def view_release(
    release: Release, here: str, chosen: Mapping[str, str], drawn: Callable[[Release], Picture] | None = None
) -> ReleaseView:
    """The page of a release: `chosen` says which output, page, part and order a reader asked for, by name.

    `here` is the address of the page, and `drawn` draws a release that has a picture of its own.
    """
    named = drawable(release) if drawn is None else []
    output = chosen.get("output", "") if chosen.get("output", "") in named else next(iter(named), "")
    kept = {name: value for name, value in chosen.items() if value and name in ("part", "output", "sort", "page")}

    def link(**changed: str) -> str:
        fields = {name: value for name, value in {**kept, **changed}.items() if value}
        return f"{here}?{urlencode(fields)}" if fields else here

    sort, descending = _order(release, chosen.get("sort", ""))
    places = _sorted(release, sort, descending)
    many = max(1, -(-len(places) // ROWS))
    asked = chosen.get("page", "")
    page = min(max(int(asked), 1), many) if asked.isdecimal() and len(asked) < 8 else 1
    listed = places[(page - 1) * ROWS : page * ROWS]
    cells = table_cells(release, listed)
    words = release.facts.get("outputs", {})
    pictures = [drawn(release)] if drawn is not None else charts(release, output, listed) if output and places else []
    alone = len(places) == 1 and not release.keys and drawn is None
    return ReleaseView(
        release=release,
        output=output,
        outputs=[(name, words.get(name, name), link(output=name)) for name in named] if len(named) > 1 else [],
        caption=pictures[0].title if drawn is not None else caption(release, output, pictures) if output else "",
        pictures=[] if alone else pictures,
        undrawn=undrawn(release, output) if output else "",
        figures=[(name, words.get(name, ""), *cell) for name, cell in zip(release.outputs, cells[0][1], strict=True)]
        if alone
        else [],
        headings=_headings(release, sort, descending, lambda by: link(sort=by, page="")),
        rows=[(*cell, _sortable(release, place)) for cell, place in zip(cells, listed, strict=True)],
        pages=[(each, link(page="" if each == 1 else str(each))) for each in _near(page, many)] if many > 1 else [],
        page=page,
        shown=((page - 1) * ROWS + 1, (page - 1) * ROWS + len(listed), len(places)),
        code=release.facts.get("code", {}),
        citation=citation(release),
        remarks=_remarks(release),
        files=[each for each in FILES if _offered(each[0], bool(named))],
    )


def with_code(release: Release, schema: Schema | None, price: Mapping[str, Any]) -> Release:
    """A release with the code that asks its question: SQL where there is some, and Python, at the price paid.

    A share of the budget is written as what it came to: the budget may have changed since.
    """
    if schema is None or "code" not in release.facts:
        return release
    if "share" in price:
        stated = {name: value for name, value in price.items() if name != "share"}
        price = price_paid(release.query, release.facts.get("price", {})) | stated
    asked = ordered_outputs(release.query, release.outputs)
    sql = question_sql(asked, schema)
    code = ({"SQL": sql} if sql else {}) | {"Python": question_python(asked, price, schema)}
    return replace(release, facts={**release.facts, "code": code})


def _remarks(release: Release) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {"": []}
    for note in release.notes:
        every = not note.outputs or set(note.outputs) >= set(release.outputs)
        found.setdefault("" if every else ", ".join(note.outputs), []).append(note.text)
    return [(about, texts) for about, texts in found.items() if texts]


def _offered(ending: str, drawn: bool) -> bool:
    if ending == "png":
        return drawn and find_spec("vl_convert") is not None
    return drawn or ending != "svg"


def _order(release: Release, sort: str) -> tuple[str, bool]:
    """The column that a table is sorted by, and whether from the top; "" as it was published."""
    name = sort.removeprefix("-")
    return (name, sort.startswith("-")) if name in (*release.keys, *release.outputs) else ("", False)


def _sorted(release: Release, name: str, descending: bool) -> list[int]:
    """The rows in the order of a column, those without a value last."""
    places = list(range(len(release)))
    if not name:
        return places
    values = release[name]
    known = [place for place in places if values[place] is not None]
    numbers = all(finite(values[place]) for place in known)
    known.sort(key=lambda place: values[place] if numbers else str(values[place]), reverse=descending)
    return [*known, *(place for place in places if values[place] is None)]


def _headings(release: Release, sort: str, descending: bool, link: Callable[[str], str]) -> list[Heading]:
    words, found = release.facts.get("outputs", {}), []
    for name in (*release.keys, *release.outputs):
        number = name in release.outputs
        order = "" if name != sort else "descending" if descending else "ascending"
        turned = f"-{name}" if order == "ascending" or (number and not order) else name
        found.append(Heading(name, words.get(name, ""), link(turned), order, number))
        if number:
            found.append(Heading("interval", "", "", "", True, interval=True))
    return found


def _sortable(release: Release, place: int) -> list[str]:
    """What a script sorts each column by: numbers as they are, texts as they are."""
    values = [release[name][place] for name in (*release.keys, *release.outputs)]
    return ["" if value is None else repr(value) if finite(value) else str(value) for value in values]


def _near(page: int, many: int) -> list[int]:
    """The pages that are linked: the first, the last and those around."""
    return [each for each in range(1, many + 1) if each in (1, many) or abs(each - page) <= 2]
