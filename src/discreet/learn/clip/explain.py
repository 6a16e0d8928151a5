"""Which way `auto` goes for each parameter, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from discreet.learn.clip.clipping import parts_of
from discreet.learn.clip.groups import WAYS
from discreet.learn.clip.sites import Site

__all__ = ["explain"]


def explain(
    losses: Callable[[Any, Any], Any], params: Any, batch: Any, *, copies: int = 1, keep: bool | None = None
) -> str:
    """One line for each parameter: its name, where it meets data, and how its gradients are found.

    Arrays or `jax.ShapeDtypeStruct`s will do: only shapes are looked at.
    """
    examples = jax.tree.leaves(batch)[0].shape[0] // copies
    parts = parts_of(losses, params, batch, copies, examples=examples, keep=keep)
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(params)]
    lines = {}
    for one in parts.groups:
        for leaf in one.leaves:
            own = [_words(site) for site in one.sites if leaf in site.roots]
            if leaf in one.copied:
                own.append("other uses")
            shape = "x".join(map(str, parts.flat.shapes[parts.flat.leaves[leaf]].shape)) or "scalar"
            lines[leaf] = f"{names[leaf]} [{shape}] {', '.join(own) or 'unused'}: {one.way} ({WAYS[one.way]})"
    return "\n".join(lines[leaf] for leaf in sorted(lines))


def _words(site: Site) -> str:
    size = f"{site.inner}x{site.outer}" + (f" in {site.blocks} blocks" if site.blocks > 1 else "")
    return f"{site.kind} {size} at {site.reach} place{'s' * (site.reach > 1)}"
