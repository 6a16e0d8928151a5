"""Answers of several parts: encoded as they are, told by the law that the page carries, estimated without bias."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.local.questionnaire import estimates, half_width, people_for
from discreet.local.questionnaire.law import law_epsilon, law_to_page, longest, parsed_report, read_report
from discreet.local.questionnaire.questionnaire import Questionnaire
from questionnaires import asked

ENTRIES = [
    {"kind": "several", "options": ["a", "b", "c"], "epsilon": 2},
    {"kind": "ranking", "options": ["a", "b", "c"], "epsilon": 2},
    {"kind": "distribution", "low": 0, "high": 9, "step": 1, "epsilon": 2, "ranges": [0, 4, 7]},
    {"kind": "distribution", "low": 0, "high": 1, "step": "0.5", "epsilon": 2},
]
every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["kind"] + str(entry.get("high", "")))


@every
def test_the_page_carries_the_law_of_the_mechanism(entry):
    question = asked(entry)
    for number in range(4):
        codes = question.form.encode(question.example(number), "q")
        law = {report: question.law.probability(report, codes) for report in question.law.reports()}
        own = {}
        for (part, report), chance in question.mechanism.law(codes).items():
            if isinstance(report, bytes):
                bits = np.unpackbits(np.frombuffer(report, dtype=np.uint8))
                report = "".join(map(str, bits[: question.mechanism.parts[part].categories]))
            own[f"{part}:{report}"] = chance
        assert law == own
        assert sum(law.values()) == 1
    assert law_epsilon(question.law) >= question.epsilon
    json.dumps(law_to_page(question.law))


@every
def test_reports_are_read_back_and_nothing_else_is(entry):
    question = asked(entry)
    for number in range(20):
        report = question.privatize(question.example(number))
        assert read_report(question.law, report, "q") == parsed_report(question.law, report, "q") == report
        assert len(json.dumps(report)) <= longest(question.law)
    for wrong in (None, 0, "", "0", "0:", ":0", "0:9999", "99:0", "00:0", "0:x", "0:0:0", "-1:0", "0:2222", [0, 0]):
        with pytest.raises(InputError, match="another form"):
            read_report(question.law, wrong, "q")


@every
def test_weights_of_what_is_estimated_add_up_to_it(entry):
    """Of any one answer, the weights of its parts' values sum to what is estimated of it: no bias."""
    question = asked(entry)
    for number in range(10):
        answer = question.example(number)
        codes = question.form.encode(answer, "q")
        sums = [sum(weights[part][code] for part, code in enumerate(codes)) for weights in question.sums()]
        if entry["kind"] == "several":
            expected = [float(option in answer) for option in question.options]
        elif entry["kind"] == "ranking":
            expected = [answer.index(option) + 1 for option in question.options]
        else:
            place, edges = question.grid.index(answer), question.form.edges
            expected = [float(a <= place < b) for a, b in pairwise(edges)]
        assert sums == pytest.approx(expected, abs=1e-9)
        assert sums != pytest.approx([value + 0.1 for value in expected])


@pytest.mark.statistical
def test_estimates_are_near_the_truth():
    survey = Questionnaire.from_dict(
        {
            "id": "x",
            "title": "X",
            "questions": [{"name": f"q{n}", "text": "Q?", **one} for n, one in enumerate(ENTRIES)],
        }
    )
    columns, people = [Counter() for _ in ENTRIES], 3000
    for number in range(people):
        answers = {
            "q0": ["a"] if number % 2 else ["a", "b"],
            "q1": ["b", "a", "c"],
            "q2": "5" if number % 4 else "8",
            "q3": "1",
        }
        for column, report in zip(columns, survey.privatize(answers), strict=True):
            column[report] += 1
    truths = ([1, 0.5, 0], [2, 1, 3], [0, 0.75, 0.25], [0, 0, 1])
    for found, truth in zip(estimates(survey, columns, confidence=1 - 1e-12), truths, strict=True):
        assert found.reports == people
        assert (found.lower <= truth).all(), found
        assert (truth <= found.upper).all()
        assert not (truth <= found.upper - 1).all()
        assert np.diff(np.array([found.lower, found.upper]), axis=0).max() / 2 < 1.1 * half_width(
            found.question, people, 1 - 1e-12
        )
        needed = people_for(found.question, "0.1")
        assert half_width(found.question, needed) <= 0.1 * (2 if found.question.kind == "ranking" else 1) * (1 + 1e-9)
        assert json.loads(json.dumps(found.to_dict()))["kind"] == found.question.kind
    assert [one.labels for one in estimates(survey, columns)][2:] == [("0 to 3", "4 to 6", "7 to 9"), ("0", "0.5", "1")]


@pytest.mark.parametrize(
    ("entry", "answer"),
    [(ENTRIES[0], "a"), (ENTRIES[0], ["a", "a"]), (ENTRIES[0], ["z"]), (ENTRIES[1], ["a", "b"]), (ENTRIES[2], "4.5")],
)
def test_what_is_no_answer_is_refused_and_not_repeated(entry, answer):
    with pytest.raises(InputError, match="must be"):
        asked(entry).privatize(answer)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ranges": [1, 4]}, "the first of them 0"),
        ({"ranges": [0, 4, 4]}, "numbers that grow"),
        ({"ranges": "0,4"}, "at which ranges begin"),
        ({"ranges": [0, 99]}, "from 0 to 9"),
        ({"mechanism": "grr"}, "mechanism"),
    ],
)
def test_a_wrong_entry_is_refused_by_its_place(change, told):
    with pytest.raises(InputError, match=told):
        asked({**ENTRIES[2], **change})
    with pytest.raises(InputError, match="at most 12 to put in order"):
        asked({**ENTRIES[1], "options": list("abcdefghijklm")})
