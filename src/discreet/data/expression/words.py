"""Functions of text. Listed values are mapped one by one, so that no engine's own rules matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from discreet.data.expression.domain import Domain, Kind, UnsuitableError, image
from discreet.data.expression.function import Function, Operand

__all__ = ["FUNCTIONS", "pattern"]


_LONGEST_PATTERN = 1_000


def _text(part: Domain) -> None:
    if part.kind not in ("text", "nothing"):
        raise UnsuitableError(f"of text, not of {part.kind}", "Use CAST(... AS VARCHAR).")


def _of_text(
    value: Callable[..., Any], kind: Kind = "text", engine: Callable[[Sequence[Operand], Domain], Any] | None = None
) -> Function:
    """A function of one text, and of constants."""

    def domain(first: Domain, *others: Domain) -> Domain:
        _text(first)
        for other in others:
            if other.values is None or len(other.values) != 1 or other.missing:
                raise UnsuitableError("with constants after the first argument")
        if first.kind == "nothing":
            return first
        found = image(value, (first, *others), kind)
        if found is None:
            if engine is None or kind != "boolean":
                hint = "Declare the column as a category: free text cannot be computed with."
                raise UnsuitableError("of a text whose values are declared", hint)
            return Domain("boolean", values=(False, True), missing=first.missing)
        return found

    return Function(domain, value, engine)


def pattern(like: str, *, any_case: bool = False) -> re.Pattern[str]:
    """What a pattern of LIKE matches: % any text, _ any character.

    What stands between two % is looked for once, from the left: trying all its places would never end.
    """
    first, *others = ("".join("." if mark == "_" else re.escape(mark) for mark in part) for part in like.split("%"))
    middle = "".join(f"(?>.*?{part})" for part in others[:-1] if part)
    last = f".*{others[-1]}" if others else ""
    return re.compile(first + middle + last, re.DOTALL | (re.IGNORECASE if any_case else 0))


def _of_pattern(function: Function) -> Function:
    """The same without backslashes in the pattern. To some engines they escape what follows, so that one at the end of
    a pattern makes a run fail, and only where a row's text is long enough to reach it."""

    def domain(first: Domain, *others: Domain) -> Domain:
        if any("\\" in str(value) for other in others for value in other.values or ()):
            hint = "Engines differ in what they mean. CONTAINS, STARTS_WITH and ENDS_WITH take any text as it is."
            raise UnsuitableError("with a pattern without backslashes", hint)
        if any(len(str(value)) > _LONGEST_PATTERN for other in others for value in other.values or ()):
            raise UnsuitableError(f"with a pattern of at most {_LONGEST_PATTERN:,} characters")
        return function.domain(first, *others)

    return replace(function, domain=domain)


def _constant(operand: Operand) -> Any:
    return (operand.domain.values or ("",))[0]


def _substring(text: str, start: int, length: int | None = None) -> str:
    """As SQL counts, from 1; a place before the text eats up the length."""
    first = start - 1 if start > 0 else start if start < 0 else -1
    if start < 0:
        first = max(0, len(text) + start)
        return text[first:] if length is None else text[first : first + max(0, length)]
    last = None if length is None else max(0, first + length)
    return text[max(0, first) : last]


def _concat_domain(*parts: Domain) -> Domain:
    for part in parts:
        _text(part)
    if any(part.kind == "nothing" for part in parts):
        return Domain("nothing", values=(), missing=True)
    found = image(lambda *texts: "".join(texts), parts, "text")
    return Domain("text", missing=any(part.missing for part in parts)) if found is None else found


def _concat_engine(operands: Sequence[Operand], _: Domain) -> Any:
    whole = operands[0].engine
    for operand in operands[1:]:
        whole = whole + operand.engine
    return whole


FUNCTIONS = {
    "upper": _of_text(str.upper),
    "lower": _of_text(str.lower),
    "trim": _of_text(lambda text: text.strip(" ")),
    "ltrim": _of_text(lambda text: text.lstrip(" ")),
    "rtrim": _of_text(lambda text: text.rstrip(" ")),
    "reverse": _of_text(lambda text: text[::-1]),
    "length": _of_text(len, "integer"),
    "substring": _of_text(_substring),
    "left": _of_text(lambda text, count: text[:count] if count >= 0 else text[: max(0, len(text) + count)]),
    "right": _of_text(lambda text, count: text[-count:] if count > 0 else "" if not count else text[-count:]),
    "replace": _of_text(lambda text, old, new: text.replace(old, new) if old else text),
    "position": _of_text(lambda text, part: text.find(part) + 1, "integer"),
    "starts_with": _of_text(str.startswith, "boolean", lambda ops, _: ops[0].engine.startswith(_constant(ops[1]))),
    "ends_with": _of_text(str.endswith, "boolean", lambda ops, _: ops[0].engine.endswith(_constant(ops[1]))),
    "contains": _of_text(
        lambda text, part: part in text, "boolean", lambda ops, _: ops[0].engine.contains(_constant(ops[1]))
    ),
    "like": _of_pattern(
        _of_text(
            lambda text, like: pattern(like).fullmatch(text) is not None,
            "boolean",
            lambda ops, _: ops[0].engine.like(_constant(ops[1])),
        )
    ),
    "ilike": _of_pattern(
        _of_text(lambda text, like: pattern(like, any_case=True).fullmatch(text) is not None, "boolean")
    ),
    "concat": Function(_concat_domain, lambda *texts: "".join(texts), _concat_engine),
}
