"""A measurement has the leaves' counts, the shapes of its tree, and a noise wherever it has values."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_prefixes(["aa", "ab", "ba"], {"state": 1, "county": 2})
NOISE = Laplace(2)


def counts(size, cells=2):
    return np.zeros((size, cells), np.int64)


def test_cells_are_those_of_the_leaves():
    measured = Measurement(
        TREE, (Level(), Level(totals=np.zeros(2, np.int64), totals_noise=NOISE), Level(counts(3), NOISE))
    )
    assert measured.cells == 2
    assert not measured.chain


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ((Level(), Level(counts(3), NOISE)), "one for each level"),
        ((Level(), Level(counts(2), NOISE), Level()), "counts of the leaves"),
        ((Level(), Level(), Level(counts(3))), "with the noise they have"),
        ((Level(totals_noise=NOISE), Level(), Level(counts(3), NOISE)), "with the noise they have"),
        ((Level(), Level(counts(3), NOISE), Level(counts(3), NOISE)), r"shape \(2, 2\)"),
        ((Level(), Level(counts(2, 3), NOISE), Level(counts(3), NOISE)), r"shape \(2, 2\)"),
        ((Level(), Level(), Level(counts(3).astype(float), NOISE)), "integers"),
        ((Level(totals=counts(1), totals_noise=NOISE), Level(), Level(counts(3), NOISE)), r"shape \(1,\)"),
    ],
)
def test_what_does_not_fit_the_tree_is_refused(levels, message):
    with pytest.raises(InputError, match=message):
        Measurement(TREE, levels)
