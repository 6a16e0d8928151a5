"""What a page sends instead of a typed word costs what is claimed, and is read back and nothing else."""

import itertools
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from chance import fits
from discreet.core.exact import exp_down
from discreet.errors import InputError
from discreet.local.questionnaire.law import law_epsilon, law_to_page, longest, parsed_report, read_report
from questionnaires import asked

SMALL = [
    {"kind": "word", "epsilon": 1, "letters": "abc", "length": 1},
    {"kind": "word", "epsilon": "0.5", "letters": "ab", "length": 2},
    {"kind": "word", "epsilon": "0.5", "letters": "a", "length": 3},
]
every = pytest.mark.parametrize("entry", SMALL, ids=lambda entry: f"{entry['letters']} {entry['length']}")


def words(law):
    """Every word there is, as the numbers of its letters."""
    for length in range(1, law.length + 1):
        yield from itertools.product(range(1, law.letters + 1), repeat=length)


def worst_ratio(law):
    columns = [[law.probability(report, word) for report in law.reports()] for word in words(law)]
    assert all(sum(column) == 1 for column in columns)
    return max(max(row) / min(row) for row in zip(*columns, strict=True))


@every
def test_a_report_costs_what_is_claimed_and_never_more(entry):
    question = asked(entry)
    law = question.law
    assert worst_ratio(law) == question.mechanism.ratio <= exp_down(question.mechanism.epsilon)
    assert question.epsilon <= law_epsilon(law) <= question.mechanism.epsilon + Fraction(1, 10**14)
    bolder = replace(law, own=law.own + Fraction(1, 10**9))
    assert worst_ratio(bolder) > question.mechanism.ratio
    assert law_epsilon(bolder) > question.mechanism.epsilon


@pytest.mark.statistical
@every
def test_what_is_sent_for_a_word_follows_the_law(entry):
    question = asked(entry)
    law, (first, *_, last) = question.law, list(words(question.law))
    listed = {report: place for place, report in enumerate(law.reports())}
    typed = "".join(entry["letters"][number - 1] for number in last)
    samples = np.array([listed[question.privatize(typed)] for _ in range(12_000)])

    def agrees(word):
        chances = np.array([float(law.probability(report, word)) for report in listed])
        return fits(samples, lambda numbers: np.append(chances, np.zeros(numbers.max() + 1))[numbers])

    assert agrees(last)
    assert not agrees(first)  # of another word


@every
def test_reports_are_read_back_and_nothing_else_is(entry):
    law = asked(entry).law
    for report in law.reports():
        assert read_report(law, report, "q") == parsed_report(law, report, "q") == report
        assert len(json.dumps(report)) <= longest(law)
    most = f"{law.length}:{law.keys - 1:x}:{law.buckets - 1}"
    wrong = [None, 1, "", "1", "1:0", "0:0:0", "01:0:0", "1:00:0", "1:A:0", "1:0:00", "1:-1:0", f"{most}0", "1:0:0 "]
    wrong += [f"{law.length + 1}:0:0", f"1:{law.keys:x}:0", f"1:0:{law.buckets}", "1:" + "f" * 400 + ":0", ["1:0:0"]]
    for sent in wrong:
        with pytest.raises(InputError, match="another form") as told:
            read_report(law, sent, "q")
        assert "ffff" not in str(told.value)


def test_whole_numbers_say_the_same():
    law = asked({"kind": "word", "epsilon": 2}).law
    page = law_to_page(law)
    assert Fraction(int(page["own"]), int(page["total"])) == law.own
    assert {name: page[name] for name in ("length", "letters", "bits")} == {"length": 8, "letters": 26, "bits": 5}
    assert Counter(word[0] for word in words(replace(law, length=1))) == Counter(range(1, 27))
