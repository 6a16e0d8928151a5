"""Released loads moved until AC converges: by public numbers alone, and no further than they must be."""

from unittest import mock

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.power import alternating
from discreet.power.alternating import repair_ac
from discreet.power.grid import Grid
from discreet.power.loads import Loads
from discreet.power.opf import optimal_flow
from discreet.power.pandapower import ac_cost
from pandapower_nets import case

pytest.importorskip("clarabel", reason="needs discreet[power]")


def spoilt(net):
    """Loads that the grid can feed in DC and not in AC: nearly all in two places."""
    with Loads.from_pandapower(net).open() as drawn:
        true = drawn.astype(float)
    cost = optimal_flow(Grid.from_pandapower(net), true).cost
    released = np.full(len(true), 0.2 * true.mean())
    released[[2, 9]] += 0.4 * true.sum()
    return true, released, cost


def only_even(net, loads, reactive):
    """In place of AC, which takes seconds to fail: converges where no load is above four times their mean."""
    assert len(reactive) == len(loads)
    return 1000.0 if max(loads) <= 4 * np.mean(loads) else None


def test_loads_are_moved_until_ac_converges_at_about_the_cost():
    net = case("case30")
    true, released, cost = spoilt(net)
    with mock.patch.object(alternating, "ac_cost", only_even):
        found = repair_ac(net, released, cost=cost)
        assert repair_ac(net, np.full(len(true), true.mean()), cost=cost).moved == 0  # what converges already stays
    assert found.ac_cost == 1000
    assert max(found.loads) <= 4 * np.mean(found.loads)
    assert abs(found.cost / cost - 1) <= 0.01
    assert abs(optimal_flow(Grid.from_pandapower(net), found.loads).cost / cost - 1) <= 0.01
    assert 0 < found.moved < 1


def test_pandapower_agrees_that_ac_converges():
    net = case("case14")
    with Loads.from_pandapower(net).open() as drawn:
        true = drawn.astype(float)
    cost = optimal_flow(Grid.from_pandapower(net), true).cost
    found = repair_ac(net, true, cost=cost, power_factor=0.9)
    assert found.moved == 0
    assert found.ac_cost == ac_cost(net, found.loads, np.array(found.loads) * np.tan(np.arccos(0.9)))
    assert found.ac_cost > found.cost  # losses are paid for


def test_what_the_loads_of_the_net_draw_is_not_read():
    net, other = case("case14"), case("case14")
    true, released, cost = spoilt(net)
    other.load["p_mw"] *= 3
    other.load["q_mvar"] = -7.0
    other.load["scaling"] = 0.5
    with mock.patch.object(alternating, "ac_cost", only_even):
        assert repair_ac(net, released, cost=cost) == repair_ac(other, released, cost=cost)
    assert ac_cost(net, true, 0.3 * true) == ac_cost(other, true, 0.3 * true)
    assert ac_cost(net, true) != ac_cost(other, true)  # which keeps power factors, and so reads them


def test_where_ac_converges_nowhere_the_released_loads_are_said_to_be_only_dc():
    net = case("case30")
    _, released, cost = spoilt(net)
    with mock.patch.object(alternating, "ac_cost", return_value=None):
        found = repair_ac(net, released, cost=cost)
    assert (found.ac_cost, found.moved) == (None, 0.0)
    assert abs(found.cost / cost - 1) <= 0.01


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("loads", {"loads": [1.0]}),
        ("loads", {"loads": "many"}),
        ("loads", {"loads": [float("nan")] * 20}),
        ("cost", {"cost": -1}),
        ("beta", {"beta": 0}),
        ("step", {"step": 0}),
        ("power_factor", {"power_factor": 0}),
        ("power_factor", {"power_factor": [0.9, 0.8]}),
        ("power_factor", {"power_factor": "often"}),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(field, more):
    net = case("case30")
    given = {"loads": [5.0] * len(net.load), "cost": 500, **more}
    with pytest.raises(InputError) as caught:
        repair_ac(net, given.pop("loads"), **given)
    assert caught.value.field == field
