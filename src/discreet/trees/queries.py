"""What is asked of a level beside its cells: margins by some of the columns, each with a share of the level's price.

A query is named by the columns that it tells apart, `sex` or `age x sex`; `total` is the one without any, `all` the one
with all of them. Shares are weights: what counts is their proportion within a level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.errors import InputError, Phrase
from discreet.query.ask import Form
from discreet.query.forms import pairs_in
from discreet.trees.split import Shares
from discreet.trees.tree import Hierarchy

__all__ = ["QUERIES", "Asked", "Margins", "Queries", "margin_axes", "margin_name", "read_queries", "share_queries"]

Axes = tuple[int, ...]
Queries = Mapping[str, Number] | Mapping[str, Mapping[str, Number]]
Asked = Mapping[int, Mapping[Axes, Fraction]]
"""The weight of every query, by level."""
Margins = dict[tuple[int, Axes], Fraction]
"""Which part of the price goes to (level, columns of a margin)."""

_EXAMPLE = '{"sex": 1, "age x sex": 2, "all": 3}'
_BETWEEN = re.compile(r"\s+x\s+")


def _settle(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise InputError("queries", value, f"a share for each query: {_EXAMPLE}, or that for each level")
    return {name: dict(one) if isinstance(one, Mapping) else one for name, one in value.items()}


def _write(value: Mapping[str, Any]) -> Any:
    return {
        name: _write(one) if isinstance(one, Mapping) else one if isinstance(one, (int, float, str)) else str(one)
        for name, one in value.items()
    }


def _parse(text: str) -> Any:
    """sex=1,age x sex=2; or with levels, county: sex=1; block: sex=1,all=3; or JSON."""
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            raise InputError("queries", text[:40], f"JSON: {_EXAMPLE}") from None
    if ":" not in text:
        return pairs_in(text, "queries", "sex=1,age x sex=2,all=3")
    found = {}
    for part in filter(str.strip, text.split(";")):
        level, _, queries = part.partition(":")
        found[level.strip()] = pairs_in(queries, "queries", "county: sex=1,all=2; block: all=1")
    return found


QUERIES = Form(dict[str, str | float | dict[str, str | float]], settle=_settle, write=_write, parse=_parse)
"""Shares of queries by name, for all levels or by level."""


def margin_name(columns: tuple[str, ...], axes: Axes) -> str:
    """How a query is written."""
    if not axes:
        return "total"
    return "all" if len(axes) == len(columns) else " x ".join(columns[axis] for axis in axes)


def margin_axes(name: Any, columns: tuple[str, ...], field: str = "queries") -> Axes:
    """The places of the columns that a query names."""
    words = {"total": (), "all": tuple(range(len(columns)))}
    if name in words and name not in columns:
        return words[name]
    parts = (
        [name] if name in columns else [part.strip() for part in _BETWEEN.split(name if isinstance(name, str) else "")]
    )
    if unknown := [part for part in parts if part not in columns]:
        hint = f"Columns of by with ' x ' between them: {' x '.join(columns)}."
        raise InputError(
            field, unknown[0] or name, "columns of by, total or all", hint, among=(*columns, "total", "all")
        )
    if len(set(parts)) < len(parts):
        raise InputError(field, name, "a query with each column once")
    return tuple(sorted(columns.index(part) for part in parts))


def read_queries(given: Queries, tree: Hierarchy, columns: tuple[str, ...]) -> Asked:
    """The weight of every query, by level: of those that are asked, the levels with regions of their own."""
    if not columns:
        raise InputError("queries", Phrase("some"), "left out where there is nothing to tell cells apart by")
    every = tuple(range(len(columns)))
    named = [isinstance(one, Mapping) for one in given.values()]
    if not given or any(named) != all(named):
        raise InputError("queries", dict(given), f"a share for each query: {_EXAMPLE}, or that for each level")
    if not all(named):
        alike = _weights(given, columns, "queries")
        found = dict.fromkeys(sorted(set(tree.distinct)), alike)
    else:
        found = {level: {every: Fraction(1)} for level in sorted(set(tree.distinct))}
        for name, one in given.items():
            level = tree.distinct[tree.level(name, "queries")]
            found[level] = _weights(one, columns, f"queries.{name}")
    last = tree.depth - 1
    if every not in found[last]:
        hint = "Published cells would be guesses without it. Add all, or leave columns out of by."
        raise InputError("queries", Phrase(f"no share for all at {tree.names[last]}"), "one above zero: all=1", hint)
    return found


def _weights(given: Any, columns: tuple[str, ...], field: str) -> dict[Axes, Fraction]:
    found: dict[Axes, Fraction] = {}
    for name, share in given.items():
        axes, weight = margin_axes(name, columns, field), as_written(share, f"{field}.{name}")
        if weight < 0:
            raise InputError(f"{field}.{name}", share, "zero or more")
        if axes in found:
            raise InputError(field, name, "a list with each query once", f"It is {margin_name(columns, axes)}.")
        found[axes] = weight
    if not any(found.values()):
        raise InputError(field, dict(given), "above zero for some query")
    return {axes: weight for axes, weight in found.items() if weight}


def share_queries(asked: Asked, levels: Mapping[int, Fraction], columns: int) -> tuple[Shares, Margins]:
    """The part of the price of counts and totals, and that of margins, from the parts of levels."""
    shares: Shares = {}
    margins: Margins = {}
    for level, part in levels.items():
        whole = sum(asked[level].values())
        for axes, weight in asked[level].items():
            share = part * weight / whole
            if not axes or len(axes) == columns:
                shares[level, not axes] = share
            else:
                margins[level, axes] = share
    return shares, margins
