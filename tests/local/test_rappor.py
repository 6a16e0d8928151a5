"""RAPPOR's filters: their exact cost, and candidates found among them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from chance import frequency_fits, mean_fits
from discreet.core.exact import log_up
from discreet.errors import InputError
from discreet.local import Rappor, RapporClient, RapporReports
from discreet.local.rappor import filter_bits, filters

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
