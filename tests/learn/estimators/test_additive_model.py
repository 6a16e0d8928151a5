"""Additive models: terms that are near the truth, intervals that cover it, and pictures and edits that cost nothing."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import CERTAIN

from discreet.errors import InputError
from discreet.learn.estimators import DPAdditiveModel, DPAdditiveRegression
from discreet.learn.estimators.additive_model import residuals

MIDDLES = (np.arange(64) + 0.5) / 32 - 1


def curves(columns):
    return np.column_stack([1.2 * np.sin(3 * columns[:, 0]), -columns[:, 1], 1.5 * (columns[:, 2] > 0.2) - 0.5])


def table(seed, count=8000):
    chance = np.random.default_rng(seed)
    features = chance.uniform(-1, 1, size=(count, 3))
    scores = curves(features).sum(axis=1)
    labels = (chance.uniform(size=count) < 1 / (1 + np.exp(-scores))).astype(int)
    return features, labels, np.clip(scores / 8 + 0.2 * chance.normal(size=count), -1, 1)


def truth():
    known = curves(np.column_stack([MIDDLES] * 3))
    return known - known.mean(axis=0)


def covered(model, scale):
    """Of all bins, how many intervals of 95% hold the truth."""
    within = [
        np.abs(term[:64, 0] - scale * known) <= 1.96 * error[:64]
        for term, error, known in zip(model.terms_, model.term_errors_, truth().T, strict=True)
    ]
    return np.mean(within)


@pytest.mark.statistical
@pytest.mark.parametrize("price", [{"rho": "1/20"}, {"rho": 5}, {"epsilon": 1}])
def test_intervals_cover_the_terms_that_rows_were_drawn_from(price):
    shares = []
    for seed in range(6):
        features, labels, levels = table(seed)
        classifier = DPAdditiveModel(**price, classes=2, bounds=(-1, 1)).fit(features, labels)
        regression = DPAdditiveRegression(**price, target_bounds=(-1, 1), bounds=(-1, 1)).fit(features, levels)
        shares.append([covered(classifier, 1), covered(regression, 1 / 8)])
        for error in classifier.term_errors_:  # half of what is claimed would not do
            assert error[:64].max() < 1
        classifier.term_errors_ = [error / 4 for error in classifier.term_errors_]
        assert covered(classifier, 1) < 0.9
    assert np.mean(shares, axis=0).min() > 0.92


def test_terms_are_near_the_truth_where_there_is_no_noise():
    features, labels, levels = table(0, 30_000)
    classifier = DPAdditiveModel(**CERTAIN, classes=2, bounds=(-1, 1)).fit(features, labels)
    regression = DPAdditiveRegression(**CERTAIN, target_bounds=(-1, 1), bounds=(-1, 1)).fit(features, levels)
    for term, scaled, known in zip(classifier.terms_, regression.terms_, truth().T, strict=True):
        assert np.abs(term[:64, 0] - known).mean() < 0.15
        assert np.abs(8 * scaled[:64, 0] - known).mean() < 0.15
    assert regression.score(features, levels) > 0.35
    assert np.abs(regression.predict(features)).max() <= 1


def test_several_classes_and_codes():
    chance = np.random.default_rng(2)
    features = np.column_stack([chance.uniform(0, 1, 6000), chance.integers(0, 3, 6000)])
    labels = np.where(features[:, 1] == 2, 2, (features[:, 0] > 0.5).astype(int))
    model = DPAdditiveModel(rho="1/10", classes=3, bounds=(0, 1), categories={1: 3}).fit(features, labels)
    assert model.score(features, labels) > 0.9
    assert [term.shape for term in model.terms_] == [(65, 3), (4, 3)]
    assert model.predict_proba(features).sum(axis=1) == pytest.approx(np.ones(6000))
    pictures = [model.plot(0, label=label).to_svg() for label in (0, 1, 2)]
    assert len(set(pictures)) == 3
    assert all(f"adds to the score of {label}" in pictures[label] for label in (0, 1, 2))
    with pytest.raises(InputError, match="label"):
        model.plot(0, label="other")


def test_terms_are_drawn_by_name_and_edited_for_free():
    pandas = pytest.importorskip("pandas")
    chance = np.random.default_rng(4)
    frame = pandas.DataFrame({"sex": chance.integers(0, 2, 3000), "age": chance.uniform(0, 90, 3000)})
    labels = (frame["age"] > 40).to_numpy()
    model = DPAdditiveModel(epsilon=2, classes=[False, True], bounds={"age": (0, 90)}, categories={"sex": 2})
    model.fit(frame, labels)
    picture = model.plot("age")
    assert picture.title.startswith("age")
    assert "adds to the log-odds of True" in picture.to_svg()
    assert "95% confidence interval" in picture.to_svg()
    assert len(picture.table.rows) == 3 * 2 * 64
    assert "code 1" in model.plot("sex").to_svg()
    assert "age" in model.plot().to_svg()
    loss, before = model.loss_, model.decision_function(frame)
    model.edit_term("sex", np.zeros(3)).edit_term("age", np.linspace(-2, 2, 65))
    assert model.loss_ is loss
    assert not np.allclose(before, model.decision_function(frame))
    assert model.score(frame, labels) > 0.8
    assert not model.term_errors_[0].any()
    assert frame.columns.tolist().index("age") == 1  # terms are ordered numbers first: age, then sex
    for column, values in (
        ("weight", np.zeros(3)),
        ("sex", np.zeros(7)),
        ("sex", [0, np.nan, 0]),
        (2, np.zeros(3)),
        ("sex", [0]),
    ):
        with pytest.raises(InputError):
            model.edit_term(column, values)
    with pytest.raises(InputError, match="level"):
        model.plot("age", level=1)


def test_residuals_are_whole_and_bounded():
    scores = np.arange(-(2**14), 2**14 + 1)[:, None]
    targets = np.random.default_rng(0).integers(-1024, 1025, size=len(scores))
    steps = residuals(scores, targets)
    assert np.abs(steps).max() == 2**12
    near = np.abs(scores[:, 0] - targets) <= 1024
    assert (steps[near, 0] == 4 * (scores[near, 0] - targets[near])).all()
