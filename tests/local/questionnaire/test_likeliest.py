"""The likeliest shares of a question's labels: as those of its mechanism, and left out where they may be others."""

import numpy as np
import pytest

import discreet.local.questionnaire.likeliest as module
from discreet.local.likelihood import Likeliest, likeliest
from discreet.local.questionnaire.likeliest import likeliest_labels
from questionnaires import LABELS, asked


def test_labels_have_the_shares_of_their_categories():
    question = asked({"kind": "choice", "options": LABELS, "epsilon": 3, "mechanism": "grr"})
    reports = {0: 60, 1: 30, 4: 10}
    shares = likeliest_labels(question, reports)
    assert shares == pytest.approx(likeliest(question.mechanism, [0, 1, 4], [60, 30, 10]).shares)
    assert shares[0] > 0.5
    assert likeliest_labels(question, {}) is None
    assert likeliest_labels(asked({"kind": "number", "low": 0, "high": 2, "step": 1, "epsilon": 1}), {0: 3}) is None


def test_shares_that_may_not_be_the_likeliest_are_left_out(monkeypatch):
    question = asked({"kind": "choice", "options": LABELS, "epsilon": 3, "mechanism": "grr"})
    monkeypatch.setattr(module, "likeliest_shares", lambda table, times: Likeliest(np.full(table.shape[1], 0.2), 5.0))
    assert np.isnan(likeliest_labels(question, {0: 60, 1: 30})).all()
