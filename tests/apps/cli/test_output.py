"""What commands print is what is there: brackets style nothing, and nothing steers the terminal."""

from xml.dom.minidom import parseString

import pytest

from discreet.apps.cli.output import FIRST, LONG, say, show_release, show_table
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


def listed(many):
    columns = {"town": [f"t{place}" for place in range(many)], "n": [0.0] * many, "n_lower": [0.0] * many}
    columns["n_upper"] = [1.0] * many
    return Release("id-1", "d", columns, ("town",), ("n",), 0.95, "epsilon = 1", "m", "0" * 64)


@pytest.mark.parametrize(("many", "printed"), [(LONG, LONG), (LONG + 1, FIRST)])
def test_a_long_table_is_printed_as_its_first_rows_with_where_all_of_it_is(capsys, many, printed):
    show_release(listed(many), "by town")
    said = capsys.readouterr().out
    assert [town for town in listed(many)["town"] if f" {town} " in said] == listed(printed)["town"]
    words = " ".join(said.split())
    told = f"The first {FIRST} of {many:,} rows. discreet releases show id-1 --part 'by town' --format csv prints all."
    assert (told in words) == (printed < many)


def test_who_writes_a_table_elsewhere_says_where(capsys):
    show_release(listed(LONG + 1), "homes", "--out FOLDER writes all.")
    assert f"The first {FIRST} of {LONG + 1} rows. --out FOLDER writes all." in capsys.readouterr().out
