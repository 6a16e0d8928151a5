"""The HTML page around a map: template, style and script put together so that data can only ever be data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

__all__ = ["embedded", "page", "script"]

# What could end a script element or a line of script, and halves of surrogate pairs, which have no UTF-8.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_SCRIPTS = ("model.js", "scale.js", "map.js", "table.js", "main.js")


def page(title: str, content: Mapping[str, Any]) -> str:
    """One self-contained page.

    Its content security policy forbids every request and every script and style but its own (by hash), so even a
    mistake in escaping would not run anything.
    """
    folder = files(__package__)
    style = (folder / "page.css").read_text("utf-8")
    code = script('JSON.parse(document.getElementById("data").textContent)')
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(code)}'"
    text = (folder / "page.html").read_text("utf-8")
    pieces = {
        "@policy@": policy,
        "@title@": html.escape(title.encode("utf-8", "replace").decode(), quote=True),
        "@style@": style,
        "@data@": embedded(content),
        "@script@": code,
    }
    # Split at the marks once: what is put in is never searched for marks.
    for mark in pieces:
        before, found, after = text.partition(mark)
        if not found:
            raise RuntimeError(f"the template has lost {mark}")
        text = before + "\0" + mark + "\0" + after
    return "".join(pieces.get(piece, piece) for piece in text.split("\0"))


def script(data: str, before: str = "") -> str:
    """The script of a map: `data` is JavaScript that gives the content, `before` comes first, with the content at hand.

    >>> script("await found()").endswith("})(await found());\\n")
    True
    """
    folder = files(__package__)
    body = "\n".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    return f'"use strict";\n((data) => {{\n{before}{body}}})({data});\n'


def embedded(content: Any) -> str:
    r"""JSON for a script element: nothing in it can end the element, open a comment or end a line of script.

    >>> embedded("</script><!--\u2028&")
    '"\\u003c/script\\u003e\\u003c!--\\u2028\\u0026"'
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
