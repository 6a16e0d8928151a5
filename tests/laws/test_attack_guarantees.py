"""The private half of each attack moves by no more than its noise pays for, and half the noise is noticed."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import Laplace
from discreet.risk import averages, census, difference, heat_map, intersection, ratings, subset_counts
from discreet.risk.averages import GroupAverage, solve_averages
from discreet.risk.ratings import Ratings
from discreet.risk.subset_counts import Halves
from seam import Tape, captured

EPSILON = 0.5
SECRET = np.arange(40) % 3 == 0
# The first person, whose bit changes, is asked about in all of them.
ASKED = Halves(64, np.array([0, 4, 8, 12, 16, 20]), np.array([32, *range(1, 32), *range(33, 41)]))
PEOPLE = [(30, "F", "x"), (40, "M", "y"), (50, "M", "y")]
TABLE = ratings.draw_ratings(30, Tape("table"))
RUNS = [np.arange(heat_map.SIDE * 2) for _ in range(4)]
CLASS = {"zip": ["191**"] * 3, "illness": ["HIV", "flu", "flu"]}
FEWER = {"zip": ["191**"] * 2, "illness": ["flu", "flu"]}


def changed():
    other = SECRET.copy()
    other[0] = not other[0]
    return other


def salaries(first):
    return np.array([first, 10, 20])


def ages(first):
    """Averages of two groups that Ann, of this age, is in."""
    return GroupAverage(("Ann",), Fraction(first)), GroupAverage(("Ann", "Bob"), Fraction(first + 30, 2))


def puzzle(first, bits):
    return solve_averages(ages(first), least=20, most=60, known={}, epsilon=EPSILON, bits=bits)


def eager(people):
    """So many people of whom the last has rated every film."""
    scores = TABLE.scores[:people].copy()
    if people == 30:
        scores[-1] = 3
    return Ratings(scores, TABLE.days[:people])


def tables(rows, bits):
    return intersection.intersect(rows, rows, on=["zip"], sensitive="illness", epsilon=EPSILON, bits=bits)


# The module whose noise it is, the attack on two neighbours, and how many integers one run of it publishes.
CASES = {
    "curator_answers": (
        subset_counts,
        lambda bits: subset_counts.curator_answers(ASKED, SECRET, EPSILON, bits),
        lambda bits: subset_counts.curator_answers(ASKED, changed(), EPSILON, bits),
        6,
    ),
    "difference_means": (
        difference,
        lambda bits: difference.difference_means(salaries(0), EPSILON, bound=100, target=1, bits=bits),
        lambda bits: difference.difference_means(salaries(100), EPSILON, bound=100, target=1, bits=bits),
        2,
    ),
    "solve_averages": (averages, lambda bits: puzzle(20, bits), lambda bits: puzzle(60, bits), 2),
    "noisy_tables": (
        census,
        lambda bits: census.noisy_tables(PEOPLE, EPSILON, sexes=("F", "M"), races=("x", "y"), bits=bits),
        lambda bits: census.noisy_tables(PEOPLE[:2], EPSILON, sexes=("F", "M"), races=("x", "y"), bits=bits),
        None,
    ),
    "release_ratings": (
        ratings,
        lambda bits: ratings.release_ratings(eager(30), EPSILON, bits),
        lambda bits: ratings.release_ratings(eager(29), EPSILON, bits),
        None,
    ),
    "count_runners": (
        heat_map,
        lambda bits: heat_map.count_runners(RUNS, EPSILON, bits),
        lambda bits: heat_map.count_runners(RUNS[:3], EPSILON, bits),
        None,
    ),
}


def told_apart(one, other, many):
    """The epsilon by which two neighbours differ: what moved, over the scale of its noise."""
    runs = []
    for attack in (one, other):
        bits = Tape("attack")
        with captured(bits) as steps:
            attack(bits)
        runs.append(steps)
    assert runs[0]
    assert len(runs[0]) == len(runs[1])
    used = [pair for pair in zip(*runs, strict=True) if pair[0].mechanism.scale < 10**8]  # noise alone is the chance
    total = Fraction(0)
    for first, second in used:
        moves = [abs(a - b) for a, b in zip(first.values, second.values, strict=True)]
        total += Fraction(sum(moves[:many] if many else moves)) / first.mechanism.scale
    return total


@pytest.mark.parametrize("name", CASES)
def test_neighbours_differ_by_what_the_noise_pays_for(name):
    _, one, other, many = CASES[name]
    assert 0 < told_apart(one, other, many) <= Fraction(EPSILON)


@pytest.mark.parametrize("name", CASES)
def test_half_the_noise_is_noticed(name, monkeypatch):
    module, one, other, many = CASES[name]
    monkeypatch.setattr(module, "Laplace", lambda scale: Laplace(Fraction(scale) / 2))
    assert told_apart(one, other, many) > Fraction(EPSILON)


def test_counts_of_two_tables_move_by_one_each():
    """The tables have other classes without the person, so that here the noise is compared with the count itself."""
    found = tables(CLASS, None)
    assert found.error == Laplace(2 / Fraction(EPSILON)).error(0.95)
    counts = [intersection._classes(rows, ["zip"], "illness")[1][("191**",)] for rows in (CLASS, FEWER)]
    assert sum(abs(counts[0].get(key, 0) - counts[1].get(key, 0)) for key in {*counts[0], *counts[1]}) == 1
