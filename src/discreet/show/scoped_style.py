"""What a piece of a page needs of the one style sheet, for its own elements alone: pages of others keep their look.

Every rule is put below one class, which is written three times so that rules of the host, a notebook, weigh less. Only
rules whose elements occur are taken, and only the colours that they use.
"""

from __future__ import annotations

import re
from functools import cache

from discreet.show.style import palettes, style

__all__ = ["SCOPE", "scoped_style"]

SCOPE = "discreet"
"""The class of the outermost element."""

_ROOT = f".{SCOPE}" * 3
_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast:not(.vscode-high-contrast-light)")
"""How notebooks say that they are dark: Jupyter (and what it exports), Visual Studio Code."""
_TEXT = re.compile(
    r"a|b|br|caption|code|dd|details|div|dl|dt|em|figcaption|figure|h[1-6]|hr|i|li|ol|p|pre|section|small|span|strong|"
    r"summary|table|tbody|td|th|thead|time|tr|ul"
)
"""Elements of text. Those of pictures stay as they are: a browser would undo their attributes as well."""
_REM = 14  # pixels: as large as the text of notebooks

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MEDIA = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIZE = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))rem\b")
_INSIDE = re.compile(r"\([^()]*\)|\[[^\]]*\]|::?[\w-]+")
_NAME = re.compile(r"([.#]?)([A-Za-z][\w-]*)")
_USE = re.compile(r"var\(--([\w-]+)\)")
_TAG = re.compile(r"<([a-zA-Z][\w-]*)")
_CLASS = re.compile(r'\sclass="([^"]*)"')
_ID = re.compile(r'\sid="([^"]*)"')


def scoped_style(markup: str) -> str:
    """The rules for the elements of a piece of markup, light, and dark where the page around it says so."""
    there = {("", tag) for tag in _TAG.findall(markup)}
    there |= {(".", name) for names in _CLASS.findall(markup) for name in names.split()}
    there |= {("#", name) for name in _ID.findall(markup)}
    rules = [(f"{_ROOT} {selector}", body) for selector, needs, body in _rules() if needs <= there]
    rules = [*_own(there), *rules]
    used = set(_USE.findall(" ".join(body for _, body in rules)))
    light, dark = ({name: colour for name, colour in each.items() if name in used} for each in palettes())
    above = ", ".join(f"{host} {_ROOT}" for host in _DARK)
    lines = [
        f"{_ROOT} {{ color-scheme: light; {_colours(light)} }}",
        f"{above} {{ color-scheme: dark; {_colours(dark)} }}",
        *(f"{selector} {{ {body} }}" for selector, body in rules),
    ]
    return "\n".join(lines)


def _own(there: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """What undoes the host's own rules, inside alone, and the look of the outermost element."""
    tags = sorted(tag for mark, tag in there if not mark and _TEXT.fullmatch(tag))
    font = _declaration("body", "font").replace("1rem", f"{_REM}px")
    outer = f"display: block; box-sizing: border-box; color: var(--ink); {font}"
    return [
        (f"{_ROOT} :where({', '.join(tags)})", "all: revert; box-sizing: border-box"),
        (_ROOT, f"all: revert; {outer}"),
    ]


def _declaration(selector: str, name: str) -> str:
    """A declaration of a rule of the style sheet."""
    bodies = [body for selectors, body in _RULE.findall(_plain()) if selectors.strip() == selector]
    found: list[str] = [
        part.strip() for body in bodies for part in body.split(";") if part.strip().startswith(f"{name}:")
    ]
    return found[-1]


@cache
def _plain() -> str:
    """The style sheet without comments and without what depends on the screen."""
    return _MEDIA.sub("", _COMMENT.sub("", style()))


@cache
def _rules() -> tuple[tuple[str, frozenset[tuple[str, str]], str], ...]:
    """Every selector with the tags, classes and ids it needs, and its declarations; none of the page itself."""
    found = []
    for selectors, body in _RULE.findall(_plain()):
        said = _SIZE.sub(lambda size: f"{float(size[1]) * _REM:.4g}px", " ".join(body.split()).rstrip(";"))
        for selector in _parted(" ".join(selectors.split())):
            selector = selector.replace("> .chart", ".chart")  # in a cell something stands between
            needs = frozenset(_NAME.findall(_bare(selector)))
            if needs or selector == ":focus-visible":
                found.append((selector, needs, said))
    return tuple(found)


def _parted(selectors: str) -> list[str]:
    """A list of selectors, parted at the commas that are in no parentheses."""
    parts, depth = [""], 0
    for mark in selectors:
        depth += (mark == "(") - (mark == ")")
        if mark == "," and not depth:
            parts.append("")
        else:
            parts[-1] += mark
    return [part.strip() for part in parts]


def _bare(selector: str) -> str:
    """A selector without states, attributes and what is in parentheses."""
    before = ""
    while before != selector:
        before, selector = selector, _INSIDE.sub("", selector)
    return selector


def _colours(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
