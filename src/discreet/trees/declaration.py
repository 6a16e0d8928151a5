"""Public facts as people write them: by code of a region and label of a cell, in a TOML or JSON file.

    by = "Statistics Act, section 3"                  # who declared it public, where a rule does not say

    [totals]
    all = 1052567
    county = { file = "totals.csv", by = "Register of residents" }

    [upper]
    county = { regions = { "44001" = 0 } }

    [[zeros]]
    cells = { sex = "male", births = "1" }
    by = "by definition"

Rules read in this way are plain values; `resolve_rules` makes arrays of them once regions and cells are known.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InputError, Phrase, kind_of
from discreet.trees.geography import public_table
from discreet.trees.rules import NO_BOUND, Rules, whole_numbers
from discreet.trees.tree import Hierarchy

__all__ = ["FIELDS", "load_rules", "read_rules", "resolve_rules"]

FIELDS = ("lower", "upper", "totals", "weights")
"""What is said by level."""
_DEFAULTS = {"lower": 0, "upper": NO_BOUND, "totals": -1, "weights": 1}
_KEYS = ("value", "regions", "file", "by")
Labels = Sequence[tuple[str, Sequence[Any]]]


def load_rules(path: str) -> Any:
    """Rules from a TOML or JSON file, as plain values: tables that it names are read too."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError:
        raise InputError("rules", path, "a TOML or JSON file that exists") from None
    except UnicodeDecodeError:
        raise InputError("rules", path, "a text file in UTF-8") from None
    return read_rules(text, file.parent)


def read_rules(text: str, folder: Path | None = None) -> Any:
    """Rules as plain values, from the text of a TOML or JSON file; without a folder no file may be named."""
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except ValueError as problem:
        allowed = 'TOML or JSON: [totals] all = 5000, or {"totals": {"all": 5000}}'
        raise InputError("rules", Phrase(str(problem)[:80]), allowed) from None
    if unknown := [name for name in found if name not in (*FIELDS, "zeros", "by", "covariate")]:
        raise InputError.unknown(f"rules.{unknown[0]}", [*FIELDS, "zeros", "by"])
    usual = found.get("by", "")
    sources: dict[str, str] = {"": usual} if isinstance(usual, str) and usual else {}
    sources |= dict(usual) if isinstance(usual, Mapping) else {}
    plain: dict[str, Any] = {}
    for field in FIELDS:
        if field in found and not isinstance(found[field], Mapping):
            raise InputError(f"rules.{field}", kind_of(found[field]), "a number, or more, for each level")
        for level, rule in found.get(field, {}).items():
            name = f"{field}.{level}"
            if isinstance(rule, Mapping) and rule and set(rule) <= set(_KEYS):
                if "by" in rule:
                    sources[name] = rule["by"]
                rule = _said(rule, name, folder)
            plain.setdefault(field, {})[level] = rule
    zeros = found.get("zeros", [])
    if not isinstance(zeros, list) or not all(isinstance(one, Mapping) for one in zeros):
        raise InputError("rules.zeros", kind_of(zeros), 'a list of cells: [{"cells": {"sex": "male"}}]')
    for place, one in enumerate(zeros):
        cells = one.get("cells", one) if isinstance(one.get("cells", one), Mapping) else None
        if not cells:
            raise InputError(f"rules.zeros.{place}", one, 'the labels of a cell: {"cells": {"sex": "male"}}')
        plain.setdefault("zeros", []).append(dict(cells))
        if cells is not one and "by" in one:
            sources[f"zeros.{place}"] = one["by"]
    if "covariate" in found:
        plain["covariate"] = found["covariate"]
    return {**plain, "by": sources} if sources else plain


def _said(rule: Mapping[str, Any], name: str, folder: Path | None) -> Any:
    ways = [way for way in ("value", "regions", "file") if way in rule]
    if len(ways) != 1:
        raise InputError(f"rules.{name}", dict(rule), "exactly one of value, regions and file, and by")
    if ways[0] != "file":
        return rule[ways[0]]
    if folder is None or not isinstance(rule["file"], str):
        raise InputError(f"rules.{name}", rule["file"], "numbers: files are read on the command line only")
    table = public_table(folder / rule["file"], f"rules.{name}")
    if len(table) < 2:
        raise InputError(f"rules.{name}", rule["file"], "a table of two columns: codes of regions, and numbers")
    codes, *_, numbers = table.values()
    return {str(code): _number(number, f"rules.{name}.{code}") for code, number in zip(codes, numbers, strict=True)}


def _number(text: Any, name: str) -> int:
    try:
        return int(text)
    except (TypeError, ValueError):
        raise InputError(name, text, "a whole number") from None


def resolve_rules(rules: Rules, tree: Hierarchy, labels: Labels) -> Rules:
    """The same with arrays in place of codes and labels."""
    if not isinstance(rules.by, Mapping) or not all(isinstance(one, str) for one in rules.by.values()):
        raise InputError("rules.by", rules.by, 'who declared what public: {"totals.all": "Statistics Act"}')
    if not rules.declared and (wrong := [name for name in rules.by if name not in ("", *_named(rules))]):
        raise InputError.unknown(f"rules.by.{wrong[0]}", _named(rules))
    found: dict[str, dict[str, Any]] = {}
    for field in FIELDS:
        given = getattr(rules, field)
        if not isinstance(given, Mapping):
            raise InputError(f"rules.{field}", kind_of(given), "numbers by level: {level: numbers}")
        found[field] = {
            level: _by_code(numbers, tree, tree.level(level, f"rules.{field}"), field)
            if isinstance(numbers, Mapping)
            else numbers
            for level, numbers in given.items()
        }
    if rules.zeros:
        cells = int(np.prod([len(values) for _, values in labels]))
        last = tree.names[-1]
        given = found["upper"].get(last, NO_BOUND)
        upper = whole_numbers(given, (tree.leaves, cells), f"rules.upper.{last}")
        for place, one in enumerate(rules.zeros):
            upper[:, _cells(one, labels, f"rules.zeros.{place}")] = 0
        found["upper"][last] = upper
    return replace(rules, **found, declared=rules.declared or tuple(_declared(rules)))  # type: ignore[arg-type]


def _by_code(numbers: Mapping[str, Any], tree: Hierarchy, level: int, field: str) -> Any:
    name = f"rules.{field}.{tree.names[level]}"
    place = {code: index for index, code in enumerate(tree.codes[level])}
    if unknown := [code for code in numbers if code not in place]:
        raise InputError.unknown(f"{name}.{unknown[0]}", list(place)[:1000])
    found: list[Any] = [_DEFAULTS[field]] * len(place)
    for code, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise InputError(f"{name}.{code}", number, "a whole number")
        found[place[code]] = int(number)
    return np.array(found, np.int64) if field == "totals" else np.array(found, np.int64)[:, None]


def _cells(one: Any, labels: Labels, name: str) -> Any:
    """Which cells have the labels named: all others of a cell are free."""
    if not isinstance(one, Mapping) or not one:
        raise InputError(name, one, 'labels of a cell by column: {"sex": "male"}')
    known = dict(labels)
    if not known:
        raise InputError(name, dict(one), "left out unless `by` names the columns that tell cells apart")
    if unknown := [column for column in one if column not in known]:
        raise InputError.unknown(f"{name}.{unknown[0]}", list(known))
    inside = np.ones(1, bool)
    for column, values in labels:
        texts = [str(value) for value in values]
        if column in one and str(one[column]) not in texts:
            raise InputError(f"{name}.{column}", one[column], among=texts)
        here = np.array([column not in one or text == str(one[column]) for text in texts])
        inside = (inside[:, None] & here[None, :]).ravel()
    return np.flatnonzero(inside)


def _named(rules: Rules) -> list[str]:
    """What `by` calls each rule."""
    named = [f"{field}.{level}" for field in FIELDS for level in getattr(rules, field)]
    named += [f"zeros.{place}" for place in range(len(rules.zeros))]
    return named if rules.covariate is None else [*named, "covariate"]


def _declared(rules: Rules) -> list[str]:
    """A sentence for every rule: what it is about, and who declared it public."""
    words = {"lower": "Lower bounds", "upper": "Upper bounds", "totals": "Totals", "weights": "Weights"}
    lines = []
    for name in _named(rules):
        field, _, level = name.partition(".")
        match field:
            case "zeros":
                cells = ", ".join(f"{column} {label}" for column, label in rules.zeros[int(level)].items())
                what = f"No one in {cells}"
            case "covariate":
                what = "Covariate of the leaf regions (binds nothing: how much it says is learned)"
            case _:
                what = f"{words[field]} of {level}"
        who = rules.by.get(name, rules.by.get("", ""))
        lines.append(f"{what}: declared public by {who}." if who else f"{what}: declared public; by whom is not said.")
    return lines
