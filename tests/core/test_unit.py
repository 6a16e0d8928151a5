"""What is protected, and by what limits."""

from dataclasses import replace

import pytest

from discreet.core.unit import Neighbours, Unit
from discreet.errors import InputError


def test_a_unit_in_words():
    assert str(Unit()) == "one row, added or removed"
    assert str(Unit(neighbours="replace")) == "one row, replaced by another"
    assert str(Unit("patient", groups=2)) == "everything of one patient, added or removed"
    assert Unit(neighbours="replace").neighbours is Neighbours.REPLACE


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"groups": 2}, "unit"),
        ({"rows_total": 2}, "unit"),
        ({"column": "p", "groups": 0}, "unit.groups"),
        ({"column": "p", "groups": True}, "unit.groups"),
        ({"column": "p", "rows": 2.0}, "unit.rows"),
        ({"column": "p", "rows": 2**21}, "unit.rows"),
        ({"column": ""}, "unit.column"),
        ({"column": 5}, "unit.column"),
        ({"neighbours": "swap"}, "unit.neighbours"),
        ({"neighbours": None}, "unit.neighbours"),
    ],
)
def test_a_unit_that_is_none_is_refused(given, field):
    with pytest.raises(InputError) as caught:
        Unit(**given)
    assert caught.value.field == field


def test_a_limit_that_nobody_stated_is_the_least_there_is_and_says_so():
    assert Unit("patient").unstated == ("groups", "rows")
    assert Unit("patient", groups=1).unstated == ("rows",)
    assert Unit("patient", groups=1, rows=1).unstated == Unit().unstated == ()
    assert Unit("patient") == Unit("patient", groups=1, rows=1)
    assert replace(Unit("patient"), neighbours="replace").unstated == ("groups", "rows")
