"""Formulas set at build time: LaTeX between dollars becomes MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path

__all__ = ["FormulaError", "font", "formulas", "set_formula", "set_formulas"]

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,}).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_WRITTEN = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?!\w)", re.DOTALL)
_FUNCTION = re.compile(r"(<mi>[a-z]{2,}</mi>)(?=<m(?:i|n|frac|sub|sup|subsup|row|sqrt)>)")
_THIN = '<mspace width="0.167em"/>'
_UNREAD = re.compile(r"<m[a-z]+>\s*\\[a-zA-Z]+|<merror")


class FormulaError(ValueError):
    """A formula that cannot be set: a command that the converter does not know, or brackets that do not match."""


def set_formula(latex: str, *, display: bool = False) -> str:
    """One formula as MathML, with its source for those who copy it or cannot see it."""
    from latex2mathml.converter import convert

    source = " ".join(latex.split())
    try:
        made = convert(source, display="block" if display else "inline")
    except Exception as error:
        raise FormulaError(f"{source}: {type(error).__name__} {error}") from error
    if unread := _UNREAD.search(made):
        raise FormulaError(f"{source}: {unread[0]} is not known")
    made = _FUNCTION.sub(rf"\1{_THIN}", made)  # ln x, not lnx
    made = made.replace("<math ", f'<math alttext="{escape(source)}" ', 1)
    return f'<div class="formula" tabindex="0">{made}</div>' if display else made


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
