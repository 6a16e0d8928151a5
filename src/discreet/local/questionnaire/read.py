"""Questions read from a survey's file: nothing is guessed, and what is wrong is said by its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import MISSING, InputError, kind_of
from discreet.local.best import best
from discreet.local.duchi import Duchi
from discreet.local.grr import GRR
from discreet.local.mean import Mean
from discreet.local.piecewise import Piecewise
from discreet.local.protocol import Oracle
from discreet.local.questionnaire.grid import Grid
from discreet.local.questionnaire.question import Question
from discreet.local.ratio import read_epsilon
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE

__all__ = ["question_from"]

_CHOICES: dict[str, type[GRR | OUE | SUE | Subset]] = {"grr": GRR, "oue": OUE, "sue": SUE, "subset": Subset}
_MEANS: dict[str, type[Duchi | Piecewise]] = {"duchi": Duchi, "piecewise": Piecewise}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_MOST = 500
_ALL = ("name", "text", "kind", "epsilon", "mechanism")
_FIELDS = {
    "binary": (*_ALL, "options"),
    "choice": (*_ALL, "options"),
    "number": (*_ALL, "low", "high", "step", "unit"),
}


def question_from(entry: object, place: str) -> Question:
    """A question from its entry in a survey's file; `place` says which one in errors."""
    if not isinstance(entry, Mapping):
        raise InputError(place, kind_of(entry), "a table: [[questions]]")
    kind = entry.get("kind")
    if kind not in _FIELDS:
        raise InputError(f"{place}.kind", kind, among=_FIELDS)
    if unknown := set(entry) - set(_FIELDS[kind]):
        raise InputError.unknown(f"{place}.{min(map(str, unknown))}", _FIELDS[kind])
    name, text = entry.get("name"), entry.get("text")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{place}.name", name, "a letter followed by up to 39 letters, digits and _, such as 'pills'")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}.text", text, "the question as people read it")
    if "epsilon" not in entry:
        raise InputError(f"{place}.epsilon", MISSING, "a number such as 1: how much the answer may reveal")
    epsilon, how = read_epsilon(entry["epsilon"], f"{place}.epsilon"), entry.get("mechanism", "auto")
    if kind == "number":
        grid, unit = _grid(entry, place), entry.get("unit", "")
        if not isinstance(unit, str):
            raise InputError(f"{place}.unit", unit, "a word, such as 'hours'")
        mean = _mean(how, grid, epsilon, f"{place}.mechanism")
        return Question(name, text.strip(), "number", mean, grid=grid, unit=unit.strip())
    options = _options(entry.get("options", ["Yes", "No"] if kind == "binary" else None), kind, f"{place}.options")
    oracle = _oracle(how, len(options), epsilon, f"{place}.mechanism")
    return Question(name, text.strip(), "binary" if kind == "binary" else "choice", oracle, options)


def _grid(entry: Mapping[str, Any], place: str) -> Grid:
    for name in ("low", "high", "step"):
        if name not in entry:
            raise InputError(f"{place}.{name}", MISSING, "a number")
    return Grid.between(entry["low"], entry["high"], entry["step"], f"{place}.")


def _options(given: object, kind: str, place: str) -> tuple[str, ...]:
    allowed = "two labels" if kind == "binary" else f"a list of 2 to {_MOST} labels"
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(place, given, allowed)
    labels = [label.strip() for label in given if isinstance(label, str) and label.strip()]
    if len(labels) < len(given) or not 2 <= len(labels) <= (2 if kind == "binary" else _MOST):
        raise InputError(place, given, allowed)
    if len(set(labels)) < len(labels):
        raise InputError(place, given, "labels that are all different")
    return tuple(labels)


def _oracle(name: object, size: int, epsilon: Fraction, place: str) -> Oracle:
    if name == "auto":
        chosen = best(size, epsilon, n=1000)  # more people do not change the order
        if chosen.mechanism.kind in _CHOICES:
            return chosen.mechanism
        carried = [one for one in chosen.candidates if one.mechanism.kind in _CHOICES]
        return min(carried, key=lambda one: (one.error, one.bits)).mechanism
    if not isinstance(name, str) or name not in _CHOICES:
        raise InputError(place, name, among=("auto", *_CHOICES))
    return _CHOICES[name](size, epsilon)


def _mean(name: object, grid: Grid, epsilon: Fraction, place: str) -> Mean:
    # The mechanism's lattice has a middle: a grid with an even number of points is every other one of its points.
    steps = (grid.points - 1) // 2 if grid.points % 2 else grid.points - 1
    if name == "auto":
        return min((kind(epsilon, grid.low, grid.high, steps=steps) for kind in _MEANS.values()), key=_worst)
    if not isinstance(name, str) or name not in _MEANS:
        raise InputError(place, name, among=("auto", *_MEANS))
    return _MEANS[name](epsilon, grid.low, grid.high, steps=steps)


def _worst(mechanism: Mean) -> float:
    return mechanism.variance(1)
