"""The best linear estimate, then whole numbers from the root down."""

from discreet.trees.topdown.solve import topdown

__all__ = ["topdown"]
