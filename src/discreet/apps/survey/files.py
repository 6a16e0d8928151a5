"""Reports as files: out to Parquet or CSV for other programs, and back in to be estimated.

A row is a report: the survey's digest, the token, and one column for each question.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.apps.survey.store import is_address, open_reports
from discreet.errors import InputError
from discreet.local.questionnaire.law import parsed_report
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["exported", "tally_of"]

_TABLES = (".parquet", ".csv")


def exported(survey: Questionnaire, place: str, out: Path) -> int:
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
            csv.writer(file).writerows([head, *rows])
        return len(rows)
    import pyarrow
    import pyarrow.parquet

    arrays = [pyarrow.array([row[place] for row in rows], pyarrow.string()) for place in range(len(head))]
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=head), out)
    return len(rows)


def _answers(survey: Questionnaire, text: str) -> list[str]:
    """Each randomised answer as text: a whole number, or zeros and ones."""
    return [str(one) for one in survey.read(json.loads(text))]


def tally_of(survey: Questionnaire, place: str) -> Iterator[tuple[str, str, int]]:
    """(digest, answers, how often) from a store, or from a file whose tokens must all be different."""
    if is_address(place) or Path(place).suffix.lower() not in _TABLES:
        reports = open_reports(place, survey.digest, create=False)
        try:
            yield from reports.tally()
        finally:
            reports.close()
        return
    yield from _from_table(survey, Path(place))


def _from_table(survey: Questionnaire, path: Path) -> Iterator[tuple[str, str, int]]:
    head = ["survey", "token", *survey.names]
    columns = _columns(path)
    if set(columns) != set(head):
        raise InputError("reports", sorted(columns), "the columns " + ", ".join(head))
    tokens = columns["token"]
    if any(token is None for token in tokens) or len(set(tokens)) < len(tokens):
        hint = "The file holds reports twice, or was put together from files that overlap."
        raise InputError("reports", "a token that is repeated or missing", "one report for each token", hint)
    for row in zip(*(columns[name] for name in head), strict=True):
        yield str(row[0]), survey.written(_parsed(survey, row[2:])), 1


def _parsed(survey: Questionnaire, cells: tuple[Any, ...]) -> list[Any]:
    """Cells as the page wrote them."""
    both = zip(survey.questions, cells, strict=True)
    return [parsed_report(question.law, str(cell), question.name) for question, cell in both]


def _columns(path: Path) -> dict[str, list[Any]]:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if path.suffix.lower() == ".parquet":
            table = pyarrow.parquet.read_table(path)
        else:
            with path.open(encoding="utf-8", newline="") as lines:
                names = next(csv.reader(lines), [])
            kinds = dict.fromkeys(names, pyarrow.string())
            table = pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(column_types=kinds))
        return {name: table[name].to_pylist() for name in table.column_names}
    except (OSError, UnicodeDecodeError, KeyError, pyarrow.ArrowException) as problem:
        hint = "It may have been cut off while it was copied."
        raise InputError("reports", str(path), f"a table that can be read ({type(problem).__name__})", hint) from None
