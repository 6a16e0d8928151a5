"""Reports read by groups, with weights and strata, at once or consistent: each as asked, or refused."""

import csv
from fractions import Fraction

import numpy as np
import pytest
from small_survey import FRUIT, report, survey

from discreet.apps.survey.files import export_reports, read_results
from discreet.apps.survey.reading import Reading, read_strata
from discreet.apps.survey.results import Results, results_of, results_page
from discreet.apps.survey.store import open_reports
from discreet.errors import InputError
from discreet.local.questionnaire import Questionnaire

SURVEY = survey(cross=[["pills", "fruit"]], minimum=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """300 reports; the file has a region and a weight beside each."""
    place = tmp_path_factory.mktemp("reading")
    reports = open_reports(str(place / "r.db"), SURVEY.digest)
    for number in range(300):
        answers = {"pills": "Yes" if number % 2 else "No", "fruit": FRUIT[number % 2]}
        reports.keep(f"{number:032x}", SURVEY.digest, SURVEY.written(report(SURVEY, 0, answers)["answers"]))
    reports.close()
    export_reports(SURVEY, str(place / "r.db"), place / "plain.csv")
    with (place / "plain.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    more = [[*row, ["north", "south", "west"][min(2, n // 120)], 1 + n % 2] for n, row in enumerate(rows)]
    with (place / "r.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[*head, "region", "people"], *more])
    (place / "strata.csv").write_text("group,share\nnorth,0.5\nsouth,0.3\nwest,1/5\n")
    return place


def read(folder, **how):
    return read_results(SURVEY, str(folder / ("r.csv" if {"by", "weights"} & set(how) else "r.db")), Reading(**how))


def test_groups_of_a_public_column_are_estimated_each_by_its_own_reports(folder):
    found = read(folder, by="region")
    first = [one for one in found.estimates if one.question.name == "pills"]
    assert [(one.group, one.reports) for one in first] == [
        ("region = north", 120),
        ("region = south", 120),
        ("region = west", 60),
    ]
    assert found.reports == 300
    whole = read(folder).estimates[0]
    assert sum(one.value[0] * one.reports for one in first) / 300 == pytest.approx(whole.value[0])
    assert {one.group for one in found.shown()} == {"region = north", "region = south", "region = west"}
    small = read_results(survey(minimum=61), str(folder / "r.csv"), Reading(by="region"))
    assert {one.group for one in small.shown()} == {"region = north", "region = south"}  # a small group is not public
    assert len(small.shown(owner=True)) == len(small.estimates)


def test_strata_and_weights_are_sums_of_groups(folder):
    parts = [one.value for one in read(folder, by="region").estimates if one.question.name == "fruit"]
    shares = read_strata(folder / "strata.csv")
    pooled = read(folder, by="region", strata=shares).estimates[1]
    assert pooled.value == pytest.approx(0.5 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2])
    heavy = [one.value for one in read(folder, by="people").estimates if one.question.name == "hours"]
    weighted = read(folder, weights="people")
    assert weighted.estimates[4].value == pytest.approx(heavy[0] / 3 + 2 * heavy[1] / 3)
    assert "the weights describe" in weighted.note()
    # A cross-table would be of those who answered: beside weights there is none, and that is said.
    assert read(folder).crosses
    assert not weighted.crosses
    assert "Cross-tables are left out" in weighted.note()
    assert weighted.estimates[0].caption() == pooled.caption() == "share of the population"
    assert read(folder).estimates[0].caption() == "share of those who answered"


def test_by_a_question_and_crossed(folder):
    found = read(folder, by="pills")
    assert {one.group for one in found.estimates} == {"pills = Yes", "pills = No"}
    assert {one.question.name for one in found.estimates} == set(SURVEY.names) - {"pills"}
    (table,) = found.crosses  # as the file says
    assert table.value.shape == (2, 5)
    assert read(folder, cross=(("fruit", "marks"),)).crosses[0].value.shape == (5, 5)
    assert read(folder, cross=()).crosses == ()
    files = read_results(SURVEY, str(folder / "plain.csv"))
    assert files.to_dict() == read(folder).to_dict()
    page = results_page(files)
    assert "Do you take pills to sleep? / Which fruit?" in page


def test_together_is_wider_and_consistent_shares_stand_beside(folder):
    plain, sure = read(folder), read(folder, together=True)
    for one, two in zip(plain.estimates, sure.estimates, strict=True):
        assert (two.upper - two.lower > one.upper - one.lower).all()
        assert (one.value == two.value).all()
    many = sum(len(one.labels) for one in plain.estimates) + plain.crosses[0].value.size
    each = read(folder, confidence=1 - 0.05 / many).estimates[0]
    assert sure.estimates[0].upper == pytest.approx(each.upper)
    assert "(simultaneous)" in sure.note()
    beside = read(folder, consistent="simplex")
    shares = beside.estimates[1].beside["consistent"]
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    assert np.array_equal(beside.estimates[1].value, plain.estimates[1].value)  # what is unbiased stays
    assert beside.estimates[4].beside == {}  # a mean is none of it
    assert "biased" in beside.note()
    assert "consistent" in beside.to_dict()["questions"][0]["estimates"][0]


def test_the_likeliest_shares_stand_beside_and_a_suspicion_is_said(folder, tmp_path):
    found = read(folder, likeliest=True)
    for one in found.estimates:
        if one.question.kind == "choice":
            assert one.beside["likeliest"].min() >= 0
            assert one.beside["likeliest"].sum() == pytest.approx(1)
    assert "likeliest" in found.estimates[0].head()
    assert found.suspicions() == []
    with (folder / "plain.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    marks = head.index("marks")
    forged = [[*row[:marks], "11111", *row[marks + 1 :]] for row in rows]
    with (tmp_path / "forged.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *forged])
    seen = read_results(SURVEY, str(tmp_path / "forged.csv"))
    assert any("marks, number of marks in a report: forged?" in line for line in seen.suspicions())
    assert "forged?" in results_page(seen)
    assert any(check["suspicious"] for check in seen.to_dict()["checks"])


def test_questions_that_cannot_be_estimated_by_another_are_named():
    parts = {"name": "many", "text": "Which?", "kind": "several", "options": ["a", "b"], "epsilon": 1}
    two = [{"name": name, "text": "?", "kind": "binary", "epsilon": 1} for name in ("pills", "tired")]
    asked = Questionnaire.from_dict({"id": "s", "title": "S", "questions": [*two, parts]})
    said = Results(asked, 0, Reading(by="pills"), ()).note()
    assert "Left out, since only a part of each answer is reported: many." in said
    assert "Left out" not in Results(asked, 0, Reading(), ()).note()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"by": "hours"}, "kind binary or choice; got 'hours'.$"),
        ({"weights": "peple"}, "beside the answers: .*Did you mean `people`"),
        ({"cross": (("pills",),)}, "such as pills,reason; got pills"),
        ({"by": "nothing"}, "--by"),
        ({"by": "token"}, "of your own"),
        ({"weights": "pills"}, "not a question"),
        ({"by": "pills", "weights": "people"}, "randomised answer is none"),
        ({"weights": "region"}, "numbers more than zero"),
        ({"strata": {"north": Fraction(1)}}, "--by COLUMN"),
        ({"by": "region", "strata": {"north": Fraction(1)}}, "no share of 'south'"),
        (
            {"by": "region", "strata": {g: Fraction(1, 4) for g in ("north", "south", "west", "east")}},
            "no report of 'east'",
        ),
        ({"consistent": "wish"}, "--consistent"),
        ({"confidence": 2}, "confidence"),
        ({"likeliest": True, "by": "pills"}, "--likeliest"),
        ({"cross": (("pills", "late"),)}, "--cross"),
        ({"cross": (("pills", "fruit"),), "weights": "people"}, "of those who answered"),
    ],
)
def test_what_cannot_be_read_so_is_refused(folder, how, told):
    with pytest.raises(InputError, match=told):
        read(folder, **how)


def test_a_store_has_no_public_columns_and_strata_files_are_checked(folder, tmp_path):
    reports = open_reports(str(folder / "r.db"), SURVEY.digest, create=False)
    with pytest.raises(InputError, match="add the column to the file"):
        results_of(SURVEY, reports, Reading(by="region"))
    reports.close()
    for text in (
        "",
        "group,share\n",
        "group,share\na,0.5\n",
        "group,share\na,0.5\na,0.5\n",
        "a,1\n",
        "group,share\na,x\n",
    ):
        (tmp_path / "s.csv").write_text(text)
        with pytest.raises(InputError, match="--strata"):
            read_strata(tmp_path / "s.csv")
    with pytest.raises(InputError, match="--strata"):
        read_strata(tmp_path / "none.csv")


def test_ranges_are_read_as_they_are_typed_and_checked():
    from discreet.apps.survey.reading import read_span
    from discreet.local.questionnaire import Questionnaire

    hours = {"name": "hours", "text": "Hours?", "kind": "distribution", "low": 0, "high": 12, "step": 1, "epsilon": 1}
    of = Questionnaire.from_dict({"id": "sleep", "title": "Sleep", "questions": [hours]})
    Reading(spans=(read_span("hours=6:8"),)).check(of)
    for text in ("hours", "hours=6", "=6:8", "hours=6:"):
        with pytest.raises(InputError, match="--range"):
            read_span(text)
    for wrong in (Reading(spans=(read_span("days=6:8"),)), Reading(spans=(read_span("hours=8:6"),))):
        with pytest.raises(InputError, match="--range"):
            wrong.check(of)
