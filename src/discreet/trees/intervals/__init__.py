"""How far published numbers may be off: a method is tried out on tables that might be the true one."""

from discreet.trees.intervals.bootstrap import with_intervals
from discreet.trees.intervals.region import with_region_intervals

__all__ = ["with_intervals", "with_region_intervals"]
