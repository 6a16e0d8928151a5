"""How far published numbers may be off: a method is tried out on tables that might be the true one."""

from discreet.trees.intervals.each import with_each
from discreet.trees.intervals.typical import with_typical

__all__ = ["with_each", "with_typical"]
