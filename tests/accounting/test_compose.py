from fractions import Fraction

from discreet.accounting import approx, compose, pure, zcdp
from discreet.accounting.compose import terms
from discreet.core.loss import ZCDP, Approx, Composed, GaussianNoise, LaplaceNoise, Pure, Repeated, Sampled


def test_equal_losses_become_one_repeated_loss():
    assert compose([Pure(0.1)] * 3) == Repeated(Pure(0.1), 3)
    assert compose([Repeated(Pure(0.1), 2), Pure(0.1)]) == Repeated(Pure(0.1), 3)


def test_a_single_loss_stays_itself():
    assert compose([GaussianNoise(3, 1)]) == GaussianNoise(3, 1)


def test_what_costs_nothing_is_dropped():
    free = [Pure(0), ZCDP(0), Approx(0, 0), LaplaceNoise(2, 0), GaussianNoise(2, 0), Repeated(Pure(1), 0), Composed([])]
    assert compose([*free, Sampled(Pure(1), 0), Sampled(Composed([]), 0.5)]) == Composed([])
    assert compose([*free, Pure(1)]) == Pure(1)


def test_sampling_is_put_in_order():
    assert compose([Sampled(Pure(1), 1)]) == Pure(1)
    assert compose([Sampled(Sampled(Pure(1), 0.5), 0.5)]) == Sampled(Pure(1), Fraction(1, 4))
    assert compose([Sampled(Composed([Pure(1), Pure(0)]), 0.5)]) == Sampled(Pure(1), 0.5)


def test_deep_nesting_is_no_trouble():
    loss = Pure(1)
    for _ in range(5000):
        loss = Composed([loss, Pure(1)])
    assert terms(loss) == {Pure(1): 5001}


def test_ten_thousand_losses_add_up():
    """Their time is measured by bench/accounting.py; anything quadratic would be felt here too."""
    different = [Pure(Fraction(i, 10**6)) for i in range(1, 5001)] + [ZCDP(Fraction(i, 10**9)) for i in range(1, 5001)]
    total = compose([Pure(0.001)] * 10_000)
    assert pure(total) == Pure(10)
    assert zcdp(compose(different)).rho > 0
    assert approx(total, 1e-6, tight=False).epsilon < 10
