"""A survey as its author writes it: questions, and how much each may reveal. Everything else follows from that."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting.posterior import posterior
from discreet.accounting.words import percent, readable
from discreet.core.exact import Number
from discreet.core.loss import Composed, Pure
from discreet.core.mechanism import Bits
from discreet.core.wire import canonical
from discreet.errors import MISSING, InputError, Phrase, kind_of
from discreet.local.questionnaire.entry import question_from
from discreet.local.questionnaire.law import longest, read_report
from discreet.local.questionnaire.question import Question, check_options
from discreet.local.questionnaire.series import SeriesLoss, series_loss

__all__ = ["PRIOR", "Questionnaire"]

PRIOR = Fraction(1, 50)  # what the sentences for people start from

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FIELDS = ("id", "title", "intro", "minimum", "cross", "repeat", "questions")
_REPEAT = ("rounds",)
_MOST = 50
_ROUNDS = 1000
MINIMUM = 100


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """Questions that one person answers together, each randomised where it is answered.

    Guarantee
        A person's report (the randomised answers to all questions) is epsilon-differentially private in all the true
        answers of that person together, with `epsilon` the sum over the questions; in the answer to one question alone
        it is private with that question's epsilon. Neighbours: other answers. Of a survey of several rounds that is
        one round's report; `series_loss` has the cost of all. Proof: docs/proofs/survey.md.

    >>> survey = Questionnaire.from_dict({
    ...     "id": "sleep", "title": "Sleep", "questions": [
    ...         {"name": "pills", "text": "Do you take pills to sleep?", "kind": "binary", "epsilon": "1.0986"}]})
    >>> survey.questions[0].mechanism.kind, round(float(survey.epsilon), 4)
    ('grr', 1.0986)
    >>> survey.reveals()
    'Someone who thought 2% before your reply will think at most 5.8% after it, whatever is sent.'
    """

    id: str
    title: str
    questions: tuple[Question, ...]
    intro: str = ""
    minimum: int = MINIMUM
    """How many reports there must be before any estimate is shown to the public."""
    cross: tuple[tuple[str, str], ...] = ()
    """Pairs of questions whose cross-table is shown with the results."""
    rounds: int = 0
    """How many times the same people are asked; 0 of a survey that is asked once."""
    round: int = 0
    """Which of the rounds this is; 0 of the survey as its file has it."""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not _NAME.fullmatch(self.id):
            raise InputError("id", self.id, "a name of up to 64 letters, digits, - and _, such as 'sleep-2026'")
        for field in ("title", "intro"):
            if not isinstance(getattr(self, field), str):
                raise InputError(field, getattr(self, field), "text")
        if not self.title.strip():
            raise InputError("title", self.title, "a text that is not empty")
        if isinstance(self.minimum, bool) or not isinstance(self.minimum, int) or not 1 <= self.minimum <= 10**9:
            raise InputError("minimum", self.minimum, "a whole number of reports, 1 or more, such as 100")
        asked = self.questions
        if not isinstance(asked, (list, tuple)) or not all(isinstance(one, Question) for one in asked):
            raise InputError("questions", kind_of(self.questions), "a list of questions")
        names = self.names
        if not 1 <= len(names) <= _MOST:
            raise InputError("questions", Phrase(f"{len(names)} of them"), f"1 to {_MOST} in number")
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise InputError("questions", twice, "questions of different names")
        if reserved := {"survey", "token"} & set(names):
            raise InputError("questions", min(reserved), "questions of other names: reports have a column of this one")
        for pair in self.cross:
            self.pair(pair, "cross")
        self._check_rounds()

    def _check_rounds(self) -> None:
        if isinstance(self.rounds, bool) or not isinstance(self.rounds, int) or not 0 <= self.rounds <= _ROUNDS:
            raise InputError("repeat.rounds", self.rounds, f"a whole number from 1 to {_ROUNDS}, such as 12")
        if isinstance(self.round, bool) or not isinstance(self.round, int) or not 0 <= self.round <= self.rounds:
            allowed = (
                f"a whole number from 1 to {self.rounds}" if self.rounds else "left out: this survey has no [repeat]"
            )
            raise InputError("round", self.round, allowed)
        for question in self.questions:
            if self.rounds and question.repeated is None:
                hint = "Only these can be asked in rounds. For a number, offer its ranges as options."
                allowed = "a question of kind binary or choice with epsilon (for good) and instant (each round)"
                raise InputError("questions", question.name, allowed, hint)
            if not self.rounds and question.repeated is not None:
                hint = "Add it before the questions, with rounds = 12, say."
                raise InputError("repeat", MISSING, f"a table [repeat], since {question.name} has `instant`", hint)

    @classmethod
    def load(cls, path: str | Path) -> Questionnaire:
        """Read a survey from its TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            hint = "Write one with: discreet survey new."
            raise InputError("survey", str(path), "a readable text file", hint) from None
        return cls.from_text(text, str(path))

    @classmethod
    def from_text(cls, text: str, place: str = "the text") -> Questionnaire:
        """A survey from the text of its TOML file; `place` is what errors call it."""
        try:
            declared = tomllib.loads(text, parse_float=Decimal)
        except ValueError as problem:  # of TOML; or of Python, which reads no number of thousands of digits
            raise InputError("survey", place, f"valid TOML ({problem})") from None
        return cls.from_dict(declared)

    @classmethod
    def from_dict(cls, declared: Mapping[str, Any]) -> Questionnaire:
        """A survey from the entries of its file."""
        if unknown := set(declared) - set(_FIELDS):
            raise InputError.unknown(min(map(str, unknown)), _FIELDS)
        entries = declared.get("questions", [])
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            raise InputError("questions", entries, "a list: [[questions]] once for each")
        questions = tuple(question_from(entry, f"questions[{place}]") for place, entry in enumerate(entries))
        texts = [declared.get(name, "") for name in ("id", "title", "intro")]
        cross = declared.get("cross", [])
        if not isinstance(cross, Sequence) or isinstance(cross, str):
            raise InputError("cross", cross, 'a list of pairs of questions, such as [["pills", "reason"]]')
        pairs = tuple(tuple(pair) if isinstance(pair, Sequence) else (pair,) for pair in cross)
        rounds = _rounds(declared["repeat"]) if "repeat" in declared else 0
        return cls(texts[0], texts[1], questions, texts[2], declared.get("minimum", MINIMUM), pairs, rounds)

    def at(self, number: int) -> Questionnaire:
        """The survey in one of its rounds."""
        if isinstance(number, int) and number < 1:
            raise InputError("round", number, f"a whole number from 1 to {self.rounds}")
        return replace(self, round=number)

    def check_round(self) -> None:
        """`InputError` for a survey of several rounds unless it is in one of them."""
        if self.rounds and not self.round:
            hint = "One round is served or read at a time: --round."
            raise InputError("round", MISSING, f"a whole number from 1 to {self.rounds}", hint)

    def to_dict(self) -> dict[str, Any]:
        """Everything that decides what a report means: plain values. Not title, introduction, minimum."""
        plain = {"id": self.id, "questions": [question.to_dict() for question in self.questions]}
        again = {"rounds": self.rounds, **({"round": self.round} if self.round else {})}
        return {**plain, **again} if self.rounds else plain

    @property
    def digest(self) -> str:
        """A fingerprint of the id, the questions, their parameters and the round. Every report carries it."""
        return hashlib.sha256(canonical(self.to_dict()).encode()).hexdigest()

    @property
    def series(self) -> str:
        """The fingerprint that all rounds have in common: of what a device remembers, and of the store of reports."""
        return replace(self, round=0).digest

    def digests(self) -> frozenset[str]:
        """The fingerprints that reports in one store can carry: one, or one for each round."""
        return frozenset(self.at(number).digest for number in range(1, self.rounds + 1)) or frozenset([self.digest])

    def series_loss(self) -> SeriesLoss | None:
        """What the reports of all rounds cost; None of a survey that is asked once."""
        return series_loss(self.questions, self.rounds) if self.rounds else None

    @property
    def names(self) -> tuple[str, ...]:
        """The short names of the questions."""
        return tuple(question.name for question in self.questions)

    def place(self, name: object, field: str) -> int:
        """The place of a question among all, by its name."""
        if name not in self.names:
            raise InputError(field, name, among=self.names)
        return self.names.index(str(name))

    def pair(self, names: Sequence[object], field: str) -> tuple[int, int]:
        """The places of two different questions that are answered with one of their options each."""
        if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
            given = names if isinstance(names, str) else Phrase(", ".join(map(str, names)) or "none")
            raise InputError(field, given, "two different questions, such as pills,reason")
        first, second = (self.place(name, field) for name in names)
        for place in (first, second):
            check_options(self.questions[place], field)
        return first, second

    @property
    def epsilon(self) -> Fraction:
        """What all answers of one person cost together: the sum."""
        return sum((question.epsilon for question in self.questions), Fraction(0))

    def loss(self) -> Composed:
        """What one person's report costs."""
        return Composed(Pure(question.epsilon) for question in self.questions)

    # reports

    def privatize(self, answers: Mapping[str, Any], *, bits: Bits | None = None) -> list[Any]:
        """One person's report, as the page would send it, from true answers by name of question."""
        if set(answers) != set(self.names):
            raise InputError("answers", sorted(map(str, answers)), "an answer to each of " + ", ".join(self.names))
        return [question.privatize(answers[question.name], bits=bits) for question in self.questions]

    def read(self, report: object) -> tuple[Any, ...]:
        """A report's answers, checked one by one. What is wrong is said, what was sent is not repeated."""
        if not isinstance(report, (list, tuple)) or len(report) != len(self.questions):
            raise InputError("report", Phrase("another form"), f"a list of {len(self.questions)} randomised answers")
        both = zip(self.questions, report, strict=True)
        return tuple(read_report(question.law, sent, question.name) for question, sent in both)

    def written(self, report: object) -> str:
        """The one text of a report's answers, for a store."""
        return json.dumps(self.read(report), separators=(",", ":"))

    @property
    def longest(self) -> int:
        """No report's text is longer than this."""
        return 2 + sum(longest(question.law) + 1 for question in self.questions)

    # words

    def reveals(self, prior: Number = PRIOR) -> str:
        """What the whole report can reveal, in one line: true whatever is known of others, and of how they answered.

        The report depends on this person's answers and on chance alone, so it moves the odds by e^epsilon at most from
        where they stood, however they came to stand there. Proof: docs/proofs/survey.md.
        """
        if (series := self.series_loss()) is not None:
            return series.reveals(prior)
        bound = posterior(prior, self.epsilon)
        about = "" if len(self.questions) == 1 else "About all your answers together: "
        return (
            f"{about}{'someone' if about else 'Someone'} who thought {percent(bound.prior)} before your reply will "
            f"think at most {percent(bound.high, direction='up')} after it, whatever is sent."
        )

    def published(self) -> str:
        """When estimates are shown to everyone, in one line."""
        return f"Estimates are shown to everyone once {self.minimum:,} reports have arrived, and not before."

    def about(self) -> str:
        """The small print."""
        series = self.series_loss()
        which = f", round {self.round} of {self.rounds}" if self.round else ""
        cost = (
            f"all answers of one person together cost epsilon = {readable(self.epsilon, 4)}."
            if series is None
            else f"one report alone costs epsilon = {readable(self.epsilon, 4)}. {series.words()}"
        )
        return (
            f"Survey {self.id}, {self.digest[:12]}{which}. Every answer is randomised on the device of the person who "
            f"gives it; {cost}"
        )


def _rounds(declared: object) -> Any:
    if not isinstance(declared, Mapping):
        raise InputError("repeat", kind_of(declared), "a table: [repeat], with rounds = 12, say")
    if unknown := set(declared) - set(_REPEAT):
        raise InputError.unknown(f"repeat.{min(map(str, unknown))}", _REPEAT)
    rounds = declared.get("rounds", MISSING)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise InputError("repeat.rounds", rounds, f"a whole number from 1 to {_ROUNDS}, such as 12")
    return rounds
