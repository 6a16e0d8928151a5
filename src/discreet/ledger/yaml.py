"""Plain values as YAML that every reader reads alike: block style, every text quoted."""

from __future__ import annotations

from discreet.core.wire import Json

__all__ = ["to_yaml"]

_TAKEN = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}  # words that some readers take for values
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def to_yaml(value: Json) -> str:
    """A YAML document of objects, lists, texts, numbers, booleans and null.

    >>> print(to_yaml({"name": "a: b", "parts": [1, {"x": None}], "none": []}), end="")
    name: "a: b"
    parts:
      - 1
      -
        x: null
    none: []
    """
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: Json, indent: str) -> list[str]:
    match value:
        case dict() if value:
            return [line for key, each in value.items() for line in _item(f"{indent}{_key(key)}:", each, indent)]
        case list() if value:
            return [line for each in value for line in _item(f"{indent}-", each, indent)]
        case _:
            return [indent + _scalar(value)]


def _item(start: str, value: Json, indent: str) -> list[str]:
    if isinstance(value, (dict, list)) and value:
        return [start, *_lines(value, indent + "  ")]
    return [f"{start} {_scalar(value)}"]


def _scalar(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case dict():
            return "{}"
        case list():
            return "[]"
        case float():
            return _real(value)
        case _:
            return str(value)


def _real(value: float) -> str:
    text = repr(value)
    # YAML 1.1 takes 1e-06 for a text: a number needs its point.
    return text if "." in text or "e" not in text else text.replace("e", ".0e")


def _key(text: str) -> str:
    plain = text.isascii() and text.replace("_", "a").isalpha() and text.lower() not in _TAKEN
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    return '"' + "".join(_character(each) for each in text) + '"'


def _character(each: str) -> str:
    if each in _SHORT:
        return _SHORT[each]
    if each.isprintable():
        return each
    number = ord(each)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
