"""One question of a survey: what can be answered, and the law by which the answer is randomised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.accounting.posterior import posterior
from discreet.accounting.words import percent
from discreet.core.exact import Number
from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.local.grr import GRR
from discreet.local.protocol import Oracle
from discreet.local.questionnaire.grid import Grid
from discreet.local.questionnaire.law import Choice, Law, Marks, Subset
from discreet.local.ratio import read_epsilon
from discreet.local.tally import Tally
from discreet.local.unary import OUE, SUE

__all__ = ["Kind", "Question", "question_from"]

Kind = str
_KINDS = ("binary", "choice")
_CHOICES: dict[str, type[GRR] | type[OUE] | type[SUE]] = {"grr": GRR, "oue": OUE, "sue": SUE}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_MOST = 500
_FIELDS = {
    "binary": ("name", "text", "kind", "options", "epsilon", "mechanism"),
    "choice": ("name", "text", "kind", "options", "epsilon", "mechanism"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, what can be answered, and how the answer is randomised.

    Guarantee
        The report is `epsilon`-differentially private in the answer; neighbours have another answer.
        Proof: docs/proofs/survey.md.
    """

    name: str
    text: str
    kind: Kind
    options: tuple[str, ...]
    mechanism: Oracle
    grid: Grid | None = None
    unit: str = ""

    @property
    def epsilon(self) -> Fraction:
        """What the answer costs."""
        return self.mechanism.spent

    @property
    def law(self) -> Law:
        """What is sent, with which probability."""
        match self.mechanism:
            case GRR():
                return Choice(self.mechanism.categories, self.mechanism.hit)
            case OUE() | SUE():
                return Marks(self.mechanism.categories, self.mechanism.hit, self.mechanism.miss)
        raise InputError("mechanism", self.mechanism.kind, "one that a page can carry: " + ", ".join(_CHOICES))

    def to_dict(self) -> dict[str, Any]:
        """Everything that decides what a report means."""
        return {
            "name": self.name,
            "text": self.text,
            "kind": self.kind,
            "options": list(self.options),
            "mechanism": self.mechanism.to_dict(),
        }

    # reports: as the page writes them (an int, or a string of 0s and 1s) and as the mechanism does (packed bytes)

    def privatize(self, answer: Any, *, bits: Bits | None = None) -> Any:
        """What is sent instead of a true answer, one of the options."""
        if answer not in self.options:
            raise InputError(self.name, "another answer", "one of " + ", ".join(self.options))
        made = self.mechanism.privatize(self.options.index(answer), bits=bits)
        if isinstance(made, int):
            return made
        unpacked = np.unpackbits(np.frombuffer(made, dtype=np.uint8))[: len(self.options)]
        return "".join(map(str, unpacked))

    def tally(self, reports: Mapping[Any, int]) -> Tally:
        """Reports, and how often each came, added up."""
        seen, times = list(reports), list(reports.values())
        if isinstance(self.law, (Marks, Subset)):
            marks = np.array([list(map(int, one)) for one in seen], dtype=np.uint8).reshape(len(seen), -1)
            return self.mechanism.tally(np.packbits(marks, axis=1), times)
        return self.mechanism.tally(seen, times)

    # words

    def reveals(self, prior: Number) -> str:
        """What the answer can reveal, in one line, from exact numbers."""
        first, even = posterior(prior, self.epsilon), posterior(Fraction(1, 2), self.epsilon)
        return (
            f"Someone who thought {percent(first.prior)} before will think at most "
            f"{percent(first.high, direction='up')} after; someone who thought 50%, at most "
            f"{percent(even.high, direction='up')}."
        )

    def report_labels(self) -> list[str]:
        """What a report says, by its number."""
        return list(self.options)

    def number(self, value: float) -> str:
        """A value that was estimated, as people read it."""
        return f"{100 * value:.1f}%".replace(".0%", "%").replace("-", "\u2212")

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
            case Subset(_, size, own):
                return f"A list of {size} marked answers is sent: yours is among them with probability {percent(own)}."
        return ""


def question_from(entry: object, place: str) -> Question:
    """A question from its entry in a survey's file; `place` says which one in errors."""
    if not isinstance(entry, Mapping):
        raise InputError(place, type(entry).__name__, "a table: [[questions]]")
    kind = entry.get("kind")
    if kind not in _FIELDS:
        raise InputError(f"{place}.kind", kind, "one of " + ", ".join(_FIELDS))
    if unknown := set(entry) - set(_FIELDS[kind]):
        raise InputError(f"{place}.{min(map(str, unknown))}", "present", "only " + ", ".join(_FIELDS[kind]))
    name, text = entry.get("name"), entry.get("text")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{place}.name", name, "a letter, then up to 39 letters, digits and _, such as 'pills'")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}.text", text, "the question as people read it")
    if "epsilon" not in entry:
        raise InputError(f"{place}.epsilon", "missing", "a number such as 1: how much the answer may reveal")
    epsilon = read_epsilon(entry["epsilon"], f"{place}.epsilon")
    options = _options(entry.get("options", ["Yes", "No"] if kind == "binary" else None), kind, f"{place}.options")
    mechanism = _mechanism(entry.get("mechanism", "auto"), len(options), epsilon, f"{place}.mechanism")
    return Question(name, text.strip(), kind, options, mechanism)


def _options(given: object, kind: str, place: str) -> tuple[str, ...]:
    allowed = "two labels" if kind == "binary" else f"a list of 2 to {_MOST} labels"
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(place, "missing" if given is None else given, allowed)
    labels = [label.strip() for label in given if isinstance(label, str) and label.strip()]
    if len(labels) < len(given) or not 2 <= len(labels) <= (2 if kind == "binary" else _MOST):
        raise InputError(place, given, allowed)
    if len(set(labels)) < len(labels):
        raise InputError(place, given, "labels that are all different")
    return tuple(labels)


def _mechanism(name: object, size: int, epsilon: Fraction, place: str) -> Oracle:
    if name == "auto":
        # All of them are unbiased; the least variance at an even split wins, and of equals the shortest report.
        every = [kind(size, epsilon) for kind in _CHOICES.values()]
        return min(every, key=lambda one: (one.variance(1, Fraction(1, size)), one.report_bits))
    if not isinstance(name, str) or name not in _CHOICES:
        raise InputError(place, name, "auto, " + ", ".join(_CHOICES))
    return _CHOICES[name](size, epsilon)
