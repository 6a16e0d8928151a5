"""Elements of SVG and HTML as text: everything that came from outside is escaped on the way in."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Markup", "clean", "coordinate", "element", "path", "shorten"]

_JOINERS = "\u200c\u200d"  # which Persian, Hindi and many emoji are written with


class Markup(str):
    """Text that is markup already. Templates (Jinja) take it as such."""

    __slots__ = ()

    def __html__(self) -> str:
        """The same text: what template engines ask for before they escape."""
        return str(self)


def element(name: str, attributes: Mapping[str, Any] | None = None, *content: Any) -> Markup:
    """An element; attributes and content are escaped unless the content is markup or a picture.

    Attributes that are None are left out.

    >>> element("b", {"class": 'x"', "id": None}, "<a>", element("i"))
    '<b class="x&quot;">&lt;a&gt;<i></i></b>'
    """
    shown = "".join(
        f' {key}="{html.escape(coordinate(value), quote=True)}"'
        for key, value in (attributes or {}).items()
        if value is not None
    )
    inside = "".join(_inside(part) for part in content)
    return Markup(f"<{name}{shown}>{inside}</{name}>")


def _inside(part: Any) -> str:
    return str(part.__html__()) if hasattr(part, "__html__") else html.escape(clean(part), quote=False)


def path(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """The outline through points, for the attribute `d`.

    >>> path([(0, 0), (1.23456, 2)], closed=True)
    'M0 0L1.23 2Z'
    """
    return "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points) + ("Z" if closed else "")


def shorten(text: str, letters: int) -> str:
    """Text of at most so many letters; what is cut off is marked.

    >>> shorten("Switzerland", 6), shorten("Chad", 6)
    ('Switz\u2026', 'Chad')
    """
    return text if len(text) <= letters else text[: max(letters - 1, 0)] + "\u2026"


def clean(text: object) -> str:
    """Text that UTF-8 and XML can hold and that reads as written: no control characters, no halves of surrogate pairs,
    nothing that turns the direction of writing around.

    >>> clean("a\\x00b\\nc \\u202eevil")
    'a\ufffdb c \ufffdevil'
    """
    return "".join(letter if letter.isprintable() else _plain(letter) for letter in str(text))


def _plain(letter: str) -> str:
    if letter in _JOINERS or unicodedata.category(letter) == "Zs":
        return letter
    return " " if letter in "\n\r\t" else "\ufffd"


def coordinate(value: Any) -> str:
    """A coordinate in as many digits as a screen shows; anything else as clean text."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return clean(value)
    return f"{round(float(value), 2):.10g}" if abs(value) < 1e5 else f"{value:.0f}"
