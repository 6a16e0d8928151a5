"""A survey written from what was filled in is read back as that survey."""

from discreet.apps.survey.text import survey_toml
from discreet.local.questionnaire import Questionnaire

WHOLE = {"id": "night", "title": 'Night "and" day', "intro": "", "minimum": "20"}


def test_what_is_written_is_read_back():
    text = survey_toml(
        WHOLE,
        [
            {"name": "pills", "text": "Pills?\nHonestly", "kind": "binary", "epsilon": "ln3"},
            {"name": "fruit", "text": "Which?", "kind": "choice", "options": ["Apple", 'Pe"ar'], "epsilon": "0.5"},
            {"name": "h", "text": "Hours?", "kind": "number", "low": "-1", "high": "4", "step": "0.5", "epsilon": "1"},
        ],
    )
    survey = Questionnaire.from_text(text)
    assert (survey.title, survey.intro, survey.minimum) == ('Night "and" day', "", 20)
    assert survey.questions[1].options == ("Apple", 'Pe"ar')
    assert survey.questions[2].grid.low == -1
    assert "epsilon = 0.5" in text
