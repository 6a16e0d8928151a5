"""What a survey says so far: estimates with error bars as text, JSON, a page or a picture.

One function makes them for the command line and for the server, so that both say the same. The reports were
randomised before they were sent, so this can be looked at as often as one likes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.apps.survey.reading import Counts, Groups, Reading, empty_counts
from discreet.apps.survey.store import Reports
from discreet.core.release import percent
from discreet.errors import InputError, Phrase
from discreet.local.estimate import consistent
from discreet.local.questionnaire.cross import CrossTable, cross_table, estimates_by
from discreet.local.questionnaire.estimate import QuestionEstimate, estimate_question, pool_question
from discreet.local.questionnaire.forgery import Finding, check_reports
from discreet.local.questionnaire.likeliest import likeliest_labels
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.local.questionnaire.summary import Summary, summarise
from discreet.show import Bar, Markup, Picture, Scale, Table, bars, element, page, stack
from discreet.show.scale import round_up

__all__ = ["Results", "figure", "figures", "results_from", "results_of", "results_page", "save"]

_PLAIN = Reading()
_OF_ONE = ("binary", "choice", "distribution")  # kinds whose true shares add up to one


@dataclass(frozen=True, slots=True)
class Results:
    """Estimates for every question of a survey from so many reports."""

    survey: Questionnaire
    reports: int
    reading: Reading
    estimates: tuple[QuestionEstimate, ...]
    crosses: tuple[CrossTable, ...] = ()
    findings: tuple[Finding, ...] = ()
    summaries: tuple[Summary, ...] = ()
    """Means, medians and ranges of distributions, of all reports together."""

    def suspicions(self) -> list[str]:
        """What honest reports would hardly show, one line each; for everyone to read beside the estimates."""
        return [f"{finding.words()}." for finding in self.findings if finding.suspicious]

    @property
    def confidence(self) -> float:
        """Of each interval, or of all of them at once."""
        return self.reading.confidence

    def shown(self, *, owner: bool = False) -> tuple[QuestionEstimate, ...]:
        """The estimates for the public, or for the survey's owner: a group below the minimum is shown to the owner."""
        return self.estimates if owner else tuple(one for one in self.estimates if one.reports >= self.survey.minimum)

    @property
    def public(self) -> bool:
        """Whether there are as many reports as the survey declares that the public is shown estimates of."""
        return self.reports >= self.survey.minimum

    def to_dict(self, *, owner: bool = False) -> dict[str, Any]:
        """Plain values, the same on the command line and from the server.

        Below the survey's minimum they hold neither estimates nor the number of reports, except for its `owner`.
        """
        shown = owner or self.public
        return {
            "survey": self.survey.id,
            "digest": self.survey.digest,
            **({"round": self.survey.round} if self.survey.round else {}),
            "title": self.survey.title,
            "minimum": self.survey.minimum,
            "public": self.public,
            "reports": self.reports if shown else None,
            "confidence": self.confidence,
            "together": self.reading.together,
            "epsilon": float(self.survey.epsilon),
            "questions": [one.to_dict() for one in self.shown(owner=owner)] if shown else [],
            "crosses": [one.to_dict() for one in self.crosses] if shown else [],
            "summaries": [one.to_dict() for one in self.summaries] if shown else [],
            "checks": [one.to_dict() for one in self.findings] if shown else [],
        }

    def note(self) -> str:
        """How the numbers are to be read."""
        early = "" if self.public else f" Not public: this survey shows nothing below {self.survey.minimum:,} reports."
        which = f"Round {self.survey.round} of {self.survey.rounds}: " if self.survey.round else ""
        return (
            f"{which}{self.reports:,} reports, every one randomised by the person who sent it.{early} "
            f"{percent(self.confidence)} confidence intervals ({'' if self.reading.together else 'not '}simultaneous). "
            f"Estimates are unbiased, so a small one may come out below zero.{self._beside()}"
        )

    def _beside(self) -> str:
        reading, said, words = self.reading, "", [one.name for one in self.survey.questions if one.kind == "word"]
        if words and any(one.labels for one in self.estimates if one.question.kind == "word"):
            said += (
                " Of words those are listed that stand out among all there could be. Chance helped some of them, so "
                "their shares may be a little high; their intervals allow for it, and hold for all of them at once."
            )
        if reading.likeliest:
            said += " The likeliest shares are biased, and the intervals are not theirs."
        if reading.consistent is not None:
            said += f" Consistent shares ({reading.consistent}) are biased, and the intervals are not theirs."
        if reading.of_population:
            how = "strata" if reading.strata else "weights"
            said += f" Estimates are for the population that the {how} describe."
            said += " Cross-tables are left out: they are of those who answered." if self.survey.cross else ""
            said += f" Left out, since each group has words of its own: {', '.join(words)}." if words else ""
        elif reading.by in self.survey.names:
            asked = {reading.by, *(self.survey.names[place] for place in reading.asked_by(self.survey))}
            others = [name for name in self.survey.names if name not in asked]
            said += f" Left out, since only a part of each answer is reported: {', '.join(others)}." if others else ""
        return said

    def withheld(self) -> str:
        """What the public reads below the minimum: not how many reports there are."""
        return f"Fewer than {self.survey.minimum:,} reports have arrived. Estimates are shown from then on."


def results_from(survey: Questionnaire, groups: Groups, reading: Reading) -> Results:
    """The estimates, from how often each report came to each question in each group."""
    whole = sum(group.reports for group in groups.values())
    first = replace(reading, likeliest=False) if reading.together else reading  # made again below, at another level
    made = _estimates(survey, groups, first)
    crosses = (
        () if not whole else tuple(_cross(survey, groups, pair, reading.confidence) for pair in reading.crossed(survey))
    )
    plain = reading.by is None and reading.weights is None
    columns = _together(survey, groups)
    summaries = _summaries(survey, columns, reading) if plain and whole else ()
    if reading.together:  # Bonferroni: each interval misses so rarely that hardly ever any of them does
        # The intervals of all words of a question hold at once already: they count once, however many stand out.
        number = (
            sum(1 if one.question.kind == "word" else len(one.labels) for one in made)
            + sum(one.value.size for one in crosses)
            + len(summaries)
        )
        each = replace(reading, confidence=1 - (1 - reading.confidence) / max(1, number), together=False)
        sure = results_from(survey, groups, each)
        made, crosses, summaries = sure.estimates, sure.crosses, sure.summaries
    return Results(survey, whole, reading, made, crosses, check_reports(survey, columns), summaries)


def _summaries(survey: Questionnaire, columns: Sequence[Counter[Any]], reading: Reading) -> tuple[Summary, ...]:
    both = zip(survey.questions, columns, strict=True)
    return tuple(one for question, column in both for one in summarise(question, column, **_spans(question, reading)))


def _spans(question: Question, reading: Reading) -> dict[str, Any]:
    asked = tuple(span for span in reading.spans if span.question == question.name)
    return {"confidence": reading.confidence, "spans": asked}


def _together(survey: Questionnaire, groups: Groups) -> list[Counter[Any]]:
    """How often each report came to each question, in all groups."""
    columns: list[Counter[Any]] = [Counter() for _ in survey.questions]
    for counts in groups.values():
        for column, more in zip(columns, counts.columns, strict=True):
            column.update(more)
    return columns


def _estimates(survey: Questionnaire, groups: Groups, reading: Reading) -> tuple[QuestionEstimate, ...]:
    by, level = reading.by, reading.confidence
    if by in survey.names:
        mine, everyone = survey.place(by, "--by"), next(iter(groups.values()))
        asked = reading.asked_by(survey)
        made = [
            one
            for place in asked
            for one in estimates_by(
                survey.questions[place], survey.questions[mine], everyone.pairs[place, mine], confidence=level
            )
        ]
    else:
        parts = _parts(groups, reading)
        made = [
            _of_group(question, place, group, parts[group], level, reading.likeliest)
            for place, question in enumerate(survey.questions)
            if not (reading.of_population and question.kind == "word")  # each group has words of its own
            for group in parts
        ]
        made = [replace(one, whose="the population") for one in made] if reading.of_population else made
    return tuple(_beside(one, reading) for one in made)


def _of_group(
    question: Question, place: int, group: str, members: Sequence[tuple[float, Counts]], level: float, likeliest: bool
) -> QuestionEstimate:
    columns = [counts.columns[place] for _, counts in members]
    if len(columns) == 1:
        found = estimate_question(question, columns[0], level, group=group)
        shares = likeliest_labels(question, columns[0]) if likeliest else None
        return found if shares is None else replace(found, beside={"likeliest": shares})
    return pool_question(question, columns, [part for part, _ in members], level, group)


def _parts(groups: Groups, reading: Reading) -> dict[str, list[tuple[float, Counts]]]:
    """What is estimated, by its name: the groups that it is made of, and the part of each in it."""
    named: dict[str, dict[tuple[str, ...], Counts]] = {}
    for key, counts in sorted(groups.items()):
        name = f"{reading.by} = {key[0]}" if reading.by is not None and not reading.strata and key else ""
        named.setdefault(name, {})[key] = counts
    out: dict[str, list[tuple[float, Counts]]] = {}
    for name, members in named.items():
        if reading.strata:
            shares = _strata(members, reading.strata)
        elif reading.weights is not None and () not in members:
            heavy = {key: _weight(key[-1]) * counts.reports for key, counts in members.items()}
            shares = {key: weight / sum(heavy.values()) for key, weight in heavy.items()}
        else:
            shares = dict.fromkeys(members, 1.0)
        out[name] = [(shares[key], counts) for key, counts in members.items()]
    return out


def _weight(text: str) -> float:
    """How many people someone stands for."""
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise InputError("--weights", Phrase("one that is not"), "a column of numbers more than zero in every row")
    return weight


def _strata(members: Mapping[tuple[str, ...], Counts], shares: Mapping[str, Fraction]) -> dict[tuple[str, ...], float]:
    there = {key[0] if key else "" for key in members}
    if unknown := sorted(there - set(shares)):
        raise InputError("--strata", Phrase(f"no share of {unknown[0]!r}"), "a share for each group of the reports")
    if missing := sorted(group for group, share in shares.items() if share and group not in there):
        raise InputError("--strata", Phrase(f"no report of {missing[0]!r}"), "groups that have reports each")
    return {key: float(shares[key[0] if key else ""]) for key in members}


def _cross(survey: Questionnaire, groups: Groups, pair: tuple[int, int], confidence: float) -> CrossTable:
    pairs: Counter[Any] = Counter()
    for counts in groups.values():
        pairs.update(counts.pairs[pair])
    first, second = (survey.questions[place] for place in pair)
    return cross_table(first, second, pairs, confidence=confidence)


def _beside(estimated: QuestionEstimate, reading: Reading) -> QuestionEstimate:
    """Consistent shares beside the unbiased ones, if they are asked for."""
    known = estimated.reports and not np.isnan(estimated.value).any()
    if reading.consistent is None or estimated.question.kind not in _OF_ONE or not known:
        return estimated
    value = estimated.value
    if estimated.question.kind == "binary":  # of two answers the second is the rest
        value = np.array([value[0], 1 - value[0]])
    errors = np.resize((estimated.upper - estimated.lower) / 4, len(value))
    shares = consistent(value, reading.consistent, errors=errors)[: len(estimated.labels)]
    return replace(estimated, beside={**estimated.beside, "consistent": shares})


def results_of(survey: Questionnaire, reports: Reports, reading: Reading = _PLAIN) -> Results:
    """The estimates from a store. Reports of another survey and broken ones are refused."""
    reading.check(survey)
    if keys := reading.public_columns(survey):
        hint = "Export the reports, add the column to the file, and give that file."
        if keys[0] == reading.by:
            raise InputError("--by", keys[0], among=survey.names, hint=hint)
        raise InputError("--weights", keys[0], "a public column of a file, and a store has none", hint)
    counts, others = empty_counts(survey, reading), survey.digests() - {survey.digest}
    for digest, answers, count in reports.tally():
        if digest in others:  # another round
            continue
        if digest != survey.digest:
            raise InputError(
                "reports",
                Phrase(f"survey {digest[:12]}"),
                f"reports of this survey only, {survey.digest[:12]}",
                "Reports of another survey, or of another epsilon, are mixed in.",
            )
        sent = _read(survey, answers)
        for column, report in zip(counts.columns, sent, strict=True):
            column[report] += count
        for (one, two), column in counts.pairs.items():
            column[sent[one], sent[two]] += count
    return results_from(survey, {(): counts}, reading)


def _read(survey: Questionnaire, answers: str) -> tuple[Any, ...]:
    try:
        return survey.read(json.loads(answers))
    except (ValueError, RecursionError):  # InputError is a ValueError; what is broken is not repeated
        pass
    raise InputError("reports", Phrase("a broken report"), "answers as the page of this survey writes them")


def results_page(found: Results, *, alone: bool = False, owner: bool = False) -> str:
    """A page with a plot and a table for each question; `alone` carries its style and needs no server.

    Below the survey's minimum it says only that, except to its `owner`.
    """
    shown = owner or found.public
    body = [
        element("h1", None, found.survey.title),
        element("p", None, found.note() if shown else found.withheld()),
        *([] if alone else [element("p", None, element("a", {"href": "results"}, "Look again"))]),
        *([element("p", {"class": "notice"}, line) for line in found.suspicions()] if shown else ()),
        *(map(_section, found.shown(owner=owner)) if shown else ()),
        *([_summary_section(found)] if shown and found.summaries else ()),
        *(map(_cross_section, found.crosses) if shown else ()),
        element("footer", None, element("p", {"class": "quiet"}, found.survey.about())),
    ]
    linked, icon = ("", "") if alone else ("style.css", "icon.svg")
    title = f"{found.survey.title}: results"
    return page(title, body, kind="survey", private=True, linked=linked, icon=icon)


def _section(whole: QuestionEstimate) -> Markup:
    estimated = whole.largest()
    heading = element("h2", None, estimated.title)
    if estimated.reports == 0:
        return element("section", None, heading, element("p", None, "No report yet."))
    if not estimated.labels:
        return element("section", {"class": "card"}, heading, element("p", None, estimated.words()))
    table = Table.of(["", *estimated.head()], estimated.rows(), estimated.caption())
    table = replace(table, label=estimated.title)
    return element("section", {"class": "card"}, heading, figure(estimated).figure(table=False), table)


def _summary_section(found: Results) -> Markup:
    heading = "Means, medians and ranges"
    rows = [[f"{one.question.text} {label}", *rest] for one in found.summaries for label, *rest in [one.row()]]
    table = replace(Table.of(["", "estimate", "from", "to"], rows, "of those who answered"), label=heading)
    return element("section", {"class": "card"}, element("h2", None, heading), table)


def _cross_section(cross: CrossTable) -> Markup:
    caption = "share of those who answered, for every pair of answers, with its interval"
    table = replace(Table.of(["", *cross.head()], cross.rows(), caption), label=cross.title)
    return element("section", {"class": "card"}, element("h2", None, cross.title), table)


def save(found: Results, path: Path, *, owner: bool = False) -> Path:
    """Write a plot: .svg, .png (the `charts` extra) or .html. Below the survey's minimum, for its `owner` only."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png", ".html") or not path.absolute().parent.is_dir():
        raise InputError("--plot", str(path), "a file that ends in .svg, .png or .html, in a folder that exists")
    if found.reports == 0:
        raise InputError("--plot", str(path), "left out: there is no report yet")
    if not (owner or found.public):
        hint = "As its owner, add --below-minimum; do not pass such a plot on."
        raise InputError("--plot", str(path), f"left out below {found.survey.minimum:,} reports", hint)
    if kind == ".html":
        path.write_text(results_page(found, alone=True, owner=owner), encoding="utf-8")
        return path
    if not any(one.labels for one in found.shown(owner=owner)):
        raise InputError("--plot", str(path), "left out: no word stands out yet, so there is nothing to draw")
    title = found.survey.title if found.public else f"{found.survey.title} (not public)"
    return figures(title, found.shown(owner=owner)).save(path)


def figure(whole: QuestionEstimate) -> Picture:
    """One question: bars for shares, a point for a mean, on an axis that holds every answer that can be."""
    estimated = whole.largest()
    every = zip(estimated.labels, estimated.value, estimated.lower, estimated.upper, strict=True)
    data = [Bar(label, float(value), float(lower), float(upper)) for label, value, lower, upper in every]
    low = min(float(estimated.lower.min()), estimated.floor)
    high = max(float(estimated.upper.max()), estimated.ceiling)
    number = estimated.number
    return bars(
        estimated.title,
        data,
        format=number,
        ticks=number,
        scale=_axis(low, high),
        points=not estimated.shares,
        description=estimated.words(),
        heads=("", "estimate", "from", "to"),
    )


def figures(title: str, every: Sequence[QuestionEstimate]) -> Picture:
    """Every question in one picture."""
    return stack(title, [figure(estimated) for estimated in every if estimated.labels])


def _axis(low: float, high: float) -> Scale:
    """From a round number to a round number, around a range."""
    step = round_up((high - low) / 5 or 1)
    return Scale(step * (low // step), step * -(-high // step) if high > low else low + step)
