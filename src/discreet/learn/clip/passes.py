"""One pass forward, one back: inputs and cotangents at every site, then norms, factors and the weighted sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from discreet.learn.clip import norms
from discreet.learn.clip.flat import Flat, Step, apply_step
from discreet.learn.clip.groups import Group
from discreet.learn.clip.pieces import (
    add_rows,
    assemble,
    coarse,
    cotangent,
    pairs,
    pieces,
    product,
    pulled_pairs,
    row_gradients,
    weighted,
)
from discreet.learn.clip.sites import Site

__all__ = ["Parts", "clip_by_sites"]

Array = Any


@dataclass(eq=False)
class Parts:
    """A traced loss with its groups: everything that does not depend on values."""

    flat: Flat
    groups: list[Group]
    sites: list[Site] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sites = [site for one in self.groups for site in one.sites]


class _Forward:
    """Runs the steps for a batch: data carries a leading axis of examples, values of parameters alone do not."""

    def __init__(self, parts: Parts, leaves: list[Array], rows: list[Array], taps: list[Array]) -> None:
        self.flat, self.parts = parts.flat, parts
        self.inputs: dict[Site, Array] = {}
        self.values: dict[int, Array] = {**parts.flat.constants}
        self.values.update(zip(parts.flat.leaves, leaves, strict=True))
        self.values.update(zip(parts.flat.batch, rows, strict=True))
        copied = [leaf for one in parts.groups for leaf in one.copied]
        at_sites = len(parts.sites)
        self.taps = dict(zip(parts.sites, taps[:at_sites], strict=True))
        self.copies = {  # a parameter with a tap for each example
            parts.flat.leaves[leaf]: leaves[leaf] + tap for leaf, tap in zip(copied, taps[at_sites:], strict=True)
        }

    def walked(self) -> Array:
        sites = {site.step: site for site in self.parts.sites}
        for step in self.flat.steps:
            kinds = [self.flat.kinds[value] for value in step.inputs]
            if "data" not in kinds:
                made = apply_step(step, [self.values[value] for value in step.inputs])
            elif step in sites:
                site = sites[step]
                given = [(self.values[value], self.flat.kinds[value] == "data") for value in step.inputs]
                made = _mapped(step, given)
                made[0] = made[0] + self.taps[site]
                self.inputs[site] = self.values[site.data]
            else:
                made = _mapped(step, [self.spread(value) for value in step.inputs])
            self.values.update(zip(step.outputs, made, strict=True))
        return self.spread(self.flat.outcome)[0]

    def spread(self, value: int) -> tuple[Array, bool]:
        """A value and whether it has an axis of examples; values of parameters get one, from the tapped copies."""
        kind = self.flat.kinds[value]
        if kind != "parameter":
            return self.values[value], kind == "data"
        if value not in self.copies:
            step = self.flat.maker[value]
            made = _mapped(step, [self.spread(given) for given in step.inputs])
            self.copies.update(zip(step.outputs, made, strict=True))
        return self.copies[value], True


def _mapped(step: Step, given: list[tuple[Array, bool]]) -> list[Array]:
    values = [value for value, _ in given]
    axes = [0 if spread else None for _, spread in given]
    return list(jax.vmap(lambda *each: tuple(apply_step(step, each)), in_axes=axes)(*values))


def _weight_of(flat: Flat, value: int, roots: list[int], leaves: list[Array]) -> Callable[[list[Array]], Array]:
    """A value as a function of the parameters `roots` it is computed from."""

    def compute(chosen: list[Array]) -> Array:
        known = {**flat.constants, **dict(zip(flat.leaves, leaves, strict=True))}
        known.update({flat.leaves[root]: leaf for root, leaf in zip(roots, chosen, strict=True)})

        def read(one: int) -> Array:
            if one not in known:
                step = flat.maker[one]
                known.update(zip(step.outputs, apply_step(step, [read(at) for at in step.inputs]), strict=True))
            return known[one]

        return read(value)

    return compute


def _relabelled(flat: Flat, value: int) -> Callable[[Array], Array]:
    """A plain weight as a function of its one parameter, whatever type that has: entries move, no cast is made."""
    steps = []
    while value not in flat.leaves:
        step = flat.maker[value]
        if step.name != "convert_element_type":
            steps.append(step)
        value = step.inputs[0]

    def compute(leaf: Array) -> Array:
        for step in reversed(steps):
            (leaf,) = apply_step(step, [leaf])
        return leaf

    return compute


class _Gradients:
    """What one group adds: its squared norms, and later its weighted sum."""

    def __init__(self, parts: Parts, one: Group, leaves: list[Array], operands: Any | None) -> None:
        self.flat, self.group, self.leaves, self.operands = parts.flat, one, leaves, operands
        self.kept: list[Array] = []
        self.given: list[Array] = []
        self.pulled: list[Array] = []
        self.where: Array = None

    @property
    def kernel(self) -> tuple[int, ...]:
        return tuple(self.flat.shapes[self.group.sites[0].weight].shape)

    def measure(self, inputs: dict[Site, Array], pulled: dict[Any, Array]) -> norms.Measured:
        """Squared norms, and how much more what is added may be than that says."""
        way, sites = self.group.way, self.group.sites
        if way == "copy":
            self.kept = [pulled[leaf] for leaf in self.group.copied]
            return norms.Measured(_squares(self.kept))
        if way == "rows":
            self.where, rows = row_gradients(sites[0], inputs[sites[0]], pulled[sites[0]])
            self.kept = [rows]
            return norms.Measured(norms.square_sum(rows))
        if way == "sum":
            self.kept = self._added(inputs, pulled)
            return norms.Measured(_squares(self.kept))
        first = sites[0]
        reach = sum(site.reach for site in sites)
        if way == "product":
            self.prepare(inputs, pulled)
            left = _blockwise(pieces(first, self.given[0], self.kernel)[0]) + norms.tiny(first.inner)
            right = _blockwise(cotangent(first, self.pulled[0])) + norms.tiny(first.outer)
            square = jnp.sum(left * right, axis=1)
            return norms.Measured(square, 0.0, norms.rounding(1) * jnp.sqrt(square))
        if way == "gram":
            self.prepare(inputs, pulled, operands=self.operands)
            return self._by_pairs(first, reach)
        self.prepare(inputs, pulled)
        split = [pieces(site, given, self.kernel) for site, given in zip(sites, self.given, strict=True)]
        split = [_side_by_side(same) for same in zip(*split, strict=True)]
        pull = _side_by_side([cotangent(site, one) for site, one in zip(sites, self.pulled, strict=True)])
        products = [product(part, pull, self.operands) for part in split]
        square = _squares(products)
        if way == "direct":
            self.kept = products
            return norms.Measured(square)
        lengths = sum(norms.square_sum(part) for part in split) * norms.square_sum(pull)
        return norms.Measured(square, 0.0, self._rounding(reach) * jnp.sqrt(lengths))

    def _by_pairs(self, site: Site, reach: int) -> norms.Measured:
        """The Gram form: a squared norm is the sum over pairs of places of inputs' and cotangents' inner products."""
        inputs = pairs(site, self.given[0], self.kernel)
        pulls = pulled_pairs(site, self.pulled[0])
        square = norms.row_sum(inputs * pulls, norms.PAIRS)
        at_input = jnp.sqrt(jnp.diagonal(inputs, axis1=2, axis2=3))
        at_pull = jnp.sqrt(jnp.diagonal(pulls, axis1=2, axis2=3))
        lengths = jnp.sum(at_input * at_pull, axis=(1, 2))
        # Every partial sum is below lengths^2; squares that vanish are below the smallest number.
        terms = site.inner // site.offsets + site.offsets + site.outer
        doubt = norms.gram_excess(terms, site.blocks * reach * reach) * lengths**2
        doubt = doubt + norms.tiny(site.inner) * jnp.sum(at_pull, axis=(1, 2)) ** 2
        doubt = doubt + norms.tiny(site.outer) * jnp.sum(at_input, axis=(1, 2)) ** 2
        return norms.Measured(jnp.maximum(square, 0.0), doubt, norms.rounding(reach, factors=1) * lengths)

    def _rounding(self, reach: int) -> float:
        rough = 0.0 if self.operands is None else 4.1 * 2.0**-7  # bfloat16 keeps 8 bits
        return 2 * norms.rounding(reach) + rough

    def prepare(self, inputs: dict[Site, Array], pulled: dict[Any, Array], operands: Any = False) -> None:
        """Keep inputs and cotangents; with `operands` rounded to what products round to, so that both passes agree."""
        self.given = [inputs[site] for site in self.group.sites]
        self.pulled = [pulled[site] for site in self.group.sites]
        if operands is not False:
            self.given = [coarse(one, operands) for one in self.given]
            self.pulled = [coarse(one, operands) for one in self.pulled]

    def _added(self, inputs: dict[Site, Array], pulled: dict[Any, Array]) -> list[Array]:
        """Per-example gradients of the parameters themselves, over all uses."""
        found: dict[int, Array] = {leaf: pulled[leaf] for leaf in self.group.copied}
        for site in self.group.sites:
            kernel = tuple(self.flat.shapes[site.weight].shape)
            if site.kind == "lookup":
                where, rows = row_gradients(site, inputs[site], pulled[site])
                each = jax.vmap(lambda at, add, site=site, kernel=kernel: add_rows(site, at, add, kernel))(where, rows)
            else:
                parts = [
                    product(part, cotangent(site, pulled[site]), self.operands)
                    for part in pieces(site, inputs[site], kernel)
                ]
                each = jax.vmap(lambda *made, site=site, kernel=kernel: assemble(site, list(made), kernel))(*parts)
            roots, back = self._back(site)
            for root, share in zip(roots, jax.vmap(back)(each)[0], strict=True):
                found[root] = found[root] + share if root in found else share
        return [found[leaf] for leaf in self.group.leaves]

    def _back(self, site: Site) -> tuple[list[int], Callable[[Array], Any]]:
        """From a gradient of the site's weight to gradients of the parameters it was computed from.

        Sums over examples come this way too, so a cast in the model must not round what goes back.
        """
        roots = sorted(site.roots)
        if site.plain:
            leaf = self.leaves[roots[0]]
            kind = norms.wide(leaf.dtype)
            _, moved = jax.vjp(_relabelled(self.flat, site.weight), leaf.astype(kind))
            return roots, lambda each: (list(moved(each.astype(kind))),)
        compute = _weight_of(self.flat, site.weight, roots, self.leaves)
        value, back = jax.vjp(compute, [self.leaves[root] for root in roots])
        return roots, lambda each: back(each.astype(value.dtype))

    def total(self, factor: Array, counts: Array) -> dict[int, Array]:
        """The weighted sum of this group's gradients, from what `measure` left."""
        way = self.group.way
        if way in ("copy", "sum"):
            leaves = self.group.copied if way == "copy" else self.group.leaves
            return {leaf: norms.weigh(factor, counts, each) for leaf, each in zip(leaves, self.kept, strict=True)}
        if way == "rows":
            site = self.group.sites[0]
            scaled = norms.only(counts, self.kept[0] * factor[:, None, None])
            return self._placed(site, add_rows(site, self.where, scaled, self.kernel))
        if way == "direct":
            parts = [norms.weigh(factor, counts, each) for each in self.kept]
            return self._placed(self.group.sites[0], assemble(self.group.sites[0], parts, self.kernel))
        whole: Array = 0
        for site, given, pulled in zip(self.group.sites, self.given, self.pulled, strict=True):
            scaled = norms.only(counts, norms.scaled(factor, pulled))
            whole = whole + weighted(site, norms.only(counts, given), scaled, self.kernel)
        return self._placed(self.group.sites[0], whole)

    def _placed(self, site: Site, whole: Array) -> dict[int, Array]:
        roots, back = self._back(site)
        return dict(zip(roots, back(whole)[0], strict=True))

    def second(self, inputs: dict[Site, Array], pulled: dict[Any, Array], counts: Array) -> dict[int, Array]:
        """The sum of this group's gradients from a second pass back, which carried the factors.

        Not where anything has fewer than 32 bits: see `_rough`.
        """
        found = {leaf: jnp.sum(norms.only(counts, pulled[leaf]), axis=0) for leaf in self.group.copied}
        for site in self.group.sites:
            kernel = tuple(self.flat.shapes[site.weight].shape)
            given, scaled = norms.only(counts, inputs[site]), norms.only(counts, pulled[site])
            if site.kind == "lookup":
                where, rows = row_gradients(site, given, scaled)
                whole = add_rows(site, where, rows, kernel)
            else:
                whole = weighted(site, given, scaled, kernel)
            for root, share in self._placed(site, whole).items():
                found[root] = found[root] + share if root in found else share
        return found


def _squares(arrays: list[Array]) -> Array:
    sums = [norms.square_sum(each) for each in arrays]
    return sums[0] if len(sums) == 1 else norms.row_sum(jnp.stack(sums, axis=1))


def _blockwise(array: Array) -> Array:
    """Sums of squares for every example and block."""
    return norms.square_sum(array.reshape(-1, *array.shape[2:])).reshape(array.shape[:2])


def _side_by_side(arrays: Any) -> Array:
    arrays = list(arrays)
    return arrays[0] if len(arrays) == 1 else jnp.concatenate(arrays, axis=2)


def clip_by_sites(
    parts: Parts,
    leaves: list[Array],
    rows: list[Array],
    clip: Callable[[norms.Measured], tuple[Array, Array]],
    *,
    twice: bool,
    operands: Any | None = None,
) -> tuple[list[Array], Array, Array]:
    """The clipped sum (one array for each parameter), squared norms and losses [examples, copies].

    `rows` carry two leading axes, examples and copies. `clip` gives the factors.
    `twice` spends a second pass back instead of memory. Sums have 32 bits at least, whatever the parameters have.
    """
    flat = parts.flat
    examples = rows[0].shape[0]
    copied = [leaf for one in parts.groups for leaf in one.copied]
    keys: list[Any] = [*parts.sites, *copied]
    taps = [jnp.zeros((examples, *_shape(flat, key)), _type(flat, key)) for key in keys]

    def forward(taps: list[Array]) -> tuple[Array, list[Array]]:
        walk = _Forward(parts, leaves, rows, taps)
        made = walk.walked()
        return made, [walk.inputs[site] for site in parts.sites]

    losses, back, given = jax.vjp(forward, taps, has_aux=True)
    inputs = dict(zip(parts.sites, given, strict=True))
    copies = losses.shape[1]
    seeds = jnp.full(losses.shape, 1 / copies, losses.dtype)
    pulled = dict(zip(keys, back(seeds)[0], strict=True))
    gradients = [_Gradients(parts, one, leaves, operands) for one in parts.groups if one.way != "none"]
    measured = norms.Measured(jnp.zeros(examples))
    for one in gradients:
        measured = measured + one.measure(inputs, pulled)
    factor, counts = clip(measured)
    total: dict[int, Array] = {}
    if twice and not _rough(flat):
        again = dict(zip(keys, back(seeds * factor[:, None].astype(seeds.dtype))[0], strict=True))
        for one in gradients:
            total.update(one.second(inputs, again, counts))
    else:
        for one in gradients:
            total.update(one.total(factor, counts))
    whole = [
        total[place].astype(norms.wide(leaf.dtype)) if place in total else jnp.zeros(leaf.shape, norms.wide(leaf.dtype))
        for place, leaf in enumerate(leaves)
    ]
    return whole, measured.square, losses


def _rough(flat: Flat) -> bool:
    """Whether anything is computed in fewer than 32 bits.

    A second pass back would then round factors, and sums pulled back through a weight's own steps, to so few bits. What
    the first pass left is added up instead.
    """
    kinds = {one.dtype for one in flat.shapes.values() if hasattr(one, "dtype")}
    return any(norms.wide(kind) != kind for kind in kinds)


def _shape(flat: Flat, key: Any) -> tuple[int, ...]:
    value = key.step.outputs[0] if isinstance(key, Site) else flat.leaves[key]
    return tuple(flat.shapes[value].shape)


def _type(flat: Flat, key: Any) -> Any:
    value = key.step.outputs[0] if isinstance(key, Site) else flat.leaves[key]
    return flat.shapes[value].dtype
