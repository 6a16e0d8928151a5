"""Small grids, plans of their hidden loads, and another solver that says which loads they can feed."""

from fractions import Fraction

import numpy as np

from discreet import Allotment
from discreet.power.ask import LoadsAsk
from discreet.power.grid import Grid, Quadratic
from discreet.power.opf import Network
from discreet.power.plan import plan_loads
from discreet.power.schema import PublicGrid

CHEAP, DEAR = Quadratic(slope=20), Quadratic(slope=50)
ALLOTMENT = Allotment("questions", "pure", epsilon=100)


def ring(buses=12, limit=70.0):
    """A ring with two chords, three generators and a load at every bus."""
    chance = np.random.default_rng(5)
    lines = [(bus, (bus + 1) % buses, 1000 + 100 * bus, limit) for bus in range(buses)]
    lines += [(0, buses // 2, 900, limit), (2, buses - 2, 700, limit)]
    costs = [Quadratic(0.02, 20), Quadratic(0.05, 15), Quadratic(0, 45)]
    units = [(bus, 0, 160, cost) for bus, cost in zip((0, buses // 3, buses // 2), costs, strict=True)]
    return Grid.of(buses, lines, units, list(range(buses))), np.round(chance.uniform(5, 25, buses), 2)


def planned(grid, cost="measured", *, alpha=1, epsilon=Fraction(1), confidence=0.95, times=1, **how):
    about = PublicGrid.of("loads", alpha, grid, times)
    return plan_loads(about, LoadsAsk(**{"cost": cost, "step": 0.01, **how}), ALLOTMENT, epsilon, confidence)


def feasible(grid, loads):
    """Whether some generation feeds the loads, by another solver."""
    from scipy.optimize import linprog

    net = Network(grid)
    found = linprog(
        np.zeros(net.width),
        A_ub=net.rows,
        b_ub=net.most + 1e-7,
        A_eq=net.balance,
        b_eq=net.demand + net.load_at @ (np.asarray(loads) / net.base),
        bounds=(None, None),
    )
    return found.status == 0


def pair(limit=80.0, loads=(1,), costs=(CHEAP, DEAR), **how):
    units = [(0, 0, 200, costs[0]), (1, 0, 200, costs[1])]
    return Grid.of(buses=2, branches=[(0, 1, 1000, limit)], generators=units, loads=list(loads), **how)
