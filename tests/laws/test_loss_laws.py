"""What every loss obeys under every accountant. A new member or a new accountant is one line here."""

from fractions import Fraction
from typing import get_args

import pytest

from discreet.accounting import approx, compose, delta, group, parallel, privacy_loss, pure, renyi_epsilon, zcdp
from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Loss,
    Pure,
    RealGaussianNoise,
    Repeated,
    Sampled,
)
from discreet.errors import LossError

MEMBERS = [
    Pure(0.3),
    BoundedRange(0.5),
    ZCDP(0.02),
    ZCDP(0.01, 1e-9),
    Approx(0.2, 1e-8),
    LaplaceNoise(10, 3),
    GaussianNoise(8, 2),
    RealGaussianNoise(5),
    Sampled(RealGaussianNoise(2), 0.05),
    Sampled(GaussianNoise(4, 1), 0.1),
    Sampled(LaplaceNoise(4, 1), 0.1),
    Sampled(Pure(0.5), 0.2),
    Sampled(Composed([GaussianNoise(6, 1), Pure(0.1)]), 0.2),
    Repeated(GaussianNoise(20, 1), 3),
    Composed([Pure(0.1), GaussianNoise(9, 1)]),
]

ACCOUNTANTS = {
    "pure": lambda loss: pure(loss).epsilon,
    "zcdp": lambda loss: zcdp(loss).rho,
    "zcdp delta": lambda loss: zcdp(loss).delta,
    "approx": lambda loss: approx(loss, 1e-6).epsilon,
    "approx, closed form": lambda loss: approx(loss, 1e-6, tight=False).epsilon,
    "delta": lambda loss: delta(loss, 1),
    "distribution": lambda loss: privacy_loss(loss, 1e-3).epsilon(1e-6),
    "renyi": lambda loss: renyi_epsilon(loss, 1e-6),
}

NO_CLAIM = "no claim"


def account(name, loss):
    try:
        return ACCOUNTANTS[name](loss)
    except LossError:
        return NO_CLAIM


members = pytest.mark.parametrize("loss", MEMBERS, ids=repr)
accountants = pytest.mark.parametrize("name", ACCOUNTANTS)


def test_every_kind_of_loss_is_in_the_kit():
    assert {type(loss) for loss in MEMBERS} == set(get_args(Loss))


@members
@accountants
@pytest.mark.parametrize("times", [2, 5])
def test_repeating_is_composing_with_oneself(name, loss, times):
    assert account(name, Repeated(loss, times)) == account(name, Composed([loss] * times))


@members
@accountants
def test_the_count_counts(name, loss):
    """What an accountant that forgets the repeat count would fail."""
    once, often = account(name, loss), account(name, Repeated(loss, 10))
    if name in ("pure", "zcdp", "zcdp delta") and NO_CLAIM not in (once, often):
        assert often == 10 * once
    elif NO_CLAIM not in (once, often):
        assert often > once or once == often == 0
    else:  # a claim that exists once exists ten times
        assert once == often


def test_an_accountant_that_forgets_the_count_is_caught():
    def forgetful(loss):
        return pure(loss.loss if isinstance(loss, Repeated) else loss).epsilon

    assert forgetful(Repeated(Pure(0.3), 10)) != 10 * forgetful(Pure(0.3))
    assert forgetful(Repeated(Pure(0.3), 10)) != forgetful(Composed([Pure(0.3)] * 10))


@members
@accountants
def test_order_does_not_matter(name, loss):
    others = [Pure(0.2), GaussianNoise(30, 1)]
    assert account(name, Composed([loss, *others])) == account(name, Composed([*others[::-1], loss]))
    assert compose([loss, *others]) == compose([*others, loss])


@accountants
def test_an_empty_composition_costs_nothing(name):
    for nothing in (Composed([]), Repeated(Pure(1), 0), Composed([Composed([])]), Sampled(Pure(1), 0)):
        assert account(name, nothing) == 0


@members
@accountants
@pytest.mark.parametrize("more", [Pure(0.05), GaussianNoise(40, 1), ZCDP(0.001)], ids=repr)
def test_adding_a_loss_never_lowers_the_total(name, loss, more):
    before, after = account(name, loss), account(name, Composed([loss, more]))
    if before != NO_CLAIM and after != NO_CLAIM:
        # Distributions carry their own rounding margin, more of it for more steps.
        slack = Fraction(1, 10**6) if name in ("distribution", "delta", "approx") else 0
        assert after >= before - slack


@members
@accountants
def test_composing_changes_nothing(name, loss):
    assert account(name, compose([loss])) == account(name, loss)
    assert compose([compose([loss])]) == compose([loss])


@members
def test_a_group_of_one_is_the_loss_itself(loss):
    assert group(loss, 1) == loss


@members
def test_a_larger_group_never_costs_less(loss):
    try:
        grown = group(loss, 3)
    except LossError:
        return
    assert approx(grown, 1e-5).epsilon >= approx(loss, 1e-5).epsilon


@members
def test_one_part_alone_costs_what_it_costs(loss):
    assert parallel([loss]) == compose([loss])
    for name in ("pure", "zcdp", "approx, closed form"):
        side, own = account(name, parallel([loss, Pure(0.01)])), account(name, loss)
        if NO_CLAIM not in (side, own):
            assert side >= own


@members
def test_conversions_are_idempotent(loss):
    for name, convert in (("pure", pure), ("zcdp", zcdp), ("approx", lambda x: approx(x, 1e-6))):
        if account(name, loss) != NO_CLAIM:
            claim = convert(loss)
            assert convert(claim) == claim


@members
def test_delta_and_epsilon_agree(loss):
    claim = approx(loss, 1e-5)
    assert delta(loss, claim.epsilon + Fraction(1, 10**6)) <= claim.delta


@members
def test_every_claim_is_above_the_tightest(loss):
    """Whatever else is claimed, the best of all routes is not above it."""
    best = approx(loss, 1e-6).epsilon
    for name in ("pure", "approx, closed form", "renyi"):
        claim = account(name, loss)
        if claim != NO_CLAIM:
            assert best <= claim
