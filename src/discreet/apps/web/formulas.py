"""Formulas of the documentation: LaTeX between dollars becomes MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from html import escape

from discreet.errors import InputError

__all__ = ["set_formula"]

_FUNCTION = re.compile(r"(<mi>[a-z]{2,}</mi>)(?=<m(?:i|n|frac|sub|sup|subsup|row|sqrt)>)")
_THIN = '<mspace width="0.167em"/>'
_UNREAD = re.compile(r"<m[a-z]+>\s*\\[a-zA-Z]+|<merror")


def set_formula(latex: str, *, display: bool = False) -> str:
    """One formula as MathML, with its source for those who copy it or cannot see it.

    `InputError` for one that cannot be set: a command that the converter does not know, or brackets that do not match.
    """
    from latex2mathml.converter import convert

    source = " ".join(latex.split())
    try:
        made = str(convert(source, display="block" if display else "inline"))
    except Exception as error:
        raise InputError("formula", source, f"LaTeX that can be read ({type(error).__name__})") from error
    if unread := _UNREAD.search(made):
        raise InputError("formula", source, f"LaTeX whose commands are known: {unread[0]} is not")
    made = _FUNCTION.sub(rf"\1{_THIN}", made)  # ln x, not lnx
    made = made.replace("<math ", f'<math alttext="{escape(source)}" ', 1)
    return f'<div class="formula" tabindex="0">{made}</div>' if display else made
