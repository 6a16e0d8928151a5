"""The one style sheet: whole for pages, and what a picture needs of it for files that hold one picture."""

from __future__ import annotations

import re
from functools import cache, partial
from importlib.resources import files

__all__ = ["palettes", "picture_style", "style"]

_COLOUR = re.compile(r"--([\w-]+): (#[0-9a-f]{6});")
_USE = re.compile(r"var\(--([\w-]+)\)")


@cache
def style() -> str:
    """The style sheet of every page."""
    return (files(__package__) / "style.css").read_text("utf-8")


def palettes() -> tuple[dict[str, str], dict[str, str]]:
    """The colours by name, light and dark."""
    light, _, dark = _section("palette").partition("@media")
    colours = dict(_COLOUR.findall(light))
    return colours, colours | dict(_COLOUR.findall(dark))


@cache
def picture_style() -> str:
    """The colours of a picture that is a file of its own, written out: programs that draw SVG know no variables."""
    rules = _section("pictures")
    light, dark = (_USE.sub(partial(_colour, colours), rules) for colours in palettes())
    return f"{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _colour(colours: dict[str, str], use: re.Match[str]) -> str:
    return colours[use[1]]


def _section(name: str) -> str:
    """A section begins with its name between three equals signs and ends where the next one begins."""
    return style().partition(f"/* === {name} === */\n")[2].partition("/* === ")[0]
