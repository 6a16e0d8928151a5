"""Who goes where: flows that agree with their sums, and synthetic commuters."""
