"""Where parameters meet data: products, convolutions and look-ups whose gradient is known from input and cotangent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jax import lax

from discreet.learn.clip.flat import Flat, Step

__all__ = ["Site", "find_sites"]

# Steps that only give the entries of one array new places: a gradient keeps its norm through them.
_RELABEL = {"reshape", "transpose", "squeeze", "expand_dims", "copy", "copy_p", "neg", "rev"}


@dataclass(frozen=True, eq=False)
class Site:
    """One step in which a weight (computed from parameters alone) meets data.

    Its gradient for one example is a sum over `reach` places (words, pixels) of products input x cotangent, one
    `inner` x `outer` matrix for each of `blocks` independent blocks.
    """

    kind: str  # "dense", "convolution" or "lookup"
    step: Step
    weight: int
    data: int
    roots: frozenset[int]
    plain: bool  # the weight is one parameter with its entries in other places
    blocks: int
    reach: int
    inner: int
    outer: int
    offsets: int = 1  # of a convolution's kernel
    pixels: int = 0  # of a convolution's input; places elsewhere

    @property
    def layout(self) -> tuple[Any, ...]:
        """Sites of one weight with equal layouts have gradients that add up place by place."""
        settings = sorted((name, str(value)) for name, value in self.step.params.items())
        return (self.kind, self.weight, self.step.inputs.index(self.weight), *settings)


def find_sites(flat: Flat) -> tuple[list[Site], frozenset[int]]:
    """The sites of a loss, and the parameters that meet data in any other way (they get a copy per example)."""
    sites: list[Site] = []
    spread: set[int] = set()
    for step in flat.steps:
        kinds = [flat.kinds[value] for value in step.inputs]
        if "data" not in kinds or "parameter" not in kinds:
            continue
        site = _site(flat, step, kinds)
        if site is not None:
            sites.append(site)
        else:
            for value, kind in zip(step.inputs, kinds, strict=True):
                if kind == "parameter":
                    spread |= flat.roots(value)
    if flat.kinds[flat.outcome] == "parameter":
        spread |= flat.roots(flat.outcome)
    return sites, frozenset(spread)


def _site(flat: Flat, step: Step, kinds: list[str]) -> Site | None:
    shapes = [flat.shapes[value] for value in step.inputs]
    if kinds[:2] == ["parameter", "data"]:
        weight = 0
    elif kinds[:2] == ["data", "parameter"]:
        weight = 1
    else:
        return None
    sizes: tuple[int, int, int, int] | None = None
    kind = ""
    if step.name == "dot_general":
        kind, sizes = "dense", _dense_sizes(step, shapes, weight)
    elif step.name == "conv_general_dilated" and weight == 1 and step.params["batch_group_count"] == 1:
        kind, sizes = "convolution", _convolution_sizes(flat, step, shapes)
    elif step.name == "gather" and weight == 0:
        kind, sizes = "lookup", _lookup_sizes(step, shapes)
    real = all(shape.dtype.kind in "fV" for shape in shapes) if kind != "lookup" else True  # V: bfloat16
    if sizes is None or not real:
        return None
    value = step.inputs[weight]
    offsets, pixels = 1, sizes[1]
    if kind == "convolution":
        numbers = step.params["dimension_numbers"]
        offsets = math.prod(shapes[1].shape[axis] for axis in numbers.rhs_spec[2:])
        pixels = math.prod(shapes[0].shape) // shapes[0].shape[numbers.lhs_spec[1]]
    plain, roots = _plain(flat, value), flat.roots(value)
    return Site(kind, step, value, step.inputs[1 - weight], roots, plain, *sizes, offsets, pixels)


def _dense_sizes(step: Step, shapes: list[Any], weight: int) -> tuple[int, int, int, int]:
    contract, batch = step.params["dimension_numbers"]
    data, other = shapes[1 - weight].shape, shapes[weight].shape
    blocks = math.prod(data[axis] for axis in batch[1 - weight])
    inner = math.prod(data[axis] for axis in contract[1 - weight])
    reach = math.prod(data) // max(blocks * inner, 1)
    outer = math.prod(other) // max(blocks * inner, 1)
    return blocks, reach, inner, outer


def _convolution_sizes(flat: Flat, step: Step, shapes: list[Any]) -> tuple[int, int, int, int]:
    numbers, groups = step.params["dimension_numbers"], step.params["feature_group_count"]
    kernel, made = shapes[1].shape, flat.shapes[step.outputs[0]].shape
    outer = kernel[numbers.rhs_spec[0]]
    return groups, math.prod(made) // outer, math.prod(kernel) // outer, outer // groups


def _lookup_sizes(step: Step, shapes: list[Any]) -> tuple[int, int, int, int] | None:
    numbers, table, places = step.params["dimension_numbers"], shapes[0].shape, shapes[1].shape
    first = len(places) - 1
    simple = (
        tuple(numbers.start_index_map) == (0,)
        and tuple(numbers.collapsed_slice_dims) == (0,)
        and not tuple(getattr(numbers, "operand_batching_dims", ()))
        and tuple(step.params["slice_sizes"]) == (1, *table[1:])
        and tuple(numbers.offset_dims) == tuple(range(first, first + len(table) - 1))
        and step.params["mode"] != lax.GatherScatterMode.ONE_HOT
    )
    return (1, math.prod(places[:-1]), table[0], math.prod(table[1:])) if simple and table[0] else None


def _plain(flat: Flat, value: int) -> bool:
    while value not in flat.leaves:
        step = flat.maker[value]
        given = step.inputs[0]
        shapes = flat.shapes[given], flat.shapes[value]
        cast = step.name == "convert_element_type" and shapes[0].dtype.kind in "fV" and shapes[1].dtype.kind in "fV"
        stretch = step.name == "broadcast_in_dim" and shapes[0].size == shapes[1].size
        if len(step.inputs) != 1 or not (step.name in _RELABEL or cast or stretch):
            return False
        value = given
    return True
