"""One pass forward, one back: inputs and cotangents at every site, then norms, factors and the weighted sum.

Sites that are measured in passing take a second pass back, in which factors travel beside the cotangents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from discreet.learn.clip import norms
from discreet.learn.clip.flat import Flat, apply_step
from discreet.learn.clip.forward import Forward, Parts, Passing, mapped
from discreet.learn.clip.groups import Group
from discreet.learn.clip.measures import measure, products_of, squares
from discreet.learn.clip.pieces import add_rows, assemble, coarse, row_gradients, row_numbers, weighted
from discreet.learn.clip.sites import Site
from discreet.learn.clip.ties import measure_ties

__all__ = ["clip_by_sites", "gradients_by_sites"]

_SECOND = 2.0**-12  # of a norm: what a second pass may round otherwise than the first

Array = Any


def _weight_of(flat: Flat, value: int, roots: list[int], leaves: list[Array]) -> Callable[[list[Array]], Array]:
    """A value as a function of the parameters `roots` it is computed from."""

    def compute(chosen: list[Array]) -> Array:
        known = {**flat.constants, **dict(zip(flat.leaves, leaves, strict=True))}
        known.update({flat.leaves[root]: leaf for root, leaf in zip(roots, chosen, strict=True)})

        def read(number: int) -> Array:
            if number not in known:
                step = flat.maker[number]
                known.update(zip(step.outputs, apply_step(step, [read(at) for at in step.inputs]), strict=True))
            return known[number]

        return read(value)

    return compute


class _Gradients:
    """What one group adds: its squared norms, and later its weighted sum."""

    def __init__(self, parts: Parts, one: Group, leaves: list[Array], operands: Any | None) -> None:
        self.flat, self.group, self.leaves, self.operands = parts.flat, one, leaves, operands
        self.kept: list[Array] = []
        self.given: list[Array] = []
        self.pulled: list[Array] = []
        self.where: Array = None

    def norms_of(self, inputs: dict[Site, Array], pulled: dict[Site, Array]) -> norms.Measured:
        """Squared norms, and how much more what is added may be than that says."""
        way, sites = self.group.way, self.group.sites
        if way == "copy":
            self.kept = [pulled[sites[0]]]
        elif way == "rows":
            self.where, rows = row_gradients(sites[0], inputs[sites[0]], pulled[sites[0]])
            self.kept = [rows]
        elif way == "sum":
            self.kept = self.added(inputs, pulled)
        else:
            self.given = [inputs[site] for site in sites]
            self.pulled = [pulled[site] for site in sites]
            if way in ("gram", "tied"):  # rounded to what products round to, so that both passes agree
                self.given = [coarse(array, self.operands) for array in self.given]
                self.pulled = [coarse(array, self.operands) for array in self.pulled]
            if way == "tied":
                return measure_ties(sites, self.given, self.pulled)
            if way != "direct":
                return measure(way, sites, self.given, self.pulled, sites[0].kernel, self.operands)
            self.kept = products_of(sites, self.given, self.pulled, sites[0].kernel, self.operands)
        return norms.Measured(squares(self.kept))

    def added(self, inputs: dict[Site, Array], pulled: dict[Site, Array]) -> list[Array]:
        """Per-example gradients of the parameters themselves, over all uses."""
        sums: dict[int, Array] = {}
        for site in self.group.sites:
            kernel = site.kernel
            if site.kind == "copy":
                each = pulled[site]
            elif site.kind == "lookup":
                where, rows = row_gradients(site, inputs[site], pulled[site])
                each = jax.vmap(lambda at, add, site=site, kernel=kernel: add_rows(site, at, add, kernel))(where, rows)
            else:
                parts = products_of([site], [inputs[site]], [pulled[site]], kernel, self.operands)
                each = jax.vmap(lambda *made, site=site, kernel=kernel: assemble(site, list(made), kernel))(*parts)
            roots, back = self._back(site)
            for root, share in zip(roots, jax.vmap(back)(each)[0], strict=True):
                sums[root] = sums[root] + share if root in sums else share
        return [sums[leaf] for leaf in self.group.leaves]

    def _back(self, site: Site) -> tuple[list[int], Callable[[Array], Any]]:
        """From a gradient of the site's weight (of all turns) to gradients of the parameters it was computed from.

        Sums over examples come this way too, so a cast in the model must not round what goes back.
        """
        roots = sorted(site.roots)
        if site.view is not None:
            leaf = self.leaves[roots[0]]
            kind = norms.wide(leaf.dtype)
            _, moved = jax.vjp(site.view.apply, leaf.astype(kind))
            return roots, lambda each: (list(moved(each.astype(kind))),)
        compute = _weight_of(self.flat, site.weight, roots, self.leaves)
        value, back = jax.vjp(compute, [self.leaves[root] for root in roots])
        return roots, lambda each: back(each.astype(value.dtype))

    def total(self, factor: Array, counts: Array) -> dict[int, Array]:
        """The weighted sum of this group's gradients, from what `measure` left."""
        way, site = self.group.way, self.group.sites[0]
        if way == "sum":
            sums = [norms.weigh(factor, counts, each) for each in self.kept]
            return dict(zip(self.group.leaves, sums, strict=True))
        if way == "copy":
            return self.placed(site, norms.weigh(factor, counts, self.kept[0]))
        if way == "rows":
            scaled = norms.only(counts, self.kept[0] * factor[:, None, None])
            return self.placed(site, add_rows(site, self.where, scaled, site.kernel))
        if way == "direct":
            parts = [norms.weigh(factor, counts, each) for each in self.kept]
            return self.placed(site, assemble(site, parts, site.kernel))
        total: dict[int, Array] = {}
        for site, given, pulled in zip(self.group.sites, self.given, self.pulled, strict=True):
            scaled = norms.only(counts, norms.scaled(factor, pulled))
            if site.kind == "lookup":
                where, what = row_numbers(site, given, scaled)
                whole = add_rows(site, where, what, site.kernel)
            else:
                whole = weighted(site, norms.only(counts, given), scaled, site.kernel)
            for leaf, share in self.placed(site, whole).items():
                total[leaf] = total[leaf] + share if leaf in total else share
        return total

    def placed(self, site: Site, whole: Array) -> dict[int, Array]:
        """A gradient of the site's weight where the parameters have it."""
        roots, back = self._back(site)
        return dict(zip(roots, back(whole)[0], strict=True))


def _in_passing(one: Group, operands: Any | None) -> Passing:
    """A site that notes its squared norm on the first pass back and its weighted sum on the second.

    On the way back the cotangent of `meter` gets (square, doubt, extra^2) of each example, and that of `sink` the sum
    of gradients, times the factors that come as the cotangent of `relay`. An example whose factor is zero is left out.
    """
    site = one.sites[0].turn
    kernel = site.kernel

    def made_of(data: Array, weight: Array) -> Array:
        given = [(data, True) if value == site.data else (weight, False) for value in site.step.inputs]
        return mapped(site.step, given)[0]

    @jax.custom_vjp
    def pass_by(data: Array, weight: Array, meter: Array, relay: Array, sink: Array) -> tuple[Array, Array]:
        return made_of(data, weight), relay

    def forward(data: Array, weight: Array, meter: Array, relay: Array, sink: Array) -> Any:
        return (made_of(data, weight), relay), (data, weight, sink)

    def back(kept: tuple[Array, Array, Array], pulled: tuple[Array, Array]) -> tuple[Array, ...]:
        (data, weight, sink), (cotangent, factor) = kept, pulled
        given, pull = data, cotangent
        if one.way == "gram":
            given, pull = coarse(given, operands), coarse(pull, operands)
        measured = measure(one.way, [site], [given], [pull], kernel, operands)
        extra = 2 * (measured.extra**2 + _SECOND**2 * measured.square)  # at least the square of the sum of both
        rows = (measured.square, measured.doubt, extra)
        noted = jnp.stack([jnp.broadcast_to(row, factor.shape).astype(factor.dtype) for row in rows])
        counts = factor > 0
        scaled = norms.only(counts, norms.scaled(factor, pull))
        whole = weighted(site, norms.only(counts, given), scaled, kernel).astype(sink.dtype)
        (further,) = jax.linear_transpose(lambda data: made_of(data, weight), data)(cotangent)
        return further, jnp.zeros_like(weight), noted, factor, whole

    pass_by.defvjp(forward, back)
    return pass_by


class _Run:
    """A batch forward, and back as often as asked."""

    def __init__(self, parts: Parts, leaves: list[Array], rows: list[Array], operands: Any | None) -> None:
        self.parts, flat = parts, parts.flat
        self.examples = rows[0].shape[0]
        start = {**flat.constants, **dict(zip([*flat.leaves, *flat.batch], [*leaves, *rows], strict=True))}
        passing = {site: _in_passing(one, operands) for site, one in parts.passing.items()}
        taps = [self._tap(site) for site in parts.sites]
        self.noted = [site for site in parts.sites if site.kind != "copy" and site not in passing]

        def forward(taps: list[Array], meter: Array, relay: Array) -> tuple[Any, list[Array]]:
            run = Forward(parts, dict(start), dict(zip(parts.sites, taps, strict=True)), meter, relay, passing)
            run.run(flat.steps)
            return (run.each(flat.outcome), run.relay), [run.inputs[site] for site in self.noted]

        zeros = jnp.zeros((3, self.examples), jnp.float32), jnp.zeros(self.examples, jnp.float32)
        (self.losses, _), self._back, given = jax.vjp(forward, taps, *zeros, has_aux=True)
        self.inputs = {site: _examples_first(site, array) for site, array in zip(self.noted, given, strict=True)}
        self.seeds = jnp.full(self.losses.shape, 1 / self.losses.shape[1], self.losses.dtype)

    def _tap(self, site: Site) -> Array:
        flat = self.parts.flat
        made = flat.shapes[site.weight if site.kind == "copy" else site.step.outputs[0]]
        if site in self.parts.passing:
            weight = flat.shapes[site.weight]
            return jnp.zeros((*site.lengths, *weight.shape), norms.wide(weight.dtype))
        return jnp.zeros((*site.lengths, self.examples, *made.shape), made.dtype)

    def back(self) -> tuple[dict[Site, Array], norms.Measured]:
        """The cotangents at every site that keeps them, and the measure of all that are measured in passing."""
        pulled, meter, _ = self._back((self.seeds, jnp.zeros(self.examples, jnp.float32)))
        turns = sum(site.all_blocks for site in self.parts.passing)
        kept = {
            site: _examples_first(site, array)
            for site, array in zip(self.parts.sites, pulled, strict=True)
            if site not in self.parts.passing
        }
        square, doubt, extra = meter
        return kept, norms.Measured(square, doubt + norms.added_up(turns) * square, jnp.sqrt(extra))

    def again(self, factor: Array) -> dict[Site, Array]:
        """The weighted sums of what was measured in passing: the same pass, with factors beside the cotangents."""
        if not self.parts.passing:
            return {}
        # The barrier keeps the compiler from doing both passes in one, and all their cotangents in memory.
        barrier: Any = lax.optimization_barrier
        seeds, factor = barrier((self.seeds, factor))
        sums, _, _ = self._back((seeds, factor.astype(jnp.float32)))
        return {site: total for site, total in zip(self.parts.sites, sums, strict=True) if site in self.parts.passing}


def _examples_first(site: Site, array: Array) -> Array:
    return jnp.moveaxis(array, len(site.scans), 0)


def clip_by_sites(
    parts: Parts,
    leaves: list[Array],
    rows: list[Array],
    clip: Callable[[norms.Measured], tuple[Array, Array]],
    *,
    operands: Any | None = None,
) -> tuple[list[Array], Array, Array]:
    """The clipped sum (one array for each parameter), squared norms and losses [examples, copies].

    `rows` carry two leading axes, examples and copies. `clip` gives the factors. Sums have 32 bits at least, whatever
    the parameters have.
    """
    run = _Run(parts, leaves, rows, operands)
    pulled, measured = run.back()
    gradients = {one: _Gradients(parts, one, leaves, operands) for one in parts.groups if one.sites}
    for one, gradient in gradients.items():
        if not one.passing:
            measured = measured + gradient.norms_of(run.inputs, pulled)
    factor, counts = clip(measured)
    sums = run.again(factor)
    total = [jnp.zeros(leaf.shape, norms.wide(leaf.dtype)) for leaf in leaves]
    for one, gradient in gradients.items():
        site = one.sites[0]
        shares = gradient.placed(site, sums[site]) if one.passing else gradient.total(factor, counts)
        for leaf, share in shares.items():
            total[leaf] = total[leaf] + share.astype(total[leaf].dtype)
    return total, measured.square, run.losses


def gradients_by_sites(parts: Parts, leaves: list[Array], rows: list[Array]) -> tuple[list[Array], Array, Array]:
    """Every example's gradient, one array [examples, ...] for each parameter, squared norms, losses [examples, copies].

    The norms are as good as rounding lets them be, no upper bounds.
    """
    run = _Run(parts, leaves, rows, None)
    pulled, _ = run.back()
    each: dict[int, Array] = {}
    square = jnp.zeros(run.examples, jnp.float32)
    for one in parts.groups:
        if one.sites:
            gradient = _Gradients(parts, one, leaves, None)
            shares = gradient.added(run.inputs, pulled)
            cheap = one.way == "product"
            square = square + (gradient.norms_of(run.inputs, pulled).square if cheap else squares(shares))
            for leaf, share in zip(one.leaves, shares, strict=True):
                each[leaf] = each[leaf] + share if leaf in each else share
    whole = [
        each[index] if index in each else jnp.zeros((run.examples, *leaf.shape), norms.wide(leaf.dtype))
        for index, leaf in enumerate(leaves)
    ]
    return whole, square, run.losses
