"""Bits are solved for without a matrix, as well as with one."""

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.risk.bit_solver import rebuild_bits, solve_program, solve_squares
from discreet.risk.draws import draw_bits
from discreet.risk.subset_counts import random_halves, sloppy_answers

PEOPLE, QUESTIONS = 60, 240


@pytest.fixture(name="puzzle")
def puzzle_fixture():
    bits = Replay(b"puzzle")
    secret, asked = draw_bits(bits, PEOPLE), random_halves(PEOPLE, QUESTIONS, bits)
    return asked, sloppy_answers(asked, secret, 8.0, bits), secret


def matrix(asked):
    return np.array([asked.asked(question) for question in range(len(asked.rows))], dtype=float)


def test_least_squares_are_those_of_the_matrix(puzzle):
    """With one more unknown, of the same sign in every question, as the number of all has."""
    asked, answers, _ = puzzle
    dense = matrix(asked)
    signs = np.hstack([np.ones((QUESTIONS, 1)), 2 * dense - 1])
    exact = np.linalg.lstsq(signs, 2 * answers - dense.sum(axis=1), rcond=None)[0]
    assert solve_squares(asked, answers) == pytest.approx(exact[1:], abs=1e-4)


def test_the_linear_program_is_within_a_percent_of_the_least_largest_miss(puzzle):
    asked, answers, _ = puzzle
    dense = matrix(asked)
    signs = np.hstack([np.ones((QUESTIONS, 1)), 2 * dense - 1])
    sums = 2 * answers - dense.sum(axis=1)

    def miss(bits):
        """Of these bits, with the number of all that fits them best."""
        rest = signs[:, 1:] @ bits - sums
        return (rest.max() - rest.min()) / 2

    rows = np.vstack([np.hstack([side * signs, -np.ones((QUESTIONS, 1))]) for side in (1, -1)])
    best = linprog(
        [0] * (PEOPLE + 1) + [1],
        A_ub=rows,
        b_ub=np.concatenate([sums, -sums]),
        bounds=[(None, None)] + [(-0.5, 0.5)] * PEOPLE + [(0, None)],
        method="highs",
    )
    found = solve_program(asked, answers)
    assert np.abs(found).max() <= 0.5
    assert best.fun <= miss(found) + 1e-9
    assert miss(found) <= 1.01 * best.fun
    assert miss(solve_squares(asked, answers)) > 1.01 * best.fun  # the test would notice another solver


@pytest.mark.parametrize("way", ["squares", "program"])
def test_exact_counts_are_solved_exactly(puzzle, way):
    asked, _, secret = puzzle
    assert (rebuild_bits(asked, asked.count(secret).astype(float), way) == secret).all()
    nobody = np.zeros(PEOPLE, dtype=bool)
    assert not rebuild_bits(asked, asked.count(nobody).astype(float), way).any()


def test_answers_that_cannot_be_are_refused(puzzle):
    asked, answers, _ = puzzle
    for wrong in (np.nan, np.inf):
        with pytest.raises(InputError, match="finite"):
            rebuild_bits(asked, np.where(np.arange(QUESTIONS) == 3, wrong, answers), "program")
    with pytest.raises(InputError, match="way"):
        rebuild_bits(asked, answers, "luck")
