"""What counts look like is learned from all regions, and every noisy count is weighed against it."""

from discreet.trees.bayes.solve import bayes

__all__ = ["bayes"]
