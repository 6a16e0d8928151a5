"""Reports as files: out to Parquet or CSV for other programs, and back in to be estimated.

A row is a report: the survey's digest, the token, and one column for each question. Files are counted by DuckDB, one
group-by for each question, so that a hundred million rows need no long memory.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

from discreet.apps.survey.results import CONFIDENCE, Results, results_from, results_of
from discreet.apps.survey.store import is_address, open_reports
from discreet.data.source import Connection, source_of
from discreet.errors import DiscreetError, InputError, Phrase
from discreet.local.questionnaire.law import parsed_report
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.local.replies import check_files, count_lines

__all__ = ["export_reports", "read_results"]

_TABLES = (".parquet", ".csv")


def export_reports(survey: Questionnaire, place: str, out: Path) -> int:
    """Write every report of a store to a file; returns how many."""
    if out.suffix.lower() not in _TABLES or not out.absolute().parent.is_dir():
        raise InputError("out", str(out), "a file that ends in .parquet or .csv, in a folder that exists")
    reports = open_reports(place, survey.digest, create=False)
    try:
        rows = [[digest, token, *_answers(survey, text)] for token, digest, text in reports.rows()]
    finally:
        reports.close()
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


def read_results(survey: Questionnaire, place: str, *, confidence: float = CONFIDENCE) -> Results:
    """The estimates from a store, or from Parquet or CSV files.

    Reports of another survey or another epsilon, tokens that come twice, broken reports and files cut off are refused.
    """
    if is_address(place) or Path(place).suffix.lower() not in _TABLES:
        reports = open_reports(place, survey.digest, create=False)
        try:
            return results_of(survey, reports, confidence=confidence)
        finally:
            reports.close()
    problem: InputError | None = None
    try:
        source = source_of(place)
        check_files(source.place.paths())
        lines = count_lines(source.place.paths()) if source.kind == "csv" else None
        with source.open() as connection:
            columns = _count(survey, connection, lines)
    except DiscreetError:
        raise
    except Exception:
        hint = "It may have been cut off while it was copied."
        problem = InputError("reports", str(place), "a table that can be read", hint)
    if problem is not None:
        raise problem
    return results_from(survey, columns, confidence=confidence)


def _count(survey: Questionnaire, connection: Connection, lines: int | None) -> list[Counter[Any]]:
    table, head = connection.table, ["survey", "token", *survey.names]
    if set(table.columns) != set(head):
        raise InputError(
            "reports", Phrase(", ".join(sorted(table.columns))), "a table with the columns " + ", ".join(head)
        )
    own = (table.survey == survey.digest).fill_null(False)
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
    columns: list[Counter[Any]] = []
    for question in survey.questions:
        cells = table[question.name].cast("string")
        counted = connection.values(table.group_by(report=cells).aggregate(times=table.count()))
        column: Counter[Any] = Counter()
        for text, times in zip(counted["report"], counted["times"], strict=True):
            column[parsed_report(question.law, str(text), question.name)] += int(times)
        columns.append(column)
    return columns
