"""Strings: RAPPOR's filters and heavy hitters."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, frequency_fits, mean_fits
from discreet.core.exact import exp_up, log_up
from discreet.errors import InputError
from discreet.local import HeavyHitters, HeavyReports, Rappor, RapporClient, RapporReports
from discreet.local.bloom import filter_bits, filters
from discreet.local.heavy import _parities

LAWS = [
    Rappor(8, 1, 2, "1/2", "1/4", "3/4"),
    Rappor(8, 2, 2, "1/4", "1/2", "3/4"),
    Rappor(8, 1, 1, "2/3", "1/5", "1/2"),
]


def bit_law(law, bit, rounds):
    """The exact law of what is sent for one bit of a filter over some rounds."""
    out = {}
    for sent in itertools.product((0, 1), repeat=rounds):
        total = Fraction(0)
        for memory in (0, 1):
            chance = 1 - law.f / 2 if memory == bit else law.f / 2
            heads = law.q if memory else law.p
            for one in sent:
                chance *= heads if one else 1 - heads
            total += chance
        out[sent] = total
    return out


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_cost_is_exact(law):
    for rounds in (1, 2, 4):
        one, zero = bit_law(law, 1, rounds), bit_law(law, 0, rounds)
        assert sum(one.values()) == 1
        up = max(one[sent] / zero[sent] for sent in one)
        down = max(zero[sent] / one[sent] for sent in one)
        assert law.ratio(rounds) == (up * down) ** law.hashes
        assert law.ratio(rounds) < law.ratio()
        assert log_up(law.ratio(rounds)) <= law.loss(rounds).epsilon + Fraction(1, 10**40)
    assert law.ratio(2) > law.ratio(1)
    assert law.sent == (bit_law(law, 0, 1)[(1,)], bit_law(law, 1, 1)[(1,)])
    published = 2 * law.hashes * math.log((1 - float(law.f) / 2) / (float(law.f) / 2))
    assert float(law.loss().epsilon) == pytest.approx(published, rel=1e-9)
    none, one = (float(chance) for chance in law.sent)
    single = law.hashes * math.log(one * (1 - none) / (none * (1 - one)))
    assert float(law.loss(1).epsilon) == pytest.approx(single, rel=1e-9)


@pytest.mark.statistical
def test_bits_follow_the_law():
    law = Rappor(16, 2, 4, "1/3", "1/4", "3/5")
    reports = law.privatize(["firefox"] * 40_000)
    none, one = (float(chance) for chance in law.sent)
    bits = np.unpackbits(reports.rows, axis=1)
    for cohort in range(4):
        mine = bits[reports.cohorts == cohort]
        places = set(filter_bits("firefox", cohort, 16, 2))
        for place in range(16):
            seen = int(mine[:, place].sum())
            assert frequency_fits(seen, len(mine), one if place in places else none)
            assert not frequency_fits(seen, len(mine), none if place in places else one)


@pytest.mark.statistical
def test_a_client_remembers():
    law = Rappor(16, 2, 4, "1/3", "1/4", "3/5")
    client = law.start()
    reports = [client.report("firefox") for _ in range(3000)]
    saved = client.to_dict()
    kept = np.unpackbits(np.frombuffer(bytes.fromhex(saved["memory"]["firefox"]), dtype=np.uint8))
    bits = np.unpackbits(np.concatenate([one.rows for one in reports]), axis=1)
    for place in range(16):
        assert frequency_fits(int(bits[:, place].sum()), 3000, float(law.q if kept[place] else law.p))
    again = RapporClient(law, saved["cohort"], saved["memory"])
    assert again.to_dict() == saved
    with pytest.raises(InputError):
        RapporClient(law, 9)
    with pytest.raises(InputError):
        RapporClient(law, 1, {"firefox": "00"})


NAMES = [f"site{number}" for number in range(40)]


@pytest.mark.statistical
def test_candidates_are_found_and_strangers_are_not():
    law = Rappor(64, 2, 8, "1/8", "1/8", "7/8")
    chance = np.random.default_rng(2)
    shares = np.array([0.3, 0.2, 0.1, *[0.4 / 37] * 37])
    truth = chance.choice(NAMES, 20_000, p=shares)
    reports = law.privatize(truth.tolist())
    real = np.array([(truth == name).mean() for name in NAMES])
    found = law.decode(reports, NAMES)
    assert {row["value"] for row in found.rows()[:3]} == {"site0", "site1", "site2"}
    for place in range(3):
        assert mean_fits([found.shares[place]], real[place], found.errors[place] ** 2 + 0.25 / 20_000)
        assert not mean_fits([found.shares[place]], real[place] + 0.1, found.errors[place] ** 2)
    strangers = [f"stranger{number}" for number in range(600)]
    wide = law.decode(reports, [*NAMES, *strangers], confidence=1 - 1e-9)  # no stranger by chance
    assert {row["value"] for row in wide.rows()} >= {"site0", "site1", "site2"}
    assert wide.selected.sum() < 300
    assert not wide.significant[len(NAMES) :].any()
    nobody = law.decode(law.privatize(["elsewhere"] * 50), strangers[:20])
    assert nobody.shares.shape == (20,)


def test_wrong_filters_are_refused():
    for wrong in (
        {"bits": 0},
        {"hashes": 200},
        {"cohorts": 0},
        {"f": 0},
        {"f": 1},
        {"p": "3/4", "q": "1/2"},
        {"q": 1},
        {"bits": 10**6},
    ):
        with pytest.raises(InputError):
            Rappor(**wrong)
    law, other = Rappor(16, 2, 4), Rappor(16, 2, 4, f="1/4")
    reports = law.privatize(["a", "b"])
    with pytest.raises(InputError, match="other parameters"):
        other.decode(reports, ["a"])
    with pytest.raises(InputError):
        law.decode(reports, [])
    with pytest.raises(InputError):
        law.decode(reports, ["a", "a"])
    with pytest.raises(InputError):
        law.decode(RapporReports(law.id, np.array([9, 0]), reports.rows), ["a"])
    with pytest.raises(InputError):
        law.decode(RapporReports(law.id, reports.cohorts, reports.rows[:, :1]), ["a"])
    with pytest.raises(InputError):
        law.decode(law.privatize([]), ["a"])
    with pytest.raises(InputError):
        law.privatize([5])
    assert filters("a", 4, 16, 2).sum() <= 8


@pytest.mark.parametrize("epsilon", [1, 4])
def test_hashed_prefixes_keep_their_claim(epsilon):
    """All keys of a tiny domain, listed: every report's ratio, and collisions exactly as often as said."""
    law = HeavyHitters(epsilon, length=1, alphabet="abc", parities=2)
    keys = np.array(list(itertools.product(range(4), repeat=2)), dtype=np.uint64)
    codes = law.coded(["a", "b", "c"])
    buckets = _parities(codes[None, :], keys[:, None, :])
    for one, two in itertools.combinations(range(3), 2):
        assert (buckets[:, one] == buckets[:, two]).mean() == 0.25
    hit = law._hit
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
    codes = law.coded(["abc"])
    for level in (1, 2, 3):
        asked = reports.levels == level
        hashed = _parities(np.repeat(law._prefixes(codes, level), asked.sum()), reports.keys[asked])
        told = int((hashed == reports.buckets[asked]).sum())
        assert frequency_fits(told, int(asked.sum()), float(law._hit))
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
    assert law.decoded(int(law.coded(["flu"])[0])) == "flu"
    assert law.privatize("flu").levels.shape == (1,)
