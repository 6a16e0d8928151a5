"""Runs the steps of a loss for a batch, with a tap wherever a gradient is to be read off on the way back.

Data carries a leading axis of examples, values of parameters alone do not. Scans stay scans and checkpoints stay
checkpoints, so a model needs the memory that whoever wrote it meant it to need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from discreet.learn.clip.flat import Flat, Step, apply_step, scan_counts
from discreet.learn.clip.groups import Group
from discreet.learn.clip.sites import Site

__all__ = ["Forward", "Parts", "Passing", "mapped"]

Array = Any
Passing = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]
"""A site measured in passing: (data, weight, meter, relay, sink) -> (what the step makes, relay)."""


@dataclass(eq=False)
class Parts:
    """A traced loss with its groups: everything that does not depend on values."""

    flat: Flat
    groups: list[Group]
    spread: frozenset[int]
    sites: list[Site] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sites = [site for one in self.groups for site in one.sites]
        self.at = {site.step: site for site in self.sites if site.kind != "copy"}
        self.copied = {site.weight: site for site in self.sites if site.kind == "copy"}
        self.passing = {one.sites[0]: one for one in self.groups if one.passing}


class Forward:
    """The values of a batch at one depth of scans and checkpoints.

    `taps` are zeros, one array for each site: in the shape of what the step makes, of the copies, or, in passing, of
    the weight. Their cotangents are what is wanted; they lead with the turns of the scans around the site. `meter` and
    `relay` belong to sites measured in passing: the cotangent of the first adds up squared norms, that of the second
    brings factors to the sites.
    """

    def __init__(
        self, parts: Parts, values: dict[int, Array], taps: dict[Site, Array], meter: Array, relay: Array,
        passing: dict[Site, Passing],
    ) -> None:  # fmt: skip
        self.parts, self.flat, self.values, self.taps = parts, parts.flat, values, taps
        self.meter, self.relay, self.passing = meter, relay, passing
        self.inputs: dict[Site, Array] = {}
        self.copies: dict[int, Array] = {}

    def run(self, steps: list[Step]) -> None:
        """Run steps in their order."""
        for step in steps:
            kinds = [self.flat.kinds[value] for value in step.inputs]
            if step.region is not None:
                made = self._scan(step) if step.name == "scan" else self._checkpoint(step)
            elif "data" not in kinds:
                made = apply_step(step, [self.values[value] for value in step.inputs])
            elif step in self.parts.at:
                made = [self._met(self.parts.at[step])]
            else:
                made = mapped(step, [self.spread(value) for value in step.inputs])
            self.values.update(zip(step.outputs, made, strict=True))

    def _met(self, site: Site) -> Array:
        data, weight = self.values[site.data], self.values[site.weight]
        if site in self.passing:
            made, self.relay = self.passing[site](data, weight, self.meter, self.relay, self.taps[site])
            return made
        self.inputs[site] = data
        given = [(self.values[value], self.flat.kinds[value] == "data") for value in site.step.inputs]
        return _tapped(mapped(site.step, given)[0], self.taps[site])

    def spread(self, value: int) -> tuple[Array, bool]:
        """A value and whether it has an axis of examples; values of parameters get one, from the tapped copies."""
        kind = self.flat.kinds[value]
        if kind != "parameter":
            return self.values[value], kind == "data"
        if value not in self.copies:
            if value in self.parts.copied:
                self.copies[value] = _copied(self.values[value], self.taps[self.parts.copied[value]])
            else:
                step = self.flat.maker[value]
                made = mapped(step, [self.spread(given) for given in step.inputs])
                self.copies.update(zip(step.outputs, made, strict=True))
        return self.copies[value], True

    def each(self, value: int) -> Array:
        """A value with an axis of examples, whatever it depends on."""
        array, spread = self.spread(value)
        return array if spread else jnp.broadcast_to(array, (self.meter.shape[1], *jnp.shape(array)))

    def _inside(self, values: dict[int, Array], taps: dict[Site, Array], relay: Array) -> Forward:
        inner = Forward(self.parts, {**self.values, **values}, {**self.taps, **taps}, self.meter, relay, self.passing)
        inner.copies = dict(self.copies)
        return inner

    def _checkpoint(self, step: Step) -> list[Array]:
        settings, region = step.params, step.region
        sites = [site for site in _within(step, self.parts) if site not in self.passing and site.kind != "copy"]

        def body(relay: Array) -> tuple[list[Array], list[Array], Array]:
            inner = self._inside({}, {}, relay)
            inner.run(region.steps)  # type: ignore[union-attr]
            return [inner.values[value] for value in step.outputs], [inner.inputs[site] for site in sites], inner.relay

        kept: Any = jax.checkpoint
        run = kept(body, policy=settings["policy"], prevent_cse=settings["prevent_cse"])
        made, inputs, self.relay = run(self.relay)
        self.inputs.update(zip(sites, inputs, strict=True))
        return list(made)

    def _scan(self, step: Step) -> list[Array]:
        settings, region, kinds = step.params, step.region, self.flat.kinds
        if region is None:
            raise TypeError("a scan without its inside")
        first, count = scan_counts(settings)
        last = first + count
        inside = [site for site in self.parts.sites if step in site.scans]
        noted = [site for site in inside if site.kind != "copy" and site not in self.passing]
        copied = [value for value in region.sliced if value in self.parts.spread and value not in self.parts.copied]
        carry = [
            self.each(value) if kinds[carried] == "data" else self.values[value]
            for value, carried in zip(step.inputs[first:last], region.carried, strict=True)
        ]
        stacks = dict(zip(region.sliced, step.inputs[last:], strict=True))
        slices = [
            jnp.moveaxis(self.values[stack], 1, 0) if kinds[stack] == "data" else self.values[stack]
            for stack in stacks.values()
        ]
        own = [jnp.moveaxis(self.each(stacks[value]), 1, 0) for value in copied]

        def body(state: tuple[list[Array], Array], given: Any) -> Any:
            carry, relay = state
            slices, own, taps = given
            values = {**dict(zip(region.carried, carry, strict=True)), **dict(zip(region.sliced, slices, strict=True))}
            inner = self._inside(values, dict(zip(inside, taps, strict=True)), relay)
            inner.copies.update(zip(copied, own, strict=True))
            inner.run(region.steps)
            made = [
                inner.values[value] if kinds[value] == "constant" else inner.each(value) for value in region.results
            ]
            made[:count] = [
                inner.each(value) if kinds[carried] == "data" else inner.values[value]
                for value, carried in zip(region.results[:count], region.carried, strict=True)
            ]
            return (made[:count], inner.relay), (made[count:], [inner.inputs[site] for site in noted])

        taps = [self.taps[site] for site in inside]
        (carry, self.relay), (stacked, inputs) = lax.scan(
            body,
            (carry, self.relay),
            (slices, own, taps),
            length=settings["length"],
            reverse=settings["reverse"],
            unroll=settings["unroll"],
        )
        self.inputs.update(zip(noted, inputs, strict=True))
        ends = [
            jnp.moveaxis(array, 0, 1) if kinds[value] == "data" else array
            for array, value in zip(stacked, step.outputs[count:], strict=True)
        ]
        return [*carry, *ends]


def mapped(step: Step, given: list[tuple[Array, bool]]) -> list[Array]:
    """Run one step for every example; each value comes with whether it has an axis of examples."""
    values = [value for value, _ in given]
    axes = [0 if spread else None for _, spread in given]
    return list(jax.vmap(lambda *each: tuple(apply_step(step, each)), in_axes=axes)(*values))


def _within(step: Step, parts: Parts) -> list[Site]:
    """The sites inside a checkpoint, in the order in which they are met."""
    sites: list[Site] = []
    for inner in step.region.steps if step.region is not None else ():
        if inner.region is not None:
            sites += _within(inner, parts)
        elif inner in parts.at:
            sites.append(parts.at[inner])
    return sites


@jax.custom_vjp
def _tapped(array: Array, tap: Array) -> Array:
    """The array itself; its cotangent is the tap's too. The zeros of the tap are never read."""
    return array


_tapped.defvjp(lambda array, tap: (array, None), lambda _, pulled: (pulled, pulled))


@jax.custom_vjp
def _copied(array: Array, tap: Array) -> Array:
    """The array for each example; what comes back for them is the tap's."""
    return jnp.broadcast_to(array, tap.shape)


_copied.defvjp(lambda array, tap: (_copied(array, tap), array), lambda array, pulled: (jnp.zeros_like(array), pulled))
