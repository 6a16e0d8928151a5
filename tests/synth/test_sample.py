"""Rows of a model follow its law, within one of what a cell calls for."""

import numpy as np
import pytest
from small_models import CHAIN, LOOP, SIZES, model_of, shape

import chance
from discreet.errors import InputError
from discreet.noise.replay import Replay, uniforms
from discreet.synth.junction import junction
from discreet.synth.sample import _places, chance_order, deal, sample


def test_rows_are_within_one_of_what_a_clique_calls_for():
    model, *_ = model_of(LOOP)
    rows = model.rows(5000)
    assert rows.shape == (5000, len(SIZES))
    root = model.tree.cliques[0]
    found = np.zeros(shape(root))
    np.add.at(found, tuple(rows[:, column] for column in root), 1)
    assert np.abs(found - 5 * model.marginal(root)).max() < 1 + 1e-6
    np.testing.assert_array_equal(rows, model.rows(5000))
    assert (rows != model.rows(5000, Replay(b"other"))).any()
    assert model.rows(0).shape == (0, len(SIZES))
    with pytest.raises(InputError, match="rows"):
        model.rows(-1)


@pytest.fixture(scope="module")
def drawn():
    """A model of a chain, its law, and 4,000 rows drawn from it one at a time."""
    model, _, _, table = model_of(CHAIN)
    rows = np.array([model.rows(1, Replay(draw.to_bytes(4)))[0] for draw in range(4000)])
    return (table / table.sum()).ravel(), rows


def follows(law, rows):
    cells = np.ravel_multi_index(tuple(rows.T), SIZES)
    return chance.fits(cells, lambda cells: np.where(cells < law.size, law[cells % law.size], 0))


def test_a_row_follows_the_law_of_the_table(drawn):
    assert follows(*drawn)


def test_a_column_drawn_by_itself_is_caught(drawn):
    law, rows = drawn
    apart = rows.copy()
    apart[:, 2] = np.roll(rows[:, 2], 1)  # that of another row
    assert not follows(law, apart)


def test_dealing_never_reaches_an_impossible_cell():
    table = np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    given = np.repeat([0, 1, 2], 101)
    dealt = deal(table, given, Replay(b"deal"))
    assert set(dealt[:101]) == {1, 2}
    assert set(dealt[101:202]) == {3}
    assert set(dealt[202:]) == {0, 1, 2, 3}


def test_an_order_by_digits_is_that_of_sorting():
    shares = uniforms(Replay(b"order"), 3000)
    np.testing.assert_array_equal(chance_order(3000, Replay(b"order")), np.argsort(shares, kind="stable"))
    for most in (1, 7, 2**16, 2**40):
        given = np.random.default_rng(6).integers(0, most, 3000)
        np.testing.assert_array_equal(_places(given, Replay(b"order"))[0], np.lexsort((shares, given)))
    assert chance_order(0, Replay(b"order")).shape == (0,)


def test_a_short_column_has_its_share_whatever_stands_before_it():
    sizes = (49, 2, 7)
    table = np.random.default_rng(1).dirichlet(np.ones(49 * 2 * 7)).reshape(sizes)
    tree = junction(sizes, [(0, 1, 2)])
    for seed in range(5):
        rows = sample(tree, sizes, [table], 2000, Replay(bytes([seed])))
        assert abs(float((rows[:, 1] == 1).sum()) - 2000 * table[:, 1].sum()) <= 1
