"""Examples in hand: pairs of arrays, or chunks that are put together to the same."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import numpy as np
import scipy.sparse
from train_steps import SECRET, examples, flat, linear, recipe, start

from discreet.errors import InputError
from discreet.learn.examples import Examples
from discreet.learn.objective import cross_entropy
from discreet.learn.trainer import train


def chunks(size=37, persons=None):
    x, y = examples()
    for first in range(0, len(x), size):
        part = slice(first, first + size)
        yield (x[part], y[part]) if persons is None else (x[part], y[part], persons[part])


def test_an_iterator_of_chunks_trains_as_the_arrays_do():
    whole = train(linear, cross_entropy, start(), examples(), recipe(), secret=SECRET)
    parts = train(linear, cross_entropy, start(), chunks(), recipe(), secret=SECRET)
    assert np.array_equal(flat(whole.params), flat(parts.params))


def test_chunks_may_bring_their_persons():
    persons = np.arange(200) // 4
    found = Examples.read(chunks(persons=persons))
    assert np.array_equal(found.persons, persons)
    assert len(found.arrays) == 3
    with pytest.raises(InputError, match="left out"):
        Examples.read(chunks(persons=persons), persons)


def test_persons_of_chunks_are_of_one_kind_so_that_a_number_and_a_text_are_never_the_same_person():
    x, y = np.zeros((1, 2)), np.zeros(1)
    for first, second in ((np.array([1]), np.array(["1"])), (np.array(["a"]), np.array([b"a"]))):
        with pytest.raises(InputError, match="one kind"):
            Examples.read([(x, y, first), (x, y, second)])
    found = Examples.read([(x, y, np.array([1], np.int8)), (x, y, np.array([300]))])
    assert found.persons.tolist() == [1, 300]


def test_trees_of_arrays_are_put_together_leaf_by_leaf():
    x, y = examples()
    parts = [({"a": x[:9], "b": x[:9, :1]}, y[:9]), ({"a": x[9:], "b": x[9:, :1]}, y[9:])]
    found = Examples.read(parts)
    assert np.array_equal(found.x["a"], x)
    assert found.x["b"].shape == (200, 1)


@pytest.mark.parametrize(
    "data",
    [
        [],
        iter(()),
        3,
        "secret",
        {"x": 1},
        np.zeros((3, 2)),
        (np.zeros(3),),
        [np.zeros((3, 2)), np.zeros(3)],
        [(np.zeros((3, 2)), np.zeros(3)), (np.zeros((3, 4)), np.zeros(3))],
        [(np.zeros((3, 2)), np.zeros(3)), (np.zeros((3, 2)), np.zeros(3), np.zeros(3))],
    ],
)
def test_what_is_neither_a_pair_nor_chunks_is_refused_without_showing_a_value(data):
    with pytest.raises(InputError) as caught:
        Examples.read(data)
    assert caught.value.field == "data"
    assert "secret" not in str(caught.value)
    assert "0.0" not in str(caught.value)


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], r"got a list\. Use numpy\.asarray\(x\)"),
        (scipy.sparse.csr_matrix(np.eye(2)), r"got a sparse matrix\. Use x\.toarray\(\)"),
    ],
)
def test_rows_in_another_form_are_told_how_to_become_an_array(x, said):
    with pytest.raises(InputError, match=said):
        Examples.read((x, np.zeros(2)))


def test_a_pair_in_a_list_is_told_to_be_a_tuple():
    with pytest.raises(InputError, match="round brackets"):
        Examples.read([np.zeros((3, 2)), np.zeros(3)])
