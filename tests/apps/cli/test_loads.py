"""Loads for AC on the command line, over HTTP and by the client: free, from what is public."""

import json
from importlib.util import find_spec
from unittest import mock

import pytest

import discreet
from discreet.errors import InputError
from discreet.power import alternating
from grid_files import CASE, lay_out_grid
from surfaces import command

pytest.importorskip("clarabel", reason="needs discreet[power]")
pytest.importorskip("pandapower", reason="needs discreet[power]")


def ac_cost(net, loads, reactive):
    """What loads draw, and what is public of the net: nothing else may be in it."""
    assert not net.load["p_mw"].any()
    return sum(loads) + float(net.bus["vn_kv"].sum() + net.gen["p_mw"].sum() + net.gen["vm_pu"].sum())


@pytest.fixture(name="ring")
def ring_fixture(tmp_path, monkeypatch):
    """A folder with a grid file, and loads of it released as `june`; in place of AC, which may not converge, a sum."""
    lay_out_grid(tmp_path)
    monkeypatch.setattr(alternating, "ac_cost", ac_cost)
    monkeypatch.chdir(tmp_path)
    ring = discreet.open("ring.m", create=True)
    ring.loads().plan(cost=800, epsilon=5).release(release="june")
    return ring


def test_loads_are_shown_for_ac(ring, tmp_path):
    plain, _ = command("loads", "show", "june", "--json")
    said, code = command("loads", "show", "june", "--ac", "--grid", "ring.m", "--power-factor", "0.9", "--json")
    told = json.loads(said)
    assert (code, told["report"]["ac"]["converges"], told["report"]["ac"]["power_factor"]) == (0, True, 0.9)
    known = json.loads(plain)["columns"]
    assert all(
        low <= value <= high
        for low, value, high in zip(*(told["columns"][f"mw{end}"] for end in ("_lower", "", "_upper")), strict=True)
    )
    assert told["columns"]["load"] == known["load"]
    said, code = command("loads", "show", "june", "--ac", "--grid", "ring.m")
    assert "AC optimal power flow converges" in said
    # What stands in the file as loads, or follows from them, is not read.
    (tmp_path / "ring.m").write_text(
        CASE.replace("20.0", "999").replace("0  0  0  1  1  0  138", "5  0  0  1  1.07  9  138")
    )
    assert command("loads", "show", "june", "--ac", "--grid", "ring.m")[0] == said


def test_a_release_may_be_moved_at_once(ring):
    words = ("loads", "release", "ring.m", "--cost", "800", "--epsilon", "1", "--id", "july", "--yes", "--ac", "--json")
    said, code = command(*words)
    assert (code, json.loads(said)["report"]["ac"]["converges"]) == (0, True)


def test_what_is_wrong_is_said_before_anything_is_spent(ring):
    words = ("loads", "release", "ring.m", "--cost", "800", "--epsilon", "1", "--id", "july", "--yes", "--ac")
    assert command(*words, "--power-factor", "2")[1] == 2
    with mock.patch(
        "discreet.apps.cli.loads.find_spec", lambda name: None if name == "pandapower" else find_spec(name)
    ):
        assert command(*words)[1] == 1
    assert ring.ledger.find("july") is None
    assert command("loads", "show", "june", "--ac")[1] == 2


def test_the_curator_and_a_client_give_the_same_loads(ring):
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    from discreet.apps.server.service import Service
    from discreet.apps.web.site import application
    from servers import serving

    here = ring.for_ac("june", power_factor=0.9)
    with serving(application(Service({"ring": ring}, None))) as url:
        there = discreet.connect(url)
        found = there.for_ac("june", power_factor=0.9)
        with pytest.raises(InputError, match="power_factor"):
            there.for_ac("june", power_factor=3)
    assert (found.loads, found.report, found.table.notes) == (here.loads, dict(here.report), here.table.notes)
    assert "AC optimal power flow converges" in str(found)


def test_loads_are_drawn(ring, tmp_path):
    said, code = command("loads", "show", "june", "--plot", "june.svg")
    assert (code, "Wrote june.svg" in said) == (0, True)
    assert "<svg" in (tmp_path / "june.svg").read_text()
    _, code = command("loads", "show", "june", "--plot", "june.txt")
    assert code == 2
