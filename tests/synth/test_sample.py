"""Rows of a model follow its law, within one of what a cell calls for."""

import numpy as np
import pytest
from small_models import CHAIN, LOOP, SIZES, model_of, shape

import chance
from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.synth.sample import deal


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


def one_row_at_a_time(model, draws, mutant=False):
    cells = []
    for draw in range(draws):
        row = model.rows(1, Replay(draw.to_bytes(4)))[0]
        if mutant:
            row[2] = model.rows(1, Replay((draw + draws).to_bytes(4)))[0][2]
        cells.append(np.ravel_multi_index(tuple(row), SIZES))
    return np.array(cells)


def test_a_row_follows_the_law_of_the_table():
    model, _, _, table = model_of(CHAIN)
    law = (table / table.sum()).ravel()
    assert chance.fits(
        one_row_at_a_time(model, 4000), lambda cells: np.where(cells < law.size, law[cells % law.size], 0)
    )


def test_a_column_drawn_by_itself_is_caught():
    model, _, _, table = model_of(CHAIN)
    law = (table / table.sum()).ravel()
    drawn = one_row_at_a_time(model, 4000, mutant=True)
    assert not chance.fits(drawn, lambda cells: np.where(cells < law.size, law[cells % law.size], 0))


def test_dealing_never_reaches_an_impossible_cell():
    table = np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    given = np.repeat([0, 1, 2], 101)
    dealt = deal(table, given, Replay(b"deal"))
    assert set(dealt[:101]) == {1, 2}
    assert set(dealt[101:202]) == {3}
    assert set(dealt[202:]) == {0, 1, 2, 3}
