"""One chain of counts in order: the whole optimum, within bounds."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.trees.chain.isotonic import isotonic, ordered

# One chain


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_isotonic_is_the_optimum(data):
    length = data.draw(st.integers(1, 4))
    draw = lambda low, high: data.draw(st.lists(st.integers(low, high), min_size=length, max_size=length))  # noqa: E731
    values, weights = draw(-3, 8), draw(1, 4)
    lower, upper = draw(0, 1), draw(2, 6)
    found = isotonic(values, weights, lower, upper)
    assert (np.diff(found) <= 0).all()
    assert (found >= lower).all()
    assert (found <= upper).all()
    cost = sum(w * (x - y) ** 2 for w, x, y in zip(weights, found.tolist(), values, strict=True))
    candidates = (c[::-1] for c in combinations_with_replacement(range(7), length))
    assert cost == min(
        sum(w * (x - y) ** 2 for w, x, y in zip(weights, c, values, strict=True))
        for c in candidates
        if all(low <= x <= high for low, x, high in zip(lower, c, upper, strict=True))
    )


def test_rows_ordered_together_are_the_rows_ordered_alone():
    chance = np.random.default_rng(3)
    rows = chance.normal(0, 1000, (200, 30)) + np.linspace(3000, 0, 30)
    together = ordered(rows)
    alone = np.concatenate([ordered(row[None, :]) for row in rows])
    assert abs(together - alone).max() < 1e-6
    assert (np.diff(together, axis=1) <= 1e-9).all()
