"""A finished picture: an element of a page, a file that needs nothing else, or itself in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from typing import Any

from discreet.errors import InputError, MissingExtraError
from discreet.show.notebook import cell
from discreet.show.page import page
from discreet.show.style import picture_style
from discreet.show.svg import Markup, element
from discreet.show.table import Table

__all__ = ["ENDINGS", "Picture", "stack"]

ENDINGS = (".svg", ".html", ".png", ".pdf")
_NAMESPACE = "http://www.w3.org/2000/svg"
_MARGIN = 16
_HEAD = 26
_LETTER, _LINE = 6.4, 17  # of a caption: how wide a letter is at most on average, how high a line


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG picture with a title and a description for those who cannot see it, and its numbers as a table.

    A `fluid` one is as wide as the page lets it be: its parts lie at percentages of the width, and its letters keep
    their size. Any other keeps its shape and is made smaller where there is no room. Templates and `element` take it
    as it is.
    """

    title: str
    width: float
    height: float
    parts: tuple[Markup, ...] = field(repr=False)
    description: str = ""
    fluid: bool = False
    kind: str = ""
    table: Table | None = field(default=None, repr=False)

    def __html__(self) -> str:
        return self._element({"class": f"chart {self.kind}".rstrip()})

    def figure(self, caption: str = "", *, note: str = "", table: bool = True) -> Markup:
        """The picture on a page, with a caption, and its numbers in a table that opens below it."""
        parts: list[Any] = []
        if caption:
            parts.append(element("figcaption", None, caption))
        parts.append(self)
        if note:
            parts.append(element("p", {"class": "note"}, note))
        if table and self.table is not None:
            parts.append(element("details", None, element("summary", None, "Table"), self.table))
        return element("figure", None, *parts)

    def captioned(self, caption: str) -> Picture:
        """The picture with lines below it, which also are its description where it has none."""
        parts, tall = [*self.parts], self.height
        for line in wrap(caption, max(1, int(self.width / _LETTER))):
            tall += _LINE
            parts.append(element("text", {"class": "tick", "x": 0, "y": tall}, line))
        return replace(self, height=tall, parts=tuple(parts), description=self.description or caption)

    def to_svg(self) -> str:
        """One SVG file with its own colours, light and dark."""
        width, height = self.width + 2 * _MARGIN, self.height + 2 * _MARGIN + _HEAD
        head = element("text", {"class": "title", "x": _MARGIN, "y": _MARGIN + 8}, self.title)
        size = {"width": width, "height": height, "viewBox": f"0 0 {width:g} {height:g}"}
        about = {"xmlns": _NAMESPACE, "class": "chart file", "role": "img"}
        paper = element("rect", {"class": "paper", "width": width, "height": height})
        inner = self.placed(_MARGIN, _MARGIN + _HEAD)
        style = element("style", None, Markup(picture_style()))
        said = (element("title", None, self.title), element("desc", None, self.description or self.title))
        return element("svg", {**about, **size}, *said, style, paper, head, inner) + "\n"

    def to_html(self) -> str:
        """One HTML page with the picture and its table."""
        body = [element("h1", None, self.title), element("div", {"class": "card"}, self.figure())]
        return page(self.title, body)

    def save(self, path: str | Path) -> Path:
        """Write the picture: .svg and .html by itself, .png and .pdf with the `charts` extra."""
        place = Path(path)
        ending = place.suffix.lower()
        if ending not in ENDINGS:
            raise InputError("path", str(path), "a file that ends in " + ", ".join(ENDINGS))
        if not place.absolute().parent.is_dir():
            raise InputError("path", str(path), "a file in a folder that exists")
        if ending in (".svg", ".html"):
            place.write_text(self.to_svg() if ending == ".svg" else self.to_html(), encoding="utf-8")
            return place
        try:
            import vl_convert
        except ImportError:
            raise MissingExtraError("charts", "vl_convert") from None
        convert = vl_convert.svg_to_png if ending == ".png" else vl_convert.svg_to_pdf
        more = {"scale": 2.0} if ending == ".png" else {}
        place.write_bytes(convert(self.to_svg(), **more))
        return place

    def placed(self, x: float, y: float, width: float | None = None) -> Markup:
        """The picture inside a larger one, with its corner at a point."""
        corner = {"x": x, "y": y, "overflow": "visible", "class": self.kind or None}
        return self._element(corner, self.width if width is None else width)

    def _element(self, attributes: dict[str, Any], width: float | None = None) -> Markup:
        wide: Any = width if width is not None else "100%" if self.fluid else self.width
        size: dict[str, Any] = {"width": wide, "height": self.height}
        if not self.fluid:
            size |= {"viewBox": f"0 0 {self.width:g} {self.height:g}", "height": None if width is None else self.height}
        said = [element("title", None, self.title)]
        if self.description:
            said.append(element("desc", None, self.description))
        return element("svg", {**attributes, "role": "img", **size}, *said, *self.parts)

    def _repr_html_(self) -> str:
        return cell(self.title, self.figure())


def stack(
    title: str, pictures: Sequence[Picture], *, columns: int = 1, description: str = "", caption: str = ""
) -> Picture:
    """Several pictures in one, each under its own title, in rows of so many; the `caption` stands below them."""
    if not pictures:
        raise InputError("pictures", 0, "at least one picture")
    cell = max(picture.width for picture in pictures)
    across, gap = min(columns, len(pictures)), 22
    parts, top = [], 0.0
    for first in range(0, len(pictures), across):
        row = pictures[first : first + across]
        for column, picture in enumerate(row):
            left = column * (cell + gap)
            parts.append(element("text", {"class": "title", "x": left, "y": top + 14}, picture.title))
            parts.append(picture.placed(left, top + _HEAD, cell if picture.fluid else None))
        top += max(picture.height for picture in row) + _HEAD + gap
    wide, tall = across * cell + (across - 1) * gap, top - gap
    return Picture(title, wide, tall, tuple(parts), description).captioned(caption)
