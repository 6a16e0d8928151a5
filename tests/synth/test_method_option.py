"""Options of a method: checked before anything is spent, kept on the plan, and used again where rows are made again."""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
import pytest
from relaxed_tables import ROWS

from discreet.errors import InputError
from discreet.synth.method_option import MethodOption, check_options
from discreet.synth.methods import METHODS, method_named, options_of

WHOLE = MethodOption("rounds", "How many", most=10)
WORD = MethodOption("way", "How", words=("flat", "adaptive"))


@pytest.mark.parametrize("value", [0, 11, True, 2.0, "2", None])
def test_a_number_outside_its_bounds_is_refused(value):
    with pytest.raises(InputError, match="from 1 to 10"):
        WHOLE.check(value, 3)


def test_bounds_may_rise_with_the_columns():
    each = MethodOption("rounds", "How many", most=10, for_each=True)
    assert each.check(13, 4) == 13
    for value in (3, 14):
        with pytest.raises(InputError, match=r"from 4 to 13; got .* Every column is measured"):
            each.check(value, 4)


def test_options_come_in_the_order_of_their_names():
    assert check_options((WORD, WHOLE), {"way": "flat", "rounds": 3}, "made", 1) == (("rounds", 3), ("way", "flat"))
    assert check_options((), {}, "made", 1) == ()


@pytest.mark.parametrize("method", METHODS)
def test_options_are_the_keyword_arguments_of_a_method_and_of_what_it_says_beforehand(method):
    module = import_module(f"discreet.synth.{method}")
    names = [one.name for one in options_of(method)]
    taken = inspect.signature(method_named(method)).parameters
    assert sorted(names) == sorted(set(taken) - {"meter", "workload", "rows"})
    for told in (module.column_prices, getattr(module, "outline", None)):
        if told is not None:
            others = inspect.signature(told).parameters
            assert set(names) <= set(others) or "options" in others


@pytest.fixture
def offers(curator):
    def offer(method="rap", **options):
        asked = curator.synthesize(method, columns=["sex", "works"], rows=60, options=options or None)
        return asked.plan(epsilon=2)

    return offer


def test_options_stand_on_the_plan_and_change_its_digest_only_where_they_are_given(offers):
    plain, rounds = offers(), offers(rounds=3, per_round=1, relaxed_rows=ROWS)
    assert "options" not in plain.plan.query["synth"]
    assert rounds.plan.query["synth"]["options"] == {"per_round": 1, "relaxed_rows": ROWS, "rounds": 3}
    assert len({plain.plan.digest, rounds.plan.digest, offers(rounds=4).plan.digest}) == 3
    assert rounds.explained.facts["options"]["rounds"] == 3
    assert "options" not in plain.explained.facts
    assert "rap with per_round=1" in rounds.explain()
    assert "in each of 3 rounds" in rounds.explain()
    assert "Measures all 1 marginals" in offers(rounds=1).explain()


def test_rounds_of_aim_decide_what_single_columns_are_measured_for(offers):
    few, many = (offers("aim", rounds=rounds).expected[1].half_width for rounds in (4, 400))
    assert many > 20 * few


def test_rows_are_made_again_as_the_options_say(offers, curator):
    release = offers(rounds=2, per_round=1, relaxed_rows=ROWS).release(release="made")
    assert len(release.measured) == 2 + 2
    again = curator.release("made")
    assert f"{ROWS:,} undecided rows" in " ".join(again.notes)
    first, second = again.sample(30), again.sample(30)
    assert np.array_equal(first.codes, second.codes)
