"""The whole numbers nearest to the noisy ones: the true optimum over a tree, with a certificate."""

from discreet.trees.exact.solve import exact

__all__ = ["exact"]
