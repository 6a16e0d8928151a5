"""A person is one example: no person moves a sum by more than the bound, or what another person adds to it."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from train_steps import SECRET, examples, flat, linear, recipe, start, step_of

from discreet.errors import InputError
from discreet.learn import persons as persons_module
from discreet.learn.lattice import LONGEST
from discreet.learn.lot import microbatches
from discreet.learn.objective import cross_entropy
from discreet.learn.persons import by_person, fill_up, read_persons
from discreet.learn.trainer import train

WHOSE = np.array([0] * 9 + [1] * 1 + [2] * 4 + [3] * 2 + [4] * 4)
ROWS = 4


def people():
    """Persons with more, as many, and fewer rows than count; the rows of the first all pull one way, and hard."""
    x, y = examples(len(WHOSE))
    x[WHOSE == 0], y[WHOSE == 0] = np.float32([9, 8, 7, 6]), 0
    return x, y


def lot_sum(data, noise, own=None):
    """The sum over a lot of everybody, before noise, in bounds."""
    own = own or recipe(noise=noise, rows=ROWS, bound=0.5, microbatch=8, lot=8)
    step, params = step_of(own), start()
    everyone = np.arange(len(jax.tree.leaves(data)[0]))
    total = step.sum_lot(params, step.place(data), microbatches(everyone, 8), SECRET, 0)
    return total / LONGEST if noise == "exact" else flat(total[0]) / 0.5


def farthest(noise, laid_out, own=None):
    """How far taking away, or replacing, all rows of one person moves the sum at most, in bounds: over all of them."""
    x, y = people()
    whole = lot_sum(laid_out((x, y), WHOSE), noise, own)
    gone, swapped = [], []
    for one in range(5):
        others = one != WHOSE
        gone.append(np.linalg.norm(whole - lot_sum(laid_out((x[others], y[others]), WHOSE[others]), noise, own)))
        other = np.where(others[:, None], x, -x)
        swapped.append(np.linalg.norm(whole - lot_sum(laid_out((other, y), WHOSE), noise, own)))
    return max(gone), max(swapped)


def averaged(data, whose):
    return by_person(data, whose, ROWS, SECRET)


@pytest.mark.parametrize("noise", ["exact", "device"])
def test_a_whole_person_moves_the_sum_by_at_most_the_bound(noise):
    gone, swapped = farthest(noise, averaged)
    assert 0.9 < gone <= 1 + 1e-3 * (noise == "device")  # the first person's gradient is clipped
    assert swapped <= 2 * (1 + 1e-3 * (noise == "device"))


@pytest.mark.parametrize("noise", ["exact", "device"])
def test_rows_that_are_clipped_one_by_one_and_added_are_found_out(noise):
    """The planted bug: the sum over a person's rows of clipped gradients, which is as many bounds long."""
    one_by_one = recipe(noise=noise, bound=0.5, microbatch=8, lot=8)
    gone, _ = farthest(noise, lambda data, whose: data, one_by_one)
    assert gone > ROWS


def test_the_sum_is_that_of_clipped_mean_gradients_by_definition():
    x, y = people()
    chosen, weights = by_person((x, y), WHOSE, ROWS, SECRET)
    total = np.zeros(flat(start()).shape)
    for (own_x, own_y), own in zip(zip(*chosen, strict=True), weights, strict=True):
        rows = own > 0
        mean = jax.grad(lambda p, a=own_x[rows], b=own_y[rows]: cross_entropy(linear(p, a), b).mean())(start())
        vector = flat(mean).astype(np.float64)
        total += vector * min(1.0, 0.5 / np.linalg.norm(vector))
    assert np.allclose(lot_sum((chosen, weights), "exact") * 0.5, total, atol=1e-4)
    assert np.allclose(lot_sum((chosen, weights), "device") * 0.5, total, atol=1e-4)


def as_sets(laid_out):
    """Every person's rows that count, with their weights; no order among persons."""
    (x, y), weights = laid_out
    return sorted((a.tobytes(), b.tobytes(), w.tobytes()) for a, b, w in zip(x, y, weights, strict=True))


def follows_own_rows(laid_out):
    """Whether each person's example stays what it is when another leaves, and whatever order the rows come in."""
    x, y = people()
    whole, stays = as_sets(laid_out((x, y), WHOSE)), True
    for one in range(5):
        others = one != WHOSE
        stays &= set(as_sets(laid_out((x[others], y[others]), WHOSE[others]))) <= set(whole)
    turned = np.random.default_rng(5).permutation(len(WHOSE))
    return stays and as_sets(laid_out((x[turned], y[turned]), WHOSE[turned])) == whole


def test_which_rows_count_follows_from_a_persons_own_rows_alone():
    assert follows_own_rows(averaged)


def test_rows_chosen_by_where_they_stand_are_found_out(monkeypatch):
    """The planted bug: a hash of the index in the whole table."""

    def by_index(data, key):
        count = len(jax.tree.leaves(data)[0])
        return np.random.default_rng(count).permutation(2 * count).reshape(count, 2).astype(np.uint64)

    monkeypatch.setattr(persons_module, "_tags", by_index)
    assert not follows_own_rows(averaged)


def without_numbers(monkeypatch, filled):
    """How much the others' part of a sum changes with a person whose loss is not a number."""
    monkeypatch.setattr(persons_module, "fill_up", filled)
    x, y = people()
    x[WHOSE == 0] = np.inf  # the person counts for nothing
    others = WHOSE > 0
    apart = lot_sum(averaged((x, y), WHOSE), "exact") - lot_sum(
        averaged((x[others], y[others]), WHOSE[others]), "exact"
    )
    return np.abs(apart).max()


def test_a_person_is_filled_up_with_rows_of_their_own(monkeypatch):
    assert without_numbers(monkeypatch, fill_up) == 0


def test_a_person_filled_up_with_somebody_elses_rows_is_found_out(monkeypatch):
    """The planted bug: rows of weight zero that are the first of the table, whose loss may be no number."""

    def first_of_all(person, place, rows):
        index, weights = fill_up(person, place, rows)
        return np.where(weights > 0, index, 0), weights

    assert without_numbers(monkeypatch, first_of_all) > 0


def test_other_secrets_choose_other_rows_and_one_row_each_needs_no_weights():
    x, y = examples(200)
    whose = np.arange(200) // 10
    one, other = (by_person((x, y), whose, 1, key) for key in (SECRET, bytes(32)))
    assert one[0].shape == (20, 4)
    assert not np.array_equal(one[0], other[0])
    again = by_person((x, y), np.array([f"p{place}" for place in whose]), 1, SECRET)
    assert {row.tobytes() for row in again[0]} == {row.tobytes() for row in one[0]}


def test_no_rows_at_all_are_no_persons():
    x, y = examples(200)
    (none, _), weights = by_person((x[:0], y[:0]), WHOSE[:0], 3, SECRET)
    assert none.shape == (0, 3, 4)
    assert weights.shape == (0, 3)


def test_copies_of_each_row_count_in_the_mean():
    x, y = people()

    def look(key, batch):
        return jax.tree.map(lambda leaf: jnp.concatenate([leaf, leaf]), batch)

    own = {"recipe": recipe(examples=5, lot=4, rows=ROWS, bound=0.5), "persons": WHOSE, "secret": SECRET}
    plain = train(linear, cross_entropy, start(), (x, y), **own)
    own["recipe"] = recipe(examples=5, lot=4, rows=ROWS, bound=0.5, copies=2)
    twice = train(linear, cross_entropy, start(), (x, y), **own, augment=look)
    assert np.allclose(flat(plain.params), flat(twice.params), atol=1e-4)


def test_a_model_with_keys_draws_for_each_row_of_a_person():
    def dropped(params, x, key=None):
        return linear(params, x) if key is None else linear(params, x * jax.random.bernoulli(key, 0.5, x.shape))

    own = {"recipe": recipe(examples=5, lot=4, rows=ROWS), "persons": WHOSE, "secret": SECRET}
    one = train(dropped, cross_entropy, start(), people(), **own)
    two = train(dropped, cross_entropy, start(), people(), **own)
    assert np.array_equal(flat(one.params), flat(two.params))
    assert not np.allclose(flat(one.params), flat(train(linear, cross_entropy, start(), people(), **own).params))


@pytest.mark.parametrize(
    "whose",
    [
        np.zeros(len(WHOSE) - 1, int),
        np.zeros((len(WHOSE), 1), int),
        np.zeros(len(WHOSE)),
        [None, *WHOSE[1:]],
        ["a", 1] * 10,
        "ann",
        7,
        [2**70, *WHOSE[1:]],
        [True, *WHOSE[1:]],
        ["a", "a\0", *map(str, WHOSE[2:])],
        np.ma.masked_array(WHOSE, mask=np.arange(len(WHOSE)) == 0),
    ],
    ids=[
        "too few",
        "a table",
        "reals",
        "nobody",
        "mixed",
        "a text",
        "a number",
        "too large",
        "yes or no",
        "two that an array holds as one",
        "masked",
    ],
)
def test_persons_that_are_no_names_are_refused(whose):
    with pytest.raises(InputError) as caught:
        train(linear, cross_entropy, start(), people(), recipe(rows=2), persons=whose)
    assert caught.value.field == "persons"


def test_several_rows_without_persons_are_refused():
    with pytest.raises(InputError, match="whose each row is"):
        train(linear, cross_entropy, start(), people(), recipe(rows=2))


@pytest.mark.parametrize("persons", [["a", "a\0"], np.array(["a", "a\0"], dtype=object), [2**64, 2**64 + 1]])
def test_two_persons_are_never_read_as_one(persons):
    """NumPy drops NUL at the end of a text: removing one of them would replace an example, not take it away."""
    with pytest.raises(InputError, match="persons"):
        read_persons(persons, 2)
