"""`clipped_sum`: what one example adds to a step is never longer than the bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from discreet.errors import InputError, Phrase, kind_of
from discreet.learn.clip import norms
from discreet.learn.clip.explanation import explain_parts, warn_of_copies
from discreet.learn.clip.flat import of_rows, trace
from discreet.learn.clip.forward import Parts
from discreet.learn.clip.groups import group
from discreet.learn.clip.passes import clip_by_sites
from discreet.learn.clip.sites import find_sites
from discreet.learn.clip.spread import in_slices, over_devices

__all__ = ["HOW", "Clipped", "clip_by_vmap", "clipped_sum", "explain", "parts_of"]

HOW = ("auto", "vmap", "microbatch")
_SLICE = 64  # examples at a time where nobody says

Array = Any
Tree = Any
Losses = Callable[[Tree, Tree], Array]


@partial(jax.tree_util.register_dataclass, data_fields=["total", "norms", "losses"], meta_fields=[])
@dataclass(frozen=True)
class Clipped:
    """What a batch adds: `total` like params, in 32 bits or more, and for each example its unclipped norm and loss."""

    total: Tree
    norms: Array
    losses: Array


def clipped_sum(
    losses: Losses,
    params: Tree,
    batch: Tree,
    *,
    mask: Array,
    bound: float | Array,
    how: str = "auto",
    copies: int = 1,
    microbatch: int | None = None,
    operands: str | None = None,
    keep: bool | None = None,
    mesh: Any | None = None,
    stability: float | None = None,
) -> Clipped:
    """The sum over examples with mask 1 of their gradients, each scaled down to an L2 norm of at most `bound`.

    `losses(params, batch)` gives one loss a row; leaves of `batch` lead with the rows. With `copies=K` the K rows of
    an example stand next to each other and their gradients are averaged before clipping. `microbatch` is the number
    of examples (not rows) to hold at once. `operands="bfloat16"` rounds the factors of per-example products of
    convolutions and sequences (sums stay in 32 bits): faster on a GPU, a little less exact, and as private.
    With a `stability` every gradient g is normalised instead, to bound g / (|g| + stability): no shorter one is left as
    it is, and the bound only sets the scale (automatic clipping).
    `keep=True` keeps per-example gradients of every layer from norm to sum (more memory, no allowance for rounding
    between the two), `keep=False` of none that can do without; left alone, whichever costs less.
    `jax.checkpoint` in a model saves the memory it should: norms of layers inside are taken in passing, and a second
    pass back makes their sum. `keep=True` gives that up.
    `mesh` (a `jax.sharding.Mesh` of one axis) spreads the examples over devices: each runs its own, sums are added up.
    Prefer it to a sharded batch alone: the compiler's own partitioning gives wrong gradients for the grouped
    convolutions that `how="vmap"` leads to. Pure, and meant to be called inside `jax.jit`.

    Guarantee: every example is run in a batch of its own, and what it adds to `total` is a vector of L2 norm at most
    `bound` over all parameters together, for any values in its row. An example whose gradient is NaN, infinite or too
    long for 32-bit floats adds nothing. So `total` has L2 sensitivity `bound` when one example is added or removed, as
    real numbers: adding up floats rounds, which the trainer says in its own guarantee. Sums are in 32 bits or more,
    whatever types parameters and model have. Inside a checkpoint what is added is computed a second time; that it comes
    out the same up to 1/4096 is a premise there. See docs/proofs/clipping.md.
    `norms` and `losses` are private: they are not clipped and carry no noise.
    """
    if stability is not None and not (math.isfinite(stability) and stability > 0):
        raise InputError("stability", stability, "a finite number of more than 0, or None to clip")
    count = _checked(params, batch, mask, bound, how, copies, microbatch, operands)
    if mesh is not None:

        def own(params: Tree, batch: Tree, mask: Array) -> tuple[Tree, Array, Array]:
            made = clipped_sum(
                losses,
                params,
                batch,
                mask=mask,
                bound=bound,
                how=how,
                copies=copies,
                microbatch=microbatch,
                operands=operands,
                keep=keep,
                stability=stability,
            )
            return made.total, made.norms, made.losses

        return Clipped(*over_devices(own, mesh, params, batch, mask))
    rows = jax.tree.map(lambda leaf: leaf.reshape(count, copies, *leaf.shape[1:]), batch)

    def part(rows: Tree, mask: Array) -> tuple[Tree, Array, Array]:
        def clip(measured: norms.Measured) -> tuple[Array, Array]:
            return norms.factors(measured, mask, jnp.asarray(bound, jnp.float32), params, stability)

        if how == "vmap":
            _per_row(losses, params, batch, copies)
            return clip_by_vmap(losses, params, rows, clip)
        parts = parts_of(losses, params, batch, copies, examples=mask.shape[0], keep=keep)
        warn_of_copies(parts, params)
        leaves, shape = jax.tree.flatten(params)
        whole, square, values = clip_by_sites(
            parts,
            list(map(jnp.asarray, leaves)),
            jax.tree.leaves(rows),
            clip,
            operands=None if operands is None else jnp.dtype(operands),
        )
        return jax.tree.unflatten(shape, whole), square, values

    size = microbatch or (_SLICE if how == "microbatch" else None)
    if size is None or size >= count:
        total, square, values = part(rows, mask)
    else:
        total, square, values = in_slices(part, params, rows, mask, size)
    return Clipped(total, jnp.sqrt(square), values.mean(axis=1))


def parts_of(
    losses: Losses, params: Tree, batch: Tree, copies: int, *, examples: int, keep: bool | None = None,
) -> Parts:  # fmt: skip
    """Trace the loss of one example and choose a way for each parameter. Looks at shapes only."""
    flat, shape = trace(losses, params, batch, copies)
    _one_each(shape, copies)
    sites, spread = find_sites(flat)
    return Parts(flat, group(flat, sites, examples, keep), spread)


def _per_row(losses: Losses, params: Tree, batch: Tree, copies: int) -> None:
    made = jax.tree.leaves(jax.eval_shape(losses, params, of_rows(batch, copies)))
    _one_each(made[0].shape if len(made) == 1 else (), copies)


def _one_each(shape: tuple[int, ...], copies: int) -> None:
    if tuple(shape) != (copies,):
        raise InputError(
            "losses",
            Phrase(f"shape {tuple(shape)} for {copies} row{'s' * (copies > 1)}"),
            "a function that returns one number for each row of the batch",
            "Leave the mean over the batch out: clipping needs each example's own loss.",
        )


def _checked(
    params: Tree,
    batch: Tree,
    mask: Array,
    bound: Any,
    how: str,
    copies: int,
    microbatch: int | None,
    operands: str | None,
) -> int:
    if how not in HOW:
        raise InputError("how", how, among=HOW)
    if not norms.sane_bound(bound):
        raise InputError("bound", bound, "a finite number of at least 1e-9", "It is the longest a gradient may be.")
    if operands not in (None, "bfloat16"):
        raise InputError("operands", operands, "bfloat16, or None to leave numbers as they are")
    if copies < 1:
        raise InputError("copies", copies, "a whole number of at least 1")
    if microbatch is not None and microbatch < 1:
        raise InputError("microbatch", microbatch, "a whole number of at least 1, or None")
    for leaf in jax.tree.leaves(params):
        if not hasattr(leaf, "dtype"):
            raise InputError("params", kind_of(leaf), "a tree of arrays", "Split functions off first.")
        if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise InputError("params", Phrase(str(leaf.dtype)), "real numbers", "Keep real and imaginary parts apart.")
    count = mask.shape[0]
    leaves = jax.tree.leaves(batch)
    lengths = {leaf.shape[0] if leaf.ndim else 0 for leaf in leaves}
    if not leaves or lengths != {count * copies}:
        raise InputError(
            "batch",
            Phrase(f"leaves of {sorted(lengths)} rows"),
            f"a tree whose leaves have {count * copies} rows each, one for each entry of mask and copy",
        )
    return int(count)


def clip_by_vmap(
    losses: Callable[[Tree, Tree], Array],
    params: Tree,
    rows: Tree,
    clip: Callable[[norms.Measured], tuple[Array, Array]],
) -> tuple[Tree, Array, Array]:
    """The plain way, exact for any model, slow and large: every example's whole gradient at once, by `jax.vmap`.

    The clipped sum, squared norms and losses [examples, copies]; `rows` lead with examples and copies.
    """
    leaves, shape = jax.tree.flatten(params)
    real = [place for place, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating)]

    def one(chosen: list[Array], row: Tree) -> tuple[Array, Array]:
        whole = list(leaves)
        for place, leaf in zip(real, chosen, strict=True):
            whole[place] = leaf
        each = losses(jax.tree.unflatten(shape, whole), row)
        return jnp.mean(each), each

    slope = jax.grad(one, has_aux=True)
    each, values = jax.vmap(slope, in_axes=(None, 0))([leaves[place] for place in real], rows)
    measured = norms.Measured(jnp.zeros(values.shape[0]))
    for gradient in each:
        measured = measured + norms.Measured(norms.square_sum(gradient))
    factor, counts = clip(measured)
    total = [jnp.zeros(leaf.shape, norms.wide(leaf.dtype)) for leaf in leaves]
    for place, gradient in zip(real, each, strict=True):
        total[place] = norms.weigh(factor, counts, gradient).astype(total[place].dtype)
    return jax.tree.unflatten(shape, total), measured.square, values


def explain(losses: Losses, params: Tree, batch: Tree, *, copies: int = 1, keep: bool | None = None) -> str:
    """One line for each parameter: its name, where it meets data, and how its gradients are found.

    Arrays or `jax.ShapeDtypeStruct`s will do: only shapes are looked at.
    """
    examples = jax.tree.leaves(batch)[0].shape[0] // copies
    return explain_parts(parts_of(losses, params, batch, copies, examples=examples, keep=keep), params)
