"""A person's own convex constraints and objective: the nearest numbers are found, and the bounds on them hold."""

import itertools

import numpy as np
import pytest

from discreet.constraints import AtMost, Between, Convex, Equal, Measurement, Window, fit, project
from discreet.errors import InputError

pytest.importorskip("clarabel", reason="needs discreet[constraints]")


def disc(radius, **more):
    return Convex("disc", lambda x: float(x @ x), most=radius**2, **more)


def test_the_nearest_point_of_a_disc_is_on_its_edge():
    found = fit([6.0, 8.0], [disc(5)])
    assert np.allclose(found.values, [3, 4], atol=1e-3)
    assert found.nearest
    assert found.violation < 1e-4
    given = fit([6.0, 8.0], [disc(5, gradient=lambda x: 2 * x)])
    assert np.allclose(given.values, found.values, atol=1e-4)
    assert fit([1.0, 1.0], [disc(5)]).values.tolist() == pytest.approx([1, 1])


def test_linear_and_convex_constraints_hold_together():
    found = fit([6.0, -8.0, 1.0], [disc(5), Equal("sum", [[1, 1, 1]], [4]), Between("counts")])
    assert found.values.sum() == pytest.approx(4, abs=1e-4)
    assert (found.values > -1e-6).all()
    random = np.random.default_rng(2)
    for _ in range(200):  # nothing allowed is nearer
        other = np.abs(random.normal(2, 2, 3))
        other *= 4 / other.sum()
        if other @ other <= 25:
            assert ((other - [6, -8, 1]) ** 2).sum() >= ((found.values - [6, -8, 1]) ** 2).sum() - 1e-3


def test_an_objective_comes_within_beta_of_its_optimum_from_both_sides():
    cost = Convex("cost", lambda x: float(3 * x[0] ** 2 + x[1] ** 2 + x[0]))
    true = np.array([4.0, 7.0])
    optimum = cost.value(true)
    for noisy in ([9.0, 9.0], [1.0, 2.0], [4.1, 6.9]):
        found = fit(noisy, [Between("counts")], window=Window(cost, optimum, 0.01))
        assert found.within
        assert abs(found.objective - optimum) <= 0.0101 * optimum
        assert found.objective == pytest.approx(cost.value(found.values))


def test_what_is_found_from_below_is_nearly_the_nearest():
    """Outside a disc the set is not convex; the nearest point is known."""
    found = fit([1.0, 2.0], window=Window(disc(0), 25.0, 1e-3))
    assert found.within
    assert not found.nearest  # not claimed
    assert np.hypot(*found.values) == pytest.approx(5, abs=0.02)
    assert np.hypot(*(found.values - [1, 2])) == pytest.approx(5 - np.hypot(1, 2), abs=0.05)


def test_a_window_that_cannot_be_reached_is_said_to_be_missed():
    found = fit([0.5, 0.5], [Between("box", 0, 1)], window=Window(disc(0), 25.0, 0.01))
    assert not found.within
    assert (found.values <= 1 + 1e-6).all()
    flat = fit([0.0, 0.0], window=Window(disc(0), 25.0, 0.01))  # no slope to go by
    assert not flat.within


def test_a_convex_set_that_holds_the_truth_brings_numbers_nearer():
    random = np.random.default_rng(3)
    for _ in range(20):
        true = random.uniform(-2, 2, 3)
        noisy = true + random.normal(0, 3, 3)
        found = fit(noisy, [disc(float(np.sqrt(true @ true)) + 0.1)]).values
        assert np.linalg.norm(found - true) <= np.linalg.norm(noisy - true) + 1e-3


def nearest_of(points, noisy):
    return min(points, key=lambda point: float(((point - noisy) ** 2).sum()))


def farthest_of(points, noisy):
    return max(points, key=lambda point: float(((point - noisy) ** 2).sum()))


def test_the_nearest_point_of_any_set_is_at_most_twice_as_far_from_the_truth():
    """The factor of two needs nothing but the truth in the set; one is not enough, and another point breaks two."""
    random = np.random.default_rng(4)
    worst, broken = 0.0, False
    for _ in range(400):
        points = random.integers(-3, 4, (6, 2)).astype(float)  # no convexity in six points
        true = points[0]
        noisy = true + random.normal(0, 2, 2)
        off = np.linalg.norm(noisy - true)
        ratio = np.linalg.norm(nearest_of(points, noisy) - true) / off
        worst = max(worst, ratio)
        broken |= np.linalg.norm(farthest_of(points, noisy) - true) > 2 * off
    assert 1.05 < worst <= 2
    assert broken


def test_whole_numbers_are_at_most_twice_as_far_from_the_truth():
    """Whole points are no convex set: what is proven to be the nearest of them keeps to the factor of two."""
    random = np.random.default_rng(5)
    known = [Equal("total", [[1, 1, 1]], [6]), Between("counts")]
    all_points = [np.array(p, float) for p in itertools.product(range(7), repeat=3) if sum(p) == 6]
    worst = 0.0
    for _ in range(12):
        true = all_points[random.integers(len(all_points))]
        noisy = true + random.normal(0, 1.5, 3)
        found = project([Measurement("noisy", None, noisy)], known, whole=True)
        assert found.proven
        assert np.allclose(((found.values - noisy) ** 2).sum(), ((nearest_of(all_points, noisy) - noisy) ** 2).sum())
        worst = max(worst, np.linalg.norm(found.values - true) / np.linalg.norm(noisy - true))
    assert worst <= 2


def test_functions_that_are_none_are_refused_by_name():
    with pytest.raises(InputError, match=r"cost\.function"):
        Convex("cost", 3)
    with pytest.raises(InputError, match=r"cost\.gradient"):
        Convex("cost", lambda x: 1.0, gradient=2)
    with pytest.raises(InputError, match=r"cost\.most"):
        Convex("cost", lambda x: 1.0, most=float("nan"))
    with pytest.raises(InputError, match="name"):
        Convex("", lambda x: 1.0)
    with pytest.raises(InputError, match=r"cost\.function"):
        fit([1.0], [Convex("cost", lambda x: x * float("nan"))])
    with pytest.raises(InputError, match=r"cost\.function"):
        fit([1.0, 2.0], [Convex("cost", lambda x: x)])
    with pytest.raises(InputError, match=r"cost\.gradient"):
        fit([1.0, 2.0], [Convex("cost", lambda x: float(x @ x), gradient=lambda x: 1.0)])
    with pytest.raises(InputError, match="constraints"):
        fit([1.0], [3])
    with pytest.raises(InputError, match="tolerance"):
        fit([1.0], tolerance=0.0)
    with pytest.raises(InputError, match="contradict"):
        fit([1.0], [AtMost("low", [[1]], [0]), AtMost("high", [[-1]], [-2])])
