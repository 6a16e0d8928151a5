"""How far published numbers may be off: a method is tried out on tables that might be the true one."""

from discreet.hierarchy.intervals.bootstrap import with_intervals
from discreet.hierarchy.intervals.region import with_region_intervals

__all__ = ["with_intervals", "with_region_intervals"]
