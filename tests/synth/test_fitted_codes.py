"""Rows fitted to noisy marginals of codes and of bins, whichever these are."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.synth import fitted_codes as room
from discreet.synth.calibration import Evidence
from discreet.synth.fitted_codes import common_bins, fit_codes

SIZES = (6, 4)
WIDE = np.array([0, 0, 1, 1, 2, 2])
CROSS = np.array([0, 1, 1, 2, 2, 3])


def evidence(columns, counts, *bins):
    counts = np.asarray(counts, dtype=np.float64)
    merged = bins or (None,) * len(columns)
    return Evidence(columns, counts.shape, counts.ravel(), np.ones(counts.size), merged)


def test_bins_are_joined_until_all_can_be_counted():
    pair = evidence((0, 1), np.ones((3, 4)), WIDE, None)
    assert [one.tolist() for one in common_bins(SIZES, [pair])] == [WIDE.tolist(), [0, 1, 2, 3]]
    crossing = evidence((0, 1), np.ones((4, 4)), CROSS, None)
    assert common_bins(SIZES, [pair, crossing])[0].tolist() == [0] * 6
    assert common_bins(SIZES, [evidence((0,), np.ones(6))])[0].tolist() == list(range(6))


def test_a_single_column_in_bins_stays_in_them():
    """What is known of a bin is spread over its codes, and not taken for a count of one of them."""
    made = fit_codes(SIZES, [evidence((0,), [600, 300, 300], WIDE), evidence((1,), [300] * 4)], None)
    np.testing.assert_allclose(np.bincount(made.codes[:, 0], minlength=6), [300, 300, 150, 150, 150, 150], atol=3)


def test_bins_are_opened_as_single_columns_say():
    counts = np.zeros((3, 4))
    counts[0, 0], counts[1, 1], counts[2, 3] = 600, 300, 300
    told = [evidence((0,), [500, 100, 30, 270, 150, 150]), evidence((1,), [600, 300, 0, 300])]
    made = fit_codes(SIZES, [*told, evidence((0, 1), counts, WIDE, None)], None)
    assert made.total == pytest.approx(1200)
    np.testing.assert_allclose(np.bincount(made.codes[:, 0], minlength=6), [500, 100, 30, 270, 150, 150], atol=20)
    found = np.zeros((3, 4))
    np.add.at(found, (WIDE[made.codes[:, 0]], made.codes[:, 1]), 1)
    assert np.abs(found - counts).sum() / 2 / 1200 < 0.03


def test_weights_are_found_on_a_bearable_number_of_rows(monkeypatch):
    """However many marginals there are and rows are asked for."""
    asked = []
    weigh = room.reweight

    def counted(model, rows, targets):
        asked.append((len(rows), len(targets)))
        return weigh(model, rows, targets)

    monkeypatch.setattr(room, "CELLS", 10)
    monkeypatch.setattr(room, "_LEAST_POOL", 500)
    monkeypatch.setattr(room, "_LOOKS", 3000)
    monkeypatch.setattr(room, "reweight", counted)
    pair = np.diag([300.0] * 4)
    told = [evidence((column,), [300] * 4) for column in range(3)]
    several = [evidence(columns, pair) for columns in ((0, 1), (0, 2), (1, 2))]
    made = fit_codes((4, 4, 4), [*told, *several], 5000)
    assert asked == [(500, 6)]
    assert made.codes.shape == (5000, 3)
    assert (made.codes[:, 0] == made.codes[:, 1]).mean() > 0.8
