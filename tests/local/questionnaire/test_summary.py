"""Mean, median and ranges of a distribution: unbiased, and intervals that hold."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.local.questionnaire.summary import Span, summarise
from questionnaires import asked

HOURS = {"kind": "distribution", "low": 0, "high": 12, "step": 1, "unit": "hours", "epsilon": 2}
PEOPLE = [2] * 100 + [6] * 519 + [7] * 331 + [8] * 300  # just less than half sleep 6 hours or less
SPAN = Span("q", "6", "7")


def reports(question, answers):
    return Counter(question.privatize(str(answer)) for answer in answers)


def test_intervals_hold_in_many_surveys_and_the_numbers_are_unbiased():
    question, truth = asked(HOURS), {"mean": float(np.mean(PEOPLE)), "median": 7.0, "6 to 7": 850 / 1250}
    held, values, bare = Counter(), {name: [] for name in truth}, 0
    for _ in range(40):
        made = summarise(question, reports(question, PEOPLE), confidence=0.95, spans=[SPAN])
        for one in made:
            held[one.label] += one.lower <= truth[one.label] <= one.upper
            values[one.label].append(one.value)
            assert one.lower <= one.value <= one.upper
        bare += made[1].value == truth["median"]
    assert min(held.values()) >= 28  # at 95%, 27 or fewer of 40 have a probability of less than 1e-8
    assert bare <= 38  # the median of the unbiased shares alone is often another one
    for name in ("mean", "6 to 7"):
        error = np.std(values[name], ddof=1) / 40**0.5
        assert abs(np.mean(values[name]) - truth[name]) < 7 * error


def test_a_scale_of_few_points_and_no_reports():
    question = asked({**HOURS, "high": 4})
    assert [one.label for one in summarise(question, {})] == ["mean", "median"]
    assert np.isnan(summarise(question, {})[0].value)
    assert summarise(question, {})[0].to_dict()["value"] is None  # JSON has no NaN
    assert summarise(question, reports(question, [4] * 3000))[1].value == 4
    assert summarise(asked({"kind": "binary", "epsilon": 1}), {0: 3}) == ()


@pytest.mark.parametrize("span", [Span("q", "7", "6"), Span("q", "6.5", "7"), Span("q", "6", "99")])
def test_a_range_that_is_none_is_refused(span):
    with pytest.raises(InputError, match="--range"):
        span.places(asked(HOURS))
    with pytest.raises(InputError, match="distribution"):
        Span("q", "0", "1").places(asked({"kind": "binary", "epsilon": 1}))
