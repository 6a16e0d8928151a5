"""A few known ratings find a row; rows from a private release are nobody's."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk import link_ratings
from discreet.risk.ratings import FILMS, LIMIT, draw_ratings, release_ratings
from seam import Tape


def test_few_ratings_find_most_people_and_a_private_release_finds_nobody():
    found = link_ratings(400, 1, targets=60, known=(1, 2, 4, 8), bits=Tape("ratings"))
    assert found.with_days[-1] > 0.95
    assert found.without_days[-1] > 0.9
    assert found.without_days[0] < 0.5  # one rating is many people's
    assert found.learned > 0.9
    assert found.learned_private < found.learned_nobody + 0.15
    assert found.learned_counts < found.learned_nobody + 0.15  # no rows to link, without any noise
    assert "counts stop this attack without any noise" in found.explain()
    assert "other films" in found.explain()
    assert found.picture().to_svg().startswith("<svg")


def test_a_person_counts_in_the_release_with_at_most_the_limit():
    table = draw_ratings(100, Tape("people"))
    counts = release_ratings(table, 10**6, Tape("noise"))
    rated = (table.scores > 0).sum(axis=1)
    assert counts.sum() == np.minimum(rated, LIMIT).sum()
    assert rated.max() > LIMIT
    assert counts.shape == (FILMS, 5)


def test_more_people_make_private_counts_better():
    small, large = (link_ratings(many, 1, targets=5, bits=Tape("more")).error for many in (200, 3000))
    assert large < small


@pytest.mark.parametrize("wrong", [{"people": 1}, {"epsilon": 0}, {"targets": 0}, {"known": ()}])
def test_an_attack_on_ratings_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        link_ratings(**{"people": 100, **wrong})
