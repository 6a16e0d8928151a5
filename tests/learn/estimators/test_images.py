"""A classifier of images: what it learns, what it costs, what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("sklearn")

import jax
from attrs import evolve

from discreet.accounting.convert import approx
from discreet.errors import InputError
from discreet.learn.estimators import DPImageClassifier
from discreet.learn.estimators.images import DescentClassifier
from discreet.learn.images import Looks, averaged_scores, in_parts
from discreet.learn.priors.prior import Prior, net_of


@pytest.fixture(scope="module")
def prior():
    card = {"name": "small", "depth": 10, "width": 1, "made": "random weights"}
    net = net_of(card)
    body = {name: part for name, part in net.init(jax.random.key(0)).items() if name != "head"}
    return Prior("small", net, body, np.zeros(64, np.float32), np.eye(64, dtype=np.float32), card)


@pytest.fixture(scope="module")
def stripes():
    """Grey pictures of 8 by 8 pixels, striped across or down."""
    chance = np.random.default_rng(3)
    labels = chance.integers(0, 2, 400)
    waves = 127 + 100 * np.sin(np.arange(8)[None, :] * 1.6 + chance.uniform(0, 6, (400, 1)))
    images = np.where(labels[:, None, None] == 0, waves[:, :, None], waves[:, None, :]) + chance.normal(
        0, 10, (400, 8, 8)
    )
    return np.clip(images, 0, 255), labels


def classifier(start, **others):
    given = {"epsilon": 4, "delta": 1e-6, "classes": 2, "examples": 400, "prior": start, "mirror": False, **others}
    return DPImageClassifier(**given)


@pytest.fixture(scope="module")
def headed(prior, stripes):
    return classifier(prior, tune="head").fit(*stripes)


def test_a_head_alone_learns_from_what_the_net_sees(headed, stripes):
    assert headed.score(*stripes) > 0.8
    assert set(headed.params_) == {"weights", "bias"}
    assert float(approx(headed.loss_, 1e-6).epsilon) <= 4


def test_a_fitted_one_is_pickled_whole(headed, stripes):
    images, _ = stripes
    again = pickle.loads(pickle.dumps(headed))
    np.testing.assert_array_equal(again.predict(images[:5]), headed.predict(images[:5]))


def recorded_phases(prior, stripes, monkeypatch):
    """A model, and what each of its phases was run with."""
    runs = []

    def recorded(losses, params, data, recipe, *, secret, augment=None):
        runs.append((recipe, secret, augment, jax.tree.leaves(params)))
        return type("Done", (), {"params": params})

    monkeypatch.setattr("discreet.learn.estimators.images.train_losses", recorded)
    monkeypatch.setattr("discreet.learn.estimators.descent.train_losses", recorded)
    model = classifier(prior, steps=5, head_steps=2, copies=3, lot=32).fit(*stripes)
    return model, runs


def check_phases(model, runs):
    (head, first, none, _), (rest, second, _, _) = runs
    assert head.steps + rest.steps == model.recipe_.steps == 5
    assert head.multiplier == rest.multiplier == model.recipe_.multiplier
    assert head.probability == rest.probability == model.recipe_.probability
    assert head.noise == rest.noise
    assert first != second, "the noise of one phase would cancel that of the other"
    assert none is None


def test_both_phases_are_steps_of_one_recipe(prior, stripes, monkeypatch):
    model, runs = recorded_phases(prior, stripes, monkeypatch)
    check_phases(model, runs)
    _, (_, _, looks, weights) = runs
    assert looks == Looks((8, 8, 1), 3, 4, False)
    assert len(weights) == len(jax.tree.leaves(prior.params(2)))


def free_head(recipe, **changes):
    """The head's phase with less noise than is charged."""
    return evolve(recipe, **changes, **({"multiplier": recipe.multiplier / 2} if "copies" in changes else {}))


def added_head(recipe, **changes):
    """The head's phase on top of all steps that are charged."""
    return evolve(recipe, **{**changes, **({} if "copies" in changes else {"steps": recipe.steps})})


def fuller_head(recipe, **changes):
    """The head's phase on lots of everybody."""
    return evolve(recipe, **changes, **({"lot": recipe.examples} if "copies" in changes else {}))


@pytest.mark.parametrize(
    ("name", "bug"),
    [
        ("evolve", free_head),
        ("evolve", added_head),
        ("evolve", fuller_head),
        ("key_of", lambda secret, purpose: bytes(64)),
    ],
    ids=["less noise", "steps not counted", "whole lots", "one secret"],
)
def test_a_head_phase_that_is_not_paid_for_is_caught(prior, stripes, monkeypatch, name, bug):
    monkeypatch.setattr(f"discreet.learn.estimators.images.{name}", bug)
    with pytest.raises(AssertionError):
        check_phases(*recorded_phases(prior, stripes, monkeypatch))


def features_moved_by_one_image(prior, stripes, monkeypatch) -> float:
    """How far what the net sees in other images moves with one image more: by nothing, if the gauge is public."""
    seen = []

    def recorded(losses, params, data, recipe, *, secret, augment=None):
        seen.append(np.asarray(data[0]))
        return type("Done", (), {"params": params})

    monkeypatch.setattr("discreet.learn.estimators.images.train_losses", recorded)
    images, labels = stripes
    for count in (40, 39):
        classifier(prior, tune="head", noise="device").fit(images[:count], labels[:count])
    return float(np.abs(seen[0][:39] - seen[1]).max())


def test_what_the_net_sees_of_an_image_does_not_depend_on_the_others(prior, stripes, monkeypatch):
    assert features_moved_by_one_image(prior, stripes, monkeypatch) < 1e-4


def test_a_gauge_of_the_private_images_is_caught(prior, stripes, monkeypatch):
    """The planted bug: features are evened out by the mean of the private images, not of made-up ones."""

    def own_gauge(see, params, x, **more):
        found = in_parts(see, params, x, **more)
        return found - found.mean(axis=0)

    monkeypatch.setattr("discreet.learn.estimators.images.in_parts", own_gauge)
    assert features_moved_by_one_image(prior, stripes, monkeypatch) > 1e-3


def test_all_weights_are_trained(prior, stripes):
    images, labels = stripes
    model = classifier(prior, steps=2, head_steps=1, copies=2, lot=16, average=False).fit(images, labels)
    moved = jax.tree.map(
        lambda a, b: float(np.abs(np.asarray(a) - np.asarray(b)).max()), model.params_, prior.params(2)
    )
    assert all(size > 0 for size in jax.tree.leaves(moved))
    assert model.predict(images[:3]).shape == (3,)


def test_rows_of_pixels_are_images_if_their_shape_is_said(headed, prior, stripes):
    images, _ = stripes
    flat = images.reshape(len(images), -1)
    with pytest.raises(InputError, match="shape=\\(height, width\\)"):
        classifier(prior, tune="head").fit(flat, stripes[1])
    with pytest.raises(InputError, match="64 pixels"):
        classifier(prior, tune="head", shape=(9, 9)).fit(flat, stripes[1])
    with pytest.raises(InputError, match="as it was fitted on"):
        headed.predict(np.zeros((2, 9, 9)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tune": "heads"}, "Did you mean `head`"),
        ({"copies": 0}, "copies"),
        ({"steps": 5, "head_steps": 5}, "head_steps"),
        ({"tune": "head", "prior": "wide"}, "prior"),
        ({"tune": "head", "epsilon": None}, "epsilon"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_spent(prior, stripes, settings, message):
    with pytest.raises(InputError, match=message):
        classifier(prior, **settings).fit(*stripes)


@pytest.mark.parametrize("shape", [(4, 7, 8), (4, 8, 8, 2), (4, 3, 8, 8, 3)])
def test_what_is_no_image_is_refused(prior, shape):
    with pytest.raises(InputError, match="height, width"):
        classifier(prior, tune="head").fit(np.zeros(shape), np.zeros(4))


def test_scores_averaged_over_looks_do_not_change_with_the_mirror():
    def apply(params, rows):
        return rows.reshape(-1, 32, 32).sum(axis=1)[:, :3]

    rows = np.random.default_rng(0).normal(size=(2, 1024)).astype(np.float32)
    mirrored = rows.reshape(2, 32, 32)[:, :, ::-1].reshape(2, 1024)
    both = [np.asarray(averaged_scores(apply, (32, 32, 1), True, None, one)) for one in (rows, mirrored)]
    np.testing.assert_allclose(both[0], both[1], atol=1e-4)
    plain = [np.asarray(averaged_scores(apply, (32, 32, 1), False, None, one)) for one in (rows, mirrored)]
    assert np.abs(plain[0] - plain[1]).max() > 0.1


def test_very_small_images_are_not_moved():
    shown = []

    def apply(params, rows):
        shown.append(np.asarray(rows))
        return rows[:, :3]

    rows = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
    averaged_scores(apply, (8, 8, 1), False, None, rows)
    assert len(shown) == 1
    np.testing.assert_array_equal(shown[0], rows)
    shown.clear()
    averaged_scores(apply, (16, 16, 1), True, None, np.repeat(rows, 4, axis=1))
    assert len(shown) == 10


def test_hours_of_work_are_warned_of(prior, stripes):
    with pytest.warns(UserWarning, match="tune='head'"), pytest.raises(InputError, match="delta"):
        classifier(prior, delta=None).fit(*stripes)


def test_it_is_a_classifier_by_descent():
    assert issubclass(DPImageClassifier, DescentClassifier)
