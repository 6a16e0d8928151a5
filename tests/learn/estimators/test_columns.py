"""Declared bounds and categories: what is read, clipped, scaled and refused."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
import pandas
from estimator_rows import ALL, rows
from sklearn.base import clone

from discreet.errors import InputError
from discreet.learn.estimators import DPLinearRegression, DPNaiveBayes
from discreet.learn.estimators.columns import read_box, read_columns


def test_one_column_and_a_constant_one():
    features, targets = rows()
    for bounds, taken in (((-1, 1), features[:, :1]), (([-1, 0], [1, 0]), features[:, :2])):
        for model in ALL:
            given = {"bounds": bounds}
            if isinstance(model, DPLinearRegression):
                given["target_bounds"] = (0, 1)
            fitted = clone(model).set_params(**given).fit(taken, targets)
            told = fitted.transform(taken) if hasattr(fitted, "transform") else fitted.predict(taken)
            assert np.isfinite(told).all()


def test_bounds_whose_squares_overflow_are_refused():

    assert read_box((-1e100, 1e100), 1).upper.tolist() == [1e100]
    with pytest.raises(InputError, match="1e100"):
        read_box((0, 1e101), 1)


def test_values_are_clipped_scaled_and_put_on_the_lattice_each_alone():
    box = read_box(([0, -1], [10, 3]), 2, origin=[0, 1])
    values = np.array([[5.0, 3.0], [-4.0, np.nan], [20.0, -1.0]])
    assert box.scaled(values).tolist() == [[0.5, 1.0], [0.0, 0.0], [1.0, -1.0]]
    assert box.free(values)[2].tolist() == [2.0, -1.0]  # predictions may be asked outside
    assert box.steps(values, -10).tolist() == [[512, 1024], [0, 0], [1024, -1024]]
    assert np.allclose(box.unscaled(box.scaled(values)), box.clipped(values))
    assert (len(box), box.reach.tolist()) == (2, [10, 2])


@pytest.mark.parametrize("origin", [11, [0, 0], "far", [1, 2, 3]])
def test_an_origin_lies_within_bounds(origin):
    with pytest.raises(InputError) as caught:
        read_box(([0, 5], [10, 9]), 2, origin=origin)
    assert caught.value.field == "origin"


def test_categories_have_codes_and_everything_else_is_none_of_them():
    columns = read_columns((0, [1, 7, 5]), {1: 3}, 3)
    assert (columns.numbers, columns.categories, columns.sizes) == ((0, 2), (1,), (3,))
    assert columns.box.upper.tolist() == [1, 5]
    features = np.array([[0, 0, 0], [0, 2, 0], [0, 3, 0], [0, 0.5, 0], [0, np.nan, 0], [0, -np.inf, 0]], float)
    assert columns.codes(features, 0).tolist() == [0, 2, -1, -1, -1, -1]
    assert columns.to_json() == {"bounds": [[0, 0], [1, 5], [0.5, 2.5]], "categories": [[1, 3]]}


def test_a_table_of_categories_alone_needs_no_bounds():
    columns = read_columns(None, {0: 2, 1: 4}, 2)
    assert (columns.numbers, len(columns.box)) == ((), 0)
    with pytest.raises(InputError, match="columns 0 to 1"):
        read_columns(None, {0: 2, 2: 4}, 2)
    with pytest.raises(InputError) as caught:
        read_columns(None, {0: 2}, 2)
    assert caught.value.field == "bounds"


TABLE_BOUNDS = {"height": (0, 2), "age": (0, 100)}


def test_bounds_by_name_follow_the_columns():
    box = read_box(TABLE_BOUNDS, 2, names=["age", "height"])
    assert box.upper.tolist() == [100, 2]
    columns = read_columns(TABLE_BOUNDS, {"sex": 2}, 3, names=["age", "sex", "height"])
    assert (columns.numbers, columns.categories) == ((0, 2), (1,))
    assert columns.box.upper.tolist() == [100, 2]


@pytest.mark.parametrize(
    ("bounds", "names", "word"),
    [
        (TABLE_BOUNDS, None, "no names"),
        (TABLE_BOUNDS, ["age", "heigth"], "heigth"),
        ({"age": (0, 100)}, ["age", "height"], "none for column 'height'"),
        ({"age": 3, "height": (0, 2)}, ["age", "height"], "a pair"),
    ],
)
def test_bounds_by_name_that_do_not_fit_are_refused(bounds, names, word):
    with pytest.raises(InputError, match=word):
        read_box(bounds, 2, names=names)


def test_a_frame_is_fitted_by_the_names_of_its_columns():
    chance = np.random.default_rng(0)
    table = pandas.DataFrame({"height": chance.uniform(0, 2, 200), "sex": chance.integers(0, 2, 200) * 1.0})
    labels = table["sex"].astype(int).to_numpy()
    model = DPNaiveBayes(epsilon=20, classes=2, bounds={"height": (0, 2)}, categories={"sex": 2})
    assert model.expected_noise(2)["count"] > 0  # before any table is seen
    model.fit(table, labels)
    assert (model.predict(table) == labels).mean() > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["sex", "height"]])
    with pytest.raises(InputError, match="no names"):
        model.fit(table.to_numpy(), labels)


@pytest.mark.parametrize(("many", "said"), [("a", "a whole number"), (0, "a whole number"), (3, "2: so many columns")])
def test_a_number_of_columns_that_is_not_theirs_is_refused(many, said):
    with pytest.raises(InputError, match=said) as caught:
        read_columns((0, 1), None, many, names=["age", "pay"])
    assert caught.value.field == "n_features"
