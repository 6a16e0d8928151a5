"""Common strings: hashed prefixes keep their claim, and what stands out is found."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, frequency_fits, mean_fits
from discreet.core.exact import exp_up
from discreet.errors import InputError
from discreet.local import HeavyHitters, HeavyReports
from discreet.local.heavy_hitters import _parities


@pytest.mark.parametrize("epsilon", [1, 4])
def test_hashed_prefixes_keep_their_claim(epsilon):
    """All keys of a tiny domain, listed: every report's ratio, and collisions exactly as often as said."""
    law = HeavyHitters(epsilon, length=1, alphabet="abc", parities=2)
    keys = np.array(list(itertools.product(range(4), repeat=2)), dtype=np.uint64)
    codes = law.encode(["a", "b", "c"])
    buckets = _parities(codes[None, :], keys[:, None, :])
    for one, two in itertools.combinations(range(3), 2):
        assert (buckets[:, one] == buckets[:, two]).mean() == 0.25
    hit = law.hit
    other = (1 - hit) / 3
    ratios = {
        (hit if bucket == mine else other) / (hit if bucket == theirs else other)
        for row in buckets
        for mine, theirs in itertools.permutations(row, 2)
        for bucket in range(4)
    }
    assert max(ratios) == law.ratio <= exp_up(law.epsilon)
    assert law.loss().epsilon <= law.epsilon


@pytest.mark.statistical
def test_heavy_reports_follow_the_law():
    law = HeavyHitters(1, length=3, alphabet="abc")
    reports = law.privatize(["abc"] * 30_000)
    assert fits(reports.levels, lambda x: np.where((x >= 1) & (x <= 3), 1 / 3, 0))
    codes = law.encode(["abc"])
    for level in (1, 2, 3):
        asked = reports.levels == level
        hashed = _parities(np.repeat(law._prefixes(codes, level), asked.sum()), reports.keys[asked])
        told = int((hashed == reports.buckets[asked]).sum())
        assert frequency_fits(told, int(asked.sum()), float(law.hit))
        assert not frequency_fits(told, int(asked.sum()), 2.0**-law.parities)


@pytest.mark.statistical
def test_common_strings_are_found():
    law = HeavyHitters(3, length=6)
    chance = np.random.default_rng(3)
    rare = ["".join(chance.choice(list("abcdefghijkl"), 5)) for _ in range(8000)]
    values = ["fever"] * 12_000 + ["cough"] * 8000 + ["flu"] * 6000 + rare
    chance.shuffle(values)
    found = {one.value: one for one in law.search(law.privatize(values), confidence=1 - Fraction(1, 10**13))}
    assert set(found) == {"fever", "cough", "flu"}
    for value, count in (("fever", 12_000), ("cough", 8000), ("flu", 6000)):
        assert found[value].lower <= count / len(values) <= found[value].upper
    assert law.search(law.privatize(rare), confidence=1 - Fraction(1, 10**13)) == []


def test_intervals_of_common_strings_cover():
    law, people, runs = HeavyHitters(4, length=1, alphabet="ab"), ["a"] * 400 + ["b"] * 600, 200
    found = [{one.value: one for one in law.search(law.privatize(people))} for _ in range(runs)]
    shares = np.array([one["a"].share for one in found])
    assert mean_fits(shares, 0.4, law._errors(np.array([0.4]), 1000)[0] ** 2)
    missed = sum(not one["a"].lower <= 0.4 <= one["a"].upper for one in found)
    assert at_most(missed, runs, 0.06)
    # An interval made for a string that nobody has is too narrow, and the same test sees it.
    narrow = law._errors(np.zeros(1), 1000)[0] * 1.96
    assert not at_most(int((np.abs(shares - 0.4) > narrow).sum()), runs, 0.06)


def test_wrong_strings_are_refused():
    law = HeavyHitters(1, length=4)
    for wrong in (["FLU"], ["toolong"], [5], ["a b"]):
        with pytest.raises(InputError) as caught:
            law.privatize(wrong)
        assert str(wrong[0]) not in str(caught.value)
    for wrong in ({"epsilon": 0}, {"length": 0}, {"length": 40}, {"alphabet": "aa"}, {"alphabet": ""}, {"parities": 9}):
        with pytest.raises(InputError):
            HeavyHitters(**{"epsilon": 1, **wrong})
    reports = law.privatize(["flu", "cold"])
    with pytest.raises(InputError, match="another epsilon"):
        HeavyHitters(2, length=4).search(reports)
    with pytest.raises(InputError, match="levels"):
        law.search(HeavyReports(law.id, np.array([0, 9]), reports.keys, reports.buckets))
    with pytest.raises(InputError, match="keys"):
        law.search(HeavyReports(law.id, reports.levels, reports.keys[:1], reports.buckets))
    nobody = law.privatize(["flu", "flu"])
    with pytest.raises(InputError, match="none at one"):  # of the first letter, whichever levels were drawn
        law.search(HeavyReports(law.id, np.array([2, 3]), nobody.keys, nobody.buckets))
    assert law.decode(int(law.encode(["flu"])[0])) == "flu"
    assert law.privatize("flu").levels.shape == (1,)


def test_intervals_of_all_strings_that_are_found_hold_at_once():
    """More often than is stated; a third as wide they do not, and the same test sees it."""
    law, runs, missed, narrow = HeavyHitters(4, length=1, alphabet="abcdefghijklmnop"), 120, 0, 0
    people = list("abcdefghijklmnop") * 40
    for _ in range(runs):
        found = law.search(law.privatize(people), confidence=0.9)
        away = [abs(one.share - 1 / 16) / (one.upper - one.share) for one in found]
        missed += any(one > 1 for one in away)
        narrow += any(one > 1 / 3 for one in away)
    assert at_most(missed, runs, 0.1)
    assert not at_most(narrow, runs, 0.1)


def test_a_string_is_found_about_nine_times_in_ten_from_the_stated_share_on():
    law, people, runs = HeavyHitters(4, length=4, alphabet="abcdefgh"), 2000, 60
    least = law.least_share(people)
    missed = []
    for share in (least, least / 3):
        values = ["bead"] * round(share * people) + ["h"] * (people - round(share * people))
        missed.append(sum("bead" not in {one.value for one in law.search(law.privatize(values))} for _ in range(runs)))
    assert at_most(missed[0], runs, 0.25)
    assert not at_most(missed[1], runs, 0.25)
