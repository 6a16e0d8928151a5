"""What reports cost in a crowd: the bounds of the mechanisms that are used, put together as is proved."""

import math
from fractions import Fraction

import pytest
from small_survey import Client, keep, report, survey

from discreet.apps.survey.crowd import hide_in_crowd
from discreet.apps.survey.plan import plan_survey
from discreet.errors import InputError
from discreet.local import GRR, shuffled, shuffled_delta
from discreet.local.questionnaire import Questionnaire

QUESTIONS = [
    {"name": "pills", "text": "Pills?", "kind": "binary", "epsilon": 1},
    {"name": "drink", "text": "What?", "kind": "word", "epsilon": 1},
]
SURVEY = Questionnaire.from_dict({"id": "c", "title": "C", "questions": QUESTIONS})
PEOPLE, DELTA = 5000, Fraction(1, 10**6)


@pytest.fixture(scope="module")
def crowd():
    return hide_in_crowd(SURVEY, PEOPLE, DELTA)


def test_each_question_has_the_bound_of_its_own_mechanism(crowd):
    pills, drink = (question.mechanism for question in SURVEY.questions)
    assert crowd.each == (shuffled(pills, PEOPLE, DELTA).epsilon, shuffled(drink.spent, PEOPLE, DELTA).epsilon)
    assert crowd.each[0] < crowd.each[1]  # of a mechanism more is known than of its epsilon
    assert all(one < question.epsilon for one, question in zip(crowd.each, SURVEY.questions, strict=True))


def test_all_answers_together_cost_the_parts_with_a_part_of_delta_each(crowd):
    """Adding epsilons that each have the whole delta would be too little, and this is less."""
    assert sum(crowd.each) < crowd.together < SURVEY.epsilon
    pills, drink = (question.mechanism for question in SURVEY.questions)
    parts = [shuffled(one, PEOPLE, DELTA / 2).epsilon for one in (pills, drink.spent)]
    assert crowd.together == sum(parts)


def test_a_survey_with_cross_tables_is_hidden_as_whole_reports_alone(crowd):
    questions = [QUESTIONS[0], {**QUESTIONS[0], "name": "work"}]
    plain = {"id": "c", "title": "C", "questions": questions}
    crossed = Questionnaire.from_dict({**plain, "cross": [["pills", "work"]]})
    found = hide_in_crowd(crossed, PEOPLE, DELTA)
    assert found.together == shuffled(crossed.epsilon, PEOPLE, DELTA).epsilon
    assert found.together > hide_in_crowd(Questionnaire.from_dict(plain), PEOPLE, DELTA).together


def test_questions_hide_with_those_that_cross_tables_join_and_apart_from_others():
    questions = [{**QUESTIONS[0], "name": name} for name in ("a", "b", "c", "d")]
    declared = {"id": "c", "title": "C", "questions": questions, "cross": [["a", "c"], ["c", "d"]]}
    found, one = hide_in_crowd(Questionnaire.from_dict(declared), PEOPLE, DELTA), SURVEY.questions[0]
    joined = min(one.epsilon, Fraction(shuffled(3 * one.epsilon, PEOPLE, DELTA).epsilon))
    assert found.each == (joined, shuffled(one.mechanism, PEOPLE, DELTA).epsilon, joined, joined)
    parts = shuffled(3 * one.epsilon, PEOPLE, DELTA / 2).epsilon + shuffled(one.mechanism, PEOPLE, DELTA / 2).epsilon
    assert found.together == min(parts, shuffled(4 * one.epsilon, PEOPLE, DELTA).epsilon)


def tables(people):
    """How likely each cross-table of these people's reports is."""
    laws = {(): Fraction(1)}
    for person in people:
        more: dict = {}
        for sent, chance in laws.items():
            for told, other in person.items():
                together = tuple(sorted((*sent, told)))
                more[together] = more.get(together, 0) + chance * other
        laws = more
    return laws


def test_in_a_cross_table_an_answer_hides_among_those_who_sent_the_same_beside_it():
    """The planted bug: the bound of a question's own mechanism, where a cross-table of it is shown."""
    pills, reason, people, epsilon = GRR(2, 1), GRR(3, 4), 4, Fraction(1, 2)

    def both(a, b):
        return {(r, s): p * q for r, p in pills.law(a).items() for s, q in reason.law(b).items()}

    here, there = (tables([both(0, 1)] * (people - 1) + [both(a, 0)]) for a in (0, 1))
    factor = Fraction(math.exp(epsilon))
    told = max(
        sum(max(Fraction(0), one[table] - factor * other[table]) for table in one)
        for one, other in ((here, there), (there, here))
    )
    alone = shuffled_delta(pills, people, epsilon)
    assert told > 2 * alone  # what was stated
    joined = shuffled_delta(pills.spent + reason.spent, people, epsilon)
    assert told <= joined
    marginal = [tables([pills.law(0)] * (people - 1) + [pills.law(a)]) for a in (0, 1)]
    assert sum(max(Fraction(0), marginal[0][one] - factor * marginal[1][one]) for one in marginal[0]) <= alone


def test_the_plan_shows_it_beside_the_epsilon_that_holds_anyway(crowd):
    plan = plan_survey(SURVEY, people=PEOPLE, delta="1e-6")
    assert plan.head()[2:4] == ["epsilon", "in the crowd"]
    assert [len(row) for row in plan.rows()] == [len(plan.head())] * 2
    assert plan.to_dict()["crowd"]["together"] == float(crowd.together)
    assert "forged reports hide nobody" in " ".join(plan.lines())
    assert "crowd" not in plan_survey(SURVEY, people=PEOPLE).to_dict()


LIVE = survey()


def shares(client):
    """How many of the reports name each fruit and each answer on pills, from the estimates that everybody is shown."""
    told = client.get("/results.json").json()
    found = []
    for question in LIVE.questions[:2]:
        law, (shown,) = question.mechanism, [one for one in told["questions"] if one["name"] == question.name]
        each = [one["value"] for one in shown["estimates"]]
        each = [each[0], 1 - each[0]] if len(each) == 1 else each
        hit, miss = float(law.hit), float(law.miss)
        found.append([round(told["reports"] * (share * (hit - miss) + miss)) for share in each])
    return found


def test_results_that_are_shown_while_reports_arrive_hide_nobody_in_a_crowd(reports):
    pytest.importorskip("fastapi", reason="needs discreet[server]")
    from discreet.apps.survey.server import application

    keep(reports, LIVE, range(150))
    before = shares(Client(application(LIVE, reports)))
    mine = report(LIVE, 1000)
    reports.keep(mine["token"], LIVE.digest, LIVE.written(mine["answers"]))
    after = shares(Client(application(LIVE, reports)))
    seen = [[b - a for a, b in zip(*pair, strict=True)].index(1) for pair in zip(before, after, strict=True)]
    assert seen == mine["answers"][:2]  # so the plan names it as what the numbers need, and as a way to have it
    said = " ".join(plan_survey(SURVEY, people=PEOPLE, delta="1e-6").lines())
    assert "not while reports arrive (survey serve --no-results)" in said
    assert Client(application(LIVE, reports, show_results=False)).get("/results.json").status_code == 404


@pytest.mark.parametrize("delta", [0, 1, -1, "x"])
def test_what_is_no_delta_is_refused(delta):
    with pytest.raises(InputError, match="delta"):
        plan_survey(SURVEY, people=PEOPLE, delta=delta)


def test_several_rounds_are_no_crowd():
    entry = {**QUESTIONS[0], "epsilon": 2, "instant": 1}
    diary = Questionnaire.from_dict({"id": "d", "title": "D", "repeat": {"rounds": 3}, "questions": [entry]})
    with pytest.raises(InputError, match="repeat"):
        hide_in_crowd(diary, PEOPLE, DELTA)
