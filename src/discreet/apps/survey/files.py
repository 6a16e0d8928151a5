"""Reports as files: out to Parquet or CSV for other programs, and back in to be estimated.

A row is a report: the survey's digest, the token, and one column for each question. Files are counted by DuckDB, one
group-by for each question, so that a hundred million rows need no long memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.apps.survey.reading import Counts, Groups, Reading, empty_counts
from discreet.apps.survey.results import Results, results_from, results_of
from discreet.apps.survey.store import Reports, is_address, open_reports
from discreet.data.source import Connection, source_of
from discreet.errors import DiscreetError, InputError, Phrase
from discreet.local.questionnaire.law import parsed_report
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.local.replies import check_files, count_lines

__all__ = ["export_reports", "read_results", "write_reports"]

_TABLES = (".parquet", ".csv")
_PLAIN = Reading()
_MOST = 10_000  # groups
_OWN = ("survey", "token")
_NONE = "This file has none: add one to it."


def export_reports(survey: Questionnaire, place: str, out: Path) -> int:
    """Write every report of a store to a file; returns how many."""
    if out.suffix.lower() not in _TABLES or not out.absolute().parent.is_dir():
        raise InputError("out", str(out), "a file that ends in .parquet or .csv, in a folder that exists")
    reports = open_reports(place, survey.series, create=False)
    try:
        return write_reports(survey, reports, out)
    finally:
        reports.close()


def write_reports(survey: Questionnaire, reports: Reports, out: Path) -> int:
    """The same of a store that is open: a row for each report, its randomised answers as text."""
    rows = [[digest, token, *_answers(survey, text)] for token, digest, text in reports.rows()]
    head = ["survey", "token", *survey.names]
    if out.suffix.lower() == ".csv":
        with out.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *rows])
        return len(rows)
    import pyarrow
    import pyarrow.parquet

    arrays = [pyarrow.array([row[place] for row in rows], pyarrow.string()) for place in range(len(head))]
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=head), out)
    return len(rows)


def _answers(survey: Questionnaire, text: str) -> list[str]:
    """Each randomised answer as text: a whole number, or zeros and ones."""
    return [str(one) for one in survey.read(json.loads(text))]


def read_results(survey: Questionnaire, place: str, reading: Reading = _PLAIN) -> Results:
    """The estimates from a store, or from Parquet or CSV files, which may have public columns beside the reports.

    Reports of another survey or another epsilon, tokens that come twice, broken reports and files cut off are refused.
    """
    reading.check(survey)
    if is_address(place) or Path(place).suffix.lower() not in _TABLES:
        reports = open_reports(place, survey.series, create=False)
        try:
            return results_of(survey, reports, reading)
        finally:
            reports.close()
    problem: InputError | None = None
    try:
        source = source_of(place)
        check_files(source.place.paths())
        lines = count_lines(source.place.paths()) if source.kind == "csv" else None
        with source.open() as connection:
            groups = _count(survey, connection, lines, reading)
    except DiscreetError:
        raise
    except Exception:
        hint = "It may have been cut off while it was copied."
        problem = InputError("reports", str(place), "a table that can be read", hint)
    if problem is not None:
        raise problem
    return results_from(survey, groups, reading)


def _count(survey: Questionnaire, connection: Connection, lines: int | None, reading: Reading) -> Groups:
    table, keys = connection.table, reading.public_columns(survey)
    for name in keys:
        if name not in table.columns:
            public = [column for column in table.columns if column not in (*survey.names, *_OWN)]
            if name == reading.by:
                raise InputError("--by", name, among=[*survey.names, *public])
            raise InputError(
                "--weights",
                name,
                "a public column of the file, beside the answers",
                _NONE if not public else "",
                among=public or None,
            )
    head = [*_OWN, *survey.names]
    if not set(head) <= set(table.columns):
        raise InputError(
            "reports", Phrase(", ".join(sorted(table.columns))), "a table with the columns " + ", ".join(head)
        )
    own = table.survey.isin(sorted(survey.digests())).fill_null(False)
    asked = {
        "rows": table.count(),
        "foreign": (~own).sum().fill_null(0).cast("int64"),
        "given": table.token.count(),
        "known": table.token.nunique(),
    }
    found = connection.integers(table.aggregate(**asked))
    rows, foreign, given, known = (int(found[name][0]) for name in asked)
    if foreign:
        hint = "Reports of another survey, or of another epsilon, are mixed in."
        raise InputError(
            "reports", Phrase(f"{foreign} of {rows} of another"), f"reports of survey {survey.digest[:12]} only", hint
        )
    if given < rows or known < given:
        hint = "The file holds reports twice, or was put together from files that overlap."
        raise InputError(
            "reports",
            Phrase(f"{rows - known} tokens repeated or missing"),
            "a file with one report for each token",
            hint,
        )
    if lines is not None and lines != rows:
        raise InputError(
            "reports", Phrase(f"{abs(lines - rows)} broken lines"), "a file with one whole report on each line"
        )
    mine = table.filter(table.survey == survey.digest) if survey.rounds else table
    groups: dict[tuple[str, ...], Counts] = {}
    for place in range(len(survey.questions)):
        for key, reports, times in _counted(survey, connection, mine, keys, (place,)):
            if key not in groups:
                groups[key] = empty_counts(survey, reading)
            groups[key].columns[place][reports[0]] += times
            if len(groups) > _MOST:
                hint = "Round weights, or take a column with fewer values."
                raise InputError("--by", Phrase("too many groups"), f"at most {_MOST:,} of them", hint)
    for pair in reading.pairs(survey):
        for key, reports, times in _counted(survey, connection, mine, keys, pair):
            groups[key].pairs[pair][reports] += times
    return groups or {(): empty_counts(survey, reading)}


def _counted(
    survey: Questionnaire, connection: Connection, table: Any, keys: tuple[str, ...], places: tuple[int, ...]
) -> Iterator[tuple[tuple[str, ...], Any, int]]:
    """Each group's values, the reports to the questions at these places, and how often they came."""
    questions = [survey.questions[place] for place in places]
    cells = {
        f"r{place}": table[question.name].cast("string") for place, question in zip(places, questions, strict=True)
    }
    cells |= {f"k{number}": table[name].cast("string") for number, name in enumerate(keys)}
    counted = connection.values(table.group_by(**cells).aggregate(times=table.count()))
    for *texts, times in zip(*(counted[name] for name in cells), counted["times"], strict=True):
        reports = tuple(
            parsed_report(question.law, str(text), question.name)
            for question, text in zip(questions, texts, strict=False)
        )
        key = tuple("" if text is None else str(text) for text in texts[len(places) :])
        yield key, reports, int(times)
