"""MATPOWER files: read as they are written, refused by name, and grids that hold no loads."""

import math
from fractions import Fraction

import pytest

from discreet.core.decimal_steps import to_steps
from discreet.errors import InputError
from discreet.power.grid import Grid, Piecewise, Quadratic
from discreet.power.loads import Loads
from discreet.power.opf import optimal_flow

pytest.importorskip("clarabel", reason="needs discreet[power]")


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


def test_a_matpower_file_is_read(tmp_path):
    path = tmp_path / "three.m"
    path.write_text(CASE)
    grid, loads = Grid.from_matpower(path), Loads.from_matpower(path)
    assert (grid.buses, len(grid.limit), len(grid.costs), grid.loads, len(loads)) == (4, 4, 2, 4, 4)
    assert grid.demand.tolist() == [0, 5, 0, 0]  # what a bus draws has no part in it
    assert grid.costs == (Quadratic(0.01, 20, 5), Piecewise(((0, 0), (100, 5000))))
    assert grid.limit.tolist() == [80, math.inf, math.inf, math.inf]
    assert grid.susceptance == pytest.approx([1000, 100 / (0.2 * 0.98), 1000, 1000])
    assert grid.angle_upper.tolist() == [math.inf, math.radians(30), math.inf, math.inf]
    flow = optimal_flow(grid, [0, 60, 90.5, 0])
    assert flow.generation.sum() == pytest.approx(60 + 90.5 + 5, abs=1e-3)
    assert "60" not in repr(loads)
    with loads.open() as drawn:
        assert drawn.tolist() == [0, 60, Fraction("90.5"), -7]


def test_buses_that_have_a_load_are_declared_and_stand_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "three.m"
    path.write_text(CASE)
    grid = Grid.from_matpower(path, [3, 2])
    assert [grid.bus_names[bus] for bus in grid.load_bus] == ["2", "3"] == list(grid.load_names)
    with Loads.from_matpower(path, [3, 2]).open() as drawn:
        assert drawn.tolist() == [60, Fraction("90.5")]
    for missing in (9, 77):  # cut off, and none at all
        with pytest.raises(InputError) as caught:
            Grid.from_matpower(path, [2, missing])
        assert caught.value.field == "grid.loads"


@pytest.mark.parametrize(
    ("word", "drawn"),
    [
        ("0.15", Fraction(15, 100)),
        ("0.1500000000000000000001", Fraction(15, 100) + Fraction(1, 10**22)),  # more digits than a float has
        ("1e-3", Fraction(1, 1000)),
        ("NaN", 0),
        ("unknown", 0),
        (",,", 0),
        ("-7.5", Fraction(-15, 2)),
    ],
)
def test_a_load_is_the_decimal_number_that_is_written(tmp_path, word, drawn):
    (tmp_path / "a.m").write_text(CASE.replace("60.0", word))
    with Loads.from_matpower(tmp_path / "a.m", [2]).open() as read:
        assert read.tolist() == [drawn]


@pytest.mark.parametrize("word", ["Inf", "1e999", "1e999999999", "9" * 5000])
def test_a_load_beyond_all_numbers_is_the_highest(tmp_path, word):
    (tmp_path / "a.m").write_text(CASE.replace("60.0", word))
    with Loads.from_matpower(tmp_path / "a.m", [2]).open() as read:
        assert to_steps(read, Fraction(1, 10), 777).tolist() == [777]


def test_the_grid_of_a_file_does_not_hold_its_loads(tmp_path):
    digests = set()
    for power in ("60.0", "61.25", "0", "-60", "1e9", "NaN", "unknown", ",,"):
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
