"""A question read from its entry in a survey's file; what is wrong with it is said by its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.core.exact import as_written
from discreet.errors import MISSING, InputError, Phrase, kind_of
from discreet.local.duchi import Duchi
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.longitudinal import Longitudinal
from discreet.local.mean import Mean
from discreet.local.olh import OLH
from discreet.local.piecewise import Piecewise
from discreet.local.planner import best
from discreet.local.protocol import Oracle
from discreet.local.questionnaire.form import Ranking, Scale, Several
from discreet.local.questionnaire.grid import Grid
from discreet.local.questionnaire.question import Kind, Question
from discreet.local.ratio import read_epsilon
from discreet.local.sampled import Sampled, few_or_many
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE

__all__ = ["LETTERS", "question_from"]

_CHOICES: dict[str, type[Oracle]] = {
    "grr": GRR,
    "oue": OUE,
    "sue": SUE,
    "subset": Subset,
    "olh": OLH,
    "hadamard": Hadamard,
}
_MEANS: dict[str, type[Duchi | Piecewise]] = {"duchi": Duchi, "piecewise": Piecewise}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_SHORT: tuple[type[Oracle], ...] = (OLH, Hadamard)  # numbers, however many options there are
_MARKED = 500  # options of a question whose reports have a mark for each
_MOST = 10_000
_ALL = ("name", "text", "kind", "epsilon", "mechanism")
_FIELDS = {
    "binary": (*_ALL, "options", "coin", "instant"),
    "choice": (*_ALL, "options", "coin", "instant"),
    "number": (*_ALL, "low", "high", "step", "unit"),
    "several": (*_ALL[:-1], "options"),
    "ranking": (*_ALL[:-1], "options"),
    "distribution": (*_ALL[:-1], "low", "high", "step", "unit", "ranges"),
    "word": (*_ALL[:-1], "length", "letters"),
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LENGTH = 8
_SEVERAL = 100
_RANKED = 12


def question_from(entry: object, place: str) -> Question:
    """A question from its entry in a survey's file; `place` says which one in errors."""
    if not isinstance(entry, Mapping):
        raise InputError(place, kind_of(entry), "a table: [[questions]]")
    kind = entry.get("kind")
    if kind not in _FIELDS:
        raise InputError(f"{place}.kind", kind, among=_FIELDS)
    if "instant" in entry and "instant" not in _FIELDS[kind]:
        hint = "Only binary and choice can be asked in rounds. For a number, offer its ranges as options."
        raise InputError(
            f"{place}.instant", Phrase(f"one of kind {kind}"), "given for a binary question or a choice", hint
        )
    if unknown := set(entry) - set(_FIELDS[kind]):
        raise InputError.unknown(f"{place}.{min(map(str, unknown))}", _FIELDS[kind])
    name, text = entry.get("name"), entry.get("text")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{place}.name", name, "a letter followed by up to 39 letters, digits and _, such as 'pills'")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}.text", text, "the question as people read it")
    if "coin" in entry:
        return _with_coin(entry, name, text.strip(), place)
    if "epsilon" not in entry:
        raise InputError(f"{place}.epsilon", MISSING, "a number such as 1: how much the answer may reveal")
    epsilon, how = read_epsilon(entry["epsilon"], f"{place}.epsilon"), entry.get("mechanism", "auto")
    if kind == "word":
        return Question(name, text.strip(), "word", _words(entry, epsilon, place))
    if kind in ("several", "ranking", "distribution"):
        return _of_parts(entry, kind, name, text.strip(), epsilon, place)
    if kind == "number":
        grid, unit = _grid(entry, place), entry.get("unit", "")
        if not isinstance(unit, str):
            raise InputError(f"{place}.unit", unit, "a word, such as 'hours'")
        mean = _mean(how, grid, epsilon, f"{place}.mechanism")
        return Question(name, text.strip(), "number", mean, grid=grid, unit=unit.strip())
    options = _options(entry.get("options", ["Yes", "No"] if kind == "binary" else None), kind, f"{place}.options")
    of: Kind = "binary" if kind == "binary" else "choice"
    if "instant" in entry:
        law = _longitudinal(entry, len(options), epsilon, place)
        return Question(name, text.strip(), of, law.each, options, repeated=law)
    oracle = _oracle(how, len(options), epsilon, f"{place}.mechanism")
    return Question(name, text.strip(), of, oracle, options)


def _words(entry: Mapping[str, Any], epsilon: Fraction, place: str) -> HeavyHitters:
    """What a typed word may be made of, and how long it may be."""
    letters, length = entry.get("letters", LETTERS), entry.get("length", _LENGTH)
    allowed = f"different letters that can be typed, in one text, such as {LETTERS!r}"
    if not isinstance(letters, str) or not letters or len(set(letters)) < len(letters) or letters.strip() == "":
        raise InputError(f"{place}.letters", letters, allowed)
    if not letters.isprintable() or unicodedata.normalize("NFC", letters) != letters:
        raise InputError(f"{place}.letters", letters, allowed)
    longest = 64 // len(letters).bit_length()
    if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= longest:
        hint = "Of a longer word people type its first letters. Fewer are found more surely."
        raise InputError(f"{place}.length", length, f"a whole number from 1 to {longest} with these letters", hint)
    return HeavyHitters(epsilon, length, letters)


def _longitudinal(entry: Mapping[str, Any], size: int, epsilon: Fraction, place: str) -> Longitudinal:
    """What a device remembers of a question that is asked in rounds, and what it draws for each."""
    if (how := entry.get("mechanism", "auto")) not in ("auto", "grr"):
        raise InputError(f"{place}.mechanism", how, "auto or grr beside an instant epsilon")
    return Longitudinal(size, epsilon, read_epsilon(entry["instant"], f"{place}.instant"))


def _of_parts(entry: Mapping[str, Any], kind: Kind, name: str, text: str, epsilon: Fraction, place: str) -> Question:
    """A question whose answer has several parts, of which one is told."""
    if kind == "distribution":
        grid, unit = _grid(entry, place), entry.get("unit", "")
        if not isinstance(unit, str):
            raise InputError(f"{place}.unit", unit, "a word, such as 'hours'")
        scale = Scale(grid, _edges(entry.get("ranges"), grid, f"{place}.ranges"))
        levels = Sampled([few_or_many(size, epsilon) for size in scale.sizes])
        return Question(name, text, kind, levels, grid=grid, unit=unit.strip(), form=scale)
    options = _options(entry.get("options"), kind, f"{place}.options")
    if kind == "ranking" and len(options) > _RANKED:
        raise InputError(f"{place}.options", Phrase(f"{len(options)} of them"), f"at most {_RANKED} to put in order")
    form: Several | Ranking = Several(options) if kind == "several" else Ranking(options)
    told = Sampled([GRR(size, epsilon) for size in form.sizes])
    return Question(name, text, kind, told, options, form=form)


def _edges(given: object, grid: Grid, place: str) -> tuple[int, ...]:
    """Where the ranges that are shown begin, and the end of the last: places on the grid."""
    if given is None:
        step = max(1, round(grid.points / 5))
        return (*range(0, grid.points - step // 2, step), grid.points)
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(place, given, "a list of numbers at which ranges begin, such as [0, 5, 8]")
    begins = []
    for start in given:
        try:
            begins.append(grid.index(start))
        except InputError:
            raise InputError(place, given, f"a list of numbers, each {grid.words()}") from None
    if begins != sorted(set(begins)) or not begins or begins[0] != 0:
        raise InputError(place, given, f"numbers that grow, the first of them {grid.text(0)}")
    return (*begins, grid.points)


def _with_coin(entry: Mapping[str, Any], name: str, text: str, place: str) -> Question:
    """A question that is answered truthfully if a coin says so, with chance `coin`, and else with any answer."""
    for other in ("epsilon", "mechanism", "instant"):
        if other in entry:
            hint = "A coin of 1/2 and two answers is epsilon = ln 3."
            raise InputError(f"{place}.{other}", entry[other], "left out beside a coin, which decides it", hint)
    kind: Kind = "binary" if entry["kind"] == "binary" else "choice"
    options = _options(entry.get("options", ["Yes", "No"] if kind == "binary" else None), kind, f"{place}.options")
    chance = as_written(entry["coin"], f"{place}.coin")
    if not 0 < chance < 1:
        raise InputError(
            f"{place}.coin", entry["coin"], "between 0 and 1: the chance of telling the truth", "Such as 0.5."
        )
    return Question(name, text, kind, GRR.coin(chance, len(options)), options)


def _grid(entry: Mapping[str, Any], place: str) -> Grid:
    for name in ("low", "high", "step"):
        if name not in entry:
            raise InputError(f"{place}.{name}", MISSING, "a number")
    return Grid.between(entry["low"], entry["high"], entry["step"], f"{place}.")


def _options(given: object, kind: str, place: str) -> tuple[str, ...]:
    most = {"binary": 2, "several": _SEVERAL}.get(kind, _MOST)
    allowed = "two labels" if kind == "binary" else f"a list of 2 to {most:,} labels"
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(place, given, allowed)
    labels = [label.strip() for label in given if isinstance(label, str) and label.strip()]
    if len(labels) < len(given) or not 2 <= len(labels) <= most:
        raise InputError(place, given, allowed)
    if len(set(labels)) < len(labels):
        raise InputError(place, given, "labels that are all different")
    return tuple(labels)


def _oracle(name: object, size: int, epsilon: Fraction, place: str) -> Oracle:
    if name == "auto":
        # Of few options, what version 0.1 took: another mechanism would make another survey of one that is stored.
        able = {name for name, kind in _CHOICES.items() if (kind in _SHORT) == (size > _MARKED)}
        chosen = best(size, epsilon, n=1000)  # more people do not change the order
        if chosen.mechanism.kind in able:
            return chosen.mechanism
        return min(
            (one for one in chosen.candidates if one.mechanism.kind in able), key=lambda one: (one.error, one.bits)
        ).mechanism
    if not isinstance(name, str) or name not in _CHOICES:
        raise InputError(place, name, among=("auto", *_CHOICES))
    if size > _MARKED and _CHOICES[name] not in (GRR, *_SHORT):
        raise InputError(place, name, f"auto, grr, olh or hadamard for more than {_MARKED} options")
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
