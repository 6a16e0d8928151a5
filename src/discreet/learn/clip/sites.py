"""Where parameters meet data: products, convolutions and look-ups whose gradient is known from input and cotangent.

Whatever else a parameter does with data, it does as a copy for each example: a site too, whose gradient is the
cotangent of the copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jax import lax
from numpy.typing import NDArray

from discreet.learn.clip.flat import Flat, Step, scan_counts
from discreet.learn.clip.views import View, view_of

__all__ = ["Site", "find_sites"]


@dataclass(frozen=True, eq=False)
class Site:
    """One step in which a weight (computed from parameters alone) meets data, or a weight that is copied.

    Its gradient for one example is a sum over `reach` places (words, pixels) of products input x cotangent, one
    `inner` x `outer` matrix for each of `blocks` independent blocks. Inside scans (`scans`, outermost first) that is
    so in every turn. Where the weight is a slice of its own in each turn (`stacked`) turns are more blocks; where all
    turns share it they are more places: `all_blocks`, `all_places`.
    """

    kind: str  # "dense", "convolution", "lookup" or "copy"
    step: Step
    weight: int
    data: int
    roots: frozenset[int]
    view: View | None  # None: the weight is computed from parameters, not just moved about
    blocks: int
    reach: int
    inner: int
    outer: int
    offsets: int = 1  # of a convolution's kernel
    pixels: int = 0  # of a convolution's input; places elsewhere
    scans: tuple[Step, ...] = ()
    checkpointed: bool = False
    entries: NDArray[np.bool_] | None = None  # of the parameter that the weight holds; None for all
    uses: tuple[str, ...] = ()  # of a copy: the steps in which it meets data
    kernel: tuple[int, ...] = ()  # the shape of the weight

    @property
    def plain(self) -> bool:
        """Whether the weight is one parameter with its entries in other places."""
        return self.view is not None

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """How many turns each scan around it makes."""
        return tuple(int(scan.params["length"]) for scan in self.scans)

    @cached_property
    def stacked(self) -> tuple[bool, ...]:
        """For each scan around it: whether every turn has a weight of its own."""
        own = self.view.stacked if self.view is not None else frozenset()
        return tuple(index in own for index in range(len(self.scans)))

    @property
    def turns(self) -> tuple[int, ...]:
        """The lengths of the scans in which every turn has a weight of its own."""
        return tuple(length for length, own in zip(self.lengths, self.stacked, strict=True) if own)

    @property
    def all_blocks(self) -> int:
        """Blocks over all turns."""
        return self.blocks * math.prod(self.turns)

    @property
    def all_places(self) -> int:
        """Places over all turns that share a weight."""
        return self.reach * math.prod(self.lengths) // math.prod(self.turns)

    @property
    def layout(self) -> tuple[Any, ...]:
        """Sites of one weight with equal layouts have gradients that add up place by place."""
        if self.kind == "copy":
            return (self.kind, self.weight)
        settings = sorted((name, str(value)) for name, value in self.step.params.items())
        return (self.kind, self.weight, self.step.inputs.index(self.weight), *settings)

    @cached_property
    def turn(self) -> Site:
        """The same site in one turn alone."""
        return replace(self, scans=())

    def meets(self, other: Site) -> bool:
        """Whether some entry of a parameter is in both weights, so that their gradients must be added up."""
        if not self.roots & other.roots:
            return False
        return self.entries is None or other.entries is None or bool((self.entries & other.entries).any())


@dataclass(eq=False)
class _Search:
    """Goes through the steps of a loss and those inside its scans and checkpoints."""

    flat: Flat
    sites: list[Site] = field(default_factory=list)
    copies: dict[int, Site] = field(default_factory=dict)
    spread: set[int] = field(default_factory=set)

    def through(self, steps: list[Step], scans: tuple[Step, ...], checkpointed: bool) -> None:
        for step in steps:
            if step.region is None:
                self._look(step, scans, checkpointed)
            elif step.name != "scan":
                self.through(step.region.steps, scans, True)
            else:
                first, _ = scan_counts(step.params)
                starts = step.inputs[first : first + len(step.region.carried)]
                for value, carried in zip(starts, step.region.carried, strict=True):
                    if self.flat.kinds[carried] == "data":
                        self.copy(value, step, scans)
                inside = (*scans, step)
                self.through(step.region.steps, inside, checkpointed)
                for value in step.region.results:
                    self.copy(value, step, inside)

    def _look(self, step: Step, scans: tuple[Step, ...], checkpointed: bool) -> None:
        kinds = [self.flat.kinds[value] for value in step.inputs]
        if "data" not in kinds or "parameter" not in kinds:
            return
        site = _site(self.flat, step, kinds, scans, checkpointed)
        if site is not None:
            self.sites.append(site)
            return
        for value in step.inputs:
            self.copy(value, step, scans)

    def copy(self, value: int, step: Step, scans: tuple[Step, ...]) -> None:
        """Note that each example has its own copy of a value: from a view of a parameter on, in the fewest turns."""
        if self.flat.kinds[value] != "parameter":
            return
        self.spread.add(value)
        view = view_of(self.flat, value)
        if view is None:
            stack = self.flat.stacks.get(value)
            for given in self.flat.maker[value].inputs if stack is None else (stack,):
                self.copy(given, step, scans)
            return
        at = _start(self.flat, view)
        self.spread.update(view.chain[at:])
        start = view.chain[at]
        known = self.copies.get(start)
        if known is not None:
            if step.name not in known.uses:
                self.copies[start] = replace(known, uses=(*known.uses, step.name))
            return
        own = view_of(self.flat, start)
        size = math.prod(self.flat.shapes[start].shape)
        depth = self.flat.depths[start]
        self.copies[start] = Site(
            "copy", step, start, -1, frozenset({view.leaf}), own, 1, 1, 1, size,
            scans=scans[:depth], entries=_entries(self.flat, own), uses=(step.name,),
            kernel=tuple(self.flat.shapes[start].shape),
        )  # fmt: skip


def find_sites(flat: Flat) -> tuple[list[Site], frozenset[int]]:
    """The sites of a loss, copies last, and the values of parameters that have an axis of examples for them."""
    search = _Search(flat)
    search.through(flat.steps, (), False)
    if flat.kinds[flat.outcome] == "parameter":
        last = flat.maker.get(flat.outcome) or flat.steps[-1]
        search.copy(flat.outcome, last, ())
    return [*search.sites, *search.copies.values()], frozenset(search.spread)


def _start(flat: Flat, view: View) -> int:
    """From which value of a view's chain on there are copies: the last cut that no turns of a scan share."""
    crossed, best = 0, 0
    for index, value in enumerate(view.chain):
        cut = value in flat.stacks
        crossed += cut
        if index and not cut:
            cut = flat.shapes[value].size != flat.shapes[view.chain[index - 1]].size
        if cut and flat.depths[value] == crossed:
            best = index
    return best


def _entries(flat: Flat, view: View | None) -> NDArray[np.bool_] | None:
    return None if view is None else view.entries(tuple(flat.shapes[flat.leaves[view.leaf]].shape))


def _site(flat: Flat, step: Step, kinds: list[str], scans: tuple[Step, ...], checkpointed: bool) -> Site | None:
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
    view = view_of(flat, value)
    if view is None and flat.depths[value]:
        return None  # computed anew in every turn of a scan
    if kind == "lookup" and view is not None and view.stacked:
        return None
    offsets, pixels = 1, sizes[1]
    if kind == "convolution":
        numbers = step.params["dimension_numbers"]
        offsets = math.prod(shapes[1].shape[axis] for axis in numbers.rhs_spec[2:])
        pixels = math.prod(shapes[0].shape) // shapes[0].shape[numbers.lhs_spec[1]]
    return Site(
        kind, step, value, step.inputs[1 - weight], flat.roots(value), view, *sizes, offsets, pixels,
        scans, checkpointed, _entries(flat, view), kernel=tuple(shapes[weight].shape),
    )  # fmt: skip


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
