"""Gradients of dense and convolution sites as batched matrix products, and of look-ups as a few rows.

A site's input becomes a few pieces [examples, blocks, places, inner]; its cotangent [examples, blocks, places, outer].
An example's gradient is the product of each piece with the cotangent, summed over places. For a k x k convolution the
pieces are the padded, strided input shifted by each offset of the kernel: k*k products, which is several times faster
than the grouped convolutions that plain vmap leads to. Inside scans inputs and cotangents have axes for the turns after
that of the examples; they join the blocks or the places. A look-up (an embedding) has a gradient in a few rows of its
table, added up where one repeats.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from discreet.learn.clip.norms import product_rounding
from discreet.learn.clip.sites import Site

__all__ = [
    "add_rows",
    "assemble",
    "coarse",
    "cotangent",
    "pairs",
    "pieces",
    "product",
    "pulled_pairs",
    "row_gradients",
    "row_numbers",
    "weighted",
]

_NARROW = 32  # offsets share one product until it is at least this wide

Array = Any


def pieces(site: Site, given: Array, kernel: tuple[int, ...]) -> list[Array]:
    """The input of a site (first axis: examples) as pieces [examples, blocks, places, inner]."""
    turns = _in_turns(site, given)
    parts = [_dense_input(site, turns)] if site.kind == "dense" else _shifted(site, turns, kernel)
    return [_over_turns(site, part) for part in parts]


def cotangent(site: Site, given: Array) -> Array:
    """The cotangent of a site's output as [examples, blocks, places, outer]."""
    turns = _in_turns(site, given)
    if site.kind == "dense":
        if site.step.inputs[0] == site.data:
            laid = turns.reshape(-1, site.blocks, site.reach, site.outer)
        else:
            laid = jnp.swapaxes(turns.reshape(-1, site.blocks, site.outer, site.reach), 2, 3)
        return _over_turns(site, laid)
    numbers = site.step.params["dimension_numbers"]
    order = (numbers.out_spec[0], *numbers.out_spec[2:], numbers.out_spec[1])
    ordered = jnp.transpose(turns, (0, *(axis + 1 for axis in order)))
    return _over_turns(site, _blocked(ordered, site.blocks))


def _in_turns(site: Site, given: Array) -> Array:
    """Examples and turns as one axis."""
    return given.reshape(-1, *given.shape[1 + len(site.scans) :]) if site.scans else given


def _over_turns(site: Site, part: Array) -> Array:
    """[examples * turns, blocks, places, width] as [examples, all blocks, all places, width]."""
    if not site.scans:
        return part
    split = part.reshape(-1, *site.lengths, *part.shape[1:])
    axes = range(1, 1 + len(site.scans))
    own = [axis for axis, stacked in zip(axes, site.stacked, strict=True) if stacked]
    shared = [axis for axis in axes if axis not in own]
    last = 1 + len(site.scans)
    ordered = jnp.transpose(split, (0, *own, last, *shared, last + 1, last + 2))
    return ordered.reshape(split.shape[0], site.all_blocks, site.all_places, part.shape[-1])


def assemble(site: Site, parts: list[Array], kernel: tuple[int, ...]) -> Array:
    """Products [blocks, inner, outer], one for each piece, as one array in the shape of the weight.

    The weight of all turns, where they have weights of their own: an axis for each scan comes first.
    """
    if site.turns:
        turns = [part.reshape(-1, site.blocks, *part.shape[1:]) for part in parts]
        each = jax.vmap(lambda *parts: assemble(site.turn, list(parts), kernel))(*turns)
        return each.reshape(*site.turns, *kernel)
    if site.kind == "dense":
        side = site.step.inputs.index(site.weight)
        contract, batch = site.step.params["dimension_numbers"]
        first = (*batch[side], *contract[side])
        order = (*first, *(axis for axis in range(len(kernel)) if axis not in first))
        laid = parts[0].reshape([kernel[axis] for axis in order])
        return jnp.transpose(laid, _inverse(order))
    spec = site.step.params["dimension_numbers"].rhs_spec
    window = [kernel[axis] for axis in spec[2:]]
    width = kernel[spec[1]]
    offsets = [
        jnp.moveaxis(part.reshape(site.blocks, -1, width, site.outer), 1, 0) for part in parts
    ]  # each [offsets, blocks, width, outer]
    laid = jnp.concatenate(offsets).reshape(*window, site.blocks, width, site.outer)
    laid = jnp.swapaxes(laid, len(window), len(window) + 1).reshape(*window, width, site.blocks * site.outer)
    order = (*spec[2:], spec[1], spec[0])
    return jnp.transpose(laid, _inverse(order))


def _dense_input(site: Site, given: Array) -> Array:
    side = site.step.inputs.index(site.data)
    contract, batch = site.step.params["dimension_numbers"]
    taken = {*contract[side], *batch[side]}
    rest = [axis for axis in range(given.ndim - 1) if axis not in taken]
    order = (*batch[side], *rest, *contract[side])
    ordered = jnp.transpose(given, (0, *(axis + 1 for axis in order)))
    return ordered.reshape(given.shape[0], site.blocks, site.reach, site.inner)


def _shifted(site: Site, given: Array, kernel: tuple[int, ...]) -> list[Array]:
    settings = site.step.params
    numbers = settings["dimension_numbers"]
    order = (numbers.lhs_spec[0], *numbers.lhs_spec[2:], numbers.lhs_spec[1])
    ordered = jnp.transpose(given, (0, *(axis + 1 for axis in order)))  # examples, rows, places..., features
    dilations, steps = settings["lhs_dilation"], settings["window_strides"]
    edges = [(low, high, wide - 1) for (low, high), wide in zip(settings["padding"], dilations, strict=True)]
    if any(edge != (0, 0, 0) for edge in edges):
        ordered = lax.pad(ordered, jnp.zeros((), ordered.dtype), [(0, 0, 0), (0, 0, 0), *edges, (0, 0, 0)])
    window = [kernel[axis] for axis in numbers.rhs_spec[2:]]
    slices = []
    for start, stop in _windows(site, ordered.shape[2:-1], window):
        ends = (ordered.shape[0], ordered.shape[1], *stop, ordered.shape[-1])
        part = lax.slice(ordered, (0, 0, *start, 0), ends, (1, 1, *steps, 1))
        slices.append(_blocked(part, site.blocks))
    together = max(1, math.ceil(_NARROW / slices[0].shape[-1]))
    if together == 1:
        return slices
    return [jnp.concatenate(slices[at : at + together], axis=-1) for at in range(0, len(slices), together)]


def _windows(site: Site, sizes: Sequence[int], window: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """For each offset of the kernel, where the pixels that it meets start and stop."""
    settings = site.step.params
    widths, steps = settings["rhs_dilation"], settings["window_strides"]
    places = [
        (size - (width - 1) * wide - 1) // step + 1
        for size, width, wide, step in zip(sizes, window, widths, steps, strict=True)
    ]
    for offset in itertools.product(*map(range, window)):
        start = [at * wide for at, wide in zip(offset, widths, strict=True)]
        yield start, [low + (many - 1) * step + 1 for low, many, step in zip(start, places, steps, strict=True)]


def _blocked(ordered: Array, blocks: int) -> Array:
    """[examples, ..., blocks * width] as [examples, blocks, places, width]."""
    split = ordered.reshape(ordered.shape[0], -1, blocks, ordered.shape[-1] // blocks)
    return jnp.swapaxes(split, 1, 2)


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order.index(axis) for axis in range(len(order)))


def product(piece: Array, pulled: Array, operands: Any | None) -> Array:
    """Every example's own gradient [examples, blocks, inner, outer] of one piece.

    Added up in 32 bits or more. Where `operands` says so both factors and the result are rounded to fewer bits: norms
    and sums are then taken from the rounded gradients, so rounding them costs no privacy.
    """
    if operands is not None:
        return jnp.einsum("bgtk,bgtn->bgkn", piece.astype(operands), pulled.astype(operands))
    wide = jnp.promote_types(jnp.promote_types(piece.dtype, pulled.dtype), jnp.float32)
    if piece.shape[2] == 1:  # so that the compiler need not write it out
        return jnp.swapaxes(piece, 2, 3).astype(wide) * pulled.astype(wide)
    return jnp.einsum("bgtk,bgtn->bgkn", piece, pulled, preferred_element_type=wide)


def weighted(site: Site, given: Array, pulled: Array, kernel: tuple[int, ...]) -> Array:
    """The sum over examples of the gradients of one site's weight; the cotangent already carries the factors."""
    wide = jnp.promote_types(jnp.promote_types(given.dtype, pulled.dtype), jnp.float32)
    given, pulled = given.astype(wide), pulled.astype(wide)
    if site.kind == "dense" or site.scans:
        back = cotangent(site, pulled)
        parts = [jnp.einsum("bgtk,bgtn->gkn", part, back) for part in pieces(site, given, kernel)]
        return assemble(site, parts, kernel)
    settings = {**site.step.params, "preferred_element_type": None}
    numbers = settings["dimension_numbers"]
    merged, made = _merged(given, numbers.lhs_spec[0]), _merged(pulled, numbers.out_spec[0])

    def convolve(weight: Array) -> Array:
        return lax.conv_general_dilated_p.bind(merged, weight, **settings)

    (whole,) = jax.linear_transpose(convolve, jnp.zeros(kernel, wide))(made)
    return whole


def _merged(array: Array, axis: int) -> Array:
    """Examples and rows as one axis, where a convolution has its batch."""
    moved = jnp.moveaxis(array, 0, axis)
    shape = array.shape[1:]
    return moved.reshape(*shape[:axis], -1, *shape[axis + 1 :])


def pairs(site: Site, given: Array, kernel: tuple[int, ...]) -> Array:
    """Inner products of a site's input between all pairs of places [examples, blocks, places, places].

    For a convolution a place sees a window of pixels. Windows overlap, so the products of pixels are taken once and
    added up over the offsets of the kernel.
    """
    if site.kind == "dense":
        return _inner(pieces(site, given, kernel)[0])
    settings = site.step.params
    numbers = settings["dimension_numbers"]
    order = (numbers.lhs_spec[0], *numbers.lhs_spec[2:], numbers.lhs_spec[1])
    ordered = jnp.transpose(given, (0, *(axis + 1 for axis in order)))
    shape = ordered.shape[1:-1]  # rows, pixels...
    pixels = _inner(_blocked(ordered, site.blocks)).reshape(given.shape[0], site.blocks, *shape, *shape)
    edges = [
        (low, high, wide - 1) for (low, high), wide in zip(settings["padding"], settings["lhs_dilation"], strict=True)
    ]
    if any(edge != (0, 0, 0) for edge in edges):
        none = (0, 0, 0)
        pixels = lax.pad(pixels, jnp.zeros((), pixels.dtype), [none, none, none, *edges, none, *edges])
    window = [kernel[axis] for axis in numbers.rhs_spec[2:]]
    found: Array = 0
    for start, stop in _windows(site, pixels.shape[3 : 3 + len(window)], window):
        rows = pixels.shape[2]
        first = (0, 0, 0, *start, 0, *start)
        last = (*pixels.shape[:2], rows, *stop, rows, *stop)
        steps = (1, 1, 1, *settings["window_strides"], 1, *settings["window_strides"])
        found = found + lax.slice(pixels, first, last, steps)
    return found.reshape(given.shape[0], site.blocks, site.reach, site.reach)


def pulled_pairs(site: Site, given: Array) -> Array:
    """Inner products of a site's cotangent between all pairs of places."""
    return _inner(cotangent(site, given))


def _inner(array: Array) -> Array:
    wide = jnp.promote_types(array.dtype, jnp.float32)
    return jnp.einsum("bgtk,bgsk->bgts", array, array, preferred_element_type=wide)


def coarse(array: Array, operands: Any | None) -> Array:
    """Rounded so that a matrix product on this machine rounds it no further."""
    if not jnp.issubdtype(array.dtype, jnp.floating):
        return array  # numbers of rows
    if operands is not None:
        return array.astype(operands)
    if array.dtype != jnp.float32 or product_rounding() <= 2.0**-24:
        return array
    return lax.reduce_precision(array, 8, 10 if product_rounding() < 2.0**-9 else 7)


def row_numbers(site: Site, places: Array, pulled: Array) -> tuple[Array, Array]:
    """The rows that are looked up [examples, places] and the cotangents there, zero for rows that are not there."""
    count = pulled.shape[0]
    where = places.reshape(count, site.all_places)
    what = pulled.reshape(count, site.all_places, site.outer)
    what = what.astype(jnp.promote_types(what.dtype, jnp.float32))
    if site.step.params["mode"] == lax.GatherScatterMode.FILL_OR_DROP:
        valid = (where >= 0) & (where < site.inner)
        what = jnp.where(valid[..., None], what, 0)
    return jnp.clip(where, 0, site.inner - 1), what


def row_gradients(site: Site, places: Array, pulled: Array) -> tuple[Array, Array]:
    """Which rows of the table each example touches [examples, reach], and its gradient there [.., .., outer].

    Equal places are sorted together and added up into the first of them, so the rows of an example are distinct and
    the sum of squares over them is the squared norm. Rows left over are zero, at place 0.
    """
    where, what = row_numbers(site, places, pulled)

    def one(at: Array, add: Array) -> tuple[Array, Array]:
        order = jnp.argsort(at)
        at, add = at[order], add[order]
        new = jnp.concatenate([jnp.zeros(1, jnp.int32), (at[1:] != at[:-1]).astype(jnp.int32)])
        segment = jnp.cumsum(new)
        distinct = jnp.zeros_like(at).at[segment].max(at)
        return distinct, jnp.zeros_like(add).at[segment].add(add)

    where, what = jax.vmap(one)(where, what)
    return where, what


def add_rows(site: Site, where: Array, what: Array, table: tuple[int, ...]) -> Array:
    """All rows of all examples added into an array of the shape of the table."""
    whole = jnp.zeros((table[0], site.outer), what.dtype)
    return whole.at[where.reshape(-1)].add(what.reshape(-1, site.outer)).reshape(table)
