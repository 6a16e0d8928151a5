"""Neighbours that an audit finds by itself."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit.layout import Raised
from discreet.audit.proposals import hunt, propose
from discreet.core import Pure
from discreet.errors import InputError
from discreet.mechanisms import Laplace

NOISE = Laplace(scale=1)


def noisy(count):
    return lambda rows, runs: NOISE.release(np.full(runs, count(rows)))


BUGS = {
    "clipped to 3, noise for 1": lambda rows: sum(min(row, 3) for row in rows),
    "the empty table has an answer of its own": lambda rows: len(rows) if rows else -10,
    "ties are counted twice": lambda rows: len(rows) + 5 * (rows.count(9) > 3),
}


@pytest.mark.parametrize("count", BUGS.values(), ids=BUGS)
def test_a_planted_bug_is_found_without_a_pair_to_begin_with(count):
    found = hunt(noisy(count), [1, 2, 9], Pure(1), runs=30_000, confidence=1 - 1e-9)
    assert found.violated
    assert found.data is not None


def test_a_true_claim_is_not_refuted_by_the_search():
    wrong = sum(hunt(noisy(len), [1, 2, 9], Pure(1), runs=1_000, confidence=0.999).violated for _ in range(8))
    assert wrong <= 2  # P[binomial(8, 0.001) > 2] < 1e-7, and the audits are careful


def test_tables_on_which_a_mechanism_never_runs_are_passed_over():
    def release(rows, runs):
        if 9 in rows:
            return [Raised("ValueError", "nine")] * runs
        return NOISE.release(np.full(runs, len(rows))).tolist()

    found = hunt(release, [1, 9], Pure(1), runs=10_000, confidence=1 - 1e-9)
    assert found.violated
    assert "ValueError" in found.event


def test_rows_that_are_replaced_keep_their_number():
    for proposal in propose([1, 2, 9], how="replaced"):
        inside, outside = proposal.pair()
        assert len(inside) == len(outside)
    bug = noisy(lambda rows: sum(rows))
    assert hunt(bug, [0, 1, 4], Pure(1), how="replaced", runs=20_000, confidence=1 - 1e-9).violated


def test_arrays_stay_arrays_and_values_may_be_given():
    seen = set()

    def release(rows, runs):
        seen.add((type(rows), rows.shape[1:]))
        return NOISE.release(np.full(runs, int(rows[:, 0].max(initial=0))))

    found = hunt(release, np.zeros((4, 2)), Pure(1), values=[np.array([50.0, 0.0])], runs=20_000, confidence=1 - 1e-9)
    assert found.violated
    assert seen == {(np.ndarray, (2,))}


@pytest.mark.parametrize("rows", [[], 3, "text"])
def test_what_are_no_rows_is_refused(rows):
    with pytest.raises(InputError):
        hunt(noisy(len), rows, Pure(1), runs=1000)
    with pytest.raises(InputError):
        propose([1], how="moved")
