"""One pass forward, one back: rounded factors stay close and within the bound, sums have 32 bits."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp
import numpy as np
from clip_models import SOME, clipped, far, reference, run, size_of

from discreet.learn.clip import clipped_sum


def test_rounded_factors_stay_close_and_within_the_bound():
    total, _ = reference(clip_models.convolutions, SOME)
    made = clipped(clip_models.convolutions, mask=SOME, operands="bfloat16", keep=True)
    assert 1e-5 < far(made.total, total) < 0.01
    first = tuple(int(place == 0) for place in range(clip_models.EXAMPLES))
    for keep in (True, False):
        alone = clipped(clip_models.convolutions, mask=first, bound=0.01, operands="bfloat16", keep=keep)
        assert size_of(alone.total) <= 0.01


def test_kernels_of_a_convolution_in_few_bits_have_sums_in_32():
    params = {"w": clip_models.normal(clip_models.chance(), 3, 2, 8)}
    batch = clip_models.normal(clip_models.chance(), 4, 9, 2)

    def losses(params, x):
        low = x.astype(jnp.bfloat16), params["w"].astype(jnp.bfloat16)
        made = jax.lax.conv_general_dilated(*low, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        return jnp.tanh(made.astype(jnp.float32)).sum(axis=(1, 2))

    for how in ("auto", "checkpoint"):
        total = run(losses, params, batch, np.ones(4), how=how).total["w"]
        assert total.dtype == jnp.float32
        assert (total.astype(jnp.bfloat16).astype(jnp.float32) != total).mean() > 0.9


def held(losses, params, batch, how):
    """Bytes that the compiled clipped sum takes for itself."""
    given = params, batch, jnp.ones(32)
    step = jax.jit(lambda p, b, m: clipped_sum(losses, p, b, mask=m, bound=1.0, how=how).total)
    return step.lower(*given).compile().memory_analysis().temp_size_in_bytes


def deep(checkpoint):
    """Many narrow layers that are wide inside."""
    rng = clip_models.chance()
    params = {
        "up": clip_models.normal(rng, 12, 8, 128, scale=0.3),
        "down": clip_models.normal(rng, 12, 128, 8, scale=0.1),
    }

    def layer(x, own):
        return x + jnp.tanh(jnp.tanh(x @ own["up"]) ** 2) @ own["down"], None

    step = jax.checkpoint(layer) if checkpoint else layer

    def losses(params, x):
        return jax.lax.scan(step, x, params)[0].sum(axis=(1, 2))

    return losses, params, clip_models.normal(rng, 32, 16, 8)


def test_a_checkpoint_saves_memory_and_a_scan_needs_no_copies():
    kept, checkpointed = held(*deep(False), "auto"), held(*deep(True), "auto")
    assert checkpointed < kept / 3
    assert held(*deep(True), "vmap") > 2 * checkpointed  # gradients of all layers for every example
