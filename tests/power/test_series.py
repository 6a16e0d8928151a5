"""Loads at several times under one price: one load may move at all of them, and that is what is charged."""

import json
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

import discreet
from chance import at_most
from discreet import Budget, Ledger
from discreet.accounting.convert import pure
from discreet.core.decimal_steps import exact_numbers
from discreet.core.sensitivity import Sensitivity
from discreet.curator import hide_loads
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.power import planes as planes_room
from discreet.power.loads import Loads
from discreet.power.opf import optimal_flow
from discreet.power.plan import LoadPlan
from discreet.power.schema import GridSchema
from discreet.power.series import check_header, read_series
from grid_files import lay_out_grid
from grids import feasible, planned, ring
from jobs import run_plan
from seam import BrokenLawError, Tape, captured, within
from surfaces import command

pytest.importorskip("clarabel", reason="needs discreet[power]")

TIMES = 3


def day(times=TIMES):
    """A ring, what its loads draw at some times, and what feeding them costs."""
    grid, exact = ring()
    drawn = np.array([np.round(exact * share, 2) for share in np.linspace(0.7, 1.1, times)])
    return grid, drawn, [optimal_flow(grid, row).cost for row in drawn]


def moved(drawn):
    """The same, one load moved by alpha at every time."""
    other = drawn.copy()
    other[:, 4] += 1
    return other


@pytest.fixture(autouse=True)
def few_planes(monkeypatch):
    """A cost is measured by three planes: how many there are decides nothing here, and each takes a power flow."""
    monkeypatch.setattr(planes_room, "_SCALES", (1.0,))
    monkeypatch.setattr(planes_room, "_FRESH", 0)


def told_apart(plan, drawn):
    """Refuse what tells loads apart, of which one is moved by alpha at all times, by more than is charged."""
    bits, again = Tape("one"), Tape("one")
    with captured(bits) as first:
        plan.measure(exact_numbers(drawn.ravel()), bits)
    with captured(again, first) as second:
        plan.measure(exact_numbers(moved(drawn).ravel()), again)
    within(plan.allotment, plan.cost, first, second)


@pytest.mark.parametrize("cost", ["2000, 2500, 3000", "measured"])
def test_a_load_that_moves_at_every_time_is_told_apart_by_no_more_than_the_price(cost):
    grid, drawn, _ = day()
    plan = planned(grid, cost, times=TIMES)
    assert pure(plan.cost).epsilon == 1
    assert plan.noise.scale == Fraction(TIMES * plan.shift) / plan.values_epsilon
    told_apart(plan, drawn)


def at_one_time(plan):
    """Noise for a load that moves once."""
    return Sensitivity(each=plan.shift)


def each_at_the_whole_price(plan, exact, planes, bits):
    """Every time's cost measured as if it were the only one."""
    noise = discreet.mechanisms.Laplace.for_epsilon(plan.optimum_epsilon, plan.shift * planes.steepest)
    return float(noise.release([planes.height(exact)], bits=bits)[0])


@pytest.mark.parametrize(
    ("name", "bug", "cost"),
    [("moved", property(at_one_time), "2000, 2500, 3000"), ("height", each_at_the_whole_price, "measured")],
    ids=["noise for one time", "every cost at the whole price"],
)
def test_planted_bugs_are_caught(name, bug, cost):
    grid, drawn, _ = day()
    with mock.patch.object(LoadPlan, name, bug), pytest.raises(BrokenLawError):
        told_apart(planned(grid, cost, times=TIMES), drawn)


def test_loads_of_every_time_are_feasible_at_about_their_cost():
    grid, drawn, costs = day()
    plan = planned(grid, ", ".join(map(str, np.round(costs))), times=TIMES, epsilon=Fraction(2))
    result = run_plan(plan, drawn.ravel(), SystemBits())
    assert result["keys"] == ["load", "bus", "time"]
    assert result["columns"]["time"] == [1] * 12 + [2] * 12 + [3] * 12
    for time, (loads, cost) in enumerate(zip(np.reshape(result["columns"]["mw"], (TIMES, 12)), costs, strict=True)):
        assert feasible(grid, loads)
        assert abs(optimal_flow(grid, loads).cost / cost - 1) <= 0.01
        assert result["report"]["times"][time]["within"]
    assert result["report"]["within"]
    assert len(result["noisy"]) == 36


def test_a_series_has_an_account_of_its_own_and_is_read_again(tmp_path):
    grid, drawn, _ = day()
    ledger = Ledger.open(tmp_path / "ledger.db", create=True)
    draft = hide_loads(grid, Loads(drawn), ledger, alpha=1, budget=Budget(epsilon=3), who="me")
    offer = draft.plan(epsilon=1, cost="measured")
    assert "one load at each of 3 times, moved by at most 1 MW" in str(offer)
    assert "12 loads at 3 times" in str(offer)
    hidden = offer.release(release="june")
    assert "12 loads at 3 times" in str(hidden)
    assert [time for time in (1, 2, 3) for _ in hidden.at(time)] == hidden.table["time"]
    assert hidden.at(2) == hidden.loads[12:24]
    assert offer.publish("june", beta=0.5).times == 3
    with pytest.raises(InputError, match="from 1 to 3"):
        hidden.at(4)
    with pytest.raises(InputError, match="3 numbers with commas"):
        draft.plan(epsilon=1, cost=2900)
    with pytest.raises(InputError, match="alpha"):
        hide_loads(grid, Loads(drawn[0]), ledger, alpha=1, who="me")


def test_what_stands_in_a_series_is_read_by_names_and_never_refused(tmp_path):
    path = tmp_path / "june.csv"
    path.write_text('b, time ,a\n1,x,2\n3,y\n"4,z,5\n6,w,7\n')
    check_header(path, ["a", "b"])
    assert read_series(path, ["a", "b"], 3) == ["2", "1", "", "3", "5", '"4']
    assert read_series(path, ["a", "b"], 5)[6:] == ["7", "6", "", ""]
    for names in (["a", "c"], ["a", "b", "time", "d"]):
        with pytest.raises(InputError, match=r"one column for load '[cd]'"):
            check_header(path, names)
    with pytest.raises(InputError, match="beside the grid file"):
        check_header(tmp_path / "july.csv", ["a"])


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("grid.times", {"times": 0}),
        ("grid.times", {"times": "many"}),
        ("grid.times", {"series": "june.csv"}),
        ("grid.series", {"times": 3, "series": "../june.csv"}),
        ("grid.series", {"times": 3, "series": 7}),
        ("grid.tims", {"tims": 3}),
    ],
)
def test_what_a_schema_says_wrong_of_times_is_refused_by_name(field, more):
    with pytest.raises(InputError) as caught:
        GridSchema.from_dict({"dataset": {"name": "city"}, "grid": {"alpha": 1, **more}})
    assert caught.value.field == field


def test_a_schema_without_times_says_what_it_said():
    plain = GridSchema.from_dict({"dataset": {"name": "city"}, "grid": {"alpha": 1}})
    assert plain.to_dict() == {"dataset": {"name": "city"}, "grid": {"alpha": "1"}}
    several = GridSchema.from_dict({"dataset": {"name": "city"}, "grid": {"alpha": 1, "times": 24, "series": "a.csv"}})
    assert GridSchema.from_dict(several.to_dict()) == several
    assert str(several.unit) == "one load at each of 24 times, moved by at most 1 MW"


ROWS = "hour,1,2,3\n0,12.5,7.25,20\n1,13,7,19\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A grid file, a series of two times beside it, and a schema that says so."""
    lay_out_grid(tmp_path)
    schema = tmp_path / "discreet.toml"
    text = schema.read_text()
    assert "[grid]\n" in text
    schema.write_text(text.replace("[grid]\n", '[grid]\ntimes = 2\nseries = "june.csv"\n'))
    (tmp_path / "june.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_series_beside_a_grid_file_is_released_on_every_surface(folder):
    ring = discreet.open("ring.m", create=True, who="ann")
    assert "one load at each of 2 times" in repr(ring)
    made = ring.loads().plan(cost="800, 790", epsilon=9).release(release="june")
    assert made.table["time"] == [1, 1, 1, 2, 2, 2]
    assert ring.release("june").columns == made.columns
    assert ring.release("june", "noisy").columns["time"] == made.table["time"]
    asked = ("ring.m", "--cost", "800, 790", "--epsilon", "0.5")
    text, code = command("loads", "plan", *asked)
    assert (code, "3 loads at 2 times" in text) == (0, True)
    text, code = command("loads", "release", *asked, "--id", "july", "-y", "--json")
    assert (code, len(json.loads(text)["noisy"])) == (0, 6)
    pytest.importorskip("fastapi", reason="needs discreet[server]")
    pytest.importorskip("httpx", reason="needs httpx")
    from asgi_client import Client
    from discreet.apps.server.service import Service
    from discreet.apps.web.site import application

    client = Client(application(Service({"ring": ring}, None).within(rate=1e6, burst=1e6)))
    plan = client.post("/api/datasets/ring/loads/plan", json={"cost": "800, 790", "epsilon": "0.1"})
    assert (plan.status_code, plan.json()["times"]) == (200, 2)
    assert client.get("/d/ring").status_code == 200


@pytest.mark.parametrize("word", ["0", "-0.4", "1e999", "NaN", "no", '"', "\u00ff"])
def test_what_a_load_draws_changes_nothing_before_it_is_paid_and_never_fails(folder, word):
    plans = []
    for drawn in ("7.25", word):
        (folder / "june.csv").write_text(ROWS.replace("7.25", drawn), encoding="utf-8")
        ring = discreet.open("ring.m", create=True, who="ann")
        offer = ring.loads().plan(cost="800, 790", epsilon=0.1)
        plans.append([str(offer), offer.plan.digest, repr(ring)])
    assert plans[0] == plans[1]
    assert len(offer.release().loads) == 6


def test_a_series_that_is_not_there_or_names_other_loads_is_refused_before_anything_is_spent(folder):
    ring = discreet.open("ring.m", create=True, who="ann")
    offer = ring.loads().plan(cost="800, 790", epsilon=1)
    (folder / "june.csv").write_text(ROWS.replace("1,2,3", "1,7,3"))
    with pytest.raises(InputError, match="one column for load"):
        offer.release()
    with pytest.raises(InputError, match="one column for load"):
        discreet.open("ring.m", who="ann")
    (folder / "june.csv").unlink()
    with pytest.raises(InputError, match="beside the grid file"):
        discreet.open("ring.m", who="ann")
    schema = folder / "discreet.toml"
    schema.write_text(schema.read_text().replace('series = "june.csv"\n', ""))
    with pytest.raises(InputError, match=r"grid.series"):
        discreet.open("ring.m", who="ann")
    assert ring.standing()[0].spent.amount == 0


def missed_totals(hidden, drawn, noise, runs=200):
    """In how many of so many draws of the noise the interval of the first time's total misses the true one."""
    steps, missed = np.rint(drawn.ravel() * 1000).astype(np.int64), 0
    for _ in range(runs):
        seen = [float(one) / 1000 for one in noise.release(steps)]
        plain = replace(hidden.table, columns={**hidden.table.columns, "mw": seen}, confidence=0.8)
        table = replace(hidden, noisy=tuple(seen), table=plain).totals()
        missed += not table["mw_lower"][0] - 1e-9 <= drawn[0].sum() <= table["mw_upper"][0] + 1e-9
    return missed


def test_totals_of_a_day_have_intervals_that_hold_and_a_picture(tmp_path):
    grid, drawn, costs = day()
    ledger = Ledger.open(tmp_path / "ledger.db", create=True)
    draft = hide_loads(grid, Loads(drawn), ledger, alpha=1, budget=Budget(epsilon=30), who="me")
    hidden = draft.plan(epsilon=3, cost=", ".join(map(str, np.round(costs)))).release(release="june")
    totals = hidden.tables()["totals"]
    assert totals["time"] == [1, 2, 3]
    assert totals["mw"] == pytest.approx([sum(hidden.at(time)) for time in (1, 2, 3)], abs=1e-5)
    assert all(
        low <= mw <= high for low, mw, high in zip(*(totals[f"mw{e}"] for e in ("_lower", "", "_upper")), strict=True)
    )
    assert at_most(missed_totals(hidden, drawn, hidden.noise), 200, 0.2)
    louder = type(hidden.noise)(hidden.noise.scale * 4)  # than what the record says: its intervals are caught
    assert not at_most(missed_totals(hidden, drawn, louder), 200, 0.2)
    svg = hidden.plot().to_svg()
    for words in (
        "All loads together",
        "Cost of feeding them",
        "Each load",
        "95% interval of the true sum",
        "load 0, 1: ",
    ):
        assert words in svg
    # A record of an earlier version has no law of its noise: no totals, and a picture all the same.
    older = replace(hidden, noise=None)
    assert set(older.tables()) == {"", "noisy"}
    assert "interval of the true sum" not in older.plot().to_svg()
    with pytest.raises(InputError, match="law of its noise"):
        older.totals()


def test_loads_at_one_time_have_bars(tmp_path):
    grid, drawn, costs = day(1)
    ledger = Ledger.open(tmp_path / "ledger.db", create=True)
    draft = hide_loads(grid, Loads(drawn[0]), ledger, alpha=1, budget=Budget(epsilon=30), who="me")
    hidden = draft.plan(epsilon=3, cost=round(costs[0])).release(release="june")
    assert "totals" not in hidden.tables()
    assert "load 0" in hidden.plot().to_svg()
