"""A record is read as what was written, and one of an earlier version gets the intervals for each region."""

from dataclasses import replace

import numpy as np
from empty_blocks import measured, of_regions

from discreet.mechanisms import Laplace
from discreet.trees.intervals import with_typical
from discreet.trees.record import measured_from, measured_to, published_from, published_to
from discreet.trees.rules import Rules
from discreet.trees.topdown import topdown


def test_both_kinds_are_on_record_and_a_record_of_before_gets_those_of_regions():
    seen = measured(Laplace(30), 2)
    whole = of_regions(with_typical(topdown(seen, Rules()), seen, Rules(), topdown), seen)
    entry = published_to(whole, "topdown")
    read = published_from(entry, measured_from(measured_to(seen)), 0.95)
    np.testing.assert_array_equal(read.each.lower[-1], whole.each.lower[-1])
    np.testing.assert_array_equal(read.typical.upper[-1], whole.typical.upper[-1])
    # 0.1 had one kind, under no name.
    old = published_from(published_to(replace(whole, each=whole.typical, typical=None), "topdown"), seen, 0.95)
    np.testing.assert_array_equal(old.each.lower[-1], whole.each.lower[-1])
    np.testing.assert_array_equal(old.typical.lower[-1], whole.typical.lower[-1])


def test_the_earlier_name_of_typical_intervals_is_read():
    seen = measured(Laplace(30), 2)
    whole = of_regions(with_typical(topdown(seen, Rules()), seen, Rules(), topdown), seen)
    entry = published_to(whole, "topdown")
    entry["average"] = entry.pop("typical")
    np.testing.assert_array_equal(published_from(entry, seen, 0.95).typical.upper[-1], whole.typical.upper[-1])
