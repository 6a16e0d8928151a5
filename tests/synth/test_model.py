"""Models against tables that hold every cell: trees, marginals, the fit, and the law of rows."""

import itertools

import numpy as np
import pytest

import chance
from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.synth import descent
from discreet.synth.descent import Target, merged
from discreet.synth.junction import Passing, junction, tree_cells
from discreet.synth.model import Model, fit, noisy_total, simplex
from discreet.synth.sample import deal
from discreet.synth.weighting import reweight

SIZES = (3, 2, 4, 3, 2, 1)
CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4)]
LOOP = [(0, 1), (1, 2), (2, 3), (0, 3), (1, 4)]


def away(columns):
    return tuple(column for column in range(len(SIZES)) if column not in columns)


def shape(columns, sizes=SIZES):
    return tuple(sizes[column] for column in columns)


def along(columns, sizes=SIZES):
    return tuple(size if column in columns else 1 for column, size in enumerate(sizes))


def model_of(marginals, seed=0, strength=1.0):
    """A model of random potentials, and its table of all cells."""
    rng = np.random.default_rng(seed)
    base = [rng.normal(size=size) for size in SIZES]
    potentials = [strength * rng.normal(size=shape(columns)) for columns in marginals]
    passing = Passing(SIZES, junction(SIZES, marginals), marginals, base)
    logs = sum(one.reshape(along((column,))) for column, one in enumerate(base))
    logs = logs + sum(one.reshape(along(columns)) for columns, one in zip(marginals, potentials, strict=True))
    table = np.exp(logs)
    return Model(passing, potentials, 1000.0), passing, potentials, table


@pytest.mark.parametrize("marginals", [CHAIN, LOOP, [(0, 2, 4)], [], [(0, 1), (3, 4)]])
def test_every_marginal_is_that_of_the_whole_table(marginals):
    model, passing, potentials, table = model_of(marginals)
    assert passing.beliefs(potentials)[0] == pytest.approx(np.log(table.sum()))
    for many in range(1, 5):
        for columns in itertools.combinations(range(len(SIZES)), many):
            expected = 1000 * table.sum(axis=away(columns)) / table.sum()
            np.testing.assert_allclose(model.marginal(columns), expected, rtol=1e-9, atol=1e-9)


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


def test_a_marginal_too_large_on_its_way_is_refused(monkeypatch):
    model, *_ = model_of(CHAIN)
    monkeypatch.setattr("discreet.synth.model.LARGEST", 20)
    model.marginal((0, 1))
    with pytest.raises(InputError, match="rows"):
        model.marginal((0, 2, 4))


@pytest.mark.parametrize("columns", [(1, 0), (0, 0), (0, 9), (-1, 2)])
def test_columns_out_of_order_are_refused(columns):
    model, *_ = model_of(CHAIN)
    with pytest.raises(InputError, match="columns"):
        model.marginal(columns)


def measured(marginals, sigma, seed=1, total=5000):
    """A table of strong dependence, its marginals with noise of that size, and the table."""
    rng = np.random.default_rng(seed)
    *_, table = model_of(marginals, seed)
    table = total * table / table.sum()
    sets = [*((column,) for column in range(len(SIZES))), *marginals]
    noisy = [
        Target(columns, table.sum(axis=away(columns)) + sigma * rng.normal(size=shape(columns)), np.array(sigma**2))
        for columns in sets
    ]
    return table, noisy


def test_without_noise_the_fit_is_the_table():
    table, exact = measured(LOOP, 1e-3)
    model = fit(SIZES, exact, steps=3000)
    for columns in itertools.combinations(range(5), 2):
        np.testing.assert_allclose(model.marginal(columns), table.sum(axis=away(columns)), atol=15)
    # A model that saw single columns only is far from it: the closeness above was earned.
    alone = fit(SIZES, exact[: len(SIZES)], steps=3000)
    assert np.abs(alone.marginal((0, 1)) - table.sum(axis=away((0, 1)))).max() > 100


@pytest.mark.parametrize("marginals", [CHAIN, LOOP])
def test_every_round_ends_where_its_slope_is_zero(marginals, monkeypatch):
    monkeypatch.setattr(descent, "_ROUNDS", 1)
    _, noisy = measured(marginals, 20.0)
    model = fit(SIZES, noisy, steps=2000, calm=1.5)
    for target in noisy:
        slope = model.marginal(target.columns) - target.values + 1.5 * 20.0 * model.potentials[target.columns]
        assert np.abs(slope).max() < 0.01
    rough = fit(SIZES, noisy, steps=4, calm=1.5)
    slope = rough.marginal((0, 1)) - noisy[len(SIZES)].values + 30.0 * rough.potentials[(0, 1)]
    assert np.abs(slope).max() > 0.01


def test_a_fit_that_starts_from_another_ends_at_the_same():
    _, noisy = measured(LOOP, 20.0)
    cold = fit(SIZES, noisy, steps=1500)
    warm = fit(SIZES, noisy, start=fit(SIZES, noisy[:8], steps=100), steps=1500)
    np.testing.assert_allclose(warm.marginal((0, 1)), cold.marginal((0, 1)), atol=0.5)


def test_fitting_takes_noise_out():
    table, noisy = measured(CHAIN, 60.0)
    model = fit(SIZES, noisy)
    raw = sum(float(((one.values - table.sum(axis=away(one.columns))) ** 2).sum()) for one in noisy)
    fitted = sum(float(((model.marginal(one.columns) - table.sum(axis=away(one.columns))) ** 2).sum()) for one in noisy)
    assert fitted < 0.8 * raw


def test_totals_are_averaged_by_their_noise():
    sums = [Target((0,), np.array([60.0, 40.0]), np.array(0.5)), Target((1,), np.array([150.0]), np.array(9.0))]
    assert noisy_total(sums) == pytest.approx((100 / 1 + 150 / 9) / (1 + 1 / 9))
    both = merged([sums[0], Target((0,), np.array([50.0, 50.0]), np.array([0.5, 1.5]))])
    np.testing.assert_allclose(both[0].values, [55.0, 42.5])
    np.testing.assert_allclose(both[0].variance, [0.25, 0.375])


def test_measurements_in_another_shape_are_refused():
    with pytest.raises(InputError, match="measured"):
        fit(SIZES, [Target((0,), np.zeros(4), np.array(1.0))])
    with pytest.raises(InputError, match="measured"):
        fit(SIZES, [])


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


def test_weights_meet_marginals_that_the_tree_does_not_hold():
    table, exact = measured([*LOOP, (2, 4)], 5.0)
    held, loose = exact[:-1], exact[-1]
    model = fit(SIZES, held, total=5000)
    plain = model.rows(5000)
    weighted = reweight(model, plain, exact, steps=300)
    truth = table.sum(axis=away((2, 4)))
    assert np.abs(model.marginal((2, 4)) - truth).max() > 150
    assert np.abs(weighted.marginal((2, 4)) - truth).max() < 50
    assert np.abs(weighted.marginal((0, 1)) - table.sum(axis=away((0, 1)))).max() < 50
    assert 0.2 < weighted.effective < 1
    rows = weighted.rows(5000, Replay(b"rows"))
    found = np.zeros(truth.shape)
    np.add.at(found, (rows[:, 2], rows[:, 4]), 1)
    assert np.abs(found - weighted.marginal((2, 4))).max() < 60
    assert loose.columns == (2, 4)


def test_simplex_is_the_nearest_point():
    rng = np.random.default_rng(3)
    for _ in range(50):
        values = rng.normal(size=5) * 3
        near = simplex(values, 4.0)
        assert near.min() >= 0
        assert near.sum() == pytest.approx(4.0)
        for _ in range(20):
            other = rng.dirichlet(np.ones(5)) * 4
            assert ((near - values) ** 2).sum() <= ((other - values) ** 2).sum() + 1e-9
