"""Before anyone is asked: the published limit, the choice near it, people and errors both ways."""

import math
from fractions import Fraction

import pytest

import discreet
from discreet.errors import InputError
from discreet.local import (
    GRR,
    OLH,
    Hadamard,
    Subset,
    best,
    half_width,
    limit,
    sample_size,
)

SPEC = {(2, 1): 0.921, (100, 1): 3.60, (100, 4): 0.0648, (10_000, 1): 3.68, (10_000, 4): 0.0759}


@pytest.mark.parametrize(("case", "value"), SPEC.items())
def test_the_limit_is_the_published_one(case, value):
    assert limit(*case) == pytest.approx(value, rel=0.002)
    assert Subset(*case).variance(1, Fraction(1, case[0])) == pytest.approx(limit(*case), rel=1e-6)


@pytest.mark.parametrize("categories", [2, 3, 10, 100, 10_000])
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_the_choice_is_within_a_tenth_of_the_limit(categories, epsilon):
    choice = discreet.local.best(domain=categories, epsilon=epsilon, n=1_000_000)
    error = choice.mechanism.variance(1, Fraction(1, categories))
    assert limit(categories, epsilon) * 0.999999 <= error <= 1.1 * limit(categories, epsilon)
    assert {one.mechanism.kind for one in choice.candidates} == {"grr", "olh", "oue", "sue", "hadamard", "subset"}
    assert choice.mechanism.kind in str(choice)


def test_the_choice_explains_itself_and_obeys():
    assert best(2, 1, 100).mechanism == GRR(2, 1)
    assert "smallest" in best(["no", "yes"], 1, 100).why
    assert best(10_000, 1, 10**6).mechanism.kind == "olh"
    assert best(10_000, 1, 10**6, tolerance=0).mechanism.kind == "subset"
    assert best(10_000, 1, 10**6, bits=14).mechanism.kind == "hadamard"
    with pytest.raises(InputError, match="at least 14"):
        best(10_000, 1, 10**6, bits=3)
    for wrong in ({"domain": 1}, {"domain": []}, {"epsilon": 0}, {"n": 0}, {"tolerance": -1}, {"epsilon": math.inf}):
        with pytest.raises(InputError):
            best(**{"domain": 5, "epsilon": 1, "n": 100, **wrong})


def test_planning_goes_both_ways():
    for mechanism in (GRR(2, 1), OLH(100, 1), Hadamard(100, 2), Subset(30, 0.5)):
        for options in ({}, {"together": True}, {"frequency": 0.1, "of": "respondents"}, {"confidence": 0.99}):
            n = sample_size(mechanism, 0.03, **options)
            assert half_width(mechanism, n, **options) <= 0.03 * (1 + 1e-9)
            assert half_width(mechanism, n - 1, **options) > 0.03
    largest = max(GRR(5, 1).variance(1, f / 100, of="population") for f in range(101))
    assert half_width(GRR(5, 1), 1) == pytest.approx(1.959964 * math.sqrt(largest), rel=1e-3)
    for wrong in ({"half_width": 0}, {"half_width": 2}, {"confidence": 1}, {"mechanism": 3}, {"frequency": 2}):
        with pytest.raises(InputError):
            sample_size(**{"mechanism": GRR(2, 1), "half_width": 0.1, **wrong})
    with pytest.raises(InputError):
        half_width(GRR(2, 1), 0)
    with pytest.raises(InputError):
        GRR(2, 1).variance(10, of="nobody")
