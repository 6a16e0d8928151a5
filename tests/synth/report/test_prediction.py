"""What can be learnt is learnt and nothing else; scores are what they are called."""

from __future__ import annotations

import numpy as np
import pytest
from report_rows import DOMAIN, some_codes

from discreet.errors import InputError
from discreet.synth.report.prediction import halves, score, task_of, train


def test_what_can_be_learnt_is_learnt_and_nothing_else():
    codes = some_codes(6000)
    first, second = halves(len(codes))
    assert sorted([*first, *second]) == list(range(6000))
    task = task_of(DOMAIN, codes, "pay")  # which follows from the age
    assert task.text.startswith("pay >= ")
    learnt = score(train(DOMAIN, task, codes[first]), task, codes[second])
    assert learnt.auc > 0.99
    assert learnt.accuracy > 0.95
    shuffled = codes.copy()
    shuffled[:, 4] = np.random.default_rng(1).permutation(shuffled[:, 4])
    chance = score(train(DOMAIN, task, shuffled[first]), task, codes[second])
    assert chance.auc < 0.9
    nothing = score(train(DOMAIN, task, shuffled[first]), task, shuffled[second])
    assert abs(nothing.auc - 0.5) < 0.06
    assert task_of(DOMAIN, codes).column in (2, 4)
    with pytest.raises(InputError) as problem:
        task_of(DOMAIN, codes * 0, "pay")
    assert problem.value.field == "target"


def test_the_area_under_the_curve_is_the_chance_that_a_yes_is_ranked_above_a_no():
    codes = some_codes(400)
    task = task_of(DOMAIN, codes, "works")
    trained = train(DOMAIN, task, codes)
    odds, labels = trained.scores(codes), task.labels(codes)
    pairs = [(a > b) + (a == b) / 2 for a in odds[labels] for b in odds[~labels]]
    assert score(trained, task, codes).auc == pytest.approx(np.mean(pairs))
    assert score(trained, task, codes).accuracy == pytest.approx(((odds > 0) == labels).mean())
