from discreet.accounting import approx, parallel, pure, zcdp
from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RealGaussianNoise,
    Sampled,
)


def test_one_kind_gives_the_worst_of_it():
    assert parallel([Pure(0.1), Pure(0.3), Pure(0.2)]) == Pure(0.3)
    assert parallel([BoundedRange(0.1), BoundedRange(0.3)]) == BoundedRange(0.3)
    assert parallel([ZCDP(0.1, 1e-6), ZCDP(0.3)]) == ZCDP(0.3, 1e-6)
    assert parallel([Approx(1, 1e-6), Approx(0.5, 1e-5)]) == Approx(1, 1e-5)
    assert parallel([LaplaceNoise(2, 1), LaplaceNoise(2, 3)]) == LaplaceNoise(2, 3)
    assert parallel([GaussianNoise(2, 1), GaussianNoise(2, 3)]) == GaussianNoise(2, 3)
    assert parallel([RealGaussianNoise(2), RealGaussianNoise(1)]) == RealGaussianNoise(1)


def test_nothing_and_equal_parts():
    assert parallel([]) == Composed([])
    assert parallel([Pure(0), Pure(0.1)]) == Pure(0.1)
    assert parallel([GaussianNoise(2, 1)] * 50) == GaussianNoise(2, 1)


def test_mixed_kinds_are_never_below_any_part():
    mixed = parallel([Pure(0.1), LaplaceNoise(2, 1), BoundedRange(0.7)])
    assert mixed == Pure(0.7)
    both = parallel([Pure(1), GaussianNoise(1, 1)])
    assert both == ZCDP(0.5)
    assert zcdp(both).rho >= zcdp(Pure(1)).rho


def test_without_a_shared_claim_the_composition_stands_in():
    parts = [ZCDP(0.01), Sampled(RealGaussianNoise(1), 0.1)]
    assert parallel(parts) == Composed(sorted(parts, key=lambda loss: type(loss).__name__))


def test_a_mean_instead_of_the_worst_would_be_caught():
    parts = [Pure(0.1), Pure(0.9)]
    assert pure(parallel(parts)).epsilon >= max(pure(part).epsilon for part in parts)
    assert sum(pure(part).epsilon for part in parts) / 2 < max(pure(part).epsilon for part in parts)
    assert approx(parallel(parts), 1e-6, tight=False).epsilon >= approx(parts[1], 1e-6, tight=False).epsilon
