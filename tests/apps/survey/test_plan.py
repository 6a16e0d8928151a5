"""Before anyone is asked: what the plan of a survey says is what its questions say."""

import pytest
from small_survey import survey

from discreet.accounting.posterior import posterior
from discreet.apps.survey.plan import plan_survey
from discreet.errors import InputError
from discreet.local.questionnaire import half_width, people_for

SURVEY = survey()


def test_a_plan_gives_each_question_its_error_and_its_people():
    plan = plan_survey(SURVEY, people=2000, within="0.05", prior="0.1", confidence=0.9).to_dict()
    assert plan["epsilon"] == pytest.approx(float(SURVEY.epsilon))
    assert plan["believed_after"] == pytest.approx(float(posterior("0.1", SURVEY.epsilon).high))
    for question, entry in zip(SURVEY.questions, plan["questions"], strict=True):
        assert entry["name"] == question.name
        assert entry["epsilon"] <= entry["asked_epsilon"]
        assert entry["half_width"] == half_width(question, 2000, 0.9)
        assert entry["people_needed"] == people_for(question, "0.05", 0.9)
    assert plan_survey(SURVEY, people=2000).to_dict()["questions"][0]["people_needed"] is None


def test_the_table_has_a_row_for_each_question_and_a_cell_for_each_column():
    for within, columns in ((None, 5), ("0.05", 6)):
        plan = plan_survey(SURVEY, people=1234, within=within)
        assert len(plan.head()) == columns
        assert "± with 1,234" in plan.head()
        assert [row[0] for row in plan.rows()] == list(SURVEY.names)
        assert {len(row) for row in plan.rows()} == {columns}
    assert plan.rows()[4][4].endswith(" hours")  # a mean is off by hours, a share by a share
    assert plan.rows()[0][4].endswith("%")


def test_what_the_table_does_not_say_is_said_beside_it():
    said = " ".join(plan_survey(SURVEY, people=100).lines())
    assert "together epsilon = " in said
    assert "Whether someone took part is not hidden" in said


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("people", {"people": 0}), ("within", {"within": 0}), ("prior", {"prior": 2}), ("confidence", {"confidence": 1})],
)
def test_what_cannot_be_planned_is_refused_before_anything_is_computed(field, wrong):
    with pytest.raises(InputError, match=field):
        plan_survey(SURVEY, **{"people": 100, **wrong})
