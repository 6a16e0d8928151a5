"""Surveys of several rounds: what a person's reports of all rounds cost, by listing them; and what files may say."""

import itertools
from fractions import Fraction

import pytest

from discreet.core.exact import exp_down, log_up
from discreet.errors import InputError
from discreet.local import Longitudinal
from discreet.local.questionnaire import Questionnaire

QUESTIONS = [
    {"name": "pills", "text": "Pills?", "kind": "binary", "epsilon": 2, "instant": 1},
    {"name": "reason", "text": "Why?", "kind": "choice", "options": ["a", "b", "c"], "epsilon": 1, "instant": 2},
]
DECLARED = {"id": "diary", "title": "Diary", "repeat": {"rounds": 3}, "questions": QUESTIONS}
SURVEY = Questionnaire.from_dict(DECLARED)
ONCE = {"id": "diary", "title": "Diary", "questions": [{**QUESTIONS[0]}]}


def likelihood(law, answers, reports):
    """The probability of the reports of all rounds, given the answers of all rounds: by listing every memory.

    A memory holds what stands for each option, drawn for all options before any answer is looked at.
    """
    options, total = range(law.categories), Fraction(0)
    for memory in itertools.product(options, repeat=law.categories):
        chance = Fraction(1)
        for option in options:
            chance *= law.permanent.law(option)[memory[option]]
        for answer, report in zip(answers, reports, strict=True):
            chance *= law.instant.law(memory[answer])[report]
        total += chance
    return total


def largest_ratio(law, rounds, *, same):
    sequences = list(itertools.product(range(law.categories), repeat=rounds))
    answers = [each for each in sequences if not same or len(set(each)) == 1]
    worst = Fraction(0)
    for reports in sequences:
        chances = [likelihood(law, each, reports) for each in answers]
        worst = max(worst, max(chances) / min(chances))
    return worst


@pytest.mark.parametrize("law", [Longitudinal(2, 2, 1), Longitudinal(2, 1, 2), Longitudinal(3, 1, 2)], ids=str)
def test_both_bounds_hold_for_all_reports_of_all_rounds(law):
    rounds = 3 if law.categories == 2 else 2
    stays, changes = (largest_ratio(law, rounds, same=same) for same in (True, False))
    assert stays == law.ratio(rounds)
    assert log_up(stays) <= law.loss(rounds).epsilon + Fraction(1, 10**40)
    assert changes <= law.instant.ratio**rounds
    assert log_up(changes) <= law.loss(rounds, hidden=True).epsilon + Fraction(1, 10**40)
    assert changes > stays  # one who claims the bound of answers that stay for answers that change is caught


def test_the_permanent_bound_does_not_cover_answers_that_change():
    law = Longitudinal(2, 1, 2)
    worst = largest_ratio(law, 3, same=False)
    assert worst > law.permanent.ratio
    assert worst > law.each.ratio**3  # nor do three single reports: those of one memory are not independent
    assert exp_down(law.permanent.epsilon) >= law.ratio(1000)


def test_a_survey_sums_over_its_questions_and_says_both_bounds():
    loss = SURVEY.series_loss()
    laws = [question.repeated for question in SURVEY.questions]
    assert loss.same == sum(law.loss(3).epsilon for law in laws)
    assert loss.changing == sum(3 * law.instant.spent for law in laws)
    assert SURVEY.epsilon == sum(law.each.spent for law in laws) < loss.same < loss.changing
    assert loss.to_dict() == {"rounds": 3, "same": float(loss.same), "changing": float(loss.changing)}
    assert "epsilon = 2.687" in loss.words()
    assert "at most 9 if they change" in loss.words()
    assert "the device forgets" in loss.words()
    assert SURVEY.reveals() == loss.reveals("0.02")
    assert loss.words() in SURVEY.about()
    reason = SURVEY.questions[1]
    assert "stands for each answer" in reason.chance()
    # To someone who has seen earlier rounds the instant part alone stands in the way: e^2 makes 88.1% of 50%.
    assert "50%, at most 89%" in reason.reveals("0.02")
    assert Questionnaire.from_dict({**ONCE, "repeat": {"rounds": 1}}).series_loss().same == laws[0].each.spent


def test_every_round_has_a_digest_of_its_own_and_all_have_one_series():
    rounds = [SURVEY.at(number) for number in (1, 2, 3)]
    assert len({SURVEY.digest, *(one.digest for one in rounds)}) == 4
    assert {one.series for one in (SURVEY, *rounds)} == {SURVEY.digest}
    assert SURVEY.digests() == rounds[0].digests() == {one.digest for one in rounds}
    assert "round 2 of 3" in rounds[1].about()
    assert Questionnaire.from_dict({**DECLARED, "repeat": {"rounds": 4}}).series != SURVEY.series  # costs another sum
    rounds[0].check_round()
    with pytest.raises(InputError, match="round"):
        SURVEY.check_round()
    for wrong in (0, 4, -1, "2", True):
        with pytest.raises(InputError, match="round"):
            SURVEY.at(wrong)


def test_a_survey_that_is_asked_once_is_what_it_was():
    plain = {key: value for key, value in QUESTIONS[0].items() if key != "instant"}
    once = Questionnaire.from_dict({**ONCE, "questions": [plain]})
    assert set(once.to_dict()) == {"id", "questions"}
    assert "repeated" not in once.questions[0].to_dict()
    assert once.series == once.digest
    assert once.digests() == {once.digest}
    assert once.series_loss() is None
    once.check_round()
    with pytest.raises(InputError, match=r"no \[repeat\]"):
        once.at(1)


NUMBER = {"name": "hours", "text": "Hours?", "kind": "number", "low": 0, "high": 9, "step": 1, "epsilon": 1}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"repeat": 3}, "repeat"),
        ({"repeat": {}}, "rounds"),
        ({"repeat": {"rounds": 0}}, "rounds"),
        ({"repeat": {"rounds": 2.5}}, "rounds"),
        ({"repeat": {"rounds": 10**4}}, "rounds"),
        ({"repeat": {"round": 3}}, "repeat.round"),
        ({"questions": [{**QUESTIONS[0], "instant": 0}]}, "instant"),
        ({"questions": [{**QUESTIONS[0], "instant": "x"}]}, "instant"),
        ({"questions": [{**QUESTIONS[1], "mechanism": "oue"}]}, "mechanism"),
        ({"questions": [NUMBER]}, "hours"),
        ({"questions": [{**NUMBER, "instant": 1}]}, "instant"),
        ({"questions": [{"name": "c", "text": "C?", "kind": "binary", "coin": "0.5", "instant": 1}]}, "instant"),
    ],
)
def test_what_cannot_be_asked_in_rounds_is_refused(changed, said):
    with pytest.raises(InputError, match=said):
        Questionnaire.from_dict({**DECLARED, **changed})


def test_an_instant_epsilon_without_rounds_is_refused():
    with pytest.raises(InputError, match=r"\[repeat\]"):
        Questionnaire.from_dict(ONCE)


@pytest.mark.parametrize("kind", ["several", "ranking"])
def test_other_kinds_in_rounds_are_refused_with_the_kinds_that_can_be(kind):
    asked = {"name": "x", "text": "X?", "kind": kind, "options": ["a", "b"], "epsilon": 2, "instant": 1}
    with pytest.raises(InputError, match="Only binary and choice can be asked in rounds"):
        Questionnaire.from_dict({**DECLARED, "questions": [asked]})
