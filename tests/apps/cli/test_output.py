"""What commands print is what is there: brackets style nothing, and nothing steers the terminal."""

from xml.dom.minidom import parseString

import pytest

from discreet.apps.cli.output import say, show_release, show_table
from discreet.apps.survey.results import figures
from discreet.core.release import Release
from discreet.local.questionnaire.estimate import estimates
from discreet.local.questionnaire.questionnaire import Questionnaire

HOSTILE = ["[/b]", "[red]Ash", "[link=http://x]y", "a\x1b[31mb", "\x07\x9b2J", "[bold", "\\[x]"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_is_shown_as_it_is(capsys, text):
    show_table(text, [text, "n"], [[text, "1"]], numbers=1)
    say(text)
    shown = capsys.readouterr().out
    for steering in "\x1b\x07\x9b":
        assert steering not in shown
        text = text.replace(steering, "\ufffd")
    assert shown.count(text) == 4


def test_a_picture_is_xml_whatever_the_survey_says():
    question = {"name": "a", "text": "<b>\x1b[1m ]]>", "kind": "choice", "options": ["<x>", "&\x00", "\ud800"]}
    survey = Questionnaire.from_dict({"id": "x", "title": "\x0c&<", "questions": [{**question, "epsilon": 1}]})
    drawn = figures(survey.title, estimates(survey, [{0: 5, 1: 3, 2: 1}])).to_svg()
    assert "<x>" not in drawn
    parseString(drawn)


def test_a_release_without_numbers_has_no_intervals(capsys):
    told = {"id": "c", "dataset": "d", "confidence": 0.95, "cost": "epsilon = 1", "mechanism": "", "digest": "ab"}
    show_release(Release(**told, columns={"option": ["A"]}, keys=("option",), outputs=()))
    assert "intervals" not in capsys.readouterr().out
    ends = {"n": [3], "n_lower": [1], "n_upper": [5]}
    show_release(Release(**told, columns=ends, keys=(), outputs=("n",)))
    assert "95% confidence intervals" in capsys.readouterr().out
