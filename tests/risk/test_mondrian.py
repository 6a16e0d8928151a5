"""Boxes of nearby rows: large enough, and diverse where asked."""

import numpy as np
import pytest

from discreet.risk.coarsening import anonymize
from discreet.risk.mondrian import boxes
from discreet.risk.records import classes_of
from patients import QUASI, patients


def test_boxes_can_be_made_diverse():
    made = anonymize(patients(), quasi=QUASI, k=5, method="mondrian", sensitive="dx", diverse=2)
    shown = made.records
    classes = classes_of([shown[name] for name in QUASI])
    pairs = np.unique(classes.of * 3 + shown["dx"].codes) // 3
    assert np.bincount(pairs).min() >= 2
    plain = anonymize(patients(), quasi=QUASI, k=5, method="mondrian").records
    classes = classes_of([plain[name] for name in QUASI])
    assert np.bincount(np.unique(classes.of * 3 + plain["dx"].codes) // 3).min() == 1


@pytest.mark.parametrize("k", [2, 25])
def test_a_box_holds_its_rows_and_at_least_k_of_them(k):
    columns = [patients(500)[name] for name in QUASI]
    cut = boxes(columns, k)
    assert np.bincount(cut.of).min() >= k
    for place, column in enumerate(columns):
        assert (cut.low[cut.of, place] <= column.codes).all()
        assert (column.codes <= cut.high[cut.of, place]).all()
    assert len(cut.low) > 500 // (4 * k)  # finer where it can be
