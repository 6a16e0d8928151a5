"""The census attack to its end: exactly, within a year, named; and the same tables under budgets."""

import pytest

from discreet.errors import InputError
from discreet.risk.block_attack import Outcome, Residents, attack_residents
from discreet.risk.census import BlockSolution
from discreet.risk.register import Entry
from seam import Tape

PEOPLE = (
    (8, "F", "white"),
    (18, "M", "white"),
    (24, "F", "white"),
    (30, "M", "white"),
    (36, "F", "black"),
    (66, "F", "black"),
    (84, "M", "black"),
)
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Elsa", "Gia", "Hal")
BLOCK = Residents(
    PEOPLE, NAMES, tuple(Entry(name, age, sex) for name, (age, sex, _) in zip(NAMES, PEOPLE, strict=True))
)


def test_people_of_a_block_are_rebuilt_and_named_and_not_under_a_budget():
    found = attack_residents({"1": BLOCK}, 0.5, curve=(10**6,), bits=Tape("noise"))
    assert found.people == 7
    assert found.exact.right <= found.exact.near
    assert found.exact.near >= 5
    assert found.exact.named >= 4
    (low, few), (high, all_of_it) = found.noisy
    assert (low, high) == (0.5, 10**6)
    assert all_of_it == found.exact  # the same tables: what is left is the noise
    assert few.named <= 2
    assert found.registered == 7
    assert len(found.sample) == 7
    assert "within a year" in found.explain()
    assert "The price" in found.explain()
    assert "named rightly" in found.picture().to_svg()


def test_chance_is_what_another_blocks_tables_get_right():
    other = Residents(tuple((99 - age, sex, "other") for age, sex, _ in PEOPLE), NAMES, ())
    found = attack_residents({"1": BLOCK, "2": other}, 1, curve=(), bits=Tape("two"))
    assert found.chance == Outcome()
    same = attack_residents({"1": BLOCK, "2": BLOCK}, 1, curve=(), bits=Tape("two"))
    assert same.chance == same.exact
    assert "by chance (people rebuilt of another block) " in same.explain()
    assert attack_residents({"1": BLOCK}, 1, curve=(), bits=Tape("one")).chance is None


def test_without_a_register_nobody_is_named():
    found = attack_residents({"1": Residents(PEOPLE, NAMES, ())}, 1, curve=())
    assert found.exact.linked == found.exact.named == 0
    assert found.explain().startswith("1 block, 7 people in all.")
    assert "register" not in found.explain()


def test_ages_within_a_year_are_counted_once_each():
    solution = BlockSolution(((30, "F", "x"), (31, "F", "x"), (50, "M", "x")), 0)
    assert solution.near([(31, "F", "x"), (32, "F", "x"), (52, "M", "x")]) == 2
    assert solution.right([(31, "F", "x"), (32, "F", "x"), (52, "M", "x")]) == 1
    assert solution.near([(31, "F", "x")]) == 1
    assert solution.near([(31, "F", "y")]) == 0


def test_outcomes_add_up():
    assert Outcome(1, 2, 3, 1) + Outcome(1, 1, 1, 1) == Outcome(2, 3, 4, 2)


@pytest.mark.parametrize(("field", "blocks", "epsilon"), [("blocks", {}, 1), ("epsilon", {"1": BLOCK}, 0)])
def test_an_attack_that_makes_no_sense_is_refused(field, blocks, epsilon):
    with pytest.raises(InputError, match=field):
        attack_residents(blocks, epsilon)
