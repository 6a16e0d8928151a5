"""Which way each parameter's per-example gradients are found, chosen by what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import jax

from discreet.learn.clip.flat import Flat
from discreet.learn.clip.sites import Site

__all__ = ["WAYS", "Group", "group"]

WAYS = {
    "product": "norm = |input| x |cotangent|; weighted sum by one product",
    "gram": "norm from inner products of inputs and of cotangents; weighted sum by one product",
    "direct": "per-example gradients by batched products, kept for the weighted sum",
    "again": "per-example gradients by batched products for the norm, weighted sum by one more product",
    "rows": "gradients of the rows looked up",
    "copy": "a copy of the parameter for each example (as vmap does)",
    "sum": "per-example gradients of every use, added up",
    "none": "no gradient: the loss does not depend on it, or it holds whole numbers",
}


@dataclass(frozen=True, eq=False)
class Group:
    """Parameters whose gradients must be added up together before a norm is taken, and the way it is done."""

    leaves: tuple[int, ...]
    sites: tuple[Site, ...]
    copied: tuple[int, ...]
    way: str


def group(
    flat: Flat, sites: list[Site], copied: frozenset[int], examples: int, keep: bool | None = None
) -> list[Group]:
    """Parameters that share a site belong together; each such group gets its way.

    `keep` says whether to keep per-example gradients for the weighted sum: always, never, or where it costs less.
    """
    parts: list[set[int]] = []
    for site in sites:
        joined = set(site.roots)
        apart = []
        for part in parts:
            if part & joined:
                joined |= part
            else:
                apart.append(part)
        parts = [*apart, joined]
    lone = set(range(len(flat.leaves))) - set().union(*parts)
    parts += [{leaf} for leaf in lone]
    left = _memory()
    groups = []
    for part in sorted(parts, key=min):
        own = tuple(site for site in sites if site.roots & part)
        copies = tuple(sorted(copied & part))
        way = _way(own, copies, keep)
        size = 4 * examples * sum(flat.shapes[flat.leaves[leaf]].size for leaf in part)
        if way == "direct" and keep is None and size > left:
            way = "again"
        elif way == "direct":
            left -= size
        groups.append(Group(tuple(sorted(part)), own, copies, way))
    return groups


def _way(sites: tuple[Site, ...], copied: tuple[int, ...], keep: bool | None) -> str:
    if not sites:
        return "copy" if copied else "none"
    first = sites[0]
    alike = all(site.layout == first.layout for site in sites)
    if copied or not first.plain or not alike:
        return "sum"
    if first.kind == "lookup":
        return "rows" if len(sites) == 1 else "sum"
    reach = sum(site.reach for site in sites)
    if reach == 1:
        return "product"
    if len(sites) == 1 and not keep and _gram_cost(first) < _direct_cost(first):
        return "gram"
    return "again" if keep is False else "direct"


def _direct_cost(site: Site) -> float:
    """Numbers moved and multiplications for one example: each offset's input written and read, the products kept."""
    whole = site.blocks * site.inner * site.outer
    moved = site.blocks * site.reach * (2 * site.inner + site.offsets * site.outer) + 3 * whole
    return moved * _traffic() + site.reach * whole


def _gram_cost(site: Site) -> float:
    """The same for products of all pairs of pixels and of places, and the weighted product afterwards."""
    whole = site.blocks * site.inner * site.outer
    pixels = site.blocks * site.pixels * site.pixels
    places = site.blocks * site.reach * site.reach
    width = site.inner / site.offsets
    multiplied = pixels * width + places * (site.outer + site.offsets) + site.reach * whole
    return (2 * pixels + 3 * places + 2 * site.blocks * site.reach * site.outer) * _traffic() + multiplied


def _traffic() -> int:
    """How many multiplications one number moved from or to memory costs."""
    return 20 if jax.default_backend() == "cpu" else 200


def _memory() -> int:
    """Bytes of per-example gradients to keep at most."""
    return (2 if jax.default_backend() == "cpu" else 16) * 2**30
