"""Results of a survey: nothing for the public below its minimum, and pictures that are what they say."""

import pytest
from small_survey import keep, survey

from discreet.apps.survey.results import figure, figures, results_of, results_page, save
from discreet.errors import InputError

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
