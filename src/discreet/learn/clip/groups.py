"""Which way each parameter's per-example gradients are found, chosen by what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import jax

from discreet.learn.clip.flat import Flat
from discreet.learn.clip.sites import Site
from discreet.learn.clip.ties import are_ties

__all__ = ["IN_PASSING", "WAYS", "Group", "group"]

WAYS = {
    "product": "norm = |input| x |cotangent|; weighted sum by one product",
    "gram": "norm from inner products of inputs and of cotangents; weighted sum by one product",
    "direct": "per-example gradients by batched products, kept for the weighted sum",
    "again": "per-example gradients by batched products for the norm, weighted sum by one more product",
    "rows": "gradients of the rows looked up",
    "tied": "norm from inner products over all uses; weighted sum by a product for each",
    "copy": "a copy of the parameter for each example (as vmap does)",
    "sum": "per-example gradients of every use, added up",
    "none": "no gradient: the loss does not depend on it, or it holds whole numbers",
}
IN_PASSING = "norm in passing, weighted sum by a second pass back"


@dataclass(frozen=True, eq=False)
class Group:
    """Uses of parameters whose gradients must be added up together before a norm is taken, and the way it is done.

    `passing` groups keep nothing: the norm is taken while the pass back is at their site, and the weighted sum when a
    second pass is there. So a checkpoint around them still saves what it saves.
    """

    leaves: tuple[int, ...]
    sites: tuple[Site, ...]
    way: str
    passing: bool = False


def group(flat: Flat, sites: list[Site], examples: int, keep: bool | None = None) -> list[Group]:
    """Sites that share entries of a parameter belong together; each such group gets its way.

    `keep` says whether to keep per-example gradients for the weighted sum: always, never, or where it costs less.
    Inside checkpoints sites are measured in passing wherever that is possible, unless everything is to be kept.
    """
    parts: list[list[Site]] = []
    for site in sites:
        joined, apart = [site], []
        for part in parts:
            if any(site.meets(other) for other in part):
                joined = [*part, *joined]
            else:
                apart.append(part)
        parts = [*apart, joined]
    left = _memory()
    groups = []
    for part in sorted(parts, key=lambda part: sites.index(part[0])):
        leaves = tuple(sorted(frozenset().union(*(site.roots for site in part))))
        if keep is not True and _passes(part):
            groups.append(Group(leaves, tuple(part), _way((part[0].turn,), keep=False), passing=True))
            continue
        way = _way(tuple(part), keep)
        size = 4 * examples * sum(flat.shapes[flat.leaves[leaf]].size for leaf in leaves)
        if way == "direct" and keep is None and size > left:
            way = "again"
        elif way == "direct":
            left -= size
        groups.append(Group(leaves, tuple(part), way))
    used = {leaf for one in groups for leaf in one.leaves}
    return [*groups, *(Group((leaf,), (), "none") for leaf in range(len(flat.leaves)) if leaf not in used)]


def _passes(sites: list[Site]) -> bool:
    """Whether a norm should be taken in passing, and can: no other site or turn has a part in the same gradient."""
    site = sites[0]
    alone = len(sites) == 1 and site.plain and site.kind in ("dense", "convolution") and all(site.stacked)
    return alone and site.checkpointed


def _way(sites: tuple[Site, ...], keep: bool | None) -> str:
    first = sites[0]
    alike = all(site.layout == first.layout for site in sites)
    if len(sites) > 1 and (not alike or first.kind == "lookup") and are_ties(sites) and not keep and _ties_pay(sites):
        return "tied"
    if not first.plain or not alike:
        return "sum"
    if first.kind in ("lookup", "copy"):
        return {"lookup": "rows", "copy": "copy"}[first.kind] if len(sites) == 1 else "sum"
    places = sum(site.all_places for site in sites)
    if places == 1:
        return "product"
    if len(sites) == 1 and not keep and _has_pairs(first) and _gram_cost(first) < _direct_cost(first):
        return "gram"
    return "again" if keep is False else "direct"


def _ties_pay(sites: tuple[Site, ...]) -> bool:
    """Whether inner products between all places are so few that a table for each example would take longer."""
    return 16 * sum(site.all_places for site in sites) ** 2 <= sites[0].inner * sites[0].outer


def _has_pairs(site: Site) -> bool:
    return site.kind == "dense" or not site.scans


def _direct_cost(site: Site) -> float:
    """Numbers moved and multiplications for one example: each offset's input written and read, the products kept."""
    whole = site.all_blocks * site.inner * site.outer
    moved = site.all_blocks * site.all_places * (2 * site.inner + site.offsets * site.outer) + 3 * whole
    return moved * _traffic() + site.all_places * whole


def _gram_cost(site: Site) -> float:
    """The same for products of all pairs of pixels and of places, and the weighted product afterwards."""
    whole = site.all_blocks * site.inner * site.outer
    pixels = site.all_places if site.kind == "dense" else site.pixels
    pixels = site.all_blocks * pixels * pixels
    places = site.all_blocks * site.all_places * site.all_places
    width = site.inner / site.offsets
    multiplied = pixels * width + places * (site.outer + site.offsets) + site.all_places * whole
    return (2 * pixels + 3 * places + 2 * site.all_blocks * site.all_places * site.outer) * _traffic() + multiplied


def _traffic() -> int:
    """How many multiplications one number moved from or to memory costs."""
    return 20 if jax.default_backend() == "cpu" else 200


def _memory() -> int:
    """Bytes of per-example gradients to keep at most."""
    return (2 if jax.default_backend() == "cpu" else 16) * 2**30
