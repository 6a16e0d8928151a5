"""Ages follow from averages, and hardly under a budget."""

import pytest

from discreet.errors import InputError
from discreet.risk import GroupAverage, solve_averages
from discreet.risk.averages import PUZZLE, _solutions
from seam import Tape


def test_five_ages_follow_from_three_averages_and_ones_own_age():
    found = solve_averages(epsilon=1, bits=Tape("averages"))
    assert found.alone == {"Ann": 40, "Dot": 25, "Eve": 25}
    assert found.ages == {"Ann": 40, "Bob": 33, "Cid": 29, "Dot": 25, "Eve": 25}
    assert found.fit == 13  # Bob and Cid are 62 together, both at least 25
    assert found.private < 0.5
    assert abs(found.private - found.chance) < 0.2
    assert found.error > 100  # averages of so few people are worth nothing under a budget
    assert "Cid is 29" in found.explain()
    assert found.picture().to_svg().startswith("<svg")


def test_every_solution_prints_the_averages_and_there_is_no_other():
    bounds = dict.fromkeys(("Ann", "Bob"), (20, 40))
    group = GroupAverage.read("Ann,Bob=30")
    found = {tuple(ages.values()) for ages in _solutions([group], bounds)}
    assert found == {(a, b) for a in range(20, 41) for b in range(20, 41) if 29.5 <= (a + b) / 2 <= 30.5}


def test_a_huge_budget_finds_what_exact_averages_find():
    found = solve_averages(epsilon=10**9, bits=Tape("averages"))
    assert found.private > found.chance


def test_an_average_is_read_as_printed():
    assert GroupAverage.read("Ann, Bob=34.0").sums() == (68, 68)
    assert GroupAverage.read("Ann,Bob=34").sums() == (67, 69)
    for text in ("Ann,Bob", "=3", "Ann,Ann=3", "Ann=x"):
        with pytest.raises(InputError, match="average"):
            GroupAverage.read(text)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("epsilon", {"epsilon": 0}),
        ("known", {"known": {"Zed": 30}}),
        ("least", {"least": 50, "most": 40}),
        ("groups", {"groups": ()}),
        ("groups", {"known": {"Ann": 30}}),  # nobody fits then
    ],
)
def test_a_puzzle_that_makes_no_sense_is_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        solve_averages(**{"groups": PUZZLE, **wrong})
