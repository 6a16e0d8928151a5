"""Loads of a power grid, hidden, and still loads that the grid can feed at about the same cost."""

from discreet.power.ask import LoadsAsk
from discreet.power.grid import Grid
from discreet.power.loads import Loads
from discreet.power.opf import optimal_flow
from discreet.power.released import HiddenLoads

__all__ = ["Grid", "HiddenLoads", "Loads", "LoadsAsk", "optimal_flow"]
