"""What a browser loads with a page: nothing from another host, checked on the HTML and style sheets as built."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["loaded_elsewhere", "styles_elsewhere"]

_ADDRESS = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
_LOADS = {
    "link": ("href",), "script": ("src",), "img": ("src", "srcset"), "source": ("src", "srcset"), "iframe": ("src",),
    "video": ("src", "poster"), "audio": ("src",), "embed": ("src",), "object": ("data",),
    "use": ("href", "xlink:href"), "image": ("href", "xlink:href"), "input": ("src",), "track": ("src",),
    "form": ("action",),
}  # fmt: skip
_TAG = re.compile(rf"<(?:{'|'.join(_LOADS)})\b[^>]*>", re.IGNORECASE)
_STYLED = re.compile(r"""\bstyle=(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_SHEET = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
# Relations of a link that name another page and load nothing.
_NAMES_ONLY = {"canonical", "alternate", "license", "author", "next", "prev", "help", "bookmark"}


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "link" and set(given.get("rel", "").lower().split()) <= _NAMES_ONLY:
            return
        for name in _LOADS.get(tag, ()):
            parts = given.get(name, "").split(",") if name == "srcset" else [given.get(name, "")]
            self.addresses += [part.strip() for part in parts if _ADDRESS.match(part)]

    handle_startendtag = handle_starttag


def loaded_elsewhere(html: str) -> list[str]:
    """Addresses on other hosts that a browser would load to show a page. Links that a reader may follow are let be."""
    parser = _Loads()
    parser.feed("".join(_TAG.findall(html)))  # the rest of a page is most of it
    styles = [*_SHEET.findall(html), *("".join(pair) for pair in _STYLED.findall(html))]
    return parser.addresses + [address for style in styles for address in styles_elsewhere(style)]


def styles_elsewhere(css: str) -> list[str]:
    """Addresses on other hosts that a style sheet loads."""
    return _STYLE.findall(css)
