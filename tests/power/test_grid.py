"""Grids, their readers and their DC optimal power flow, against hand calculation, HiGHS and pandapower."""

import copy
import math
import warnings
from functools import cache

import numpy as np
import pytest

from discreet.errors import InputError, MissingExtraError
from discreet.power import opf
from discreet.power.grid import Grid, Piecewise, Quadratic
from discreet.power.loads import Loads
from discreet.power.opf import Network, optimal_flow

pytest.importorskip("clarabel", reason="needs discreet[power]")

CHEAP, DEAR = Quadratic(slope=20), Quadratic(slope=50)

CASE = """function mpc = three
% a made-up grid of three buses, one isolated bus, one branch and one generator out of service
mpc.version = '2';
mpc.baseMVA = 100.0;
mpc.bus = [
  1  3  0.0   0  0    0  1  1  0  138  1  1.1  0.9;
  2  1  60.0  0  5.0  0  1  1  0  138  1  1.1  0.9; % Gs is public
  3  1  90.5  0  0    0  1  1  0  138  1  1.1  0.9
  4  1  -7.0  0  0    0  1  1  0  138  1  1.1  0.9;
  9  4  11.0  0  0    0  1  1  0  138  1  1.1  0.9;
];
mpc.gen = [
  1  0  0  0  0  1  100  1  200  0;
  3  0  0  0  0  1  100  1  200  10;
  3  0  0  0  0  1  100  0  999  0;
];
mpc.gencost = [
  2  0  0  3  0.01  20  5;
  1  0  0  2  0  0  100  5000;
  2  0  0  2  1  0;
];
mpc.branch = [
  1  2  0  0.1  0  80  0  0  0     0  1  -360  360;
  2  3  0  0.2  0  0   0  0  0.98  0  1  -30  30;
  1  3  0  0.1  0  0   0  0  0     0  1  0  0;
  3  4  0  0.1  0  0   0  0  0     0  1  0  0;
  1  3  0  0.1  0  5   0  0  0     0  0  0  0;
];
"""


def pair(limit=80.0, loads=(1,), costs=(CHEAP, DEAR), **how):
    units = [(0, 0, 200, costs[0]), (1, 0, 200, costs[1])]
    return Grid.of(buses=2, branches=[(0, 1, 1000, limit)], generators=units, loads=list(loads), **how)


def ring(seed, buses=12, costs="linear"):
    """A connected grid with a few extra branches, from a seed."""
    chance = np.random.default_rng(seed)
    lines = [(place, (place + 1) % buses, chance.uniform(500, 3000), chance.uniform(40, 120)) for place in range(buses)]
    lines += [(0, buses // 2, 900, 60), (2, buses - 2, 700, 60)]
    kinds = {
        "linear": lambda: Quadratic(slope=float(chance.uniform(10, 60))),
        "quadratic": lambda: Quadratic(float(chance.uniform(0.01, 0.2)), float(chance.uniform(10, 60))),
    }
    units = [(int(bus), 0, 150, kinds[costs]()) for bus in chance.choice(buses, 4, replace=False)]
    return Grid.of(buses, lines, units, loads=list(range(buses)))


def highs(grid, loads):
    """The cost by another solver, for linear costs; None if infeasible."""
    from scipy.optimize import linprog

    net = Network(grid)
    found = linprog(
        net.slope,
        A_ub=net.rows,
        b_ub=net.most,
        A_eq=net.balance,
        b_eq=net.demand + net.load_at @ (np.asarray(loads) / net.base),
        bounds=(None, None),
    )
    return found.fun + net.fixed if found.status == 0 else None


def test_a_congested_line_makes_two_prices():
    grid = pair(loads=[0, 1])
    flow = optimal_flow(grid, [30, 100])
    assert flow.cost == pytest.approx(110 * 20 + 20 * 50, rel=1e-6)
    assert flow.prices == pytest.approx([20, 50], rel=1e-5)
    assert flow.generation == pytest.approx([110, 20], abs=1e-3)


def test_quadratic_generators_share_until_their_prices_meet():
    grid = pair(limit=math.inf, costs=(Quadratic(0.1, 20), Quadratic(0.05, 30)))
    flow = optimal_flow(grid, [200])  # 0.2 g + 20 = 0.1 h + 30, g + h = 200
    assert flow.generation == pytest.approx([100, 100], abs=1e-3)
    assert flow.prices == pytest.approx([40], rel=1e-6)


def test_piecewise_costs_are_followed():
    grid = pair(limit=math.inf, costs=(Piecewise(((0, 0), (50, 500), (200, 8000))), DEAR))
    flow = optimal_flow(grid, [120])
    assert flow.cost == pytest.approx(500 + 70 * 50, rel=1e-6)  # both dearer pieces cost 50
    assert optimal_flow(grid, [20]).prices == pytest.approx([10], rel=1e-5)


def test_fixed_costs_and_public_demand_count():
    grid = pair(limit=math.inf, costs=(Quadratic(0, 20, 7), DEAR), demand=[0, 15])
    assert optimal_flow(grid, [100]).cost == pytest.approx(7 + 115 * 20, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_cost_and_feasibility_agree_with_highs(seed):
    grid, chance = ring(seed), np.random.default_rng(seed)
    verdicts = set()
    for scale in (5, 20, 40, 120):
        loads = chance.uniform(0, scale, grid.loads)
        ours, theirs = optimal_flow(grid, loads), highs(grid, loads)
        verdicts.add(ours is None)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.cost == pytest.approx(theirs, rel=1e-6)
    assert verdicts == {True, False}


@pytest.mark.parametrize("costs", ["linear", "quadratic"])
def test_prices_are_slopes_of_a_convex_cost(costs):
    grid, chance = ring(3, costs=costs), np.random.default_rng(1)
    net = Network(grid)
    here = chance.uniform(5, 15, grid.loads)
    flow, too_steep = net.flow(here), 0
    for _ in range(10):
        there = np.maximum(here + chance.normal(0, 5, grid.loads), 0)
        reached = net.flow(there)
        if reached is not None:
            rise = flow.prices @ (there - here)
            assert reached.cost >= flow.cost + rise - 1e-4
            too_steep += reached.cost < flow.cost + 1.5 * rise - 1e-4
    assert too_steep  # other slopes would not do


def test_with_lost_load_there_is_always_a_flow_and_no_price_beyond():
    grid = ring(2)
    net = Network(grid)
    for scale in (5, 60, 600):
        loads = np.random.default_rng(0).uniform(0, scale, grid.loads)
        soft, strict = net.flow(loads, lost=70), net.flow(loads)
        assert np.abs(soft.prices).max() <= 70 + 1e-4
        assert strict is None or soft.cost <= strict.cost + 1e-3
    assert net.flow(loads) is None


def test_angle_limits_and_shifts():
    base = pair(limit=math.inf)
    kept = {name: getattr(base, name) for name in base.__slots__}
    limited = Grid(**{**kept, "angle_upper": np.array([0.05])})
    assert optimal_flow(limited, [100]).generation == pytest.approx([50, 50], abs=1e-3)  # 1000 MW a radian
    assert optimal_flow(base, [100]).generation == pytest.approx([100, 0], abs=1e-3)
    shifted = Grid(**{**kept, "shift": np.array([0.1])})
    flow = optimal_flow(shifted, [100])
    assert flow.angles[0] - flow.angles[1] == pytest.approx(0.1 + 0.1, abs=1e-6)


def test_a_matpower_file_is_read(tmp_path):
    path = tmp_path / "three.m"
    path.write_text(CASE)
    grid, loads = Grid.from_matpower(path), Loads.from_matpower(path)
    assert (grid.buses, len(grid.limit), len(grid.costs), grid.loads, len(loads)) == (4, 4, 2, 2, 2)
    assert grid.demand.tolist() == [0, 5, 0, -7]  # a negative load is a public injection
    assert grid.costs == (Quadratic(0.01, 20, 5), Piecewise(((0, 0), (100, 5000))))
    assert grid.limit.tolist() == [80, math.inf, math.inf, math.inf]
    assert grid.susceptance == pytest.approx([1000, 100 / (0.2 * 0.98), 1000, 1000])
    assert grid.angle_upper.tolist() == [math.inf, math.radians(30), math.inf, math.inf]
    flow = optimal_flow(grid, [60, 90.5])
    assert flow.generation.sum() == pytest.approx(60 + 90.5 + 5 - 7, abs=1e-3)
    assert "60" not in repr(loads)


def test_the_grid_of_a_file_does_not_hold_its_loads(tmp_path):
    digests = set()
    for power in ("60.0", "61.25"):
        (tmp_path / "a.m").write_text(CASE.replace("60.0", power))
        digests.add(Grid.from_matpower(tmp_path / "a.m").digest)
    assert len(digests) == 1
    (tmp_path / "a.m").write_text(CASE.replace("0  80", "0  81"))
    assert Grid.from_matpower(tmp_path / "a.m").digest not in digests  # a limit is in it


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("mpc.baseMVA = 100.0;", "", "path"),
        ("mpc.gencost = [", "mpc.other = [", "path"),
        ("0.1  0  80", "0.0  0  80", "branch"),
        ("0.1  0  80", "NaN  0  80", "mpc.branch"),
        ("0.1  0  80", "system('x')  0  80", "mpc.branch"),
        ("60.0  0  5.0", "60.0  5.0", "mpc.bus"),
        ("2  0  0  3  0.01  20  5", "2  0  0  4  0.01  20  5  0", "gencost"),
        ("2  0  0  3  0.01  20  5", "2  0  0  3  -0.01  20  5", "cost"),
        ("2  0  0  3  0.01  20  5", "3  0  0  3  0.01  20  5", "gencost"),
        ("1  0  0  2  0  0  100  5000", "1  0  0  3  0  0  50  5000  100  6000", "cost"),
        ("2  3  0  0.2  0  0   0  0  0.98  0  1", "2  3  0  0.2  0  0   0  0  0.98  0  0", ""),
        ("3  4  0  0.1  0  0   0  0  0     0  1", "3  4  0  0.1  0  0   0  0  0     0  0", "grid"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path, old, new, field):
    (tmp_path / "a.m").write_text(CASE.replace(old, new))
    assert CASE.replace(old, new) != CASE
    if not field:  # one branch less and still connected
        assert len(Grid.from_matpower(tmp_path / "a.m").limit) == 3
        return
    with pytest.raises(InputError) as caught:
        Grid.from_matpower(tmp_path / "a.m")
    assert caught.value.field == field
    assert "60.0" not in str(caught.value)


def test_no_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        Grid.from_matpower(tmp_path / "none.m")


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Grid.of(3, [(0, 1, 100, 10)], [(0, 0, 9, CHEAP)], [1]), "grid"),  # bus 2 is an island
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 0, 9, CHEAP)], []), "grid"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [], [1]), "grid"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(5, 0, 9, CHEAP)], [1]), "grid.generator_bus"),
        (lambda: Grid.of(2, [(0, 1, 0, 10)], [(0, 0, 9, CHEAP)], [1]), "grid.susceptance"),
        (lambda: Grid.of(2, [(0, 1, 100, math.nan)], [(0, 0, 9, CHEAP)], [1]), "grid.limit"),
        (lambda: Grid.of(2, [(0, 1, 100, -1)], [(0, 0, 9, CHEAP)], [1]), "grid.limit"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 10, 9, CHEAP)], [1]), "grid.generator_upper"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 0, math.inf, CHEAP)], [1]), "grid.generator_upper"),
        (lambda: Grid.of(2, [(0, 1, 100, 10)], [(0, 0, 9, CHEAP)], [1], [0, 10]), "grid.capacity"),
        (lambda: Quadratic(math.nan), "cost"),
        (lambda: Piecewise(((0, 0),)), "cost"),
        (lambda: Piecewise(((0, 0), (0, 1))), "cost"),
        (lambda: optimal_flow(pair(), [1, 2]), "loads"),
        (lambda: optimal_flow(pair(), [math.nan]), "loads"),
    ],
)
def test_what_is_no_grid_is_refused(build, field):
    with pytest.raises(InputError) as caught:
        build()
    assert caught.value.field == field


def test_a_missing_solver_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "clarabel", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[power\]"):
        opf.optimal_flow(pair(), [10])


def case(name):
    """A case that pandapower ships, to be changed at will."""
    pytest.importorskip("pandapower", reason="needs discreet[power]")
    return copy.deepcopy(loaded(name))


@cache
def loaded(name):
    """What pandapower warns of while a case is loaded is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pandapower import networks

        return getattr(networks, name)()


def their_cost(net):
    import pandapower

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pandapower.rundcopp(net)
    return net.res_cost


@pytest.mark.parametrize("name", ["case14", "case30", "case57", "case118", "case300"])
def test_pandapower_agrees_on_the_cost(name):
    net = case(name)
    grid, loads = Grid.from_pandapower(net), Loads.from_pandapower(net)
    with loads.open() as drawn:
        flow = optimal_flow(grid, drawn)
    assert flow.cost == pytest.approx(their_cost(net), rel=1e-6)


def test_pandapower_agrees_on_piecewise_costs():
    net = case("case30")
    import pandapower

    net.poly_cost.drop(net.poly_cost.index[:1], inplace=True)
    net.poly_cost["cp2_eur_per_mw2"] = 0.0  # pandapower mixes pieces with straight costs only
    pandapower.create_pwl_cost(net, 0, "ext_grid", [[0, 40, 2.0], [40, 80, 3.5]])
    grid = Grid.from_pandapower(net)
    assert any(isinstance(cost, Piecewise) and len(cost.points) > 2 for cost in grid.costs)
    with Loads.from_pandapower(net).open() as drawn:
        assert optimal_flow(grid, drawn).cost == pytest.approx(their_cost(net), rel=1e-5)


def test_the_grid_of_a_net_does_not_hold_its_loads():
    net = case("case14")
    before = Grid.from_pandapower(net)
    kept = net.load.copy()
    net.load["p_mw"] *= 1.37
    assert Grid.from_pandapower(net).digest == before.digest
    net.load = kept
    net.line["max_i_ka"] /= 2
    assert Grid.from_pandapower(net).digest != before.digest


def test_loads_of_a_net_come_scaled_and_without_those_out_of_service():
    net = case("case14")
    net.load.loc[net.load.index[0], "in_service"] = False
    net.load.loc[net.load.index[1], "scaling"] = 0.5
    with Loads.from_pandapower(net).open() as drawn:
        assert len(drawn) == 10 == Grid.from_pandapower(net).loads
        assert drawn[0] == pytest.approx(net.load["p_mw"].iloc[1] / 2)


def test_nets_that_cannot_be_read_are_refused():
    with pytest.raises(InputError, match="pandapower net"):
        Grid.from_pandapower({"bus": 1})
    net = case("case14")
    net.load["controllable"] = True
    with pytest.raises(InputError, match="controllable"):
        Grid.from_pandapower(net)
    net = case("case14")
    net.gen.drop(columns=["max_p_mw"], inplace=True)
    with pytest.raises(InputError, match="limits on their power"):
        Grid.from_pandapower(net)
    net = case("case14")
    net.line["in_service"] = False
    with pytest.raises(InputError):
        Grid.from_pandapower(net)


def test_ac_cost_is_evaluated_where_it_converges():
    from discreet.power.panda import ac_cost

    net = case("case14")
    here = ac_cost(net)
    assert here == pytest.approx(8081.53, abs=0.01)  # MATPOWER's optimum of this case
    with Loads.from_pandapower(net).open() as drawn:
        assert ac_cost(net, drawn) == pytest.approx(here, rel=1e-6)
        assert ac_cost(net, drawn * 1.05) > here
    with pytest.raises(InputError, match="one for each"):
        ac_cost(net, [1.0])
    net.bus["min_vm_pu"], net.bus["max_vm_pu"] = 1.2, 1.3  # no voltage will do
    assert ac_cost(net) is None
