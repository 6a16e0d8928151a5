"""The laws a page carries are the mechanisms' own, exactly, and nothing else is read as a report."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.exact import exp_down
from discreet.errors import InputError
from discreet.local.questionnaire.law import law_epsilon, law_to_page, longest, parsed_report, read_report
from questionnaires import ENTRIES, asked, every


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
