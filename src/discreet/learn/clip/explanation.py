"""What clipping does with each parameter, in words, and a warning where it takes more memory than it should."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import jax

from discreet.learn.clip.forward import Parts
from discreet.learn.clip.groups import IN_PASSING, WAYS, Group
from discreet.learn.clip.sites import Site

__all__ = ["explain_parts", "warn_of_copies"]

_LARGE = 2**14  # bytes an example: less is not worth a warning
# Steps whose result is at least as large as what goes in: a copy there is no larger than the data it meets.
_ENTRYWISE = {"add", "sub", "mul", "div", "add_any", "max", "min", "pow", "atan2", "select_n", "concatenate", "pad"}
_REASONS = {
    "dot_general": "the weight is computed or picked anew in every turn: let a scan take slices of a stack instead",
    "conv_general_dilated": "the weight is computed or picked anew in every turn, or the data is the kernel",
    "gather": "entries are picked by more than a row number",
    "dynamic_slice": "which part is taken depends on data",
    "scan": "what a scan carries starts from it",
    "while": "a loop without a fixed number of turns",
    "cond": "branches are not looked into",
}
_CLOSED = "this step is not looked into"

Tree = Any


def explain_parts(parts: Parts, params: Tree) -> str:
    """One line for each parameter: its name, where it meets data, and how its gradients are found."""
    names = _names(params)
    lines = []
    for leaf, name in enumerate(names):
        own = [one for one in parts.groups if leaf in one.leaves]
        uses = [_words(site) for one in own for site in one.sites if leaf in site.roots]
        ways = dict.fromkeys(_way(one) for one in own)
        shape = "x".join(map(str, parts.flat.shapes[parts.flat.leaves[leaf]].shape)) or "scalar"
        lines.append(f"{name} [{shape}] {', '.join(dict.fromkeys(uses)) or 'unused'}: {'; '.join(ways)}")
    return "\n".join(lines)


def warn_of_copies(parts: Parts, params: Tree) -> None:
    """Warn, once for a model, of parameters whose whole gradient is written out for each example for want of a rule."""
    names = _names(params)
    lines = [line for one in parts.groups for line in _costly(parts, one, names)]
    if lines:
        _warn("\n".join(["clipping writes these out for each example, which takes memory and time:", *lines]))


@lru_cache(maxsize=256)
def _warn(text: str) -> None:
    warnings.warn(f"{text}\n`explain` says what is done with each parameter.", UserWarning, stacklevel=6)


def _costly(parts: Parts, one: Group, names: list[str]) -> list[str]:
    shapes = parts.flat.shapes
    if one.way == "copy":
        site = one.sites[0]
        uses = [use for use in site.uses if use not in _ENTRYWISE]
        size = shapes[site.weight].size * shapes[site.weight].dtype.itemsize
        for turns in site.turns:
            size *= turns
        if size < _LARGE or not uses:
            return []
        reasons = ", ".join(f"{use} ({_REASONS.get(use, _CLOSED)})" for use in uses)
        return [f"  {names[one.leaves[0]]}: {size:,} bytes an example, copied for {reasons}"]
    size = 4 * sum(shapes[parts.flat.leaves[leaf]].size for leaf in one.leaves)
    if one.way != "sum" or len(one.sites) == 1 or size < _LARGE:
        return []
    uses = list(dict.fromkeys(_words(site) for site in one.sites))
    named = ", ".join(names[leaf] for leaf in one.leaves)
    return [f"  {named}: {size:,} bytes an example, added up over {' and '.join(uses)}"]


def _names(params: Tree) -> list[str]:
    return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(params)]


def _way(one: Group) -> str:
    return f"{one.way} ({IN_PASSING if one.passing else WAYS[one.way]})"


def _words(site: Site) -> str:
    turns = f" in {' x '.join(map(str, site.lengths))} turns" if site.scans else ""
    if site.kind == "copy":
        return f"copied for {', '.join(site.uses)}{turns}"
    size = f"{site.inner}x{site.outer}" + (f" in {site.blocks} blocks" if site.blocks > 1 else "")
    return f"{site.kind} {size} at {site.reach} place{'s' * (site.reach > 1)}{turns}"
