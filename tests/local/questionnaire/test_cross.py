"""Two questions together: tables near the truth, and plain values of them."""

import json
from collections import Counter

import pytest

from discreet.errors import InputError
from discreet.local.questionnaire import Questionnaire, cross_table, estimates_by
from questionnaires import LABELS, SURVEY

SURE = {**SURVEY, "questions": [{**one, "epsilon": 8} for one in SURVEY["questions"]]}  # near the truth


def pairs(survey, first, second, people):
    seen = Counter()
    for answers in people:
        report = survey.privatize({"pills": "No", "fruit": "a", "hours": 3, **answers})
        seen[report[first], report[second]] += 1
    return seen


PEOPLE = [{"pills": "Yes" if n % 4 == 0 else "No", "fruit": LABELS[n % 2], "hours": n % 2 * 12} for n in range(400)]


@pytest.mark.statistical
def test_a_cross_table_holds_every_pair_of_answers():
    survey = Questionnaire.from_dict(SURE)
    pills, fruit, _ = survey.questions
    found = cross_table(pills, fruit, pairs(survey, 0, 1, PEOPLE), confidence=1 - 1e-12)
    truth = [[0.25, 0, 0, 0, 0], [0.25, 0.5, 0, 0, 0]]
    assert (found.lower <= truth).all()
    assert (found.upper >= truth).all()
    assert abs(found.value - truth).max() < 0.1
    assert found.value.sum() == pytest.approx(1, abs=1e-9)  # both are of a kind whose scores add up to one
    assert [row[0] for row in found.rows()] == ["Yes", "No"]
    plain = json.loads(json.dumps(found.to_dict()))
    assert (plain["questions"], len(plain["cells"]), plain["reports"]) == (["pills", "fruit"], 10, 400)


@pytest.mark.statistical
def test_a_number_by_the_answers_to_another_question():
    survey = Questionnaire.from_dict(SURE)
    _, fruit, hours = survey.questions
    found = estimates_by(hours, fruit, pairs(survey, 2, 1, PEOPLE), confidence=1 - 1e-12)
    assert [one.group for one in found] == [f"fruit = {label}" for label in LABELS]
    assert found[0].upper[0] < 6 < found[1].lower[0]  # 0 and 12 hours
    assert (found[4].lower[0], found[4].upper[0]) == (0, 12)  # nobody: nothing is known
    assert found[4].rows() == [["mean", "-", "0", "12"]]


def test_a_number_has_no_cross_table():
    survey = Questionnaire.from_dict(SURVEY)
    with pytest.raises(InputError, match="--by"):
        cross_table(survey.questions[0], survey.questions[2], Counter({(0, 0): 1}))
    for wrong in ([["pills", "hours"]], [["pills", "pills"]], [["pills", "none"]], "pills", [["pills"]]):
        with pytest.raises(InputError, match="cross"):
            Questionnaire.from_dict({**SURVEY, "cross": wrong})
    same = Questionnaire.from_dict({**SURVEY, "cross": [["pills", "fruit"]]})
    assert same.digest == survey.digest  # what is shown of reports does not change what they mean
