"""Arrays in hand: one malformed cell leaves all others what they are, and no message shows it."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import ALL, BAYES, CERTAIN, NO_NUMBERS, REGRESSION, open_ledger, rows
from sklearn.base import clone

from discreet.errors import InputError
from discreet.learn.estimators import DPBoostedTrees, DPNaiveBayes
from discreet.learn.estimators.rows import read_classes, read_labels, read_numbers
from discreet.ledger.budget import Budget


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_malformed_rows_are_refused_or_absorbed(model, tmp_path):
    features, targets = rows()
    features[3, 1] = np.nan
    ledger = open_ledger(tmp_path, Budget(rho=10**24))
    paying = clone(model).set_params(ledger=ledger, dataset="visits")
    with pytest.raises(ValueError, match="NaN"):
        paying.fit(features, targets)
    assert not ledger.releases("visits")
    paying.set_params(malformed="absorb").fit(features, targets)
    assert len(ledger.releases("visits")) == 1


@pytest.mark.parametrize("cell", NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_no_cell_whatever_raises_where_it_is_absorbed(model, cell):
    model = clone(model).set_params(malformed="absorb")
    if isinstance(model, DPBoostedTrees):
        model.set_params(bounds=(-1e100, 7e99))
    model.fit([[cell, 1.0], [0.0, cell], [1.0, -1.0]], [1, cell, 0])
    with pytest.raises(ValueError, match=r".") as caught:
        clone(model).set_params(malformed="refuse").fit([[0.0, "secret"], [1.0, -1.0]], [1, 0])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("cell", NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_a_malformed_row_leaves_the_others_what_they_are(cell):
    """One word among labels must not turn every other label into none: that would be more than one row's worth."""
    classes = np.array([0, 1, 2**53 + 1])
    labels = [0, 1, 2, 2**53 + 1, True]
    alone = read_labels(np.asarray(labels, dtype=object), classes, "absorb")
    assert alone.tolist() == [0, 1, -1, 2, 1]
    beside = np.empty(6, dtype=object)
    beside[:] = [*labels, cell]
    assert read_labels(beside, classes, "absorb").tolist() == [*alone, -1]
    words = np.empty(3, dtype=object)
    words[:] = ["b", "1", cell]
    assert read_labels(words, np.array(["1", "b"]), "absorb").tolist() == [1, 0, -1]
    numbers = [[0.1, 2**53 + 1], [-3, True]]
    read = read_numbers([*numbers, [cell, 5]], "X", "absorb")
    assert (read[:2] == read_numbers(numbers, "X", "absorb")).all()
    assert read[2, 1] == 5
    fitted = clone(BAYES).set_params(malformed="absorb").fit([[0.5], [0.5], [0.5]], [0, 1, cell])
    assert fitted.n_rows_ == pytest.approx([1, 1, 1])  # a count of nothing is shown as one


def test_huge_numbers_are_refused_or_absorbed_at_the_bounds():
    huge = [[10**400, -(10**400), "1e400", "2", "x", None]]
    read = read_numbers(huge, "X", "absorb")[0]
    assert read[:4].tolist() == [np.inf, -np.inf, np.inf, 2]
    assert np.isnan(read[4:]).all()
    for targets in ([1, 10**400], [0.5, 10**400]):
        with pytest.raises(InputError) as caught:
            clone(REGRESSION).fit([[1], [2]], targets)
        assert caught.value.field == "y"
        with pytest.raises(ValueError, match="label"):
            clone(BAYES).fit([[1], [2]], targets)
    frame = pytest.importorskip("pandas").DataFrame({"a": [10**400, 1], "b": ["secret", "2"]}, dtype=object)
    for given in ([[10**400], [1]], frame, frame[["a"]]):
        with pytest.raises(InputError) as caught:
            clone(REGRESSION).fit(given, [1, 2])
        assert caught.value.field == "X"
    absorbed = clone(REGRESSION).set_params(malformed="absorb").fit(frame, [1, 2])
    assert absorbed.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="equal length"):
        clone(REGRESSION).set_params(malformed="absorb").fit([[1, 2], [3]], [1, 2])


def test_words_are_refused_without_showing_them():
    words = [["1", "secret"], ["2", "3"]]
    frame = pytest.importorskip("pandas").DataFrame(words, columns=["a", "b"])
    for given in (words, np.array(words), np.array(words, dtype=object), frame):
        with pytest.raises(InputError) as caught:
            clone(REGRESSION).fit(given, [1, 2])
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_labels_may_be_words_and_unknown_ones_are_left_out():
    features, targets = rows()
    words = np.array(["no", "yes"])[targets]
    model = DPNaiveBayes(**CERTAIN, bounds=(-1, 1), classes=["yes", "no"]).fit(features, words)
    assert model.score(features, words) > 0.9
    words[:100] = "perhaps"
    with pytest.raises(InputError) as caught:
        clone(model).fit(features, words)
    assert "perhaps" not in str(caught.value)
    fewer = clone(model).set_params(malformed="absorb").fit(features, words)
    assert fewer.n_rows_.sum() == pytest.approx(200)


@pytest.mark.parametrize("many", [1, 0, -3, 2**20])
def test_a_number_of_classes_that_is_refused_is_shown_as_it_was_given(many):
    with pytest.raises(InputError, match=rf"got {many}\.") as caught:
        read_classes(many)
    assert caught.value.field == "classes"
