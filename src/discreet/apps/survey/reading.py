"""How the reports of a survey are to be read: by which groups, with which weights, at which confidence."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from discreet.core.exact import as_written
from discreet.errors import InputError, Phrase
from discreet.local.estimate import Consistency
from discreet.local.questionnaire.question import check_options
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.local.questionnaire.summary import Span
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Counts", "Groups", "Reading", "empty_counts", "read_span", "read_strata"]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Counts:
    """The reports of one group: how often each came to each question, and each pair to some pairs of questions."""

    columns: tuple[Counter[Any], ...]
    pairs: Mapping[tuple[int, int], Counter[tuple[Any, Any]]]

    @property
    def reports(self) -> int:
        """How many there are."""
        return sum(self.columns[0].values())


Groups = Mapping[tuple[str, ...], Counts]
"""Reports by the values of public columns: of none, everyone is in the group ()."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is to be made of reports. Every part is free: the reports are private already.

    `by` is a question, or a public column of a file of reports; `weights` is a public column. `strata` are the
    population's shares of the groups of `by`. `cross` are pairs of questions, those of the survey's file if left out.
    """

    confidence: float = CONFIDENCE
    together: bool = False
    consistent: Consistency | None = None
    by: str | None = None
    weights: str | None = None
    strata: Mapping[str, Fraction] = field(default_factory=dict)
    cross: tuple[tuple[str, str], ...] | None = None
    likeliest: bool = False
    """Whether shares under which the reports are likeliest stand beside the unbiased ones."""
    spans: tuple[Span, ...] = ()
    """Ranges of distribution questions whose shares are estimated."""

    def check(self, survey: Questionnaire) -> None:
        """`InputError` unless this can be made of reports of the survey."""
        read_confidence(self.confidence)
        survey.check_round()
        if self.consistent is not None and self.consistent not in get_args(Consistency):
            raise InputError("--consistent", self.consistent, among=get_args(Consistency))
        if self.by is not None and self.by in survey.names:
            check_options(survey.questions[survey.place(self.by, "--by")], "--by")
            if not self.asked_by(survey):
                raise InputError("--by", self.by, "left out: the survey has no other binary, choice or number question")
            if self.weights is not None or self.strata:
                hint = "Weights and strata are of public columns; a randomised answer is none."
                raise InputError("--by", self.by, "a column of the file beside --weights or --strata", hint)
        if self.strata and self.by is None:
            raise InputError("--strata", Phrase("no --by"), "given beside --by COLUMN, whose groups they are shares of")
        if self.strata and self.weights is not None:
            raise InputError("--weights", self.weights, "left out beside --strata, which weigh already")
        if self.likeliest and (self.weights is not None or self.strata or self.by in survey.names):
            raise InputError(
                "--likeliest", Phrase("one of them"), "given without --weights, --strata and --by QUESTION"
            )
        for name in ("survey", "token"):
            if name in (self.by, self.weights):
                raise InputError("--by" if self.by == name else "--weights", name, "a public column of your own")
        if self.weights in survey.names:
            raise InputError("--weights", self.weights, "a public column of the file, not a question")
        if self.by is not None and self.by == self.weights:
            raise InputError("--by", self.by, "another column than the weights")
        for pair in self.cross or ():
            survey.pair(pair, "--cross")
        if self.cross and self.of_population:
            raise InputError("--cross", Phrase("weights or strata"), "given without them: it is of those who answered")
        for span in self.spans:
            span.places(survey.questions[survey.place(span.question, "--range")])
        if self.spans and (self.by is not None or self.weights is not None):
            raise InputError("--range", Phrase("--by or --weights"), "given without them")

    @property
    def of_population(self) -> bool:
        """Whether estimates are for a population that weights or strata describe, and not for those who answered."""
        return self.weights is not None or bool(self.strata)

    def public_columns(self, survey: Questionnaire) -> tuple[str, ...]:
        """The columns beside the reports that are read."""
        named = (self.by if self.by not in survey.names else None, self.weights)
        return tuple(name for name in named if name is not None)

    def crossed(self, survey: Questionnaire) -> list[tuple[int, int]]:
        """The pairs of questions whose cross-tables are shown: none beside weights and strata, which they ignore."""
        if self.of_population:
            return []
        return [survey.pair(pair, "--cross") for pair in (survey.cross if self.cross is None else self.cross)]

    def asked_by(self, survey: Questionnaire) -> list[int]:
        """The questions that can be estimated by the answers to the question `by`: those answered as a whole."""
        every = enumerate(survey.questions)
        return [place for place, question in every if question.name != self.by and question.whole]

    def pairs(self, survey: Questionnaire) -> list[tuple[int, int]]:
        """The pairs of questions whose reports are counted together."""
        wanted = self.crossed(survey)
        if self.by in survey.names:
            mine = survey.place(self.by, "--by")
            wanted += [(place, mine) for place in self.asked_by(survey)]
        return list(dict.fromkeys(wanted))


def empty_counts(survey: Questionnaire, reading: Reading) -> Counts:
    """No report yet."""
    return Counts(tuple(Counter() for _ in survey.questions), {pair: Counter() for pair in reading.pairs(survey)})


def read_span(text: str) -> Span:
    """A range as it is typed: hours=6:8."""
    name, _, ends = text.partition("=")
    low, colon, high = ends.partition(":")
    if not (name.strip() and low.strip() and colon and high.strip()):
        raise InputError("--range", text, "a question and two values, such as hours=6:8")
    return Span(name.strip(), low.strip(), high.strip())


def read_strata(path: Path) -> dict[str, Fraction]:
    """The population's share of each group, from a CSV file with the columns group and share."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InputError("--strata", str(path), "a CSV file with the columns group and share") from None
    if [name.strip() for name in head] != ["group", "share"] or not rows or any(len(row) != 2 for row in rows):
        raise InputError("--strata", str(path), "a CSV file with the columns group and share")
    shares = {group.strip(): as_written(share.strip(), "--strata") for group, share in rows}
    if len(shares) < len(rows):
        raise InputError("--strata", str(path), "a file with one line for each group")
    if min(shares.values()) < 0 or abs(sum(shares.values(), Fraction(0)) - 1) > Fraction(1, 10**6):
        allowed = "shares that are not negative and add up to one"
        raise InputError("--strata", Phrase(f"a sum of {float(sum(shares.values())):g}"), allowed)
    return shares
