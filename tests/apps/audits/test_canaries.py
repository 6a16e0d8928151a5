"""One training, audited by canaries."""

from __future__ import annotations

import pytest

from discreet.apps.audits.canaries import audit_module, audit_scores, audit_trainer
from discreet.errors import InputError

OWN = """
import numpy as np
claim = (1, 1e-5)
def canaries(count):
    return np.eye(count)
def train(records):
    return records.sum(axis=0) + np.random.default_rng().laplace(0, {scale}, records.shape[1])
def score(model, records):
    return records @ model
"""


def test_the_trainer_is_not_refuted_and_too_little_noise_is():
    fine = audit_trainer(canaries=400, steps=4, multiplier=2, confidence=1 - 1e-9)
    assert not fine.violated
    assert "400 made-up records" in fine.sentence()
    assert audit_trainer(canaries=400, steps=4, multiplier=4, made="1/2", confidence=0.99).violated


def test_a_training_in_a_module_of_ones_own(tmp_path):
    for scale, sure, violated in ((1, 1 - 1e-9, False), (0.1, 0.999, True)):  # delta is 1e-5: no surer than that
        path = tmp_path / f"mine{int(10 * scale)}.py"
        path.write_text(OWN.format(scale=scale))
        assert audit_module(str(path), canaries=600, confidence=sure).violated is violated
    (tmp_path / "none.py").write_text("claim = (1, 0)")
    with pytest.raises(InputError, match=r"module\.canaries"):
        audit_module(str(tmp_path / "none.py"))
    (tmp_path / "few.py").write_text(OWN.format(scale=1).replace("eye(count)", "eye(3)"))
    with pytest.raises(InputError, match="as many as asked for"):
        audit_module(str(tmp_path / "few.py"))


def test_scores_of_a_training_that_ran_elsewhere(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("included,score\n" + "".join(f"{i % 2},{3 * (i % 2)}\n" for i in range(600)))
    assert audit_scores(path, (1, 1e-5)).violated
    assert not audit_scores(path, (8, 1e-5)).violated
    for text in ("score\n1\n", "included,score\nmaybe,1\n", "included,score\n", "included,score\n1,x\n"):
        path.write_text(text)
        with pytest.raises(InputError):
            audit_scores(path, (1, 0))
