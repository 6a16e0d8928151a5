"""Estimates of a survey: near the truth, never certain of few reports, and as close as was said beforehand."""

import json
from collections import Counter

import pytest

from discreet.errors import InputError
from discreet.local.questionnaire import Questionnaire, estimates
from discreet.local.questionnaire.estimate import half_width, people_for
from questionnaires import LABELS, SURVEY, asked, every

PEOPLE = 1500  # a mutant that always says yes is 40 deviations off; an interval of 1 - 1e-12 has 7


@pytest.mark.statistical
def test_estimates_are_near_the_truth_and_say_how_near():
    survey = Questionnaire.from_dict(SURVEY)
    people = [("Yes" if n % 4 == 0 else "No", LABELS[n % 2], n % 13) for n in range(PEOPLE)]
    columns = [Counter() for _ in survey.questions]
    for pills, fruit, hours in people:
        for column, report in zip(
            columns, survey.privatize({"pills": pills, "fruit": fruit, "hours": hours}), strict=True
        ):
            column[report] += 1
    yes, fruits, mean = estimates(survey, columns, confidence=0.95)
    sure = estimates(survey, columns, confidence=1 - 1e-12)
    assert [one.labels for one in (yes, fruits, mean)] == [("Yes",), tuple(LABELS), ("mean",)]
    truths = ([0.25], [0.5, 0.5, 0, 0, 0], [sum(h for _, _, h in people) / PEOPLE])
    for one, truth in zip(sure, truths, strict=True):
        assert (one.lower <= truth).all()
        assert (truth <= one.upper).all()
    for one in (yes, fruits, mean):
        expected = half_width(one.question, PEOPLE)
        assert (one.upper - one.lower).max() / 2 < 1.1 * expected
        assert one.reports == PEOPLE
        assert json.loads(json.dumps(one.to_dict()))["name"] == one.question.name
    wrong = [Counter({0: PEOPLE}), *columns[1:]]  # a mutant that always says yes
    assert not estimates(survey, wrong, confidence=1 - 1e-12)[0].lower[0] <= 0.25


def test_one_report_is_no_certainty():
    survey = Questionnaire.from_dict(SURVEY)
    report = survey.privatize({"pills": "No", "fruit": "a", "hours": 3})
    for one in estimates(survey, [Counter([each]) for each in report]):
        assert (one.upper - one.lower).min() > 1
    none = estimates(survey, [Counter(), Counter(), Counter()])
    assert [one.reports for one in none] == [0, 0, 0]


@every
def test_people_needed_and_half_widths_agree(entry):
    question = asked(entry)
    span = 1 if question.grid is None else float(question.grid.high - question.grid.low)
    needed = people_for(question, "0.05")
    assert half_width(question, needed) <= 0.05 * span * (1 + 1e-9)
    assert half_width(question, max(1, needed - 1)) >= 0.05 * span * (1 - 1e-9)
    for wrong in (0, -1, 2):
        with pytest.raises(InputError, match="within"):
            people_for(question, wrong)


def test_of_very_many_options_the_largest_are_shown():
    survey = Questionnaire.from_dict(
        {
            "id": "many",
            "title": "Many",
            "questions": [
                {
                    "name": "town",
                    "text": "Town?",
                    "kind": "choice",
                    "options": [f"t{n}" for n in range(600)],
                    "epsilon": 8,
                }
            ],
        }
    )
    assert survey.questions[0].mechanism.kind in ("olh", "hadamard")  # a mark for each would be long
    column = Counter(survey.privatize({"town": f"t{7 * (n % 3)}"})[0] for n in range(3000))
    (found,) = estimates(survey, [column])
    few = found.largest(5)
    assert set(few.labels[:3]) == {"t0", "t7", "t14"}
    assert (len(few.labels), few.omitted) == (5, 595)
    assert "the 5 largest of 600" in few.caption()
    assert found.largest(600) is found
