"""Whole numbers under constraints: the best there are where that is claimed, and honest where it is not."""

import itertools

import numpy as np
import pytest

from discreet.constraints import rounding as rounding_module
from discreet.constraints.projection import Terms, project
from discreet.constraints.system import AtMost, Between, Equal, Measurement, stack
from discreet.errors import InputError


def brute(asked, known, size, most):
    system = stack(known, size)
    terms = Terms.of(asked, size)
    grid = (np.array(point, dtype=float) for point in itertools.product(range(most + 1), repeat=size))
    return min(terms.objective(x) for x in grid if system.violation(x) < 1e-9)


def test_whole_numbers_are_the_best_there_are_where_that_is_claimed():
    proven = 0
    for seed in range(24):
        chance = np.random.default_rng(seed)
        rows = chance.integers(-1, 3, (3, 4)) if seed % 2 else (chance.random((3, 4)) < 0.5).astype(int)
        truth = chance.integers(0, 4, 4)
        asked = [
            Measurement("cells", None, truth + chance.integers(-4, 5, 4), variance=int(chance.integers(1, 9))),
            Measurement("sums", rows, rows @ truth + chance.integers(-4, 5, 3), variance=int(chance.integers(1, 9))),
        ]
        known = [
            Equal("e", rows[:1], rows[:1] @ truth),
            AtMost("g", rows[1:2], rows[1:2] @ truth + 1),
            Between("b", 0, 5),
        ]
        found = project(asked, known, whole=True)
        assert found.values.dtype == np.int64
        assert found.violation == 0
        if found.proven:
            proven += 1
            assert found.objective == pytest.approx(brute(asked, known, 4, 5))
    assert proven > 8


def test_a_worse_start_is_left_and_a_stopped_search_claims_nothing(monkeypatch):
    asked = [Measurement("cells", None, [5, -2, 3, 9], variance=2), Measurement("sum", [[1, 1, 1, 1]], [20])]
    known = [Equal("pair", [[1, 1, 0, 0]], [4]), Between("b", 0, 12)]
    best = brute(asked, known, 4, 12)
    monkeypatch.setattr(rounding_module, "_first", lambda box, x, until: np.array([0, 4, 12, 0]))
    assert project(asked, known, whole=True).objective == pytest.approx(best)
    monkeypatch.setattr(rounding_module, "_ROUNDS", 2)
    stopped = project(asked, known, whole=True)
    assert stopped.objective > best
    assert not stopped.proven


def test_whole_numbers_that_cannot_be_are_refused():
    noisy = Measurement("cells", None, [1.0, 1.0])
    with pytest.raises(InputError, match="whole"):
        project([noisy], [Equal("odd", [[2, 2]], [3])], whole=True)
    with pytest.raises(InputError, match="measurements hold fractions"):
        project([Measurement("cells", [[0.5, 1]], [1.0])], whole=True)
