"""Noisy marginals: columns as short lists of codes, and the only way to count combinations of them."""
