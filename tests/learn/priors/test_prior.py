"""A prior is read as it was written, or not at all."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np

from discreet.errors import InputError
from discreet.learn.priors.__main__ import main
from discreet.learn.priors.prior import PRIORS, net_of, read_prior, write_prior

CARD = {"name": "own", "depth": 10, "width": 1, "made": "nothing"}


@pytest.fixture
def own(tmp_path):
    drawn = net_of(CARD).init(jax.random.key(0))
    body = {name: part for name, part in drawn.items() if name != "head"}
    write_prior(tmp_path / "own.npz", body, (np.zeros(64), np.eye(64)), CARD)
    return tmp_path / "own.npz", body


@pytest.mark.parametrize("name", PRIORS)
def test_what_is_shipped_is_whole_and_says_how_it_was_made(name):
    prior = read_prior(name)
    assert "no photograph" in prior.card["made"]
    assert {"steps", "batch", "seed", "device", "seconds", "sha256"} <= set(prior.card)
    params = prior.params(7)
    scores = jax.eval_shape(prior.net.apply, params, jax.ShapeDtypeStruct((2, 32, 32, 3), jnp.float32))
    assert scores.shape == (2, 7)
    assert all(np.isfinite(np.asarray(leaf)).all() for leaf in jax.tree.leaves(prior.body))


def test_weights_come_back_as_bfloat16_has_them(own):
    path, body = own
    read = read_prior(path)
    rounded = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16).astype(jnp.float32), body)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), read.body, rounded))
    assert str(read) == "Prior(own: nothing)"


def test_damaged_weights_are_refused(own):
    path, _ = own
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="SHA-256"):
        read_prior(path)


def test_a_card_of_another_net_is_refused(own):
    path, _ = own
    card = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps({**card, "width": 2}))
    with pytest.raises(InputError, match="weights of the net that its card describes"):
        read_prior(path)


def test_unknown_names_and_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="Did you mean `wide-16-4`"):
        read_prior("wide-16-5")
    with pytest.raises(InputError, match="card"):
        read_prior(tmp_path / "none.npz")


def test_one_command_makes_a_prior(tmp_path, capsys):
    path = tmp_path / "small.npz"
    main(["--out", str(path), "--steps", "2", "--batch", "16", "--depth", "10", "--width", "1", "--scenes", "100"])
    assert "step 2 of 2" in capsys.readouterr().out
    prior = read_prior(path)
    assert prior.name == "small"
    assert prior.card["steps"] == 2
    assert prior.card["seed"] == 7
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path / "small.txt")])
