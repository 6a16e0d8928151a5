"""One question of a survey: what can be answered, and the law by which it is randomised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from discreet.local.estimate import Estimate, Tally
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.longitudinal import Longitudinal
from discreet.local.mean import Mean, MeanEstimate
from discreet.local.olh import OLH
from discreet.local.piecewise import Piecewise
from discreet.local.protocol import Oracle
from discreet.local.questionnaire.form import Form
from discreet.local.questionnaire.grid import Grid, written
from discreet.local.questionnaire.law import Choice, Hashed, Law, Marks, Near, Parts, Rows, Sets, Table
from discreet.local.questionnaire.prefixes import Prefixes
from discreet.local.questionnaire.words import law_of_words, randomise_word, read_word
from discreet.local.sampled import LinearEstimate, Sampled
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE
from discreet.noise.bits import SystemBits

__all__ = ["Kind", "Question", "check_options", "pack"]

Kind = Literal["binary", "choice", "number", "several", "ranking", "distribution", "word"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, what can be answered, and how the answer is randomised.

    The answer is one of the `options`, or a number on the `grid`; or it has several parts, as the `form` says; or it is
    a word that is typed, whose letters the mechanism knows.

    Guarantee
        The report is `epsilon`-differentially private in the answer; neighbours have another answer.
        Proof: docs/proofs/survey.md.
    """

    name: str
    text: str
    kind: Kind
    mechanism: Oracle | Mean | Sampled | HeavyHitters
    options: tuple[str, ...] = ()
    grid: Grid | None = None
    unit: str = ""
    form: Form | None = None
    repeated: Longitudinal | None = None
    """In a survey of several rounds: what the device remembers, and what it draws anew for each round."""

    @property
    def epsilon(self) -> Fraction:
        """What the answer costs; in a survey of several rounds, one report alone."""
        return self.mechanism.spent

    @property
    def law(self) -> Law:
        """What is sent, with which probability."""
        return _law(self.mechanism, self.grid)

    @property
    def estimand(self) -> Literal["share", "mean", "place"]:
        """What is estimated: shares, a mean in the question's own units, or mean places in an order."""
        return "mean" if isinstance(self.mechanism, Mean) else "place" if self.kind == "ranking" else "share"

    @property
    def whole(self) -> bool:
        """Whether every report is about the whole answer, so that it can be put together with another one."""
        return isinstance(self.mechanism, (Oracle, Mean))

    @property
    def labels(self) -> tuple[str, ...]:
        """What is estimated: the mean, the share of the first of two answers, or the share of each.

        Of words none is known beforehand.
        """
        if self.form is not None:
            return self.form.labels
        if self.grid is not None:
            return ("mean",)
        return self.options[:1] if self.kind == "binary" else self.options

    def to_dict(self) -> dict[str, Any]:
        """Everything that decides what a report means."""
        more: dict[str, Any] = {"options": list(self.options)}
        if self.grid is not None:
            ends = {"low": str(self.grid.low), "step": str(self.grid.step), "points": self.grid.points}
            more = {**ends, "unit": self.unit}
        plain = {"name": self.name, "text": self.text, "kind": self.kind}
        again = {} if self.repeated is None else {"repeated": self.repeated.to_dict()}
        return {**plain, **more, "mechanism": self.mechanism.to_dict(), **again}

    def example(self, number: int) -> Any:
        """One of the possible answers, in turn."""
        if self.form is not None:
            return self.form.example(number)
        if isinstance(self.mechanism, HeavyHitters):
            return self.mechanism.alphabet[number % len(self.mechanism.alphabet)]
        return (
            self.options[number % len(self.options)] if self.grid is None else self.grid.text(number % self.grid.points)
        )

    # reports: as the page writes them (an int, or a string of 0s and 1s) and as the mechanism does (packed bytes)

    def privatize(self, answer: Any, *, bits: Bits | None = None) -> Any:
        """What is sent instead of a true answer: one of the options, a number of the grid, or a word."""
        if isinstance(self.mechanism, HeavyHitters):
            return randomise_word(self.mechanism, read_word(self.mechanism, answer, self.name), bits)
        if isinstance(self.mechanism, Sampled):
            codes = [] if self.form is None else self.form.encode(answer, self.name)
            part, report = self.mechanism.privatize(codes, bits=bits)
            return f"{part}:{_unpacked(report, self.mechanism.parts[part].categories)}"
        if isinstance(self.mechanism, Mean):
            if self.grid is None:
                raise InputError(self.name, Phrase("no grid"), "a number on a grid")
            point = np.array([_point(self.mechanism, self.grid, self.grid.index(answer))])
            return int(self.mechanism.randomize(point, bits if bits is not None else SystemBits())[0])
        if answer not in self.options:
            raise InputError(self.name, Phrase("another answer"), among=self.options)
        return _unpacked(self.mechanism.privatize(self.options.index(answer), bits=bits), len(self.options))

    def estimate(self, reports: Mapping[Any, int]) -> Estimate | MeanEstimate | LinearEstimate:
        """What reports say, from how often each came."""
        if isinstance(self.mechanism, (Oracle, Mean)):
            return self.mechanism.estimate(self.tally(reports))
        return self.estimate_sums(reports, self.sums())

    def estimate_sums(self, reports: Mapping[Any, int], sums: Sequence[Any]) -> LinearEstimate:
        """Sums over the parts of an answer that is told in parts, as `Sampled.estimate` takes them."""
        if not isinstance(self.mechanism, Sampled):
            raise InputError("question", self.name, "one whose answer has several parts")
        told, times = self.by_part(reports)
        packed = [pack(part, one) for part, one in zip(self.mechanism.parts, told, strict=True)]
        return self.mechanism.estimate(packed, times, sums)

    def by_part(self, reports: Mapping[Any, int]) -> tuple[list[list[Any]], list[list[int]]]:
        """The reports of each part of an answer, and how often each came."""
        many = len(self.mechanism.parts) if isinstance(self.mechanism, Sampled) else 0
        told: list[list[Any]] = [[] for _ in range(many)]
        times: list[list[int]] = [[] for _ in range(many)]
        for report, often in sorted(reports.items()):
            part, _, text = report.partition(":")
            told[int(part)].append(text)
            times[int(part)].append(often)
        return told, times

    def sums(self) -> list[Any]:
        """What is estimated of an answer of several parts, as weights of their values."""
        return [] if self.form is None or not isinstance(self.mechanism, Sampled) else self.form.sums(self.mechanism)

    def tally(self, reports: Mapping[Any, int]) -> Tally:
        """Reports, and how often each came, added up."""
        if isinstance(self.mechanism, (Sampled, HeavyHitters)):
            raise InputError("mechanism", self.mechanism.kind, "one that reports the whole answer")
        return self.mechanism.tally(self.packed(reports), list(reports.values()))

    def packed(self, reports: Iterable[Any]) -> Any:
        """Reports as the mechanism reads them."""
        return pack(self.mechanism, reports) if isinstance(self.mechanism, Oracle) else list(reports)

    # words

    def reveals(self, prior: Number) -> str:
        """What the answer can reveal, in one line, from exact numbers.

        Of several rounds: also to someone who has seen the earlier reports, whom the instant part alone holds up.
        """
        again = None if self.repeated is None else self.repeated.instant
        ratio = self.mechanism.ratio if again is None else again.ratio
        exact = f"ln({ratio})"  # of two coins ln 3, by which 50% become 75% and not a hair more
        first, even = posterior(prior, exact), posterior(Fraction(1, 2), exact)
        return (
            f"About your true answer: someone who thought {percent(first.prior)} before this answer was sent will "
            f"think at most {percent(first.high, direction='up')} after; someone who thought 50%, at most "
            f"{percent(even.high, direction='up')}."
        )

    def report_labels(self) -> list[Any]:
        """What a report says, by its number; of an answer of several parts, by part and number."""
        if self.form is not None:
            return list(self.form.report_labels())
        match self.mechanism:
            case Duchi():
                return ["Low", "High"]
            case OLH() | Hadamard() | HeavyHitters():
                return []
            case Piecewise() if self.grid is not None:
                stride = _stride(self.mechanism, self.grid)
                first = -self.mechanism.reach
                every = (self.grid.low + (first + r) * self.grid.step / stride for r in range(self.mechanism.reports))
                return [f"{written(value)} {self.unit}".strip() for value in every]
        return list(self.options)

    def chance(self) -> str:
        """How chance decides, in one line."""
        if self.repeated is not None and self.repeated.instant is not None:
            for_good, again = self.repeated.permanent, self.repeated.instant
            return (
                f"Chance picks once, on this device, what stands for each answer: the answer itself with probability "
                f"{percent(for_good.hit)}, else another one. Each round sends what stands for your answer with "
                f"probability {percent(again.hit)}, else another one."
            )
        if isinstance(self.mechanism, Sampled):
            many, truly = len(self.mechanism.parts), percent(self.mechanism.parts[0].hit)
            if self.kind == "distribution":
                return f"One of {many} levels of detail is picked by chance, and only that is reported, randomised."
            what = "One of the options" if self.kind == "several" else "The place of one option"
            return f"{what} is picked by chance, and only that is reported: truly with probability {truly}, else not."
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
            case Hashed(_, buckets, _, own):
                return (
                    f"Chance sorts all answers into {buckets} groups. The group of yours is sent with probability "
                    f"{percent(own)}, else another one."
                )
            case Rows(_, _, _, own):
                return (
                    "Chance picks a group of answers, about half of them. It is one that yours is in with probability "
                    f"{percent(own)}, else another one."
                )
            case Prefixes(length=length, own=own) as law:
                return (
                    f"Chance picks how many of the first letters count, 1 to {length}, and sorts all words into "
                    f"{law.buckets} groups by them. The group of yours is sent with probability {percent(own)}, else "
                    "another one."
                )
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
        if self.estimand == "share":
            text = f"{100 * value:.1f}".removesuffix(".0") + "%"
        elif self.grid is None:
            text = f"{value:.2f}"
        else:
            digits = len(written(self.grid.step).partition(".")[2]) + 1
            text = f"{value:,.{digits}f}".rstrip("0").rstrip(".")
        return "0" + text[2:] if text in ("-0", "-0%") else text.replace("-", "\u2212")


def check_options(question: Question, field: str) -> Oracle:
    """The mechanism of a question whose answer is one of its options; `InputError` if it is another question."""
    if not isinstance(question.mechanism, Oracle):
        hint = "" if field == "--by" else "For a number by the answers to another question: --by."
        raise InputError(field, question.name, "a question of kind binary or choice", hint)
    return question.mechanism


@lru_cache(maxsize=256)
def _law(mechanism: Oracle | Mean | Sampled | HeavyHitters, grid: Grid | None) -> Law:
    match mechanism:
        case HeavyHitters():
            return law_of_words(mechanism)
        case Sampled():
            return Parts(tuple(_part_law(part) for part in mechanism.parts))
        case GRR() | OUE() | SUE():
            return _part_law(mechanism)
        case Subset():
            return Sets(mechanism.categories, mechanism.size, mechanism.hit)
        case OLH():
            return Hashed(mechanism.categories, mechanism.buckets, mechanism.digits, mechanism.hit)
        case Hadamard():
            weight = mechanism.length // 2 * mechanism.ratio
            own = weight / (weight + mechanism.reports - mechanism.length // 2)
            return Rows(mechanism.categories, mechanism.length, mechanism.blocks, own)
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


def _part_law(mechanism: GRR | OUE | SUE) -> Choice | Marks:
    if isinstance(mechanism, GRR):
        return Choice(mechanism.categories, mechanism.hit)
    return Marks(mechanism.categories, mechanism.hit, mechanism.miss)


def _unpacked(report: Any, categories: int) -> Any:
    """A report as the page writes it."""
    if isinstance(report, int):
        return report
    return "".join(map(str, np.unpackbits(np.frombuffer(report, dtype=np.uint8))[:categories]))


def pack(mechanism: Oracle, reports: Iterable[Any]) -> Any:
    """Reports as the mechanism reads them."""
    seen = list(reports)
    if not isinstance(mechanism, (OUE, SUE, Subset)):
        return list(map(int, seen))
    marks = np.array([list(map(int, one)) for one in seen], dtype=np.uint8).reshape(len(seen), mechanism.categories)
    return np.packbits(marks, axis=1)
