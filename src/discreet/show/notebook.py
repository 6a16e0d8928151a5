"""A piece of a page in a notebook: no script, no request, and a style that reaches nothing outside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from discreet.show.scoped_style import SCOPE, scoped_style
from discreet.show.svg import Markup, element

__all__ = ["cell", "facts", "fold", "verbatim"]

_PICTURE = re.compile(r"<svg\b|</svg>")


def cell(heading: str, *parts: Any, kind: str = "", bare: bool = False) -> str:
    """What `_repr_html_` gives: parts under a heading, in a frame unless `bare`, with the style that they need.

    Colours follow the theme of the notebook. Where styles are taken out, as of notebooks that nobody trusted yet, what
    is left is plain text and tables.

    >>> text = cell("Visits", element("p", None, "2 < 3"))
    >>> "<p>2 &lt; 3</p>" in text, "<script" in text
    (True, False)
    """
    above = [element("small", None, kind), " "] if kind else []
    head = [element("p", {"class": "cell-head"}, *above, heading)] if heading else []
    shown = [part for part in parts if part is not None and part != ""]
    inside = _veiled(element("div", {"class": "cell bare" if bare else "cell"}, *head, *shown))
    return element("div", {"class": SCOPE}, element("style", None, Markup(scoped_style(inside))), inside)


def _veiled(markup: str) -> Markup:
    """Markup whose pictures are seen only with their style: without, programs that take both out would leave letters.

    >>> _veiled("<p><svg><svg></svg></svg></p>")
    '<p><span class="drawn" hidden="hidden"><svg><svg></svg></svg></span></p>'
    """
    parts, depth, last = [], 0, 0
    for tag in _PICTURE.finditer(markup):
        opens = not tag[0].startswith("</")
        if opens and not depth:
            parts += [markup[last : tag.start()], '<span class="drawn" hidden="hidden">']
            last = tag.start()
        depth += 1 if opens else -1
        if not opens and not depth:
            parts += [markup[last : tag.end()], "</span>"]
            last = tag.end()
    return Markup("".join([*parts, markup[last:]]))


def facts(told: Mapping[str, Any]) -> Markup | None:
    """Names with what is to be said of each; None of them is shown where nothing is."""
    rows = [(name, value) for name, value in told.items() if value not in (None, "")]
    pairs = (part for name, value in rows for part in (element("dt", None, name), element("dd", None, value)))
    return element("dl", {"class": "facts"}, *pairs) if rows else None


def verbatim(text: str) -> Markup:
    """Lines as they are, such as a plan in words.

    >>> verbatim("a\\nb < c")
    '<pre class="wrap">a\\nb &lt; c</pre>'
    """
    parts = [part for line in text.split("\n") for part in (line, Markup("\n"))]
    return element("pre", {"class": "wrap"}, *parts[:-1])


def fold(summary: str, *parts: Any) -> Markup:
    """Parts that open below a line."""
    return element("details", None, element("summary", None, summary), *parts)
