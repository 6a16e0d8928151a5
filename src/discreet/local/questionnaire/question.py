"""One question of a survey: what can be answered, the law by which it is randomised, and how it is read from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from discreet.accounting.posterior import posterior
from discreet.accounting.words import percent
from discreet.core.exact import Number, as_written
from discreet.core.mechanism import Bits
from discreet.errors import MISSING, InputError, Phrase, kind_of
from discreet.local.duchi import Duchi
from discreet.local.estimate import Tally
from discreet.local.grr import GRR
from discreet.local.mean import Mean
from discreet.local.piecewise import Piecewise
from discreet.local.planner import best
from discreet.local.protocol import Oracle
from discreet.local.questionnaire.grid import Grid, written
from discreet.local.questionnaire.law import Choice, Law, Marks, Near, Sets, Table
from discreet.local.ratio import read_epsilon
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE
from discreet.noise.bits import SystemBits

__all__ = ["Kind", "Question", "question_from"]

Kind = Literal["binary", "choice", "number"]
_CHOICES: dict[str, type[GRR | OUE | SUE | Subset]] = {"grr": GRR, "oue": OUE, "sue": SUE, "subset": Subset}
_MEANS: dict[str, type[Duchi | Piecewise]] = {"duchi": Duchi, "piecewise": Piecewise}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_MOST = 500
_ALL = ("name", "text", "kind", "epsilon", "mechanism")
_FIELDS = {
    "binary": (*_ALL, "options", "coin"),
    "choice": (*_ALL, "options", "coin"),
    "number": (*_ALL, "low", "high", "step", "unit"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, what can be answered, and how the answer is randomised.

    The answer is one of the `options`, or a number on the `grid`.

    Guarantee
        The report is `epsilon`-differentially private in the answer; neighbours have another answer.
        Proof: docs/proofs/survey.md.
    """

    name: str
    text: str
    kind: Kind
    mechanism: Oracle | Mean
    options: tuple[str, ...] = ()
    grid: Grid | None = None
    unit: str = ""

    @property
    def epsilon(self) -> Fraction:
        """What the answer costs."""
        return self.mechanism.spent

    @property
    def law(self) -> Law:
        """What is sent, with which probability."""
        return _law(self.mechanism, self.grid)

    def to_dict(self) -> dict[str, Any]:
        """Everything that decides what a report means."""
        more: dict[str, Any] = {"options": list(self.options)}
        if self.grid is not None:
            ends = {"low": str(self.grid.low), "step": str(self.grid.step), "points": self.grid.points}
            more = {**ends, "unit": self.unit}
        plain = {"name": self.name, "text": self.text, "kind": self.kind}
        return {**plain, **more, "mechanism": self.mechanism.to_dict()}

    def example(self, number: int) -> Any:
        """One of the possible answers, in turn."""
        return (
            self.options[number % len(self.options)] if self.grid is None else self.grid.text(number % self.grid.points)
        )

    # reports: as the page writes them (an int, or a string of 0s and 1s) and as the mechanism does (packed bytes)

    def privatize(self, answer: Any, *, bits: Bits | None = None) -> Any:
        """What is sent instead of a true answer: one of the options, or a number of the grid."""
        if isinstance(self.mechanism, Mean):
            if self.grid is None:
                raise InputError(self.name, Phrase("no grid"), "a number on a grid")
            point = np.array([_point(self.mechanism, self.grid, self.grid.index(answer))])
            return int(self.mechanism.randomize(point, bits if bits is not None else SystemBits())[0])
        if answer not in self.options:
            raise InputError(self.name, Phrase("another answer"), among=self.options)
        made = self.mechanism.privatize(self.options.index(answer), bits=bits)
        if isinstance(made, int):
            return made
        unpacked = np.unpackbits(np.frombuffer(made, dtype=np.uint8))[: len(self.options)]
        return "".join(map(str, unpacked))

    def tally(self, reports: Mapping[Any, int]) -> Tally:
        """Reports, and how often each came, added up."""
        seen, times = list(reports), list(reports.values())
        if isinstance(self.mechanism, (OUE, SUE, Subset)):
            marks = np.array([list(map(int, one)) for one in seen], dtype=np.uint8).reshape(len(seen), -1)
            return self.mechanism.tally(np.packbits(marks, axis=1), times)
        return self.mechanism.tally(seen, times)

    # words

    def reveals(self, prior: Number) -> str:
        """What the answer can reveal, in one line, from exact numbers."""
        first, even = posterior(prior, self.epsilon), posterior(Fraction(1, 2), self.epsilon)
        return (
            f"About your true answer: someone who thought {percent(first.prior)} before this answer was sent will "
            f"think at most {percent(first.high, direction='up')} after; someone who thought 50%, at most "
            f"{percent(even.high, direction='up')}."
        )

    def report_labels(self) -> list[str]:
        """What a report says, by its number."""
        match self.mechanism:
            case Duchi():
                return ["Low", "High"]
            case Piecewise() if self.grid is not None:
                stride = _stride(self.mechanism, self.grid)
                first = -self.mechanism.reach
                every = (self.grid.low + (first + r) * self.grid.step / stride for r in range(self.mechanism.reports))
                return [f"{written(value)} {self.unit}".strip() for value in every]
        return list(self.options)

    def chance(self) -> str:
        """How chance decides, in one line."""
        match self.law:
            case Choice(values, own):
                rest = "the other one" if values == 2 else "each other answer"
                wrong = percent((1 - own) / (values - 1))
                return f"Your true answer is sent with probability {percent(own)}, {rest} with {wrong}."
            case Marks(_, own, other):
                return (
                    f"A list of marks is sent: your answer is marked with probability {percent(own)}, "
                    f"every other one with {percent(other)}."
                )
            case Sets(_, size, own):
                return f"A list of {size} marked answers is sent: yours is among them with probability {percent(own)}."
            case Near(_, stride, width, _, own) if self.grid is not None:
                away = written(self.grid.step * Fraction(width // 2, stride))
                return f"A number is sent: at most {away} from yours with probability {percent(own)}, else any other."
            case Table(rows):
                least, most = percent(rows[0][1]), percent(rows[-1][1])
                return (
                    f"One word is sent, Low or High: High with probability {least} for the lowest number and "
                    f"{most} for the highest."
                )
        raise InputError("mechanism", self.mechanism.kind, "one that a page can carry")

    def number(self, value: float) -> str:
        """A value that was estimated, as people read it."""
        if self.grid is None:
            text = f"{100 * value:.1f}".removesuffix(".0") + "%"
        else:
            digits = len(written(self.grid.step).partition(".")[2]) + 1
            text = f"{value:,.{digits}f}".rstrip("0").rstrip(".")
        return "0" + text[2:] if text in ("-0", "-0%") else text.replace("-", "\u2212")


@lru_cache(maxsize=256)
def _law(mechanism: Oracle | Mean, grid: Grid | None) -> Law:
    match mechanism:
        case GRR():
            return Choice(mechanism.categories, mechanism.hit)
        case OUE() | SUE():
            return Marks(mechanism.categories, mechanism.hit, mechanism.miss)
        case Subset():
            return Sets(mechanism.categories, mechanism.size, mechanism.hit)
        case Duchi() if grid is not None:
            laws = [mechanism.point_law(_point(mechanism, grid, place)) for place in range(grid.points)]
            return Table(tuple((chances[0], chances[1]) for chances in laws))
        case Piecewise() if grid is not None:
            width, count = 2 * mechanism.reach + 1, mechanism.reports
            weight = mechanism.ratio * width
            return Near(grid.points, _stride(mechanism, grid), width, count, weight / (weight + count - width))
    raise InputError("mechanism", mechanism.kind, "one that a page can carry")


def _stride(mechanism: Mean, grid: Grid) -> int:
    """The mechanism's lattice has a middle, so it is twice as fine as a grid of an even number of points."""
    return 2 * mechanism.steps // (grid.points - 1)


def _point(mechanism: Mean, grid: Grid, place: int) -> int:
    """The lattice point of a place on the grid."""
    return place * _stride(mechanism, grid) - mechanism.steps


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
    if "coin" in entry:
        return _with_coin(entry, name, text.strip(), place)
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


def _with_coin(entry: Mapping[str, Any], name: str, text: str, place: str) -> Question:
    """A question that is answered truthfully if a coin says so, with chance `coin`, and else with any answer."""
    for other in ("epsilon", "mechanism"):
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
