"""Fences stand out in exact counts of an empty land, and not under a budget."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk import map_runs
from discreet.risk.heat_map import BASES, LIMIT, SIDE, count_runners, draw_runs
from seam import Tape


def test_bases_are_in_the_exact_map_alone():
    found = map_runs(2000, 8, 1, bits=Tape("runs"))
    assert found.seen > 0.95
    assert found.seen_private == 0
    assert found.error < 0.5
    assert "hides people and not places" in found.explain()
    assert set(found.to_dict()).isdisjoint({"exact", "private"})
    assert found.picture().to_svg().count("<rect") > 2 * SIDE**2


def test_a_base_of_many_shows_under_a_budget_too():
    assert map_runs(200, 800, 1, bits=Tape("crowd")).seen_private > 0.9


def test_a_person_is_in_at_most_the_limit_of_cells():
    runs = draw_runs(50, 1, Tape("few"))
    kept = count_runners(runs, 10**6, Tape("noise"))
    assert kept.sum() == sum(min(len(run), LIMIT) for run in runs)
    assert count_runners(runs, None).sum() == sum(map(len, runs))
    assert all(len(np.unique(run)) == len(run) for run in runs)
    assert len(runs) == 50 + len(BASES)


@pytest.mark.parametrize("wrong", [{"people": 1}, {"guards": 0}, {"epsilon": -1}])
def test_a_map_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        map_runs(**wrong)


def test_the_same_map_at_a_large_epsilon_shows_the_bases():
    """It is the noise that hides them; exact counts with small ones left out hide them, too, and that is said."""
    found = map_runs(500, 8, 1, bits=Tape("control"))
    assert found.control > 50
    assert found.seen_control > 0.95
    assert found.seen_blanked == 0
    assert f"The same at epsilon = {found.control:g}" in found.explain()
