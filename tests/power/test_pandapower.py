"""pandapower nets: the grid behind one without its loads, costs that agree with pandapower's, AC cost."""

import math
import warnings
from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.power.grid import Grid, Piecewise
from discreet.power.loads import Loads
from discreet.power.opf import optimal_flow
from pandapower_nets import case

pytest.importorskip("clarabel", reason="needs discreet[power]")


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
    for drawn in (0.0, -0.4, 1e9, math.nan, math.inf):
        net.load.loc[net.load.index[2], "p_mw"] = drawn
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


def test_loads_are_products_of_what_is_written_and_none_is_refused():
    net = case("case14")
    first = net.load.index[:4]
    net.load.loc[first, "p_mw"] = [0.1, 0.15, -2.5, math.nan]
    net.load.loc[first, "scaling"] = [3.0, 1.0, 1.0, 1.0]
    with Loads.from_pandapower(net).open() as drawn:  # 0.1 * 3 is 0.30000000000000004 in floats
        assert drawn[:4].tolist() == [Fraction(3, 10), Fraction(3, 20), Fraction(-5, 2), 0]


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
    from discreet.power.pandapower import ac_cost

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
