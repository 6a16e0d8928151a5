"""Junction trees hold every marginal, and messages are right for potentials far apart."""

import itertools

import numpy as np
import pytest
from small_models import CHAIN, LOOP, SIZES, away, model_of, shape

from discreet.synth.junction import junction, tree_cells


def test_potentials_far_apart_do_not_break_a_model():
    model, _, _, table = model_of(LOOP, strength=60.0)
    found = model.marginal((0, 2))
    np.testing.assert_allclose(found, 1000 * table.sum(axis=away((0, 2))) / table.sum(), atol=1e-6)


@pytest.mark.parametrize(
    "marginals", [CHAIN, LOOP, [(0, 1, 2), (2, 3), (0, 4)], list(itertools.combinations(range(6), 2))]
)
def test_trees_hold_every_marginal_and_every_column_in_one_piece(marginals):
    tree = junction(SIZES, marginals)
    assert all(tree.home(columns) is not None for columns in marginals)
    assert tree.parents[0] == -1
    assert all(0 <= parent < place for place, parent in enumerate(tree.parents) if place)
    for column in range(len(SIZES)):
        holders = {place for place, clique in enumerate(tree.cliques) if column in clique}
        assert holders
        tops = [place for place in holders if tree.parents[place] not in holders]
        assert len(tops) == 1
    cells = sum(int(np.prod(shape(clique))) for clique in tree.cliques)
    assert tree_cells(SIZES, marginals) == cells
