"""Digests are taken over values: the text of every mechanism is pinned, for paid jobs are known by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from discreet.core.digest import digest_of, text_of
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace, PartitionSelection, QuantileTree, TopK

# As 0.1 and 0.2 wrote them into digests that stand on ledgers.
PINNED = {
    Laplace(20): "Laplace(scale=Fraction(20, 1))",
    Gaussian("1/3"): "Gaussian(sigma=Fraction(1, 3))",
    TopK(2, "0.5"): "TopK(k=2, epsilon=Fraction(1, 2), sensitivity=1, monotone=False)",
    PartitionSelection(1, "1e-6"): "PartitionSelection(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000), keys=1)",
    QuantileTree(8, 1): "QuantileTree(bins=8, epsilon=Fraction(1, 1), rho=None, branching=16, rows=1)",
    Sensitivity(2, 3): "Sensitivity(each=2, outputs=3)",
}


@pytest.mark.parametrize("value", PINNED, ids=lambda value: type(value).__name__)
def test_the_text_of_a_mechanism_never_changes(value):
    assert text_of(value) == PINNED[value]


def test_plain_values_are_written_as_they_always_were():
    value = (None, True, 3, 0.1, "it's", Fraction(1, 3), (1,), ())
    assert text_of(value) == '(None, True, 3, 0.1, "it\'s", Fraction(1, 3), (1,), ())'
    assert text_of(Neighbours.ADD_REMOVE) == repr(Neighbours.ADD_REMOVE)


def test_a_class_with_looks_of_its_own_is_written_by_its_fields():
    @dataclass(frozen=True)
    class Pretty:
        scale: int
        shown: int = field(default=0, repr=False)

        def __repr__(self) -> str:
            return "pretty"

    assert text_of(Pretty(3)).endswith("Pretty(scale=3)")


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, Laplace])
def test_what_has_no_text_of_its_own_is_refused(value):
    with pytest.raises(InputError, match="digest"):
        text_of(value)


def test_a_digest_sees_every_value_and_no_order_of_names():
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 2})
    assert digest_of({"a": 1, "b": [2]}) == "ae8a9a50524642753023cd4de34447191a8651989979c60bbcc5b0eeebb6e1dc"
