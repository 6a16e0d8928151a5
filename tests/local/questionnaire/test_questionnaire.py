"""Surveys of several questions: what they cost together, and what is wrong with one is said by its place."""

import json
from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.local.questionnaire import Questionnaire
from questionnaires import LABELS, SURVEY


def test_all_answers_of_a_person_add_up():
    survey = Questionnaire.from_dict(SURVEY)
    assert survey.epsilon == sum(question.epsilon for question in survey.questions)
    assert 2.49999 < survey.epsilon <= Fraction(5, 2)
    assert survey.reveals().startswith("About all your answers together: someone who thought 2% before your reply will")
    report = survey.privatize({"pills": "Yes", "fruit": "b", "hours": "7"})
    assert survey.read(report) == tuple(report)
    assert json.loads(survey.written(report)) == report
    assert len(survey.written(report)) <= survey.longest


@pytest.mark.parametrize(
    "answers",
    [{}, {"pills": "Yes"}, {"pills": "Maybe", "fruit": "b", "hours": 7}, {"pills": "Yes", "fruit": "b", "hours": 7.5},
     {"pills": "Yes", "fruit": "b", "hours": 13}, {"pills": "Yes", "fruit": "b", "hours": None}],
)  # fmt: skip
def test_an_answer_that_does_not_exist_is_refused_and_not_repeated(answers):
    with pytest.raises(InputError) as told:
        Questionnaire.from_dict(SURVEY).privatize(answers)
    for secret in ("Maybe", "7.5", "13"):
        assert secret not in str(told.value)


def changed(place, **fields):
    questions = [dict(one) for one in SURVEY["questions"]]
    questions[place] |= fields
    return {**SURVEY, "questions": [{k: v for k, v in one.items() if v is not None} for one in questions]}


def test_what_a_report_means_decides_the_digest():
    same = Questionnaire.from_dict(SURVEY).digest
    assert Questionnaire.from_dict({**SURVEY, "title": "Day", "intro": "Hello"}).digest == same
    others = [
        {**SURVEY, "id": "day"},
        changed(0, epsilon="1.1"),
        changed(0, text="Pills??"),
        changed(0, options=["No", "Yes"]),
        changed(1, options=LABELS[::-1]),
        changed(1, mechanism="oue"),
        changed(2, high=13),
        changed(2, name="sleep"),
        {**SURVEY, "questions": SURVEY["questions"][:2]},
    ]
    digests = [Questionnaire.from_dict(one).digest for one in others]
    assert len({same, *digests}) == len(others) + 1


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({**SURVEY, "id": "a b"}, "`id` must be .*; got 'a b'"),
        ({**SURVEY, "id": None}, "`id` is missing"),
        ({**SURVEY, "title": " "}, "title"),
        (
            {**SURVEY, "colour": "red"},
            "`colour` is not known here. Known: id, title, intro, minimum, cross, repeat, questions",
        ),
        ({**SURVEY, "questions": []}, "1 to 50"),
        ({**SURVEY, "questions": "x"}, r"\[\[questions\]\]"),
        ({**SURVEY, "questions": [1]}, r"questions\[0\]"),
        ({**SURVEY, "questions": SURVEY["questions"][:1] * 2}, "different names"),
        (changed(0, name="token"), "reports have a column of this one"),
        (changed(0, name="a b"), r"questions\[0\].name"),
        (changed(0, text=""), r"questions\[0\].text"),
        (changed(0, kind="rating"), "one of binary, choice, number"),
        (changed(0, epsilon=None), r"`questions\[0\].epsilon` is missing"),
        (changed(0, epsilon=0), r"`questions\[0\].epsilon` must be .*; got 0"),
        (changed(0, epsilon=-1), r"questions\[0\].epsilon"),
        (changed(0, epsilon=float("inf")), r"questions\[0\].epsilon"),
        (changed(0, epsilon=1000), "as good as the truth"),
        (changed(0, options=["Yes"]), "two labels"),
        (changed(0, options=["Yes", "Yes"]), "all different"),
        (changed(0, low=1), r"questions\[0\].low"),
        (changed(0, mechanism="duchi"), "auto, grr, oue, sue, subset"),
        (changed(1, options=["a"]), "2 to 10,000 labels"),
        (changed(1, options=None), "missing"),
        (changed(1, options="ab"), "2 to 10,000 labels"),
        (changed(1, options=["a", ""]), "2 to 10,000 labels"),
        (changed(1, options=["a", 2]), "2 to 10,000 labels"),
        (changed(1, mechanism="dice"), "auto, grr, oue, sue, subset, olh, hadamard"),
        (changed(2, mechanism="grr"), "auto, duchi, piecewise"),
        (changed(2, step=0), "more than zero"),
        (changed(2, step=5), "leads from low to high exactly"),
        (changed(2, step="1/3"), "at most 9 decimals"),
        (changed(2, step="0.001"), "at most 1001 points"),
        (changed(2, high=0), "more than low"),
        (changed(2, high=None), r"questions\[2\].high"),
        (changed(2, unit=3), r"questions\[2\].unit"),
        (changed(2, options=["a", "b"]), r"questions\[2\].options"),
    ],
)
def test_what_is_wrong_with_a_survey_is_said_by_its_place(declared, told):
    with pytest.raises(InputError, match=told):
        Questionnaire.from_dict(declared)
