"""A recorded question as code that asks it: SQL and Python. What has no such form has none; nothing is made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pprint import pformat
from typing import Any

from discreet.core.release import Release
from discreet.data.schema import Schema
from discreet.errors import DiscreetError
from discreet.query.aggregate import (
    correlation,
    count,
    covariance,
    distinct,
    intercept,
    mean,
    people,
    share,
    slope,
    std,
    total,
    variance,
)
from discreet.query.function import functions
from discreet.query.key import bins
from discreet.query.modes import mode
from discreet.query.quantile import BINS, median, quantile
from discreet.query.question import Query, output_from
from discreet.query.sql import parse_sql
from discreet.query.sql_writing import write_sql
from discreet.query.title import condition_text

__all__ = ["ordered_outputs", "price_paid", "question_python", "question_sql", "with_python"]

_CALLS = {
    made.__name__: made
    for made in (count, people, distinct, total, mean, variance, std, covariance, correlation, slope, intercept)
} | {made.__name__: made for made in (share, median, quantile, mode)}
_USUAL = {"grid": BINS, "interval": True, "method": "auto", "take": "middle"}
_WIDE, _NARROW = 48, 48  # letters of a line and of the outputs in one: half a page is as wide


def question_python(query: Any, price: Mapping[str, Any] | None = None, schema: Schema | None = None) -> str:
    """The Python that asks a recorded question; of a form that has no words of its own, by its JSON values.

    With a schema, bins of equal width are written as such.

    >>> entry = {"outputs": {"n": {"of": "count"}}, "group_by": [{"column": "sex"}], "where": None}
    >>> print(question_python(entry, {"epsilon": 0.5}))
    from discreet import count
    <BLANKLINE>
    offer = (
        curator.table()
        .group_by("sex")
        .agg(n=count())
        .plan(epsilon=0.5)
    )
    """
    try:
        steps, names = _steps(query, schema)
    except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
        steps, names = [f"question({pformat(query, width=92, sort_dicts=False)})"], []
    paid = ", ".join(f"{name}={_python(value)}" for name, value in (price or {}).items())
    begun, *rest = [f"curator.{steps[0]}", *steps[1:], f"plan({paid})"]
    line = ".".join([begun, *rest])
    if len(line) > _WIDE or "\n" in line:
        line = "(\n    " + "\n    ".join([begun, *(f".{step}" for step in rest)]) + "\n)"
    head = f"from discreet import {', '.join(sorted(set(names)))}\n\n" if names else ""
    return f"{head}offer = {line}"


def with_python(release: Release) -> Release:
    """A release of a question with the Python that asks it, at the price paid; any other as it is."""
    if not release.facts.get("title") or not {"outputs", "top", "union"} & set(release.query):
        return release
    asked = ordered_outputs(release.query, release.outputs)
    python = question_python(asked, price_paid(asked, release.facts.get("price", {})))
    return replace(release, facts={**release.facts, "code": {"Python": python}})


def ordered_outputs(query: Any, names: Sequence[str]) -> Any:
    """A recorded question with its outputs in the order of the released table: records keep none."""
    outputs = query.get("outputs") if isinstance(query, Mapping) else None
    if not isinstance(outputs, Mapping) or set(outputs) != set(names):
        return query
    return {**query, "outputs": {name: outputs[name] for name in names}}


def question_sql(query: Any, schema: Schema) -> str:
    """The SQL that asks a recorded question: only where it reads back as the same one, and nothing where not."""
    try:
        asked = Query.from_dict(query, schema)
        text = write_sql(asked, schema) if asked.person_limits is None else None  # a statement says nothing of limits
        return text if text and parse_sql(text, schema).query.to_dict() == asked.to_dict() else ""
    except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
        return ""


def price_paid(query: Mapping[str, Any], price: Mapping[str, float]) -> dict[str, float]:
    """A price as a plan takes it: in the currency it was paid in, and with a delta where values were discovered."""
    named = {name: price[name] for name in ("rho", "epsilon") if name in price}
    paid = dict(list(named.items())[:1])
    found = any(isinstance(key, Mapping) and key.get("discover") for key in query.get("group_by") or ())
    paid = {name: int(value) if value == int(value) else value for name, value in paid.items()}
    return paid | ({"delta": price["delta"]} if found and "delta" in price else {})


def _steps(query: Any, schema: Schema | None) -> tuple[list[str], list[str]]:
    """The calls that make a question, and the names they need."""
    if not isinstance(query, Mapping) or not {"outputs", "top"} & set(query) or {"per_person", "groups"} & set(query):
        raise ValueError
    steps, names = ["table()"], []
    if text := condition_text(query):
        steps.append(f"where({_python(text)})")
    elif query.get("where"):
        raise ValueError
    if limits := query.get("limits"):
        steps.append(f"limits({', '.join(f'{name}={value}' for name, value in limits.items())})")
    if "top" in query:
        chosen = _key(query["top"]["key"], schema)
        counts = "" if query["top"]["counts"] else ", counts=False"
        return [*steps, f"top({chosen}, {query['top']['k']}{counts})"], _called([chosen])
    keys = [_key(key, schema) for key in query.get("group_by") or ()]
    if keys:
        steps.append(f"group_by({', '.join(keys)})")
        names += _called(keys)
    if query.get("listing"):
        steps.append("keys()")
    outputs = []
    for name, entry in query["outputs"].items():
        call, text = _call(entry)
        names.append(call)
        outputs.append(f"{name}={text}")
    if outputs:
        steps.append(f"agg({', '.join(outputs)})")
        if len(steps[-1]) > _NARROW:
            steps[-1] = "agg(\n        " + ",\n        ".join(outputs) + ",\n    )"
    return steps, names


def _called(keys: Sequence[str]) -> list[str]:
    """The functions that keys are written with."""
    return [call for call in ("bins", "discover", "key") if any(key.startswith(f"{call}(") for key in keys)]


def _key(key: Any, schema: Schema | None) -> str:
    if not isinstance(key, Mapping):
        return _python(key)
    if not set(key) <= {"column", "edges", "values", "discover", "name"} or (key.get("name") and key.get("edges")):
        raise ValueError
    column = _python(key["column"])
    if key.get("discover"):
        return f"discover({column})"
    if edges := key.get("edges"):
        if width := _width(key, schema):
            return f"bins({column}, width={width})"
        return f"bins({column}, [{', '.join(_edge(edge) for edge in edges)}])"
    more = [_python(key["values"])] if key.get("values") is not None else []
    more += [f"name={_python(key['name'])}"] if key.get("name") else []
    return f"key({', '.join([column, *more])})" if more else column


def _width(key: Mapping[str, Any], schema: Schema | None) -> str:
    """How wide bins are that are all as wide and begin where the column does; nothing otherwise."""
    try:
        width = _edge(max(b - a for a, b in pairwise(map(Fraction, key["edges"]))))
        same = schema is not None and bins(key["column"], width=width).checked(schema).to_dict() == dict(key)
    except (DiscreetError, ValueError):
        return ""
    return width if same else ""


def _edge(edge: Any) -> str:
    try:
        number = Fraction(str(edge))
    except ValueError:
        return _python(edge)
    return str(number) if number.denominator == 1 else _python(float(number))


def _call(entry: Any) -> tuple[str, str]:
    """The call that makes an output, and the name of its function: only if it makes the same one."""
    wanted = output_from(entry)
    of = {one.name: one for one in functions()}[entry["of"]].call.partition("(")[0]
    rest = {name: value for name, value in entry.items() if name != "of" and value != _USUAL.get(name)}
    first = [rest.pop(name) for name in ("column", "other") if name in rest]
    if of == "quantile":
        rank = Fraction(str(rest.pop("q")))
        of, first = ("median", first) if 2 * rank == 1 else (of, [*first, float(rank)])
    if _CALLS[of](*first, **rest) != wanted:
        raise ValueError
    inside = [*map(_python, first), *(f"{name}={_python(value)}" for name, value in rest.items())]
    return of, f"{of}({', '.join(inside)})"


def _python(value: Any) -> str:
    """A value as Python writes it, texts in double quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    if isinstance(value, str) and '"' not in value and "\\" not in value and value.isprintable():
        return f'"{value}"'
    return repr(value)
