"""What may be asked of flows, and what is refused by name."""

import pyarrow
import pytest
from mobility_desk import HALVES, ask, curator, trips

import discreet
from discreet import Allotment, Budget, Category, Schema, col, discover, when
from discreet.errors import BudgetError, InputError
from discreet.flows.mobility.layout import CELLS, ORIGINS, ZONES


def test_without_windows_and_without_zones(tmp_path):
    found = ask(curator(tmp_path), window=None, zones=None, where="hour < 12").plan(epsilon=2).release()
    assert set(found) == {"cells", "origins", "destinations", "total"}
    assert sum(found["cells"]["count"]) == found["total"]["count"][0]
    assert found["total"].keys == ()


def test_places_and_windows_may_be_expressions(tmp_path):
    desk = curator(tmp_path, budget=Budget(epsilon=10**6))
    part = when(col("hour") < 12).then("am").otherwise("pm")
    found = desk.mobility(origin=col("start").str.lower(), destination="end", window=part).plan(epsilon=10**5).release()
    rows = trips().to_pandas()
    plain = rows.groupby([rows.start.str.lower(), "end", rows.hour.ge(12)]).size()
    assert found["cells"]["count"] == plain.tolist()


def test_an_empty_table_and_a_single_cell(tmp_path):
    found = ask(curator(tmp_path, table=trips(rows=0))).plan(epsilon=5).release()
    assert len(found["cells"]) == 32
    one = Schema("one", {"a": Category(["x"], nullable=False), "b": Category(["y"], nullable=False)})
    desk = discreet.open(
        pyarrow.table({"a": ["x"] * 9, "b": ["y"] * 9}),
        one,
        ledger=tmp_path / "one.db",
        budget=Budget(epsilon=9),
        create=True,
    )
    found = desk.mobility(origin="a", destination="b").plan(epsilon=9).release()
    assert found["cells"]["count"] == found["total"]["count"]


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"zones": {**HALVES, "Z": "north"}}, "zones"),
        ({"zones": {"A": "north"}}, "zones"),
        ({"zones": {}}, "zones"),
        ({"zones": "north"}, "zones"),
        ({"zones": {**HALVES, "A": 3}}, "zones"),
        ({"zones": {**HALVES, "A": ""}}, "zones"),
        ({"destination": "start"}, "outputs"),
        ({"origin": "nowhere"}, "origin"),
        ({"window": "moment"}, "window"),
        ({"origin": discover("start")}, "origin"),
        ({"where": "hour <"}, "where"),
    ],
)
def test_questions_that_make_no_sense_are_refused(tmp_path, how, field):
    desk = curator(tmp_path)
    with pytest.raises(InputError) as caught:
        ask(desk, **how)
    assert caught.value.field.startswith(field)
    assert "charge" not in {record.kind for record in desk.ledger.records()}


def test_a_window_named_as_a_zone_is_refused(tmp_path):
    # It was one column for two keys: a table of zones with fewer labels than counts.
    place = Category(["a", "b"], nullable=False)
    schema = Schema("trips", {"home": place, "work": place, "home_zone": Category(["x", "y"], nullable=False)})
    rows = pyarrow.table({"home": ["a"], "work": ["b"], "home_zone": ["x"]})
    desk = discreet.open(rows, schema, ledger=tmp_path / "books.db", budget=Budget(1), who="ann", create=True)
    asked = {"origin": "home", "destination": "work", "window": "home_zone"}
    with pytest.raises(InputError, match="another column"):
        desk.mobility(**asked, zones={"a": "n", "b": "s"})
    desk.mobility(**asked)


def test_a_missing_origin_is_named(tmp_path):
    with pytest.raises(InputError, match=r"'D'.*1 missing"):
        ask(curator(tmp_path), zones={"A": "n", "B": "n", "C": "s"})
    with pytest.raises(InputError, match="'Z'"):
        ask(curator(tmp_path), zones={**HALVES, "Z": "n"})


@pytest.mark.parametrize(
    ("price", "field"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 1, "rho": 1}, "price"),
        ({"rho": 1}, "rho"),
        ({"epsilon": 1, "shares": {"cells": -1}}, "shares.cells"),
        ({"epsilon": 1, "shares": {"cells": float("nan")}}, "shares.cells"),
        ({"epsilon": 1, "shares": {"planets": 1}}, "shares"),
        ({"epsilon": 1, "confidence": 1}, "confidence"),
        ({"epsilon": 1, "allotment": "other"}, "allotment"),
    ],
)
def test_prices_that_make_no_sense_are_refused(tmp_path, price, field):
    desk = curator(tmp_path)
    with pytest.raises(InputError) as caught:
        ask(desk).plan(**price)
    assert caught.value.field == field
    with pytest.raises(InputError, match="no pairs of zones"):
        ask(desk, zones=None).plan(epsilon=1, shares={ZONES: 1})
    with pytest.raises(BudgetError):
        ask(desk).plan(epsilon=11).release()
    assert "charge" not in {record.kind for record in desk.ledger.records()}


def test_shares_move_noise_from_one_table_to_another(tmp_path):
    desk = curator(tmp_path)
    usual, other = (ask(desk).plan(epsilon=1, shares={"cells": many}).plan for many in (30, 300))
    usual_noise, other_noise = ({one.name: one.noise.scale for one in plan.measures} for plan in (usual, other))
    assert other_noise[CELLS] < usual_noise[CELLS]
    assert other_noise[ORIGINS] > usual_noise[ORIGINS]
    assert other.charge.amount == usual.charge.amount == 1
    assert other.digest != usual.digest


def test_only_allotments_for_single_questions_pay(tmp_path):
    parts = [Allotment("training", "plan", epsilon=1, delta="1e-6")]
    desk = curator(tmp_path, budget=Budget(1, delta="1e-6", allotments=parts))
    with pytest.raises(InputError, match="pure or zcdp"):
        ask(desk).plan(epsilon=1)


def test_a_place_that_may_be_missing_is_named_where_zones_are_given(tmp_path):
    columns = {"a": Category(["x"], nullable=False), "b": Category(["y"])}
    table = pyarrow.table({"a": ["x"], "b": ["y"]})
    desk = discreet.open(table, Schema("one", columns), ledger=tmp_path / "one.db", budget=Budget(1), create=True)
    with pytest.raises(InputError, match=r"`destination` must be a column without missing values .* got 'b'"):
        desk.mobility(origin="a", destination="b", zones={"x": "north", "y": "south"})
    assert desk.mobility(origin="a", destination="b", zones={"x": "north", "y": "south", None: "nowhere"})


def test_a_misspelt_field_is_answered_with_the_one_there_is(tmp_path):
    with pytest.raises(TypeError, match="Did you mean `origin`"):
        curator(tmp_path).mobility(orign="start", destination="end")
