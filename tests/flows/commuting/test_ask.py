"""What may be asked of commuters, and what is refused by name before anything is spent."""

import pytest
from commute_desk import PLACES, SIZES, WHERE, ask, commuters, curator

from discreet import bins, discover
from discreet.errors import InputError


def test_a_condition_and_missing_places(tmp_path):
    table = commuters()
    home = [None if row < 1000 else place for row, place in enumerate(table["home"].to_pylist())]
    desk = curator(tmp_path, table=table.set_column(1, "home", [home]), nullable=True)
    found = ask(desk, where="hour < 12").plan(epsilon=5).release()
    assert abs(len(found) - 1000) < 150
    assert found.origins == tuple(PLACES)


def test_places_may_be_bins_of_numbers(tmp_path):
    found = ask(
        curator(tmp_path), origin=bins("hour", [0, 12, 24]), coordinates={**WHERE, "0..12": (1, 1), "12..24": (2, 2)}
    )
    assert found.plan(epsilon=3).release().origins == ("0..12", "12..24")


# What makes no sense.


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"origin": "nowhere"}, "origin"),
        ({"origin": discover("home")}, "origin"),
        ({"where": "hour <"}, "where"),
        ({"coordinates": [(0, 0)]}, "coordinates"),
        ({"coordinates": {"A": (0, 0)}}, "coordinates"),
        ({"coordinates": {**WHERE, "A": (0, float("nan"))}}, "coordinates"),
        ({"coordinates": {**WHERE, "A": 7}}, "coordinates"),
        ({"coordinates": {**WHERE, "A": (100, 0)}, "degrees": True}, "coordinates"),
        ({"sizes": {"A": 3}}, "sizes"),
        ({"sizes": [3, 3, 3, 3]}, "sizes"),
        ({"sizes": {**SIZES, "A": -1}}, "sizes"),
        ({"sizes": {**SIZES, "A": 1.5}}, "sizes"),
        ({"clusters": 0}, "clusters"),
        ({"clusters": 5}, "clusters"),
        ({"clusters": {"A": 1}}, "clusters"),
        ({"near": 3}, "near"),
        ({"farthest": -1}, "farthest"),
        ({"farthest": True}, "farthest"),
    ],
)
def test_questions_that_make_no_sense_are_refused(tmp_path, how, field):
    desk = curator(tmp_path)
    with pytest.raises(InputError) as caught:
        ask(desk, **how)
    assert caught.value.field == field
    assert "charge" not in {record.kind for record in desk.ledger.records()}


def test_a_destination_nobody_can_reach_is_named(tmp_path):
    with pytest.raises(InputError, match="'D'"):
        ask(curator(tmp_path), origin=bins("hour", [0, 24]), coordinates={**WHERE, "0..24": (0, 0)}, farthest=20)


@pytest.mark.parametrize(
    ("price", "field"),
    [
        ({}, "price"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-30"}, "epsilon"),
        ({"epsilon": "1e-30", "method": "classic"}, "epsilon"),
        ({"epsilon": 1, "method": "magic"}, "method"),
        ({"epsilon": 1, "delta": "1e-5"}, "delta"),
        ({"epsilon": 1, "prior": "pure"}, "prior"),
        ({"epsilon": 1, "method": "classic", "prior": "vague"}, "prior"),
        ({"epsilon": 1, "method": "classic", "prior": "pure", "delta": "1e-5"}, "delta"),
        ({"epsilon": 1, "method": "classic", "prior": "approximate"}, "delta"),
        ({"epsilon": 1, "method": "classic", "prior": "approximate", "delta": 2}, "delta"),
        ({"epsilon": 1, "method": "classic", "prior": "approximate", "delta": "1e-5"}, "allotment"),
        ({"epsilon": 1, "method": "classic", "refusal": 1}, "refusal"),
        ({"epsilon": 1, "allotment": "other"}, "allotment"),
        ({"rho": 1}, "rho"),
    ],
)
def test_prices_that_make_no_sense_are_refused(tmp_path, price, field):
    desk = curator(tmp_path)
    with pytest.raises(InputError) as caught:
        ask(desk).plan(**price)
    assert caught.value.field == field
    assert "charge" not in {record.kind for record in desk.ledger.records()}
