"""Forged reports are seen where the law rules them out, and honest ones are not suspected."""

from collections import Counter

import pytest

from discreet.local.questionnaire import Questionnaire
from discreet.local.questionnaire.forgery import ALARM, check_reports
from questionnaires import LABELS

KINDS = {
    "yes": {"kind": "binary", "epsilon": 1},
    "marks": {"kind": "choice", "options": LABELS, "epsilon": 1, "mechanism": "oue"},
    "keys": {"kind": "choice", "options": [str(n) for n in range(20)], "epsilon": 1, "mechanism": "olh"},
    "apply": {"kind": "several", "options": LABELS, "epsilon": 1},
    "order": {"kind": "ranking", "options": LABELS, "epsilon": 1},
    "hours": {"kind": "number", "low": 0, "high": 10, "step": 1, "epsilon": 1},
    "scale": {"kind": "distribution", "low": 0, "high": 10, "step": 1, "epsilon": 1},
    "city": {"kind": "word", "epsilon": 3, "length": 3},
}
SURVEY = Questionnaire.from_dict(
    {"id": "f", "title": "F", "questions": [{"name": name, "text": "Q?", **entry} for name, entry in KINDS.items()]}
)
PEOPLE = 1500


def honest(numbers):
    columns = [Counter() for _ in SURVEY.questions]
    for number in numbers:
        sent = SURVEY.privatize({question.name: question.example(number % 3) for question in SURVEY.questions})
        for column, report in zip(columns, sent, strict=True):
            column[report] += 1
    return columns


@pytest.fixture(scope="module")
def columns():
    return honest(range(PEOPLE))


@pytest.mark.statistical
def test_honest_reports_are_not_suspected(columns):
    found = check_reports(SURVEY, columns)
    assert {one.question for one in found} == set(KINDS)
    assert not [one.words() for one in found if one.p_value < 1e-12]
    assert all(0 <= one.p_value <= 1 for one in found)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("name", "report", "times", "what"),
    [
        ("yes", 0, 20 * PEOPLE, "no answers"),  # nearly all say yes: more than 100% would have to mean it
        ("marks", "11111", 300, "number of marks"),
        ("keys", 0, 600, "keys"),
        ("apply", "2:1", 1500, "which part"),
        ("order", "0:0", 1500, "which part"),
        ("hours", 1, 20 * PEOPLE, "no answers"),
        ("scale", "0:2", 1500, "which part"),
        ("city", "1:7f:1", 1500, "how many letters"),
        ("city", "3:0:0", 800, "keys"),
        ("city", "2:0:5", 800, "groups"),
    ],
)
def test_forged_reports_are_seen(columns, name, report, times, what):
    place = SURVEY.names.index(name)
    forged = [column + Counter({report: times}) if n == place else column for n, column in enumerate(columns)]
    found = [one for one in check_reports(SURVEY, forged) if one.suspicious]
    assert {one.question for one in found} == {name}
    assert any(what in one.what for one in found)
    assert all("forged?" in one.words() for one in found)
    assert all(one.p_value < ALARM for one in found)


def test_without_reports_there_is_nothing_to_check():
    assert check_reports(SURVEY, [Counter() for _ in SURVEY.questions]) == ()
    few = check_reports(SURVEY, honest(range(1)))
    assert not any(one.suspicious for one in few)


@pytest.mark.statistical
def test_reports_that_always_name_the_group_of_one_word_are_seen():
    """Keys and groups are as chance makes them, but the group is never another one: too many people for one word."""
    question = SURVEY.questions[SURVEY.names.index("city")]
    alone = Questionnaire("f", "F", (question,))
    law, forged = question.law, Counter()
    while forged.total() < 1500:
        report = question.privatize("b")
        forged[report] += law.probability(report, [2]) == law.own / law.keys / law.length
    honest = Counter(question.privatize("b") for _ in range(1500))
    assert not [one for one in check_reports(alone, [honest]) if one.suspicious]
    assert [one.what for one in check_reports(alone, [forged]) if one.suspicious] == ["shares above one"]
