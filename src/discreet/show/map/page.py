"""The HTML page around a map: the shell of every page, the controls, and a script that draws what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from discreet.show.page import page as shell
from discreet.show.svg import Markup, element

__all__ = ["controls", "page", "script"]

_SCRIPTS = ("model.js", "scale.js", "map.js", "table.js", "main.js")
_UNABLE = "This map is drawn by the script in this file: allow scripts, or read the numbers from the release."


def page(title: str, content: Mapping[str, Any]) -> str:
    """One self-contained page: no request, no script and no style but its own."""
    code = script('JSON.parse(document.getElementById("data").textContent)')
    heading = element("h1", {"id": "title"}, title)
    note = element("noscript", None, element("p", {"class": "care"}, _UNABLE))
    atlas = element("div", {"id": "atlas", "class": "atlas"}, controls())
    return shell(title, [heading, note, atlas], kind="wide", data=dict(content), script=code)


def controls() -> Markup:
    """What the script fills in: choices, the map, its key and its table. The same on every page that has a map."""
    return Markup((files(__package__) / "atlas.html").read_text("utf-8"))


def script(data: str, before: str = "") -> str:
    """The script of a map: `data` is JavaScript that gives the content, `before` comes first, with the content at hand.

    >>> script("await found()").endswith("})(await found());\\n")
    True
    """
    folder = files(__package__)
    body = "\n".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    return f'"use strict";\n((data) => {{\n{before}{body}}})({data});\n'
