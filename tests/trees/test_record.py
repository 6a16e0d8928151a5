"""A record is read as what was written, and one of an earlier version gets the intervals of regions."""

from dataclasses import replace

import numpy as np
from empty_blocks import measured, of_regions

from discreet.mechanisms import Laplace
from discreet.trees.intervals import with_intervals
from discreet.trees.record import measured_from, measured_to, published_from, published_to
from discreet.trees.rules import Rules
from discreet.trees.topdown import topdown


def test_both_kinds_are_on_record_and_a_record_of_before_gets_those_of_regions():
    seen = measured(Laplace(30), 2)
    whole = of_regions(with_intervals(topdown(seen, Rules()), seen, Rules(), topdown), seen)
    entry = published_to(whole, "topdown")
    read = published_from(entry, measured_from(measured_to(seen)), 0.95)
    np.testing.assert_array_equal(read.lower[-1], whole.lower[-1])
    np.testing.assert_array_equal(read.average.upper[-1], whole.average.upper[-1])
    average = whole.average
    old = replace(
        whole,
        lower=average.lower,
        upper=average.upper,
        total_lower=average.total_lower,
        total_upper=average.total_upper,
        average=None,
    )
    again_read = published_from(published_to(old, "topdown"), seen, 0.95)
    np.testing.assert_array_equal(again_read.lower[-1], whole.lower[-1])
    np.testing.assert_array_equal(again_read.average.lower[-1], average.lower[-1])
