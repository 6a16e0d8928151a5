"""Training without a ledger: the same by the same secret, divided by the expected lot, refused before it begins."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pandas
from attrs import evolve
from train_steps import OTHER, SECRET, examples, flat, linear, one_by_one, recipe, start

from chance import mean_fits
from discreet.core.progress import listening
from discreet.errors import InputError
from discreet.learn.lot import sample_lot
from discreet.learn.objective import cross_entropy, logistic
from discreet.learn.trainer import (
    train,
    train_losses,
)


def test_a_lot_of_nothing_trains_on_no_rows_at_all():
    x, y = examples()
    result = train(linear, cross_entropy, start(), (x[:0], y[:0]), recipe(), secret=SECRET)
    assert result.state.step == 5


def test_the_same_secret_gives_the_same_model_and_another_does_not():
    run = {"recipe": recipe(momentum=0.9, rate=0.3), "data": examples()}
    one = train(linear, cross_entropy, start(), secret=SECRET, **run)
    two = train(linear, cross_entropy, start(), secret=SECRET, **run)
    assert np.array_equal(flat(one.params), flat(two.params))
    other = train(linear, cross_entropy, start(), secret=OTHER, **run)
    assert not np.allclose(flat(one.params), flat(other.params))
    assert not np.allclose(flat(train(linear, cross_entropy, start(), **run).params), flat(one.params))


@pytest.mark.parametrize(("noise", "optimizer"), [("device", "adam"), ("exact", "sgd")])
def test_a_run_that_stopped_goes_on_as_if_it_had_not(noise, optimizer):
    one = recipe(noise=noise, optimizer=optimizer, momentum=0.9, ema=0.5, schedule="cosine", warmup=2)
    kept = []
    whole = train(linear, cross_entropy, start(), examples(), one, secret=SECRET, after=kept.append)
    assert [state.step for state in kept] == [1, 2, 3, 4, 5]
    rest = train(linear, cross_entropy, start(), examples(), one, secret=SECRET, state=kept[1])
    assert np.array_equal(flat(whole.state.trees), flat(rest.state.trees))


def test_the_sum_is_divided_by_the_expected_lot():
    one = recipe(rate=1.0, multiplier="1e-6", steps=1, bound=100)
    x, y = examples()
    params = start()
    places = sample_lot(SECRET, 0, len(x), one.probability)
    assert len(places) != 50
    result = train(linear, cross_entropy, params, (x, y), one, secret=SECRET)
    total = one_by_one(params, x, y, places, 100)
    moved = flat(params) - flat(result.params)
    assert np.allclose(moved, total / 50, atol=1e-3)  # an example is right to a millionth of the bound
    assert not np.allclose(moved, total / len(places), atol=1e-3)


def test_any_optimizer_of_optax_will_do():
    run = {"data": examples(), "recipe": recipe(momentum=0.9, rate=0.3), "secret": SECRET}
    named = train(linear, cross_entropy, start(), **run)
    given = train(linear, cross_entropy, start(), **run, optimizer=optax.sgd(0.3, momentum=0.9))
    assert np.array_equal(flat(named.params), flat(given.params))
    other = train(linear, cross_entropy, start(), **run, optimizer=optax.lion(0.1))
    assert not np.allclose(flat(named.params), flat(other.params))


def test_the_average_follows_the_parameters():
    result = train(linear, cross_entropy, start(), examples(), recipe(ema=0.9, steps=3), secret=SECRET)
    kept = []
    train(linear, cross_entropy, start(), examples(), recipe(steps=3), secret=SECRET, after=kept.append)
    average = flat(start()).astype(float)
    for step, state in enumerate(kept):
        decay = min(0.9, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * flat(state.params)
    assert np.allclose(flat(result.params), average, atol=1e-6)
    assert np.array_equal(flat(result.state.params), flat(kept[-1].params))


@pytest.mark.statistical
@pytest.mark.parametrize("noise", ["device", "exact"])
def test_a_loss_that_is_reported_is_noisy_and_not_biased(noise):
    x, y = examples()
    one = recipe(lot=100, steps=200, rate=1e-9, report_loss=2.0, noise=noise)
    heard = train(linear, cross_entropy, start(), (x, y), one, secret=SECRET).losses
    values = np.clip(np.asarray(cross_entropy(linear(start(), x), y)), 0, 2)
    noise_part = (float(one.multiplier) * one.widened * 2.0 * 8 / 100) ** 2
    lot_part = 0.25 * (values**2).sum() / 100**2
    assert len(heard) == 200
    assert mean_fits(heard, values.sum() * 0.5 / 100, noise_part + lot_part)
    assert not mean_fits(np.array(heard) * 1.3, values.sum() * 0.5 / 100, noise_part + lot_part)


def test_progress_tells_steps_and_no_loss_unless_it_was_paid_for():
    told = []
    with listening(lambda stage, done: told.append((stage, done))):
        train(linear, cross_entropy, start(), examples(), recipe(), secret=SECRET)
    assert told[-1] == ("training: step 5 of 5", 1.0)
    assert not any("loss" in stage for stage, _ in told)
    told.clear()
    with listening(lambda stage, done: told.append((stage, done))):
        train(linear, cross_entropy, start(), examples(), recipe(report_loss=1), secret=SECRET)
    assert "loss about" in told[-1][0]


def test_copies_are_averaged_before_clipping():
    x, y = examples()
    one = recipe(copies=2, multiplier="1/1000000", steps=1, rate=1.0, bound=0.3)

    def mirrored(key, batch):
        inputs, labels = batch
        return jnp.stack([inputs, -inputs], axis=1).reshape(-1, inputs.shape[1]), jnp.repeat(labels, 2)

    params = start()
    result = train(linear, cross_entropy, params, (x, y), one, secret=SECRET, augment=mirrored)
    total = 0.0
    for place in sample_lot(SECRET, 0, len(x), one.probability):
        two, labels = np.stack([x[place], -x[place]]), np.repeat(y[place], 2)
        row = jax.grad(lambda p, a=two, b=labels: cross_entropy(linear(p, a), b).mean())(params)
        total = total + flat(row) * min(1.0, 0.3 / np.linalg.norm(flat(row)))
    assert np.allclose(flat(params) - flat(result.params), total / 50, atol=1e-4)
    with pytest.raises(InputError, match="copies of each example"):
        train(linear, cross_entropy, params, (x, y), one)


DEVICES = """
import numpy as np, jax, jax.numpy as jnp
from discreet.learn.objective import cross_entropy, logistic
from discreet.learn.recipe import Recipe
from discreet.learn.trainer import train

def linear(params, x):
    return x @ params["w"]

assert len(jax.devices()) == 4
chance = np.random.default_rng(3)
x = chance.normal(size=(203, 4)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
params = {"w": jnp.zeros((4, 2))}
for noise in ("device", "exact"):
    recipe = Recipe(examples=200, lot=50, steps=4, bound=1, multiplier=1, microbatch=18, ema=0.9, noise=noise)
    secret = bytes(32)
    alone = train(linear, cross_entropy, params, (x, y), recipe, secret=secret)
    split = train(linear, cross_entropy, params, (x, y), recipe, secret=secret, devices=jax.devices())
    assert len(split.params["w"].sharding.device_set) == 4
    assert np.allclose(alone.params["w"], split.params["w"], atol=1e-5)

def filtered(params, x):
    seen = jax.lax.conv_general_dilated(x.reshape(-1, 2, 2, 1), params["w"], (1, 1), "SAME", dimension_numbers=SHAPE)
    return jnp.tanh(seen).mean(axis=(1, 2))

SHAPE = ("NHWC", "HWIO", "NHWC")
params = {"w": jnp.asarray(chance.normal(size=(2, 2, 1, 2)).astype(np.float32))}
for noise, how in (("device", "auto"), ("device", "vmap"), ("exact", "auto")):
    recipe = Recipe(examples=200, lot=50, steps=2, bound=1, multiplier="1/100", microbatch=20, noise=noise, how=how)
    alone = train(filtered, cross_entropy, params, (x, y), recipe, secret=bytes(32))
    split = train(filtered, cross_entropy, params, (x, y), recipe, secret=bytes(32), devices=jax.devices())
    assert np.allclose(alone.params["w"], split.params["w"], atol=1e-4), (noise, how)
print("same")
"""


def test_several_devices_share_a_lot():
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=4"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, "-c", DEVICES], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.strip() == "same", run.stderr[-2000:]


def test_the_room_loads_no_jax_by_itself():
    code = "import sys, discreet.learn, discreet.learn.recipe, discreet.learn.lot; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_jax_the_extra_is_named():
    code = "import sys; sys.modules['jax'] = None\nfrom discreet.learn import train"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'discreet[learn]'" in run.stderr


def test_bad_data_is_refused_before_the_first_step():
    x, y = examples()
    broken = x.copy()
    broken[5, 2] = np.nan
    with pytest.raises(InputError, match="finite numbers"):
        train(linear, cross_entropy, start(), (broken, y), recipe())
    with pytest.raises(InputError, match="labels from 0 to 2"):
        train(linear, cross_entropy, start(), (x, y + 1), recipe())
    with pytest.raises(InputError, match="one whole number"):
        train(linear, cross_entropy, start(), (x, y.astype(np.float32)), recipe())
    with pytest.raises(InputError, match="as many rows each"):
        train(linear, cross_entropy, start(), (x, y[:-1]), recipe())
    with pytest.raises(InputError, match="a pair"):
        train(linear, cross_entropy, start(), x, recipe())
    with pytest.raises(InputError, match="arrays of real numbers"):
        train(linear, cross_entropy, {"w": np.ones(3, dtype=int)}, (x, y), recipe())
    with pytest.raises(InputError, match="nothing to train"):
        train_losses(lambda p, b: b[0].sum(1), {}, (x, y), recipe())
    with pytest.raises(InputError, match="one number for each example"):
        train(linear, lambda out, y: out.mean(), start(), (x, y), recipe())


def test_a_model_that_mixes_examples_is_refused():
    def shifted(params, x):
        return (x - x.mean(axis=0)) @ params["w"] + params["b"]

    for noise in ("device", "exact"):
        with pytest.raises(InputError, match="example"):
            train(shifted, cross_entropy, start(), examples(), recipe(noise=noise))


def test_the_length_of_the_data_is_not_looked_at():
    x, y = examples()
    train(linear, cross_entropy, start(), (x[:60], y[:60]), recipe(steps=1))
    assert evolve(recipe(), steps=7).steps == 7


def wide(params, x):
    return x @ jnp.zeros((7, 3)) + params["b"]


def texts(count=200):
    return np.array(["secret"] * count)


X, Y = examples()
WRONG = {
    "no pair": ({"data": X}, "data"),
    "features of another width": ({"data": (X[:, :3], Y)}, "model"),
    "features of one dimension": ({"data": (X[:, 0], Y)}, "model"),
    "fewer labels": ({"data": (X, Y[:5])}, "data"),
    "words": ({"data": (np.stack([texts()] * 4, axis=1), Y)}, "x"),
    "objects": ({"data": (X.astype(object), Y)}, "x"),
    "a frame": ({"data": (pandas.DataFrame(X), Y)}, "x"),
    "lists": ({"data": (X.tolist(), Y.tolist())}, "x"),
    "no features": ({"data": (None, Y)}, "x"),
    "complex": ({"data": (X + 1j, Y)}, "x"),
    "dates": ({"data": (X.astype("datetime64[s]"), Y)}, "x"),
    "NaN": ({"data": (np.where(X > 1, np.nan, X), Y)}, "x"),
    "labels that are words": ({"data": (X, texts())}, "y"),
    "labels that are NaN": ({"data": (X, np.full(200, np.nan))}, "y"),
    "labels out of range": ({"data": (X, Y + 3)}, "y"),
    "labels below zero": ({"data": (X, Y - 1)}, "y"),
    "labels of two dimensions": ({"data": (X, Y[:, None])}, "y"),
    "no labels but 0 and 1": ({"loss": logistic, "apply": lambda p, x: linear(p, x)[:, 0], "data": (X, Y + 3)}, "y"),
    "a model of another width": ({"apply": wide}, "model"),
    "a model that fails": ({"apply": lambda params, x: 1 / 0}, "model"),
    "a model without rows": ({"apply": lambda params, x: linear(params, x).sum()}, "apply"),
    "no model": ({"apply": None}, "apply"),
    "no loss": ({"loss": None}, "loss"),
    "a mean loss": ({"loss": lambda outputs, y: cross_entropy(outputs, y).mean()}, "loss"),
    "parameters of another name": ({"params": {"v": jnp.zeros((4, 3))}}, "model"),
    "parameters that are whole numbers": ({"params": {"w": jnp.zeros((4, 3), int)}}, "params"),
    "no recipe": ({"recipe": None}, "recipe"),
    "no optimiser": ({"optimizer": 3}, "optimizer"),
    "no augmentation": ({"augment": 3}, "augment"),
    "no devices": ({"devices": 3}, "devices"),
    "a short secret": ({"secret": b"x"}, "secret"),
}


@pytest.mark.parametrize("name", WRONG)
def test_whatever_is_wrong_is_refused_by_name(name):
    settings, field = WRONG[name]
    given = {"apply": linear, "loss": cross_entropy, "params": start(), "data": (X, Y), "recipe": recipe(), **settings}
    order = [given.pop(key) for key in ("apply", "loss", "params", "data", "recipe")]
    with pytest.raises(InputError) as caught:
        train(*order, **given)
    assert caught.value.field == field
    assert "secret'" not in str(caught.value)


@pytest.mark.parametrize("noise", ["device", "exact"])
def test_an_adaptive_bound_finds_the_quantile_of_norms(noise):
    """From a bound ten times too short; the same run taken up in the middle ends with the same bound."""
    x, y = examples()
    own = recipe(lot=200, steps=40, clipping="adaptive", bound=0.3, rate=1e-6, noise=noise, multiplier="1/100")
    states = []
    done = train(linear, cross_entropy, start(), (x, y), own, secret=SECRET, after=states.append)
    lengths = [np.linalg.norm(one_by_one(start(), x, y, [place], 1e9)) for place in range(200)]
    assert 0.35 < np.mean(np.array(lengths) <= float(states[-1].bound)) < 0.65
    again = train(linear, cross_entropy, start(), (x, y), own, secret=SECRET, state=states[20])
    assert float(again.state.bound) == float(done.state.bound)
