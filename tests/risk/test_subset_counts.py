"""Counts over random halves: the transform counts who is asked about, and answers are off by what is said."""

import numpy as np
import pytest

from chance import frequency_fits
from discreet.noise.replay import Replay
from discreet.risk.subset_counts import curator_answers, random_halves, sloppy_answers

PEOPLE, QUESTIONS = 50, 200


@pytest.fixture(name="asked")
def asked_fixture():
    return random_halves(PEOPLE, QUESTIONS, Replay(b"halves"))


def matrix(asked):
    return np.array([asked.asked(question) for question in range(len(asked.rows))])


def test_counts_and_sums_are_those_of_the_matrix_that_is_never_made(asked):
    secret = np.arange(PEOPLE) % 3 == 0
    assert (asked.count(secret) == matrix(asked) @ secret.astype(int)).all()
    signs = np.where(matrix(asked), 1, -1)
    values, answers = np.arange(PEOPLE) / 7, np.arange(QUESTIONS) / 3
    assert asked.sums(values) == pytest.approx(signs @ values)
    assert asked.shares(answers) == pytest.approx(signs.T @ answers)


def test_questions_and_people_are_all_different(asked):
    assert len(set(asked.rows.tolist())) == QUESTIONS
    assert len(set(asked.columns.tolist())) == PEOPLE
    assert 0 not in asked.columns
    assert asked.people == PEOPLE
    assert asked.order == 256
    assert random_halves(256, 10).order == 512  # a column is nobody's
    assert random_halves(3, 256).order == 256


@pytest.mark.statistical
def test_every_person_and_every_pair_is_asked_about_as_in_halves_drawn_one_by_one():
    together = apart = 0
    for draw in range(100):
        inside = matrix(random_halves(4, 40, Replay(draw.to_bytes(2, "big"))))
        apart += int(inside[:, 0].sum())
        together += int((inside[:, 0] & inside[:, 1]).sum())
    # Questions of one draw are drawn without replacement: less spread than independent ones, so the test is safe.
    assert frequency_fits(apart, 4000, 0.5)
    assert frequency_fits(together, 4000, 0.25)
    assert not frequency_fits(together, 4000, 0.35)


def test_answers_are_off_by_no_more_than_said(asked):
    secret = np.arange(PEOPLE) % 3 == 0
    off = np.abs(sloppy_answers(asked, secret, 2.5) - asked.count(secret))
    assert 1 < off.max() <= 2.5
    assert np.abs(curator_answers(asked, secret, 1e6) - asked.count(secret)).max() == 0
    assert np.abs(curator_answers(asked, secret, 1) - asked.count(secret)).max() > 100
