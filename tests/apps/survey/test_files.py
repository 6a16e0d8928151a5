"""Reports as files: what goes out comes back the same, and what would bend an estimate is refused."""

import csv

import pytest
from small_survey import keep, survey

from discreet.apps.survey.files import export_reports, read_results
from discreet.apps.survey.reading import Reading
from discreet.apps.survey.results import results_of
from discreet.apps.survey.store import open_reports
from discreet.errors import InputError

SURVEY = survey()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store of forty reports, and what was exported of it."""
    place = tmp_path_factory.mktemp("reports")
    reports = open_reports(str(place / "r.db"), SURVEY.digest)
    keep(reports, SURVEY, range(40))
    reports.close()
    for name in ("r.csv", "r.parquet"):
        assert export_reports(SURVEY, str(place / "r.db"), place / name) == 40
    return place


def test_estimates_from_files_are_those_of_the_store(folder):
    reports = open_reports(str(folder / "r.db"), SURVEY.digest, create=False)
    expected = results_of(SURVEY, reports).to_dict(owner=True)
    reports.close()
    for name in ("r.db", "r.csv", "r.parquet"):
        assert read_results(SURVEY, str(folder / name)).to_dict(owner=True) == expected
    assert read_results(SURVEY, str(folder / "r.csv"), Reading(confidence=0.5)).confidence == 0.5


def test_a_row_is_a_digest_a_token_and_randomised_answers(folder):
    with (folder / "r.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["survey", "token", *SURVEY.names]
    assert {row[0] for row in rows} == {SURVEY.digest}
    assert [row[1] for row in rows] == sorted(f"{number:032x}" for number in range(40))


def foreign(rows):
    rows[5][0] = "0" * 64


def repeated(rows):
    rows.append(rows[3])


def nameless(rows):
    rows[3][1] = ""


def impossible(rows):
    rows[4][2] = "7"


def narrow(rows):
    for row in rows:
        row.pop()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (foreign, "1 of 40 of another"),
        (repeated, "1 tokens repeated or missing"),
        (nameless, "tokens repeated or missing"),
        (impossible, "a whole number from 0 to 1"),
        (narrow, "the columns survey, token"),
    ],
)
def test_a_file_that_would_bend_an_estimate_is_refused(folder, tmp_path, change, said):
    with (folder / "r.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    change(rows)
    with (tmp_path / "wrong.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    with pytest.raises(InputError, match=said):
        read_results(SURVEY, str(tmp_path / "wrong.csv"))


def test_a_file_cut_off_is_refused(folder, tmp_path):
    for name, said in (("r.csv", "does not end"), ("r.parquet", "cut off")):
        (tmp_path / name).write_bytes((folder / name).read_bytes()[:-40])
        with pytest.raises(InputError, match=said):
            read_results(SURVEY, str(tmp_path / name))


def test_reports_go_to_tables_only(folder, tmp_path):
    for wrong in (tmp_path / "r.xlsx", tmp_path / "none" / "r.csv"):
        with pytest.raises(InputError, match="out"):
            export_reports(SURVEY, str(folder / "r.db"), wrong)
    with pytest.raises(InputError, match="survey serve makes one"):
        export_reports(SURVEY, str(folder / "none.db"), tmp_path / "r.csv")
