"""Models of class sizes find the parameters of populations that were made by them."""

import numpy as np
import pytest

from discreet.risk.population_models import MODELS, TAIL, Spread


def _population(law):
    draw = np.random.default_rng(11)
    match law:
        case "SNB":
            sizes = 1 + draw.negative_binomial(0.5, 0.1, 20_000)
        case "Poisson-gamma":
            sizes = draw.poisson(draw.gamma(0.4, 12.0, 20_000))
        case "Poisson-lognormal":
            sizes = draw.poisson(np.exp(0.3 + 1.5 * draw.normal(size=20_000)))
        case "Pitman":
            sizes = _restaurant(draw, 40_000, 0.5, 500)
    return sizes[sizes > 0]


def _restaurant(draw, people, alpha, theta):
    """Pitman's urn: each person joins a class by its size, or begins a new one."""
    sizes = np.zeros(people, dtype=np.int64)
    owner = np.zeros(people, dtype=np.int64)
    many = 0
    for person, u, v in zip(range(people), draw.random(people), draw.random(people), strict=True):
        old = owner[int(u * person)] if person else 0
        new = (theta + alpha * many) / (theta + person)
        if person == 0 or v < new:
            owner[person], sizes[many], many = many, 1, many + 1
            continue
        # A class is joined with weight size - alpha: pick by size, and keep the pick with chance 1 - alpha / size.
        while draw.random() > (sizes[old] - alpha) / sizes[old]:
            old = owner[draw.integers(0, person)]
        owner[person] = old
        sizes[old] += 1
    return sizes[:many]


def _sampled(sizes, share):
    draw = np.random.default_rng(4)
    people = np.repeat(np.arange(len(sizes)), sizes)
    seen = np.bincount(draw.permutation(people)[: int(share * len(people))])
    counts = np.bincount(seen[seen > 0])
    there = np.flatnonzero(counts)
    return Spread(there, counts[there].astype(float), int(share * len(people)), len(people))


@pytest.mark.parametrize("law", ["SNB", "Poisson-gamma", "Poisson-lognormal", "Pitman"])
def test_a_model_is_right_about_a_population_of_its_own(law):
    sizes = _population(law)
    spread = _sampled(sizes, 0.2)
    fit = MODELS[law](spread)
    assert fit.alone == pytest.approx((sizes == 1).sum(), rel=0.15)
    assert fit.kinds == pytest.approx(len(sizes), rel=0.08)
    assert np.abs(fit.expected - spread.binned).sum() < 0.1 * spread.many.sum()
    others = {name: model(spread).alone for name, model in MODELS.items() if name != law}
    assert any(abs(other / (sizes == 1).sum() - 1) > 0.3 for other in others.values())  # Must fail: some other is not


def test_zayatz_is_its_formula():
    """By hand: two rows alone and a pair, of a population of eight."""
    spread = Spread(np.array([1, 2]), np.array([2.0, 1.0]), 4, 8)
    once_of_one, once_of_two = 4 / 8, 2 * 4 / 8 * 4 / 7
    chance = 2 / 3 * once_of_one / (2 / 3 * once_of_one + 1 / 3 * once_of_two)
    assert MODELS["Zayatz"](spread).alone == pytest.approx(2 * chance * 2)


def test_a_sample_of_large_classes_is_binned_at_the_tail():
    spread = Spread(np.array([1, TAIL, TAIL + 1, 900]), np.array([3.0, 2.0, 1.0, 1.0]), 1100, 5000)
    assert spread.binned[[0, TAIL - 1, TAIL]].tolist() == [3, 2, 2]
    assert spread.binned.sum() == 7
