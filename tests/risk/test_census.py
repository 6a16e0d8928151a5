"""People of a block come back from its tables, and few of them under a stated epsilon."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.block_attack import _draw_people, attack_blocks
from discreet.risk.census import (
    AGES,
    RACES,
    SEXES,
    Block,
    _equations,
    _most_moved,
    coarse_tables,
    exact_tables,
    noisy_tables,
    rebuild,
)
from seam import Tape

BLOCK = [(8, "F", "white"), (18, "M", "white"), (24, "F", "white"), (30, "M", "white"), (36, "F", "black")]

BLOCK += [(66, "F", "black"), (84, "M", "black")]


def test_a_block_is_rebuilt_from_its_tables():
    found = rebuild(exact_tables(BLOCK))
    assert found.right(BLOCK) >= len(BLOCK) - found.uncertain
    assert found.right(BLOCK) >= 3
    assert len(found.people) == 7


def test_what_is_rebuilt_satisfies_every_table():
    found = rebuild(exact_tables(BLOCK))
    again = {(one.sex, one.race, one.ages): one for one in exact_tables(found.people).statistics}
    for one in exact_tables(BLOCK).statistics:
        other = again[(one.sex, one.race, one.ages)]
        assert other.count == one.count
        if one.mean is not None:
            assert abs(other.mean - one.mean) <= 0.1 + 1e-9


def test_under_noise_the_same_solver_finds_few_people():
    hits = [
        rebuild(noisy_tables(BLOCK, 0.5, sexes=("F", "M"), races=("black", "white")), others=False).right(BLOCK)
        for _ in range(4)
    ]
    assert sum(hits) <= 14  # of 28


def test_a_block_that_noise_has_emptied_is_rebuilt_as_nobody():
    assert rebuild(exact_tables([])).people == ()
    assert rebuild(exact_tables([]), exact=False, others=False).right(BLOCK) == 0


def test_under_a_huge_budget_the_tables_are_the_exact_ones_and_less_of_it_finds_fewer(monkeypatch):
    """Always the same people, of whom tables tell more or less: of others in their place one run in 130 finds few."""
    tape = Tape("people")
    monkeypatch.setattr("discreet.risk.block_attack.SystemBits", lambda: tape)
    people = _draw_people(7)
    assert noisy_tables(people, 1e6, sexes=SEXES, races=RACES) == exact_tables(people)
    assert coarse_tables(people) != exact_tables(people)
    found = attack_blocks(6, 7, 0.5, curve=(1e6,))
    (low, few), (high, many) = found.curve
    assert (low, high) == (0.5, 1e6)
    assert many == found.right  # same statistics, same detail: what is left is the noise
    assert few == found.right_noisy <= 10  # of 42; by chance one or none
    assert found.right > 15
    assert found.right_coarse < found.right
    assert f"{found.right_coarse:,}" in found.explain()


def test_others_of_the_same_kinds_are_others_too():
    """Ages 20, 21, 21, 22 and 20, 20, 22, 22 print the same tables; the second has no kind that the first lacks."""
    ours, theirs = ([(age, "F", "x") for age in ages] for ages in ((20, 21, 21, 22), (20, 20, 22, 22)))
    assert exact_tables(ours) == exact_tables(theirs)
    cells = [(age, "F", "x") for age in range(AGES)]
    rows, low, high = _equations(exact_tables(ours), cells)
    narrow = rows * np.isin(np.arange(AGES), [20, 21, 22])  # no other ages
    missing = np.array([cell not in ours for cell in cells], dtype=float)
    assert (
        _most_moved(
            np.vstack([narrow, missing]),
            np.append(low, 0),
            np.append(high, 0),
            np.bincount([20, 21, 21, 22], minlength=AGES),
        )
        == 2
    )
    alone = exact_tables([(33, "F", "x")])
    rows, low, high = _equations(alone, cells)
    only = np.vstack([rows, np.eye(AGES)[33]])
    assert _most_moved(only, np.append(low, 1), np.append(high, 1), np.bincount([33], minlength=AGES)) == 0


def test_tables_that_nobody_satisfies_have_no_solution():
    block = exact_tables(BLOCK)
    wrong = Block(block.sexes, block.races, (*block.statistics[1:], type(block.statistics[0])(None, None, 9)))
    assert rebuild(wrong) is None
    with pytest.raises(InputError, match="age"):
        exact_tables([(120, "F", "white")])
