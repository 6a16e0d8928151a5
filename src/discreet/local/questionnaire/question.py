"""One question of a survey: what can be answered, and the law by which the answer is randomised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from discreet.accounting.posterior import posterior
from discreet.accounting.words import percent
from discreet.core.exact import Number
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.local.duchi import Duchi
from discreet.local.grr import GRR
from discreet.local.mean import Mean
from discreet.local.piecewise import Piecewise
from discreet.local.protocol import Oracle
from discreet.local.questionnaire.grid import Grid, written
from discreet.local.questionnaire.law import Choice, Law, Marks, Near, Sets, Table
from discreet.local.subset import Subset
from discreet.local.tally import Tally
from discreet.local.unary import OUE, SUE
from discreet.noise.bits import SystemBits

__all__ = ["Kind", "Question"]

Kind = Literal["binary", "choice", "number"]


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
            return int(self.mechanism.scrambled(point, bits if bits is not None else SystemBits())[0])
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
