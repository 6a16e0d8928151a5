"""Models with an epsilon: training on private data so that the weights may be published."""
