"""Results of a survey: nothing for the public below its minimum, and pictures that are what they say."""

from dataclasses import replace

import pytest
from small_survey import keep, survey

from discreet.apps.survey.reading import Reading
from discreet.apps.survey.results import figure, figures, results_of, results_page, save
from discreet.apps.survey.store import open_reports
from discreet.errors import InputError
from discreet.local.questionnaire import Questionnaire

SURVEY = survey()


def test_the_owner_sees_what_is_not_public_and_is_told_so(reports):
    keep(reports, SURVEY, range(7))
    found = results_of(SURVEY, reports)
    assert found.to_dict(owner=True)["reports"] == 7
    assert len(found.to_dict(owner=True)["questions"]) == len(SURVEY.questions)
    page = results_page(found, owner=True)
    assert "7 reports" in page
    assert "Not public: this survey shows nothing below 100 reports." in page
    small = survey(minimum=5)
    assert small.digest == SURVEY.digest  # reports of version 0.1 stay its reports
    assert results_of(small, reports).public


def test_a_plot_of_few_reports_is_for_the_owner_only(reports, tmp_path):
    with pytest.raises(InputError, match="no report yet"):
        save(results_of(SURVEY, reports), tmp_path / "plot.svg", owner=True)
    keep(reports, SURVEY, range(7))
    found = results_of(SURVEY, reports)
    with pytest.raises(InputError, match="below 100 reports"):
        save(found, tmp_path / "plot.svg")
    assert "(not public)" in save(found, tmp_path / "plot.svg", owner=True).read_text()
    page = save(found, tmp_path / "plot.html", owner=True).read_text()
    assert page.count("<svg") == len(SURVEY.questions)
    assert "style.css" not in page  # it needs no server
    with pytest.raises(InputError, match=r"\.svg, \.png or \.html"):
        save(found, tmp_path / "plot.gif", owner=True)


def test_a_picture_holds_every_answer_that_can_be(reports):
    keep(reports, SURVEY, range(50))
    for estimate in results_of(SURVEY, reports).estimates:
        drawn = figure(estimate).to_svg()
        assert all(label in drawn for label in estimate.labels)
        assert estimate.words() in drawn.replace("&amp;", "&")
    drawn = figures("All of it", results_of(SURVEY, reports).estimates).to_svg()
    assert all(question.text in drawn for question in SURVEY.questions)


def test_reports_of_another_survey_and_broken_ones_are_refused(reports):
    reports.keep("a" * 32, SURVEY.digest, "[9]")
    with pytest.raises(InputError, match="a broken report"):
        results_of(SURVEY, reports)
    other = survey(id="day")
    with pytest.raises(InputError, match="mixed in"):
        results_of(other, reports)


WORDS = {
    "id": "w",
    "title": "W",
    "minimum": 1,
    "questions": [
        {"name": "pills", "text": "Pills?", "kind": "binary", "epsilon": 1},
        {"name": "drink", "text": "What do you drink?", "kind": "word", "length": 3, "letters": "ate", "epsilon": 6},
    ],
}


def words(tmp_path, people):
    """A store of a survey with a question of words, and reports of so many people who all drink tea."""
    asked = Questionnaire.from_dict(WORDS)
    reports = open_reports(str(tmp_path / "w.db"), asked.digest)
    for number in range(people):
        sent = asked.privatize({"pills": "Yes", "drink": "Tea"})
        reports.keep(f"{number:032x}", asked.digest, asked.written(sent))
    return asked, reports


@pytest.mark.statistical
def test_words_that_stand_out_are_shown_with_what_is_to_be_known_of_them(tmp_path):
    asked, reports = words(tmp_path, 400)
    found = results_of(asked, reports, Reading(confidence=1 - 1e-9))
    assert found.estimates[1].labels == ("tea",)
    assert "their intervals allow for it" in found.note()
    assert ">tea<" in results_page(found)
    assert "tea" in save(found, tmp_path / "w.svg").read_text()
    together = results_of(asked, reports, Reading(confidence=1 - 1e-9, together=True))
    wide, narrow = (one.estimates[1].upper[0] - one.estimates[1].lower[0] for one in (together, found))
    assert wide > narrow  # one of two statements: the share of yes, and all words at once
    reports.close()


def test_where_no_word_stands_out_that_is_said_and_nothing_is_drawn(tmp_path):
    asked, reports = words(tmp_path, 1)
    found = results_of(asked, reports)
    assert found.estimates[1].labels == ()
    assert "No word stands out." in results_page(found)
    assert "What do you drink?" not in save(found, tmp_path / "w.svg").read_text()
    alone = replace(found, estimates=found.estimates[1:])
    with pytest.raises(InputError, match="no word stands out"):
        save(alone, tmp_path / "w.svg")
    with pytest.raises(InputError, match="--by"):
        Reading(by="pills").check(asked)  # there is nothing else to be estimated by it
    reports.close()
