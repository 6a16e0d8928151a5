"""A run that was stopped goes on as if nothing had been: from its own checkpoint, on its own data, charged once."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import random
import signal
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pyarrow
import pyarrow.parquet
from train_people import BUDGET, FIXED, SCHEMA, charges, table
from train_steps import few, small

import discreet
from discreet.core.progress import listening
from discreet.errors import InputError, RunError
from discreet.learn import run as run_module
from discreet.learn.checkpoint import Checkpoint, data_tag
from discreet.learn.objective import cross_entropy
from discreet.learn.run import fingerprint, identity_of, optimizer_fingerprint, resume
from discreet.learn.trainer import losses_of
from discreet.ledger.door import ATTEMPTS
from discreet.ledger.ledger import Ledger


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place).go(few())
    again = resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place)
    x, y = few()
    with pytest.raises(InputError, match="on the same data"):
        again.go((x, 1 - y))
    assert data_tag(bytes(32), x) != data_tag(bytes(31) + b"1", x)


def scaled_in_python(scale):
    """An optimiser whose steps are computed where no fingerprint reaches."""

    def update(gradient, state, params=None):
        def step(leaf):
            shape = jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
            return jax.pure_callback(lambda value: np.asarray(-scale * value, np.float32), shape, leaf)

        return jax.tree.map(step, gradient), state

    return optax.GradientTransformation(lambda params: (), update)


def test_an_optimizer_that_calls_python_is_refused():
    params = {"w": np.zeros((3, 2), np.float32)}
    with pytest.raises(InputError, match="without callbacks") as caught:
        optimizer_fingerprint(scaled_in_python(0.1), params)
    assert caught.value.field == "optimizer"
    with pytest.raises(InputError, match="without callbacks"):  # at any depth
        optimizer_fingerprint(optax.chain(optax.clip(1.0), scaled_in_python(0.1)), params)


def test_a_key_in_a_model_is_part_of_its_fingerprint():
    def shifted(seed):
        key = jax.random.key(seed)
        return losses_of(lambda params, x: x @ params["w"] + jax.random.normal(key, (2,)), cross_entropy)

    params, batch = {"w": np.zeros((3, 2), np.float32)}, few()
    assert fingerprint(shifted(1), params, batch) == fingerprint(shifted(1), params, batch)
    assert fingerprint(shifted(1), params, batch) != fingerprint(shifted(2), params, batch)


KILLED = """
import os, signal, sys
import discreet
from discreet.core.progress import listening
from discreet.learn import run
data, ledger, schema, checkpoint, deadly = sys.argv[1:]
run.new_secret = lambda bits=None: bytes(range(32))  # so that two runs can be compared

def heard(stage, done):
    if stage == f"training: step {deadly} of 6":
        os.kill(os.getpid(), signal.SIGKILL)

curator = discreet.open(data, schema, ledger=ledger, create=True)
offer = curator.train(target="rich", examples=400, lot=100, steps=6, multiplier=3, momentum=0.9, ema=0.9).plan(
    checkpoint=checkpoint
)
with listening(heard):
    offer.release(release="killed")
"""


def test_killed_at_any_step_a_run_goes_on_as_if_nothing_had_been(tmp_path, monkeypatch):
    pyarrow.parquet.write_table(table(), tmp_path / "people.parquet")
    (tmp_path / "schema.toml").write_text(
        textwrap.dedent(
            """
            [dataset]
            name = "people"
            [columns]
            age = { type = "integer", lower = 0, upper = 100 }
            rich = { type = "category", values = ["no", "yes"] }
            [budget]
            epsilon = 4
            delta = 2e-6
            allotments.models = { kind = "plan", epsilon = 4, delta = 2e-6 }
            """
        )
    )
    names = ("people.parquet", "ledger.db", "schema.toml", "run")
    places = [str(tmp_path / name) for name in names]
    steps = sorted(random.sample(range(1, 7), 2))
    for step in steps:
        run = subprocess.run([sys.executable, "-c", KILLED, *places, str(step)], capture_output=True, check=False)
        assert run.returncode == -signal.SIGKILL, run.stderr[-2000:]
        assert (tmp_path / "run").exists()
    secret = bytes(range(32))
    assert secret.hex().encode() in (tmp_path / "run").read_bytes()
    assert all(secret.hex().encode() not in path.read_bytes() for path in tmp_path.glob("ledger.db*") if path.is_file())

    monkeypatch.setattr(run_module, "new_secret", lambda bits=None: secret)
    asked = {"target": "rich", "examples": 400, "lot": 100, "steps": 6, "multiplier": 3, "momentum": 0.9, "ema": 0.9}
    resumed = discreet.open(places[0], places[2], ledger=places[1], create=True)
    with pytest.raises(InputError, match="the same recipe"):
        resumed.train(**asked | {"rate": 7.0}).plan(checkpoint=places[3]).release(release="killed")
    model = resumed.train(**asked).plan(checkpoint=places[3]).release(release="killed")
    assert not (tmp_path / "run").exists()
    assert charges(resumed.ledger) == 1

    whole = (
        discreet.open(places[0], places[2], ledger=tmp_path / "other.db", create=True).train(**asked).plan().release()
    )
    assert all(np.array_equal(a, b) for a, b in zip(model.weights, whole.weights, strict=True))
    monkeypatch.setattr(run_module, "new_secret", lambda bits=None: secret[::-1])  # power: other noise is another model
    fresh = (
        discreet.open(places[0], places[2], ledger=tmp_path / "third.db", create=True).train(**asked).plan().release()
    )
    assert not all(np.array_equal(a, b) for a, b in zip(model.weights, fresh.weights, strict=True))


def test_data_that_changed_under_a_run_fails_it_and_the_charge_stays(tmp_path, monkeypatch):
    ledger = Ledger.open(tmp_path / "ledger.db", create=True)
    place = tmp_path / "run"

    def offer(rows):
        curator = discreet.open(rows, SCHEMA, ledger=ledger, budget=BUDGET, create=True)
        return curator.train(target="rich", examples=400, **FIXED).plan(checkpoint=place)

    def stop(*_):
        raise KeyboardInterrupt

    whole = Checkpoint.save

    def stopping(self, state, *rest):
        whole(self, state, *rest)
        if state.step == 2:
            stop()

    monkeypatch.setattr(Checkpoint, "save", stopping)
    with pytest.raises(KeyboardInterrupt):
        offer(table()).release(release="changed")
    monkeypatch.setattr(Checkpoint, "save", whole)
    with pytest.raises(RunError, match="stays spent"):
        offer(table(seed=2)).release(release="changed")
    assert charges(ledger) == 1
    assert not place.exists()


class Stop(BaseException):
    """A run stopped from outside."""


def watched(curator, place, release, *, stop=None, **more):
    """The losses that are shown of a run while it goes, stopped after step `stop`; and its model, if it got there."""
    seen = []

    def hear(stage, _):
        seen.extend([stage] if "loss" in stage else [])
        if stage.startswith(f"training: step {stop} "):
            raise Stop

    offer = curator.train(target="rich", examples=400, **FIXED | {"report_loss": 3} | more).plan(checkpoint=place)
    try:
        with listening(hear):
            return seen, offer.release(release=release)
    except Stop:
        return seen, None


def test_a_run_whose_losses_were_seen_goes_on_from_its_own_checkpoint_only(curator, tmp_path):
    seen, _ = watched(curator, tmp_path / "a", "seen", stop=3)
    assert len(seen) == 3
    with pytest.raises(InputError, match=r"the file that the run of release 'seen' was kept in"):
        watched(curator, tmp_path / "b", "seen")
    assert not (tmp_path / "b").exists()
    with pytest.raises(InputError, match="release"):  # without a file none is shown: another plan
        watched(curator, None, "seen")
    kept = (tmp_path / "a").rename(tmp_path / "moved")
    with pytest.raises(InputError, match="kept in"):
        watched(curator, tmp_path / "a", "seen")
    for _ in range(ATTEMPTS + 1):  # as often as it takes: the same noise each time
        again, model = watched(curator, kept, "seen", stop=4)
        assert model is None
        assert {*again} <= {*seen} | {again[-1]}
        seen = sorted({*seen, *again})
    assert len(seen) == 4
    _, model = watched(curator, kept, "seen")
    assert len(model.losses) == 6
    assert charges(curator.ledger) == 1
    assert curator.ledger.find("seen").notes == 0


def test_a_run_that_showed_nothing_begins_again_a_few_times(curator, tmp_path):
    for place in (None, tmp_path / "a", tmp_path / "b"):
        seen, model = watched(curator, place, "unseen", stop=2, report_loss=None)
        assert (seen, model) == ([], None)
    assert curator.ledger.find("unseen").notes == ATTEMPTS - 1
    assert watched(curator, tmp_path / "b", "unseen", report_loss=None)[1] is not None


def test_a_run_is_kept_before_anything_is_read(curator, tmp_path):
    def hear(stage, _):
        if stage.startswith("laying out"):
            raise Stop

    offer = curator.train(target="rich", examples=400, **FIXED, report_loss=3).plan(checkpoint=tmp_path / "run")
    with listening(hear), pytest.raises(Stop):
        offer.release(release="early")
    secret = offer.plan.resume().secret
    assert offer.plan.resume().secret == secret  # the file's, not a fresh one each time
    assert len(offer.release(release="early").losses) == 6


def test_the_fingerprint_follows_arrays_a_model_closes_over_and_its_own_gradient():
    params, batch = {"w": np.zeros((3, 2), np.float32)}, few()

    def scaled(by):
        inner = jax.jit(lambda x: x * by)
        return lambda params, x: inner(x) @ params["w"]

    def moved(by):
        def body(x, _):
            return x + by, None

        return lambda params, x: jax.lax.scan(body, x, None, length=2)[0] @ params["w"]

    def turned(by):
        @jax.custom_vjp
        def same(x):
            return x

        same.defvjp(lambda x: (x, None), lambda _, g: (g * by,))
        return lambda params, x: same(x @ params["w"])

    large = [np.zeros(3, np.float32), np.full(3, 1e-7, np.float32)]
    for made in (scaled, moved):
        found = [
            fingerprint(losses_of(made(kind(by)), cross_entropy), params, batch)
            for kind in (np.asarray, jnp.asarray)
            for by in (*large, large[0])
        ]
        assert found[0] == found[2] != found[1]
        assert found[3] == found[5] != found[4]
    one, two, again = (fingerprint(losses_of(turned(by), cross_entropy), params, batch) for by in (1.0, 2.0, 1.0))
    assert one == again != two
    flat = fingerprint(losses_of(lambda p, x: x @ p[0], cross_entropy), [params["w"]], batch)
    assert flat != fingerprint(losses_of(lambda p, x: x @ p[0], cross_entropy), (params["w"],), batch)


def test_a_run_is_not_taken_up_with_another_optimizer_or_precision(tmp_path):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    identity = identity_of(recipe, "m")

    def taken(rate):
        own = optax.sgd(lambda _: rate, 0.5)
        return resume(losses, params, recipe, identity, checkpoint=place, optimizer=own)

    taken(jnp.float32(0.1)).go(few())
    assert taken(jnp.float32(0.1)).state.step == 4
    with pytest.raises(InputError, match="the same optimizer"):
        taken(jnp.float32(0.2))
    with jax.default_matmul_precision("float32"):
        assert identity_of(recipe, "m")["backend"] != identity["backend"]


def test_a_release_read_again_leaves_the_checkpoint_of_another_run_alone(curator, tmp_path):
    place = tmp_path / "run"
    offer = curator.train(target="rich", examples=400, **FIXED).plan(checkpoint=place)
    offer.release(release="done")
    assert not place.exists()
    losses, params, recipe = small()
    resume(losses, params, recipe, identity_of(recipe, "m", plan="other"), checkpoint=Checkpoint(place)).go(few())
    with pytest.warns(UserWarning, match="may describe earlier data"):
        offer.release(release="done")
    assert place.exists()
    place.write_bytes(b"broken")
    with pytest.warns(UserWarning, match="may describe earlier data"):
        offer.release(release="done")
    assert place.exists()
