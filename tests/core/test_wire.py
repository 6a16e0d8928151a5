"""Losses as JSON: exact both ways, one text for each value, nothing guessed."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RealGaussianNoise,
    Repeated,
    Sampled,
)
from discreet.core.wire import canonical, fraction, loss_from_json, loss_to_json
from discreet.errors import InputError

numbers = st.fractions(min_value=0, max_value=1000)
deltas = st.fractions(min_value=0, max_value=Fraction(99, 100))
scales = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)
shifts = st.integers(0, 10**12)
atoms = st.one_of(
    st.builds(Pure, numbers),
    st.builds(BoundedRange, numbers),
    st.builds(ZCDP, numbers, deltas),
    st.builds(Approx, numbers, deltas),
    st.builds(LaplaceNoise, scales, shifts),
    st.builds(GaussianNoise, scales, shifts),
    st.builds(RealGaussianNoise, scales),
)
losses = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(Sampled, inner, st.fractions(min_value=0, max_value=1)),
        st.builds(Repeated, inner, st.integers(0, 10**6)),
        st.builds(Composed, st.lists(inner, max_size=4)),
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(losses)
def test_a_loss_comes_back_as_it_went(loss):
    assert loss_from_json(json.loads(canonical(loss_to_json(loss)))) == loss


def test_floats_travel_as_the_fractions_they_stand_for():
    assert canonical(loss_to_json(Pure(0.1))) == '{"epsilon":"1/10","loss":"pure"}'


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        "pure",
        {"loss": "purple", "epsilon": "1"},
        {"loss": "pure"},
        {"loss": "pure", "epsilon": 1},
        {"loss": "pure", "epsilon": 0.1},
        {"loss": "pure", "epsilon": "-1"},
        {"loss": "pure", "epsilon": "1/0"},
        {"loss": "pure", "epsilon": "1e5"},
        {"loss": "pure", "epsilon": " 1"},
        {"loss": "pure", "epsilon": "9" * 5000},
        {"loss": "pure", "epsilon": "1", "delta": "0"},
        {"loss": "laplace", "scale": "1", "shift": True},
        {"loss": "laplace", "scale": "1", "shift": "1"},
        {"loss": "laplace", "scale": "0", "shift": 1},
        {"loss": "repeated", "of": {"loss": "pure", "epsilon": "1"}, "times": 2, "more": "1"},
        {"loss": "repeated", "of": None, "times": 2},
        {"loss": "composed", "of": {"loss": "pure", "epsilon": "1"}},
        {"loss": ["pure"], "epsilon": "1"},
    ],
)
def test_anything_else_is_refused(wrong):
    with pytest.raises(InputError):
        loss_from_json(wrong)


def test_depth_is_bounded_both_ways():
    deep = Pure(1)
    value = loss_to_json(deep)
    for _ in range(200):
        deep, value = Repeated(deep, 1), {"loss": "repeated", "of": value, "times": 1}
    with pytest.raises(InputError, match="deep"):
        loss_to_json(deep)
    with pytest.raises(InputError, match="deep"):
        loss_from_json(value)


@settings(deadline=None)
@given(st.fractions())
def test_fractions_come_back(value):
    assert fraction(str(value), "x") == value


def test_equal_values_have_one_text():
    assert canonical({"b": 1, "a": [True, None, "é"]}) == canonical({"a": [True, None, "é"], "b": 1})
    assert canonical("é") == '"\\u00e9"'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"x"])
def test_what_is_not_json_is_refused_without_being_shown(value):
    with pytest.raises(InputError) as caught:
        canonical({"secret": "canary", "x": value})
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None
