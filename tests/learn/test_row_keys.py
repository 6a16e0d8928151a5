"""Keys of rows: every example, copy and step draws anew, a step done again draws the same, predictions draw nothing."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from train_steps import OTHER, SECRET, examples, flat, linear, recipe, start, step_of

from discreet.errors import InputError
from discreet.learn import Model
from discreet.learn import step as step_module
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.clip import refuse_mixed_losses, refuse_mixing
from discreet.learn.lot import capacity, microbatches
from discreet.learn.noise import LONGEST
from discreet.learn.objective import cross_entropy
from discreet.learn.row_keys import Draws, KeyedLosses, dropout, predictor, row_keys, takes_key
from discreet.learn.run import fingerprint, identity_of, resume
from discreet.learn.trainer import losses_of, train

LOT = np.array([0, 3, 4, 9, 50, 199])


def thinned(params, x, key=None):
    return linear(params, dropout(x, 0.5, key))


def doubled(key, batch):
    """Two copies of an example, the second a little louder."""
    return tuple(jnp.concatenate([leaf, leaf]) for leaf in (batch[0], batch[1]))


def summed(microbatch=None, how="auto", noise="device", copies=1, step=0, apply=thinned):
    own = recipe(microbatch=microbatch, bound=0.5, noise=noise, how=how, copies=copies)
    made = step_of(own, losses_of(apply, cross_entropy), augment=doubled if copies > 1 else None)
    total = made.sum_lot(start(), made.place(examples()), microbatches(LOT, capacity(own)), SECRET, step)
    return flat(total) if noise == "device" else total * (0.5 / LONGEST)


def written_out(copies=1, step=0):
    """The sum by definition: each example and copy with the key of its index in the lot."""
    (x, y), params, total = examples(), start(), 0.0
    words = row_keys(Draws.of(SECRET, step, 0, len(LOT)), len(LOT), copies)
    for index, row in enumerate(LOT):
        parts = []
        for copy in range(copies):
            key = jax.random.wrap_key_data(words[index, copy], impl="threefry2x32")
            parts.append(
                jax.grad(lambda p, k=key, i=row: cross_entropy(thinned(p, x[i : i + 1], k), y[i : i + 1]).sum())(params)
            )
        vector = sum(flat(part).astype(np.float64) for part in parts) / copies
        total = total + vector * min(1.0, 0.5 / np.linalg.norm(vector))
    return total


@pytest.mark.parametrize(
    ("noise", "microbatch", "how", "copies"),
    [("device", None, "auto", 1), ("device", 4, "ghost", 1), ("device", 4, "vmap", 2), ("device", 4, "microbatch", 2),
     ("device", None, "ghost", 2), ("exact", None, "auto", 1), ("exact", 4, "auto", 2)],
)  # fmt: skip
def test_every_example_and_copy_has_a_key_of_its_own(noise, microbatch, how, copies):
    # Exact sums are of gradients clipped a little shorter, so that no rounding makes one too long.
    allowed = 1e-5 if noise == "device" else 1e-3
    assert np.allclose(summed(microbatch, how, noise, copies), written_out(copies), atol=allowed)


def test_one_key_for_all_is_found_out(monkeypatch):
    """The planted bug: all rows of a step under one mask."""
    monkeypatch.setattr(step_module, "row_keys", lambda draws, examples, copies: jnp.zeros((examples, copies, 2), "u4"))
    assert not np.allclose(summed(), written_out(), atol=1e-3)


def test_a_step_done_again_draws_the_same_and_another_does_not():
    assert np.array_equal(summed(), summed())
    assert not np.allclose(summed(step=1), summed(), atol=1e-3)
    assert np.allclose(summed(step=1), written_out(step=1), atol=1e-5)


def test_all_keys_of_a_lot_differ():
    words = np.concatenate([np.asarray(row_keys(Draws.of(SECRET, 0, part, 4), 4, 3)) for part in range(3)])
    assert len({tuple(word) for word in words.reshape(-1, 2).tolist()}) == 36
    whole = np.asarray(row_keys(Draws.of(SECRET, 0, 0, 12), 12, 3))
    assert np.array_equal(words, whole)  # however the lot is cut
    assert not np.array_equal(whole, np.asarray(row_keys(Draws.of(OTHER, 0, 0, 12), 12, 3)))


@pytest.mark.parametrize("noise", ["exact", "device"])
def test_a_run_goes_on_with_the_same_masks(tmp_path, noise):
    own = recipe(noise=noise, momentum=0.5, steps=4)
    losses, params, data = losses_of(thinned, cross_entropy), start(), examples()
    identity = identity_of(own, fingerprint(losses, params, (data[0][:2], data[1][:2])))
    secret = resume(losses, params, own, identity, checkpoint=Checkpoint(tmp_path / "run"), every=1)
    secret.keep()
    whole = train(thinned, cross_entropy, params, data, own, secret=secret.secret)

    going = resume(losses, params, own, identity, checkpoint=Checkpoint(tmp_path / "run"), every=1)
    with pytest.MonkeyPatch.context() as patch:
        kept = Checkpoint.save

        def save(self, state, *rest):
            kept(self, state, *rest)
            if state.step == 2:
                raise KeyboardInterrupt

        patch.setattr(Checkpoint, "save", save)
        with pytest.raises(KeyboardInterrupt):
            going.go(data)
    again = resume(losses, params, own, identity, checkpoint=Checkpoint(tmp_path / "run"), every=1)
    assert again.state.step == 2
    assert np.array_equal(flat(again.go(data).params), flat(whole.params))


def test_a_prediction_has_no_key():
    x, y = examples(5)
    assert [takes_key(one) for one in (thinned, linear, jnp.sin)] == [True, False, False]
    assert predictor(linear) is linear
    assert np.array_equal(predictor(thinned)(start(), x), linear(start(), x))
    losses = losses_of(thinned, cross_entropy)
    assert isinstance(losses, KeyedLosses)
    assert np.array_equal(losses(start(), (x, y)), cross_entropy(linear(start(), x), y))
    assert Model(thinned, start()).losses is losses


def test_rows_by_key_are_followed_and_pass():
    losses = losses_of(thinned, cross_entropy).drawn
    batch = examples(4), np.zeros((4, 2), np.uint32)
    assert refuse_mixing(losses, start(), batch) == ()
    refuse_mixed_losses(losses, start(), batch)


def test_a_keyed_model_is_shown_one_row_at_a_time():
    """Batch statistics have nothing to mix there: of one row they are that row's own, in training as in the probe."""
    seen = []

    def apply(params, x, key=None):
        seen.append(x.shape[0] if key is not None else 0)
        return linear(params, x)

    train(apply, cross_entropy, start(), examples(), recipe(steps=1))
    assert set(seen) - {0} == {1}


def test_a_fixed_mask_is_refused_and_told_of_keys():
    with pytest.raises(InputError, match="write apply"):
        train(lambda p, x: thinned(p, x, jax.random.key(0)), cross_entropy, start(), examples(), recipe())


def test_dropout_keeps_the_mean_and_the_share():
    kept = np.asarray(dropout(jnp.ones(20_000), 0.25, jax.random.key(3)))
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((kept > 0).mean() - 0.75) < 0.02  # more than five deviations
    assert dropout(1.0, 0, jax.random.key(3)) == 1.0
