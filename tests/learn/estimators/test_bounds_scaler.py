"""A scaler that learns nothing: declared bounds to a range."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import pickle

import numpy as np
import pandas
from estimator_rows import rows
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet.errors import InputError
from discreet.learn.estimators import BoundsScaler, DPNaiveBayes

X, Y = rows(60)


@parametrize_with_checks([BoundsScaler(bounds=(-100, 100))])
def test_scikit_learn_knows_its_manners(estimator, check):
    check(estimator)


def test_bounds_go_to_the_range_and_back():
    scaler = BoundsScaler(bounds=(0, [10, 100, 5]), feature_range=(0, 1))
    made = scaler.fit_transform(np.array([[0, 50, 7], [-3, 200, np.nan]]))
    assert made[0].tolist() == [0, 0.5, 1]
    assert made[1, :2].tolist() == [0, 1]
    assert np.isnan(made[1, 2])
    assert scaler.inverse_transform(made)[0].tolist() == [0, 50, 5]


def test_no_row_is_learned_from():
    one = BoundsScaler(bounds=(-1, 1)).fit(X)
    two = BoundsScaler(bounds=(-1, 1)).fit(X[:1] * 50)
    assert pickle.dumps(one) == pickle.dumps(two)


def test_columns_by_name_and_a_pipeline():
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    bounds = {"c": (-1, 1), "a": (-2, 2), "b": (-1, 1)}
    made = BoundsScaler(bounds=bounds).fit_transform(table)
    assert np.allclose(made[:, 0], X[:, 0] / 2)
    pipeline = make_pipeline(BoundsScaler(bounds=bounds), DPNaiveBayes(epsilon=50, bounds=(-1, 1), classes=2))
    assert pipeline.fit(table, Y).score(table, Y) > 0.8


def test_a_constant_column_is_the_lower_end():
    assert BoundsScaler(bounds=(3, 3)).fit_transform([[3.0], [4.0]]).tolist() == [[-1], [-1]]


@pytest.mark.parametrize(
    ("settings", "field"),
    [({}, "bounds"), ({"bounds": (0, 1), "feature_range": (1, 1)}, "feature_range"),
     ({"bounds": (0, 1), "feature_range": 3}, "feature_range"), ({"bounds": {"a": (0, 1)}}, "bounds")],
)  # fmt: skip
def test_what_is_refused(settings, field):
    with pytest.raises(InputError) as caught:
        BoundsScaler(**settings).fit(X)
    assert caught.value.field == field
