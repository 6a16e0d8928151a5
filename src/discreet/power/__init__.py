"""Loads of a power grid, hidden, and still loads that the grid can feed at about the same cost."""

from discreet.power.question import (
    Grid,
    HiddenLoads,
    LoadQuestion,
    Loads,
    hide_loads,
    optimal_flow,
)

__all__ = ["Grid", "HiddenLoads", "LoadQuestion", "Loads", "hide_loads", "optimal_flow"]
