"""Layers: parents come from codes or are given, and what makes no sense is refused."""

import pytest
from map_layers import content, layer

from discreet.errors import InputError
from discreet.show.map import Layer, choropleth


def test_parents_come_from_codes_or_are_given():
    shown = content(choropleth([layer("state", ["01", "44"]), layer("county", ["44001", "01001"])], title="t"))
    assert shown["layers"][1]["parents"] == [1, 0]
    towns = layer("town", ["x", "y"], parents=["south", "south"])
    shown = content(choropleth([layer("region", ["north", "south"]), towns], title="t"))
    assert shown["layers"][1]["parents"] == [1, 1]
    assert not any(level["shapes"] for level in shown["layers"])


# Refusals

ONE = ([1], [0], [2])


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Layer("", ["a"], {"n": ONE}), "layer"),
        (lambda: Layer("x", [], {"n": ([], [], [])}), "x.codes"),
        (lambda: Layer("x", "ab", {"n": ONE}), "x.codes"),
        (lambda: Layer("x", [1], {"n": ONE}), "x.codes"),
        (lambda: Layer("x", ["a", "a"], {"n": ([1, 1], [0, 0], [2, 2])}), "x.codes"),
        (lambda: Layer("x", ["a"], {"n": ONE}, labels=["b", "c"]), "x.labels"),
        (lambda: Layer("x", ["a"], {"n": ONE}, parents=[]), "x.parents"),
        (lambda: Layer("x", ["a"], {}), "x.outputs"),
        (lambda: Layer("x", ["a"], {1: ONE}), "x.outputs"),
        (lambda: Layer("x", ["a"], {"n": [1]}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1], None, [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1, 2], [0, 0], [2, 2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1], [3], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([float("nan")], [0], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1], [0], [float("inf")])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([1.5], [0], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([None], [0], [2])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([2**53], [0], [2**53])}), "x.outputs['n']"),
        (lambda: Layer("x", ["a"], {"n": ([0], [-(2**63)], [0])}), "x.outputs['n']"),
    ],
)
def test_a_layer_that_makes_no_sense_is_refused(make, field):
    with pytest.raises(InputError) as refused:
        make()
    assert refused.value.field == field
