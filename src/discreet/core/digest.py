"""Digests: a hash of everything that decides the law of a result, the same in every process, year and version.

A digest is taken over plain values. Mechanisms are written by `text_of`, field by field, never by a `repr` that
somebody may change for its looks. Charges on ledgers hold these digests: a paid job is known by its own for as long as
the ledger lives, so what is written here never changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import attrs

from discreet.errors import InputError, kind_of

__all__ = ["digest_of", "text_of"]


def digest_of(values: Mapping[str, Any] | list[Any]) -> str:
    """SHA-256 over plain values, whatever the order of their names.

    >>> digest_of({"b": 1, "a": [2]}) == digest_of({"a": [2], "b": 1})
    True
    """
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def text_of(value: object) -> str:
    """The one text of a mechanism, a noise or another frozen value: its name and every field, exactly.

    >>> from discreet.mechanisms import Laplace
    >>> text_of(Laplace(20))
    'Laplace(scale=Fraction(20, 1))'
    """
    match value:
        case None | bool() | int() | float() | str():
            return repr(value)  # of the built-in types alone, whose texts the language fixes
        case Fraction():
            return f"Fraction({value.numerator}, {value.denominator})"
        case Enum():
            return f"<{type(value).__name__}.{value.name}: {text_of(value.value)}>"
        case tuple():
            return f"({', '.join(map(text_of, value))}{',' if len(value) == 1 else ''})"
    kind: Any = type(value)
    if is_dataclass(kind) or attrs.has(kind):
        named = fields(kind) if is_dataclass(kind) else attrs.fields(kind)
        parts = (f"{field.name}={text_of(getattr(value, field.name))}" for field in named if field.repr)
        return f"{type(value).__qualname__}({', '.join(parts)})"
    raise InputError("digest", kind_of(value), "made of numbers, text, fractions, tuples and frozen values of them")
