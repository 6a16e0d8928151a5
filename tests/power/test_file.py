"""The loads of a grid as a dataset: opened with a schema, priced, released and read again like every other kind."""

import json
import math

import pytest

pytest.importorskip("clarabel", reason="needs discreet[power]")

import discreet
from discreet.core.decimal_steps import to_steps
from discreet.errors import InputError
from discreet.power.loads import Loads
from grid_files import CASE, SCHEMA, lay_out_grid
from surfaces import command

EXACT = [12.5, 7.25, 20.0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lay_out_grid(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ring(folder):
    return discreet.open("ring.m", create=True, who="ann")


def test_a_grid_file_is_opened_priced_released_and_read_again(ring):
    assert "one load, moved by at most 1 MW" in repr(ring)
    offer = ring.loads().plan(cost="measured", epsilon=2)
    made = offer.release(release="spring")
    assert ring.release("spring").columns == made.columns
    assert [one.spent.amount for one in ring.standing()] == [2]
    assert ring.releases() == ["spring"]
    assert made.data.startswith("files ")


def test_the_loads_that_are_released_are_those_of_the_file(ring):
    """At a high price hardly any noise is added: half-widths are stated, and hold for all three at once here."""
    made = ring.loads().plan(cost="measured", epsilon=9.9, confidence=1 - 1e-9).release()
    for true, noisy in zip(EXACT, made.noisy, strict=True):
        assert math.isclose(true, noisy, abs_tol=made.table["mw_upper"][0] - made.table["mw_lower"][0])


def test_what_the_repair_did_stands_beside_the_loads(ring):
    made = ring.loads().plan(cost=800, epsilon=2).release()
    bounds, repaired = made.table.notes
    assert (repaired.kind, repaired.outputs) == ("repaired", ("mw",))
    assert "Original cost: 800, declared public." in repaired.text
    assert (bounds.kind, bounds.outputs) == ("bounds", ("mw",))
    assert bounds.text.startswith(
        "Loads outside 0..200 MW are clipped to the nearer bound and rounded to multiples of 0.001;"
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda ring: ring.table(),
        lambda ring: ring.sql("SELECT COUNT(*) FROM ring"),
        lambda ring: ring.tree(["bus"]),
        lambda ring: ring.synthesize(),
        lambda ring: ring.schema,
    ],
)
def test_loads_are_no_table(ring, ask):
    with pytest.raises(
        InputError, match=r"must be a table: this one is the loads of a power grid.*released by `discreet loads`"
    ):
        ask(ring)


def test_a_table_has_no_loads(tmp_path):
    (tmp_path / "t.csv").write_text("age\n1\n")
    schema = {"dataset": {"name": "t"}, "columns": {"age": {"type": "integer", "lower": 0, "upper": 9}}}
    table = discreet.open(tmp_path / "t.csv", schema, ledger=tmp_path / "b.db", budget=discreet.Budget(1), create=True)
    with pytest.raises(InputError, match="must be the loads of a power grid: this one is a table"):
        table.loads()


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (SCHEMA.replace("alpha = 1", ""), "grid.alpha"),
        (SCHEMA.replace("alpha = 1", "alpha = 0"), "alpha"),
        (SCHEMA.replace("alpha = 1", "alpha = 1\nbeta = 2"), "grid.beta"),
        (SCHEMA.replace("alpha = 1", "alpha = 1\nloads = 2"), "grid.loads"),
        (SCHEMA.replace("alpha = 1", "alpha = 1\nloads = []"), "grid.loads"),
        (SCHEMA.replace("alpha = 1", "alpha = 1\nloads = [2, 2]"), "grid.loads"),
        (SCHEMA.replace("alpha = 1", "alpha = 1\nloads = [2, 7]"), "grid.loads"),
        (SCHEMA.replace("alpha = 1", "alpha = 1\nloads = [2.5]"), "grid.loads"),
        (SCHEMA + '\n[columns.x]\ntype = "text"\n', "columns"),
        (SCHEMA.replace('name = "ring"', ""), "dataset.name"),
    ],
)
def test_a_schema_that_says_something_else_is_refused(folder, text, field):
    (folder / "discreet.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        discreet.open("ring.m", create=True)
    assert refused.value.field == field


def test_a_schema_declares_which_buses_have_a_load(folder):
    (folder / "discreet.toml").write_text(SCHEMA.replace("alpha = 1", "alpha = 1\nloads = [3, 1]"))
    ring = discreet.open("ring.m", create=True)
    made = ring.loads().plan(cost=600, epsilon=5).release(release="two")
    assert made.columns["bus"] == ["1", "3"]
    assert ring.declared.to_dict()["grid"]["loads"] == [3, 1]
    assert type(ring.declared).from_dict(ring.declared.to_dict()) == ring.declared
    said, code = command("releases", "publish", "two", "--beta", "0.5", "--grid", "ring.m", "--json")
    assert (code, json.loads(said)["columns"]["bus"]) == (0, ["1", "3"])


@pytest.mark.parametrize("drawn", ["-0.4", "NaN", "unknown", "-Inf"])
def test_a_load_below_nothing_is_measured_as_nothing(folder, ring, drawn):
    (folder / "ring.m").write_text(CASE.replace("7.25", drawn))
    plan = ring.loads().plan(cost=800, epsilon=1).plan
    with ring.desk.data.open() as read:
        assert to_steps(read, plan.step, plan.most).tolist() == [12_500, 0, 20_000]
    ring.loads().plan(cost=800, epsilon=1).release()


def test_a_schema_of_a_grid_needs_a_grid_file(folder):
    (folder / "t.csv").write_text("age\n1\n")
    with pytest.raises(InputError, match="declares the loads of a power grid"):
        discreet.open("t.csv", create=True)
    with pytest.raises(InputError, match="grid file that exists"):
        discreet.open("none.m", create=True)


def test_a_grid_that_changed_is_refused_before_anything_is_spent_and_other_loads_are_not(folder, ring):
    offer = ring.loads().plan(cost=800, epsilon=1)
    (folder / "ring.m").write_text(CASE.replace("12.5", "13.5"))
    offer.release(release="later")
    (folder / "ring.m").write_text(CASE.replace("12.5", "0.0"))
    offer.release(release="at rest")
    (folder / "ring.m").write_text(CASE.replace("0.09", "0.08"))
    with pytest.raises(InputError, match="as it was when it was opened"):
        offer.release(release="other")
    assert ring.ledger.find("other") is None


def test_another_distance_is_another_account(folder, ring):
    ring.loads().plan(cost=800, epsilon=1).release()
    (folder / "discreet.toml").write_text(SCHEMA.replace("alpha = 1", "alpha = 2"))
    with pytest.raises(InputError, match="unit"):
        discreet.open("ring.m")


def test_a_version_may_be_declared(folder):
    (folder / "discreet.toml").write_text(SCHEMA.replace('name = "ring"', 'name = "ring"\nversion = "june"'))
    made = discreet.open("ring.m", create=True).loads().plan(cost=800, epsilon=1).release()
    assert made.data == "june"


def test_a_saved_pandapower_net_is_the_same(tmp_path):
    pandapower = pytest.importorskip("pandapower", reason="needs discreet[power]")
    from pandapower.networks import case9

    net = case9()
    pandapower.to_json(net, str(tmp_path / "nine.json"))
    schema = {"dataset": {"name": "nine"}, "grid": {"alpha": "0.5"}, "budget": {"epsilon": 10}}
    nine = discreet.open(tmp_path / "nine.json", schema, ledger=tmp_path / "b.db", create=True)
    made = nine.loads().plan(cost="measured", epsilon=9).release()
    assert len(made.loads) == len(Loads.from_pandapower(net))
    assert nine.declared.to_dict()["grid"]["public"]["loads"] == 3
    with pytest.raises(InputError, match="left out for a pandapower net"):
        discreet.open(tmp_path / "nine.json", {**schema, "grid": {"alpha": 1, "loads": [5]}}, ledger=tmp_path / "c.db")


def test_a_file_that_is_no_net_is_refused_without_quoting_it(tmp_path):
    pytest.importorskip("pandapower", reason="needs discreet[power]")
    (tmp_path / "x.json").write_text('{"secret": 12345.678')
    schema = {"dataset": {"name": "x"}, "grid": {"alpha": 1}, "budget": {"epsilon": 1}}
    with pytest.raises(InputError, match="a net that pandapower saved") as refused:
        discreet.open(tmp_path / "x.json", schema, ledger=tmp_path / "b.db", create=True)
    assert "12345" not in str(refused.value)


def test_the_commands_plan_release_and_show(folder, ring):
    said, code = command("loads", "plan", "ring.m", "--cost", "measured", "--epsilon", "1", "--json")
    assert (code, json.loads(said)["allotment"]) == (0, "questions")
    words = ["--cost", "800", "--within", "3", "--id", "june", "--yes", "--json"]
    made, code = command("loads", "release", "ring.m", *words)
    assert code == 0
    shown, code = command("loads", "show", "june", "--json")
    assert (code, json.loads(shown)["columns"]) == (0, json.loads(made)["columns"])
    assert json.loads(shown)["report"]["reference"] == 800
    said, code = command("loads", "show", "june")
    assert "Cost of the released loads" in said
    assert command("ask", "ring.m", "count", "--epsilon", "1", "--yes")[1] == 2
    assert command("tree", "plan", "ring.m", "--levels", "bus", "--epsilon", "1")[1] == 2
    assert command("ledger", "open", "--yes")[1] == 0
