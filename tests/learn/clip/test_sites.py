"""Where parameters meet data: products, convolutions and look-ups are found with their sizes, all else is copied."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp

from discreet.learn.clip.flat import trace
from discreet.learn.clip.sites import find_sites


def sites_of(losses, params, batch):
    flat, _ = trace(losses, params, batch, copies=1)
    sites, _ = find_sites(flat)
    names = [jax.tree_util.keystr(path, simple=True) for path, _ in jax.tree_util.tree_leaves_with_path(params)]
    named = [(site, {names[root] for root in site.roots}) for site in sites]
    copied = set().union(*(roots for site, roots in named if site.kind == "copy"))
    return [(site, roots) for site, roots in named if site.kind != "copy"], copied


def test_a_dense_net_has_a_site_for_each_matrix_and_copies_of_the_rest():
    sites, copied = sites_of(*clip_models.mlp())
    assert [(site.kind, roots) for site, roots in sites] == [("dense", {"a"}), ("dense", {"c"})]
    assert [(site.blocks, site.reach, site.inner, site.outer) for site, _ in sites] == [(1, 1, 5, 8), (1, 1, 8, 3)]
    assert all(site.plain for site, _ in sites)
    assert copied == {"b", "scale"}


def test_convolutions_have_as_many_inner_numbers_as_a_window_holds():
    sites, _ = sites_of(*clip_models.convolutions())
    found = {site.kind for site, _ in sites}
    assert found == {"convolution", "dense"}
    first = sites[0][0]
    assert (first.inner, first.outer, first.offsets, first.blocks) == (27, 8, 9, 1)
    assert sites[1][0].blocks == 2  # groups of features
    standardised = [site for site, roots in sites if roots == {"four", "gain"}]
    assert len(standardised) == 2
    assert not any(site.plain for site in standardised)
    assert standardised[0].layout == standardised[1].layout  # used twice in the same way: gradients add up


def test_a_lookup_is_a_site_and_indices_worked_out_from_parameters_are_not():
    table = {"table": jnp.ones((7, 4))}
    (site, roots), *rest = sites_of(lambda p, i: p["table"][i].sum(axis=(1, 2)), table, jnp.zeros((5, 3), int))[0]
    assert (site.kind, site.reach, site.inner, site.outer, roots, rest) == ("lookup", 3, 7, 4, {"table"}, [])
    sites, copied = sites_of(lambda p, x: jnp.sort(p["w"] * x).sum(axis=1), {"w": jnp.ones(3)}, jnp.ones((5, 3)))
    assert (sites, copied) == ([], {"w"})


def test_a_loss_of_parameters_alone_copies_them():
    _, copied = sites_of(lambda p, x: jnp.full(x.shape[:1], p["w"].sum()), {"w": jnp.ones(3)}, jnp.ones((5, 3)))
    assert copied == {"w"}
