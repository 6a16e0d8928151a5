"""Examples in slices or over devices give the sum that all of them give at once."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import json
import os
import subprocess
import sys
from pathlib import Path

import clip_models
import jax
import jax.numpy as jnp
import numpy as np

from discreet.errors import InputError
from discreet.learn.clip import clipped_sum
from discreet.learn.clip.spread import in_slices

SPREAD = """
import sys; sys.path.insert(0, sys.argv[1])
import json, jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import clip_models
from discreet.learn.clip import clipped_sum
devices = Mesh(np.array(jax.devices()), ("examples",))
spread = NamedSharding(devices, PartitionSpec("examples"))
gaps = {}
for model, how, mesh in (
    (clip_models.mlp, "auto", devices),
    (clip_models.checkpointed, "auto", devices),
    (clip_models.convolutions, "auto", None),
    (clip_models.convolutions, "vmap", devices),
):
    losses, params, batch = model()
    def step(mesh):
        return jax.jit(lambda p, b, m: clipped_sum(losses, p, b, mask=m, bound=0.5, how=how, mesh=mesh))
    mask = jnp.ones(12)
    alone = jax.tree.leaves(step(None)(params, batch, mask))
    together = jax.tree.leaves(step(mesh)(params, jax.device_put(batch, spread), jax.device_put(mask, spread)))
    gap = max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in zip(alone, together))
    gaps[f"{model.__name__}, {how}, {'own programs' if mesh else 'sharded'}"] = gap
print(json.dumps([len(jax.devices()), gaps]))
"""


def test_a_batch_spread_over_devices_gives_the_same_sum():
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=4"
    made = subprocess.run(
        [sys.executable, "-c", SPREAD, str(Path(clip_models.__file__).parent)],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    devices, gaps = json.loads(made.strip().splitlines()[-1])
    assert devices == 4
    assert all(gap < 2e-5 for gap in gaps.values()), gaps


def test_a_mesh_must_fit():
    losses, params, batch = clip_models.mlp()
    two = jax.sharding.Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("a", "b"))
    with pytest.raises(InputError, match="one axis"):
        clipped_sum(losses, params, batch, mask=jnp.ones(12), bound=1.0, mesh=two)


def test_slices_add_up_and_what_fills_the_last_one_counts_for_nothing():
    params, rows, mask = {"w": jnp.zeros(2, jnp.bfloat16)}, jnp.arange(14.0).reshape(7, 2), jnp.ones(7).at[2].set(0)

    def part(rows, mask):
        return {"w": (rows * mask[:, None]).sum(axis=0)}, (rows**2).sum(axis=1), rows

    total, square, values = in_slices(part, params, rows, mask, 3)
    whole, squares, every = part(rows, mask)
    assert total["w"].dtype == jnp.float32  # sums have 32 bits, whatever parameters have
    assert np.array_equal(total["w"], whole["w"])
    assert np.array_equal(square, squares)
    assert np.array_equal(values, every)
