"""Levels of detail, each a list of columns or bins, and the cells in which all of them can be told apart."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.expression import Expression
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.query.ask import Form
from discreet.query.forms import KEYS
from discreet.query.key import Key, keys_of, published
from discreet.trees.detail.groups import check_name, named_in

__all__ = ["DETAILS", "TOTAL", "Refinement", "refine"]

Whole = NDArray[np.int64]

TOTAL = "total"
"""The name of what every group has: its total alone."""
_EXAMPLE = '{"sex": ["sex"], "sex by age": ["sex", "age/20"]}'
MOST = 20


def _settle(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise InputError("details", kind_of(value), f"columns for each level of detail by name: {_EXAMPLE}")
    if odd := [keys for keys in value.values() if not isinstance(keys, str | Key | Expression | Iterable)]:
        raise InputError("details", odd[0], f"columns for each level of detail by name: {_EXAMPLE}")
    return {name: KEYS.settle(keys) for name, keys in value.items()}


def _read(value: Any, schema: Schema) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(keys, (list, tuple)) for keys in value.values()):
        raise InputError("details", kind_of(value), f"lists of columns by name: {_EXAMPLE}")
    return {name: KEYS.read(keys, schema) for name, keys in value.items()}


def _parse(texts: list[str]) -> Any:
    named = named_in(texts, "details", '"sex by age: sex, age/20"')
    return {name: KEYS.parse([keys]) for name, keys in named.items()}


DETAILS = Form(
    dict[str, list[str | dict[str, Any]]],
    settle=_settle,
    write=lambda value: {name: KEYS.write(keys) for name, keys in value.items()},
    read=_read,
    parse=_parse,
    repeated=True,
    keyed=True,
)
"""What tells cells apart at each level of detail, by name, the coarsest first."""


@dataclass(frozen=True, slots=True)
class Refinement:
    """Levels of detail by name, and for each where every finest cell goes."""

    keys: tuple[Key, ...]
    """What tells the finest cells apart."""
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    """The cells of every level of detail, in words."""
    places: tuple[Whole, ...]
    """For every level of detail the cell of each finest one."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells every level of detail has."""
        return tuple(len(labels) for labels in self.labels)

    def add(self, detail: int, counts: Whole) -> Whole:
        """Counts of finest cells (the last axis), added up to the cells of a level of detail."""
        place = self.places[detail]
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(self.sizes[detail]))  # no cell is without a finest one
        found: Whole = np.add.reduceat(counts[..., order], starts, axis=-1)
        return found


def refine(details: Mapping[str, Sequence[Key]], schema: Schema) -> Refinement:
    """The levels of detail, read against a schema: each has more cells than the one before."""
    if not details or len(details) > MOST:
        raise InputError("details", Phrase(f"{len(details):,} levels of detail"), f"from 1 to {MOST}")
    read: dict[str, tuple[Key, ...]] = {}
    for name, keys in details.items():
        check_name(name, "details")
        field = f"details.{name}"
        if name == TOTAL:
            raise InputError("details", name, "another name: that is what every group has")
        if not keys or not all(isinstance(key, Key) for key in keys):
            raise InputError(field, list(keys), "at least one column, bins(...) or key(...)")
        with keys_of(field):
            read[name] = tuple(key.checked(schema) for key in keys)
            for key in read[name]:
                key.labels(schema)  # a discovered key has no list of values
        columns = [key.column for key in read[name]]
        if len(set(columns)) < len(columns):
            raise InputError(field, columns, "a list with each column once")
    finest = _finest(read)
    with keys_of("details"):
        finest = {column: key.checked(schema) for column, key in finest.items()}
    shape = [len(key.labels(schema)) for key in finest.values()]
    if math.prod(shape) > 2**31 - 1:
        raise InputError("details", Phrase(f"{math.prod(shape):,} cells"), "fewer cells")
    codes = dict(zip(finest, np.indices(shape).reshape(len(shape), -1), strict=True))
    labels, places = [], []
    for name, keys in read.items():
        place = np.zeros(math.prod(shape), np.int64)
        for key in keys:
            place = place * len(key.labels(schema)) + _within(finest[key.column], key, schema)[codes[key.column]]
        places.append(place)
        labels.append(_words(keys, schema))
        if len(labels) > 1 and len(labels[-1]) <= len(labels[-2]):
            allowed = f"levels of detail with more cells each than the one before: it has {len(labels[-1]):,}"
            raise InputError("details", name, allowed, "List the coarsest first.")
    return Refinement(tuple(finest.values()), tuple(read), tuple(labels), tuple(places))


def _finest(read: Mapping[str, Sequence[Key]]) -> dict[str, Key]:
    """For every column the one key that tells apart what any level of detail does."""
    found: dict[str, Key] = {}
    for name, keys in read.items():
        for key in keys:
            old = found.setdefault(key.column, key)
            if (old.values, old.edges, old.missing) == (key.values, key.edges, key.missing):
                continue
            ends = [None if one.edges is None else (one.edges[0], one.edges[-1]) for one in (old, key)]
            if old.edges is None or key.edges is None or ends[0] != ends[1] or old.missing != key.missing:
                allowed = "in bins that begin and end alike, or with the same values, at every level of detail"
                hint = "Or name an expression of the column: it counts as a column of its own."
                raise InputError(f"details.{name}", key.column, allowed, hint)
            found[key.column] = replace(old, edges=tuple(sorted({*old.edges, *key.edges})))
    return found


def _within(fine: Key, coarse: Key, schema: Schema) -> Whole:
    """For every label of the finer key the place of the label of the coarser one."""
    many = fine.labels(schema)
    if fine.edges is None or coarse.edges is None or fine.edges == coarse.edges:
        return np.arange(len(many))
    last = len(coarse.labels(schema)) - 1
    starts = coarse.edges[:-1]
    return np.array([last if one is None else bisect_right(starts, one.start) - 1 for one in many])


def _words(keys: Sequence[Key], schema: Schema) -> tuple[str, ...]:
    """Cells in words: sex=female, age=0..18."""
    found = [""]
    for key in keys:
        labels = ["(missing)" if one is None else str(published(one)) for one in key.labels(schema)]
        found = [f"{head}{', ' if head else ''}{key.title}={label}" for head in found for label in labels]
    return tuple(found)
