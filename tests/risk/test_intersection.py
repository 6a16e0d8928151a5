"""Two tables that hold the same people are less anonymous than each."""

import pytest

from discreet.errors import InputError
from discreet.risk import anonymity, intersect
from discreet.risk.intersection import overlaps
from seam import Tape

FIRST = {
    "sex": ["F", "F", "F", "F"],
    "age": ["50-60", "50-60", "30-40", "30-40"],
    "zip": ["191**", "191**", "190**", "190**"],
    "illness": ["HIV", "colitis", "flu", "gout"],
}
SECOND = {
    "sex": ["F"] * 6,
    "age": ["50-60"] * 3 + ["30-40"] * 3,
    "zip": ["191**"] * 3 + ["190**"] * 3,
    "illness": ["HIV", "lupus", "hip", "flu", "gout", "cold"],
}
ON = ["sex", "age", "zip"]


def test_two_anonymous_tables_tell_what_neither_told():
    assert [anonymity(table, quasi=ON, sensitive=["illness"]).sensitive[0].told for table in (FIRST, SECOND)] == [0, 0]
    found = intersect(FIRST, SECOND, on=ON, sensitive="illness", person={"sex": "F", "age": 55, "zip": "19104"})
    assert found.k == (2, 3)
    (pair,) = found.pairs
    assert pair.secrets_first == ("HIV", "colitis")
    assert pair.secrets_second == ("HIV", "hip", "lupus")
    assert pair.common == ("HIV",)
    assert (found.told, found.narrowed) == (1, 1)
    assert "leave HIV" in found.explain()


def test_under_a_budget_the_secret_is_guessed_little_better_than_by_chance():
    held = intersect(FIRST, SECOND, on=ON, sensitive="illness", epsilon=0.2, bits=Tape("few"))
    told = intersect(FIRST, SECOND, on=ON, sensitive="illness", epsilon=1000, bits=Tape("many"))
    assert told.right == 1
    assert held.right < 0.4  # chance is a seventh
    assert held.chance == pytest.approx(1 / 7)
    assert held.error > told.error


def test_classes_that_leave_several_secrets_are_not_told():
    found = intersect(FIRST, SECOND, on="sex,age,zip", sensitive="illness")
    assert [pair.common for pair in found.pairs] == [("HIV",), ("flu", "gout")]
    assert found.told == 1
    svg = found.picture().to_svg()
    assert "50-60" in svg


def test_tables_without_a_person_in_common_tell_nothing():
    found = intersect(FIRST, {**SECOND, "sex": ["M"] * 6}, on=ON, sensitive="illness")
    assert (found.pairs, found.told, found.right) == ((), 0, None)
    assert "can be in both tables" in found.explain()
    assert found.picture().to_svg().startswith("<svg")


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("50-59", "55", True),
        ("50-59", "59-70", True),
        ("50-59", "60", False),
        ("80+", "95", True),
        ("191**", "19104", True),
        ("191**", "19204", False),
        ("191**", "19***", True),
        ("191*", "19104", True),
        ("*", "anything", True),
        ("F", "M", False),
    ],
)
def test_values_meet_where_they_can_be_of_one_person(one, other, meet):
    assert overlaps(one, other) == meet
    assert overlaps(other, one) == meet


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("on", {"on": []}),
        ("sensitive", {"sensitive": "age"}),
        ("columns", {"sensitive": "pay"}),
        ("epsilon", {"epsilon": 0}),
        ("person", {"person": {"pay": 3}}),
    ],
)
def test_tables_that_cannot_be_intersected_are_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        intersect(FIRST, SECOND, **{"on": ON, "sensitive": "illness", **wrong})
