"""Combinations of keys' values that are the only groups of a question: listed by a person, so public."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from typing import Any

from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.query.key import Key, published

__all__ = [
    "MOST_COMBINATIONS",
    "checked_combinations",
    "combination_numbers",
    "parse_combinations",
    "read_combinations",
]

MOST_COMBINATIONS = 2_000
_EXACT = 2**53
_FORM = "a list of combinations, each with a value of every key, such as [['north', 'female'], ...]"

Combinations = tuple[tuple[Any, ...], ...]


def read_combinations(given: Any) -> Combinations:
    """Combinations as they were written, still to be read against a schema."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError("groups", given, _FORM)
    if strange := [each for each in given if not isinstance(each, list | tuple)]:
        raise InputError("groups", strange[0], _FORM)
    return tuple(tuple(each) for each in given)


def parse_combinations(
    given: Iterable[str | Sequence[Any]], keys: Sequence[Key], schema: Schema
) -> list[Sequence[Any]]:
    """Combinations as people type them: one to a text, a value of each key, commas between them.

    A value is written as it is published, a missing one as nothing or (missing), one with a comma in it in double
    quotes. What is no text is taken as it is, and what is no value of its key is left to `checked_combinations`.
    """
    found: list[Sequence[Any]] = []
    labels: list[dict[str, Any]] | None = None
    for each in given:
        if not isinstance(each, str):
            found.append(each)
            continue
        if labels is None:
            labels = [{} if key.discovered else _typed(key.checked(schema).labels(schema)) for key in keys]
        cells = [cell.strip() for cell in next(csv.reader([each], skipinitialspace=True), [])]
        known = [*labels, *({} for _ in cells[len(labels) :])]
        found.append([own.get(cell, cell) for cell, own in zip(cells, known, strict=False)])
    return found


def _typed(labels: Iterable[Any]) -> dict[str, Any]:
    """Published labels by how they are typed."""
    typed: dict[str, Any] = {}
    for label in map(published, labels):
        words = ("", "(missing)") if label is None else (str(label), str(label).lower())
        typed |= dict.fromkeys(words if label is None or isinstance(label, bool) else words[:1], label)
    return typed


def checked_combinations(given: Combinations, keys: Sequence[Key], schema: Schema) -> Combinations:
    """The same as published values; an error names what is not among the values of its key."""
    if not keys or any(key.discovered for key in keys):
        raise InputError("groups", Phrase("combinations"), "of keys whose values are public")
    if len(given) > MOST_COMBINATIONS:
        raise InputError("groups", Phrase(f"{len(given):,} combinations"), f"at most {MOST_COMBINATIONS:,}")
    labels = [[published(label) for label in key.labels(schema)] for key in keys]
    if math.prod(len(each) for each in labels) > _EXACT:
        raise InputError("groups", Phrase("keys of too many values"), "of keys with fewer values")
    known = [{(type(label), label) for label in each} for each in labels]
    found = []
    for each in given:
        if len(each) != len(keys):
            raise InputError("groups", list(each), f"a combination with a value of each of the {len(keys)} keys")
        values = tuple(published(value) for value in each)
        for key, value, own, listed in zip(keys, values, known, labels, strict=True):
            if not isinstance(value, str | int | None) or (type(value), value) not in own:
                among = [label for label in listed[:100] if label is not None]
                raise InputError("groups", value, f"a value of {key.title}", among=among)
        found.append(values)
    if len(set(found)) < len(found):
        raise InputError("groups", Phrase("a combination twice"), "a list with each combination once")
    return tuple(found)


def combination_numbers(combinations: Combinations, keys: Sequence[Key], schema: Schema) -> list[int]:
    """The place of each combination among all that the keys make, the last key moving fastest."""
    places = [{published(label): place for place, label in enumerate(key.labels(schema))} for key in keys]
    numbers = []
    for each in combinations:
        number = 0
        for value, own in zip(each, places, strict=True):
            number = number * len(own) + own[value]
        numbers.append(number)
    return numbers
