"""Surveys of several questions: the laws a page carries are the mechanisms' own, and what is written is checked."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from chance import fits
from discreet.core.exact import exp_down
from discreet.errors import InputError
from discreet.local.questionnaire import Questionnaire, estimates
from discreet.local.questionnaire.estimate import half_width, people_for
from discreet.local.questionnaire.grid import Grid
from discreet.local.questionnaire.law import law_epsilon, law_to_page, longest, parsed_report, read_report
from discreet.local.questionnaire.read import question_from

LABELS = ["a", "b", "c", "d", "e"]
ENTRIES = [
    {"kind": "binary", "epsilon": 1},
    {"kind": "binary", "epsilon": "0.1", "options": ["Never", "Ever"]},
    *(
        {"kind": "choice", "options": LABELS, "epsilon": epsilon, "mechanism": mechanism}
        for mechanism in ("grr", "oue", "sue", "subset")
        for epsilon in ("0.5", 3)
    ),
    *(
        {"kind": "number", "low": -2, "high": high, "step": "0.5", "epsilon": epsilon, "mechanism": mechanism}
        for mechanism in ("duchi", "piecewise")
        for high, epsilon in ((2, 1), ("1.5", 4))
    ),
]


def asked(entry, **more):
    return question_from({"name": "q", "text": "Q?", **entry, **more}, "questions[0]")


def named(entry):
    return " ".join(str(entry.get(field, "")) for field in ("kind", "mechanism", "epsilon", "high"))


every = pytest.mark.parametrize("entry", ENTRIES, ids=named)


def mechanism_law(question, value):
    """The law as the mechanism states it, reports written as the page writes them."""
    if question.grid is not None:
        return question.mechanism.law(float(question.grid.value(value)))
    out = {}
    for report, chance in question.mechanism.law(value).items():
        if isinstance(report, bytes):
            report = "".join(map(str, np.unpackbits(np.frombuffer(report, dtype=np.uint8))[: len(question.options)]))
        out[report] = chance
    return out


def page_law(law, value):
    return {report: law.probability(report, value) for report in law.reports()}


@every
def test_the_page_carries_the_law_of_the_mechanism_exactly(entry):
    question = asked(entry)
    for value in range(question.law.values):
        law = page_law(question.law, value)
        assert law == mechanism_law(question, value)
        assert sum(law.values()) == 1


@every
def test_a_report_costs_what_is_claimed_and_never_more(entry):
    question = asked(entry)
    columns = [page_law(question.law, value) for value in range(question.law.values)]
    worst = max(max(c[r] for c in columns) / min(c[r] for c in columns) for r in columns[0])
    assert worst == question.mechanism.ratio
    assert worst <= exp_down(question.epsilon) * (1 + Fraction(1, 10**12))
    assert law_epsilon(question.law) >= question.epsilon  # each rounded up
    assert law_epsilon(question.law) <= question.mechanism.epsilon + Fraction(1, 10**14)


def test_a_law_with_another_probability_is_another_law():
    question = asked(ENTRIES[0])
    wrong = replace(question.law, own=question.law.own + Fraction(1, 10**9))
    assert page_law(wrong, 0) != mechanism_law(question, 0)
    assert law_epsilon(wrong) > question.mechanism.epsilon


@every
def test_whole_numbers_say_the_same(entry):
    law = asked(entry).law
    page = law_to_page(law)
    total = int(page["total"])
    if page["law"] == "table":
        assert [[Fraction(int(cell), total) for cell in row] for row in page["rows"]] == [list(row) for row in law.rows]
        assert {sum(map(int, row)) for row in page["rows"]} == {total}
    else:
        assert Fraction(int(page["own"]), total) == law.own
    json.dumps(page)


@every
def test_reports_are_read_back_and_nothing_else_is(entry):
    law = asked(entry).law
    for report in law.reports():
        assert read_report(law, report, "q") == report
        assert parsed_report(law, str(report), "q") == report
        assert len(json.dumps(report)) <= longest(law)
    count = sum(1 for _ in law.reports())
    for wrong in (None, True, -1, count, 1.0, "x", "", "01", [], [0], {}, "0" * 400, "\u0661", " 1", "1 "):
        if wrong in ("01",) and law.values == 2:
            continue
        with pytest.raises(InputError, match="another form") as told:
            read_report(law, wrong, "q")
        assert "0000" not in str(told.value)


@pytest.mark.statistical
@every
def test_what_python_sends_follows_the_law_and_a_wrong_law_is_seen(entry):
    question = asked(entry)
    value = question.law.values - 1
    answer = question.example(value)
    listed = list(question.law.reports())
    place = {report: number for number, report in enumerate(listed)}
    sent = [place[question.privatize(answer)] for _ in range(3000)]

    def pmf(of):
        chances = np.array([float(question.law.probability(report, of)) for report in listed])
        return lambda numbers: np.append(chances, np.zeros(numbers.max() + 1))[numbers]

    assert fits(sent, pmf(value))
    if float(question.epsilon) >= 1:
        assert not fits(sent, pmf(0))


def test_the_best_mechanism_that_a_page_can_carry_is_taken():
    kinds = [
        asked({"kind": "choice", "options": list(map(str, range(k))), "epsilon": e}).mechanism.kind
        for k, e in ((2, 1), (5, 3), (100, 1), (400, "0.5"))
    ]
    assert kinds == ["grr", "grr", "subset", "subset"]
    numbers = {"kind": "number", "low": 0, "high": 100, "step": 1}
    assert [asked({**numbers, "epsilon": e}).mechanism.kind for e in (1, 4)] == ["duchi", "piecewise"]


SURVEY = {
    "id": "night",
    "title": "Night",
    "questions": [
        {"name": "pills", "text": "Pills?", "kind": "binary", "epsilon": 1},
        {"name": "fruit", "text": "Fruit?", "kind": "choice", "options": LABELS, "epsilon": "0.5"},
        {"name": "hours", "text": "Hours?", "kind": "number", "low": 0, "high": 12, "step": 1, "epsilon": 1},
    ],
}


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
        ({**SURVEY, "colour": "red"}, "`colour` is not known here. Known are id, title, intro, minimum, questions"),
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
        (changed(1, options=["a"]), "2 to 500 labels"),
        (changed(1, options=None), "missing"),
        (changed(1, options="ab"), "2 to 500 labels"),
        (changed(1, options=["a", ""]), "2 to 500 labels"),
        (changed(1, options=["a", 2]), "2 to 500 labels"),
        (changed(1, mechanism="olh"), "auto, grr, oue, sue, subset"),
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


def test_a_grid_reads_what_it_writes():
    grid = Grid.between("-0.3", "0.5", "0.1")
    assert [grid.text(place) for place in range(grid.points)] == [
        "-0.3",
        "-0.2",
        "-0.1",
        "0",
        "0.1",
        "0.2",
        "0.3",
        "0.4",
        "0.5",
    ]
    assert [grid.index(grid.text(place)) for place in range(grid.points)] == list(range(9))
    for wrong in ("0.05", "0.6", "-0.4"):
        with pytest.raises(InputError, match=r"a number from -0.3 to 0.5 in steps of 0.1"):
            grid.index(wrong)


@pytest.mark.statistical
def test_estimates_are_near_the_truth_and_say_how_near():
    survey = Questionnaire.from_dict(SURVEY)
    people = [("Yes" if n % 4 == 0 else "No", LABELS[n % 2], n % 13) for n in range(6000)]
    columns = [Counter() for _ in survey.questions]
    for pills, fruit, hours in people:
        for column, report in zip(
            columns, survey.privatize({"pills": pills, "fruit": fruit, "hours": hours}), strict=True
        ):
            column[report] += 1
    yes, fruits, mean = estimates(survey, columns, confidence=0.95)
    sure = estimates(survey, columns, confidence=1 - 1e-12)
    assert [one.labels for one in (yes, fruits, mean)] == [("Yes",), tuple(LABELS), ("mean",)]
    truths = ([0.25], [0.5, 0.5, 0, 0, 0], [sum(h for _, _, h in people) / 6000])
    for one, truth in zip(sure, truths, strict=True):
        assert (one.lower <= truth).all()
        assert (truth <= one.upper).all()
    for one in (yes, fruits, mean):
        expected = half_width(one.question, 6000)
        assert (one.upper - one.lower).max() / 2 < 1.1 * expected
        assert one.reports == 6000
        assert json.loads(json.dumps(one.to_dict()))["name"] == one.question.name
    wrong = [Counter({0: 6000}), *columns[1:]]  # a mutant that always says yes
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
