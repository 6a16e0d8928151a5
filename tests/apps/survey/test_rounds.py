"""A survey of several rounds, in the store, in files and in estimates; intervals of changes that are not too narrow."""

import json
from dataclasses import replace

import numpy as np
import pytest
from small_survey import Client, report

from chance import at_most
from discreet.apps.survey.files import export_reports, read_results
from discreet.apps.survey.page import content
from discreet.apps.survey.plan import plan_survey
from discreet.apps.survey.reading import Reading
from discreet.apps.survey.rounds import changes, read_rounds
from discreet.apps.survey.server import application
from discreet.apps.survey.store import open_reports
from discreet.errors import InputError
from discreet.local import Longitudinal
from discreet.local.questionnaire import Questionnaire
from discreet.local.questionnaire.estimate import estimate_question
from discreet.local.questionnaire.law import law_to_page

DECLARED = {
    "id": "diary",
    "title": "Diary",
    "minimum": 50,
    "repeat": {"rounds": 3},
    "questions": [{"name": "pills", "text": "Pills?", "kind": "binary", "epsilon": 3, "instant": 3}],
}
SURVEY = Questionnaire.from_dict(DECLARED)


@pytest.fixture
def stored(tmp_path):
    """Two rounds of reports in one store: 60 in the first, 90 in the third."""
    place = str(tmp_path / "r.db")
    reports = open_reports(place, SURVEY.series)
    for number in range(150):
        asked = SURVEY.at(1 if number < 60 else 3)
        sent = report(asked, number, {"pills": "Yes" if number % 3 else "No"})
        reports.keep(sent["token"], sent["survey"], asked.written(sent["answers"]))
    reports.close()
    return place


def test_each_round_is_read_alone_from_a_store_and_from_its_export(stored, tmp_path):
    every = [stored]
    for kind in ("csv", "parquet"):
        out = tmp_path / f"r.{kind}"
        assert export_reports(SURVEY, stored, out) == 150
        every.append(str(out))
    for number, count in ((1, 60), (2, 0), (3, 90)):
        found = [read_results(SURVEY.at(number), place) for place in every]
        assert {one.reports for one in found} == {count}
        assert len({json.dumps(one.to_dict()) for one in found}) == 1
        assert found[0].to_dict()["round"] == number
        assert found[0].note().startswith(f"Round {number} of 3: {count} reports")
    with pytest.raises(InputError, match="round"):
        read_results(SURVEY, stored)
    other = Questionnaire.from_dict({**DECLARED, "repeat": {"rounds": 2}})
    with pytest.raises(InputError, match="reports"):
        read_results(other.at(1), stored)
    with pytest.raises(InputError, match="of another"):
        read_results(other.at(1), every[1])


def test_all_rounds_stand_in_one_table_with_the_change_between_them(stored):
    found = read_rounds(SURVEY, stored, Reading())
    assert [one.survey.round for one in found.results] == [1, 3]  # a round without reports is left out
    ((title, rows),) = found.tables()
    assert title == "Pills?"
    assert [row[1:3] for row in rows] == [["1", "60"], ["3", "90"]]
    assert rows[0][6:] == ["", "", ""]
    assert len(rows[1]) == len(found.head()) + 1
    plain = found.to_dict()
    (change,) = plain["changes"]
    first, last = (one["questions"][0]["estimates"][0] for one in plain["rounds"])
    assert change["value"] == pytest.approx(last["value"] - first["value"])
    assert change["lower"] < change["value"] < change["upper"]
    assert (change["from_round"], change["to_round"]) == (1, 3)
    assert "only make the intervals of changes too wide" in found.note()
    private = replace(found, results=tuple(replace(one, reports=49) for one in found.results))
    assert private.to_dict()["rounds"] == []
    assert private.to_dict()["changes"] == []
    assert len(private.shown(owner=True)) == 2
    for wrong in (Reading(together=True), Reading(by="pills")):
        with pytest.raises(InputError, match="--round"):
            read_rounds(SURVEY, stored, wrong)


def test_a_server_serves_one_round_and_takes_reports_of_that_alone(tmp_path):
    pytest.importorskip("fastapi", reason="needs discreet[server]")
    pytest.importorskip("httpx", reason="needs httpx")
    reports = open_reports(str(tmp_path / "r.db"), SURVEY.series)
    client = Client(application(SURVEY.at(2), reports))
    origin = {"Origin": "http://testserver"}
    answers = [client.post("/report", json=report(SURVEY.at(n), n), headers=origin).status_code for n in (1, 2, 3)]
    assert answers == [400, 200, 400]
    assert [digest for _, digest, _ in reports.rows()] == [SURVEY.at(2).digest]
    with pytest.raises(InputError, match="round"):
        application(SURVEY, reports)
    reports.close()


def test_the_page_is_given_both_laws_and_the_cost_of_all_rounds():
    given = content(SURVEY.at(2))
    law = SURVEY.questions[0].repeated
    (entry,) = given["questions"]
    assert (entry["permanent"]["own"], entry["permanent"]["total"]) == tuple(
        map(str, law.permanent.hit.as_integer_ratio())
    )
    assert (entry["law"]["own"], entry["law"]["total"]) == tuple(map(str, law.instant.hit.as_integer_ratio()))
    assert entry["law"] != law_to_page(SURVEY.questions[0].law)  # that is the law of both together
    assert given["repeat"] == {
        "series": SURVEY.digest,
        "title": "Round 2 of 3",
        "loss": SURVEY.series_loss().words(),
    }
    assert given["digest"] == SURVEY.at(2).digest


def test_a_plan_has_the_cost_of_one_report_and_of_all_rounds():
    plan = plan_survey(SURVEY, people=1000)
    loss = SURVEY.series_loss()
    assert plan.to_dict()["all_rounds"] == loss.to_dict()
    assert loss.words() in plan.lines()
    assert plan.rows()[0][2] == "2.31"  # of one report, less than the permanent or the instant part alone


def drawn(law, answers, memory, bits):
    """One round's reports of people with these answers and memories (one for each option)."""
    kept = memory[np.arange(len(answers)), answers]
    wrong = bits.random(len(answers)) >= float(law.instant.hit)
    return np.where(wrong, (kept + bits.integers(1, law.categories, len(answers))) % law.categories, kept)


def settled(law, people, bits):
    options = np.tile(np.arange(law.categories), (people, 1))
    wrong = bits.random(options.shape) >= float(law.permanent.hit)
    return np.where(wrong, (options + bits.integers(1, law.categories, options.shape)) % law.categories, options)


def misses(law, runs, people, moving, *, together, width=1.0):
    """How often the interval of a change misses the true one: reports of both rounds from one memory, or from two."""
    bits = np.random.default_rng(24)
    question = replace(SURVEY.questions[0], mechanism=law.each, repeated=law)
    first = (np.arange(people) < people // 5).astype(int)
    second = first.copy()
    second[-moving:] = 1 - second[-moving:]
    truth = float(np.mean(second == 0) - np.mean(first == 0))
    missed = 0
    for _ in range(runs):
        memory = settled(law, people, bits)
        after = memory if together else settled(law, people, bits)
        sent = [drawn(law, first, memory, bits), drawn(law, second, after, bits)]
        found = [estimate_question(question, {0: int((s == 0).sum()), 1: int((s == 1).sum())}, 0.95) for s in sent]
        ((value, lower, upper),) = changes(*found)
        missed += not value - width * (value - lower) <= truth <= value + width * (upper - value)
    return missed


@pytest.mark.statistical
def test_the_interval_of_a_change_is_not_too_narrow_for_reports_of_one_memory():
    law, runs = Longitudinal(2, 1, 3), 1500
    assert at_most(misses(law, runs, 400, 100, together=True), runs, 0.05)
    # Devices that forget, or answers that all change, are the least favourable case. There the interval has to be as
    # wide as it is: one as wide as if both rounds were one, which the same memory suggests, is found out.
    assert at_most(misses(law, runs, 400, 100, together=False), runs, 0.05)
    assert not at_most(misses(law, runs, 400, 100, together=False, width=0.7), runs, 0.05)
