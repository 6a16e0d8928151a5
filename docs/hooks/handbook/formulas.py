"""Formulas set at build time: LaTeX between dollars becomes MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from html import unescape
from importlib.util import find_spec
from pathlib import Path

from discreet.apps.web import formulas as pages
from discreet.errors import InputError

__all__ = ["FormulaError", "font", "formulas", "set_formula", "set_formulas"]

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,}).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_WRITTEN = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?!\w)", re.DOTALL)


class FormulaError(ValueError):
    """A formula that cannot be set, or a font that is not there: the build stops."""


def set_formula(latex: str, *, display: bool = False) -> str:
    """One formula as MathML, as under /help of a server."""
    try:
        return pages.set_formula(latex, display=display)
    except InputError as error:
        raise FormulaError(str(error)) from error


def set_formulas(html: str) -> str:
    """A page on which every formula that Markdown marked is set."""
    html = _DISPLAY.sub(lambda match: set_formula(unescape(match[1]), display=True), html)
    return _INLINE.sub(lambda match: set_formula(unescape(match[1])), html)


def formulas(markdown: str) -> list[str]:
    """The LaTeX of a page, outside of its code."""
    plain = _CODE.sub("", _FENCE.sub("", markdown))
    return [(display or inline).strip() for display, inline in _WRITTEN.findall(plain)]


def font() -> Path:
    """The font of formulas, STIX Two Math, where the package that brings it was installed."""
    package = find_spec("ziamath")
    if package is None or not package.submodule_search_locations:
        raise FormulaError("formulas need their font: pip install 'discreet[docs]'")
    return Path(package.submodule_search_locations[0]) / "fonts" / "STIXTwoMath-Regular.ttf"
