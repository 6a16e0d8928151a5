"""Profiles of workers by destination: paid for, made to agree, with intervals that hold."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from commute_desk import PLACES, SIZES, ask, commuters, curator

from chance import at_most
from discreet import Budget, Unit, bins, key
from discreet.accounting import pure
from discreet.core.loss import ZCDP, Pure
from discreet.errors import InputError, RunError
from discreet.flows.commuting.plan import CommutePlan
from discreet.flows.commuting.profile import PROFILE, Profile, agreeing
from discreet.mechanisms import Laplace

HOURS = bins("hour", [0, 8, 16, 24])


def desk(tmp_path, **how):
    return curator(tmp_path, budget=Budget(epsilon=10**7), **how)


def by_destination(table):
    found = np.zeros((4, 3), dtype=np.int64)
    for work, hour in zip(table["work"].to_pylist(), table["hour"].to_pylist(), strict=True):
        found[PLACES.index(work), hour // 8] += 1
    return found


@pytest.mark.parametrize("method", ["modern", "classic"])
def test_a_profile_counts_the_workers_of_each_destination(tmp_path, method):
    found = ask(desk(tmp_path), profile=[HOURS]).plan(epsilon=10**5, method=method).release()
    table = found.table("destinations")
    exact = by_destination(commuters())
    profile = found.profile()
    assert np.array(profile["count"]).reshape(4, 3).tolist() == exact.tolist()
    assert profile["work area"][:4] == ["A", "A", "A", "B"]
    assert profile["characteristic"][0] == "hour"
    assert profile["group"][:3] == ["0..8", "8..16", "16..24"]
    assert np.array(profile["count"]).reshape(4, 3).sum(axis=1).tolist() == table["count"]
    assert profile["share"][0] == pytest.approx(exact[0, 0] / exact[0].sum())


def test_what_is_paid_is_the_price_with_profiles_and_without(tmp_path):
    """Of every part that is measured the noise is worth its share, and shares add up to the price: no more, no less."""
    town = desk(tmp_path)
    for how in (
        {},
        {"profile": [HOURS]},
        {"profile": [HOURS, bins("who", [0, 100, 10**6])]},
        {"profile": [HOURS], "sizes": SIZES},
    ):
        plan = ask(town, **how).plan(epsilon=2).plan
        parts = [*plan._shares(), *plan._profiles()]
        assert sum(part for _, _, part in parts) == 1
        assert sum(pure(plan.noise(part).loss(plan.moved)).epsilon for _, _, part in parts) <= 2
        assert plan.cost == Pure(2)
    unit, folder = Unit("who", groups=2, rows=3), tmp_path / "persons"
    folder.mkdir()
    plan = ask(curator(folder, unit), profile=[HOURS]).plan(epsilon=2).plan
    assert plan.noise(PROFILE) == Laplace.for_epsilon(2 * PROFILE, 6)
    classic = ask(town, profile=[HOURS]).plan(epsilon=2, method="classic").plan
    assert pure(classic.cost) == Pure(2)
    assert classic.urns.epsilon == 2 * Fraction(3, 4) * Fraction(39, 40)


def test_a_profile_that_goes_unpaid_is_caught(tmp_path, monkeypatch):
    """The planted bug: other parts keep their shares, so that profiles come on top. The meter refuses to measure."""
    town = desk(tmp_path)
    monkeypatch.setattr(CommutePlan, "part", lambda self, share: share)
    plan = ask(town, profile=[HOURS]).plan(epsilon=2).plan
    assert sum(part for _, _, part in [*plan._shares(), *plan._profiles()]) > 1
    with pytest.raises(RunError):
        ask(town, profile=[HOURS]).plan(epsilon=2).release()


def test_rho_pays_too(tmp_path):
    town = curator(tmp_path, budget=Budget(epsilon=5, delta="1e-6"))
    plan = ask(town, profile=[HOURS]).plan(rho=0.1).plan
    assert plan.cost == ZCDP(Fraction(1, 10))


def test_rows_agree_with_totals_whatever_the_noise():
    chance = np.random.default_rng(0)
    noisy, totals = chance.integers(-20, 90, (30, 4)), chance.integers(0, 200, 30)
    found = agreeing(noisy, totals)
    assert found.min() >= 0
    assert found.sum(axis=1).tolist() == totals.tolist()
    exact = chance.integers(0, 90, (30, 4))
    assert agreeing(exact, exact.sum(axis=1)).tolist() == exact.tolist()
    assert agreeing(noisy[:0], totals[:0]).shape == (0, 4)


def profile_of(exact, noise):
    noisy = noise.release(exact.ravel()).reshape(exact.shape)
    return Profile("age", ("young", "old", "rest"), agreeing(noisy, np.maximum(exact.sum(axis=1), 0)), noisy, noise)


EXACT = np.array([[40, 7, 0], [3, 1, 1], [0, 300, 12]])


def misses(chosen, claimed, runs=300):
    """In how many of so many releases the interval of each count, and of each share, misses the truth."""
    counts = EXACT[chosen].sum(axis=0)
    shares = counts / counts.sum()
    missed, missed_shares = np.zeros(3, int), np.zeros(3, int)
    for _ in range(runs):
        drawn = profile_of(EXACT, Laplace.for_epsilon(Fraction(1, 2)))
        one = replace(drawn, noise=claimed)
        low, high = one.ends(chosen, 0.8)
        missed += (low > counts) | (high < counts)
        _, least, most = one.shares(chosen, 0.8)
        assert all(0 <= a <= b <= 1 for a, b in zip(least, most, strict=True))
        missed_shares += (np.array(least) > shares + 1e-12) | (np.array(most) < shares - 1e-12)
    return missed, missed_shares


@pytest.mark.parametrize("chosen", [[0], [0, 2]])
def test_intervals_of_counts_and_shares_hold_the_truth(chosen):
    missed, missed_shares = misses(chosen, Laplace.for_epsilon(Fraction(1, 2)))
    assert all(at_most(int(many), 300, 0.2) for many in (*missed, *missed_shares))


def test_intervals_of_too_little_noise_are_caught():
    missed, missed_shares = misses([0], Laplace.for_epsilon(4))
    assert not at_most(int(missed[0]), 300, 0.2)
    assert not at_most(int(missed_shares[0]), 300, 0.2)


def test_a_column_cannot_be_a_profile_twice_or_of_itself(tmp_path):
    town = desk(tmp_path)
    for columns in (["home"], ["work"], ["hour", "hour"]):
        with pytest.raises(InputError, match="columns that differ"):
            ask(town, profile=columns)
    for columns in (["nothing"], [bins("hour", [0, 8])]):
        with pytest.raises(InputError) as caught:
            ask(town, profile=columns)
        assert caught.value.field == "profile"
    assert "charge" not in {record.kind for record in town.ledger.records()}


def test_without_a_profile_nothing_is_recorded_or_named(tmp_path):
    found = ask(desk(tmp_path)).plan(epsilon=1).release()
    assert "profile" not in found.tables()
    with pytest.raises(InputError, match="part of the release"):
        found.profile()


def test_every_worker_is_in_a_group_and_who_is_in_none_is_said(tmp_path):
    found = ask(desk(tmp_path), profile=[HOURS], where="who < 3").plan(epsilon=10**5)
    notes = "\n".join(note.text for note in found.plan.notes)
    assert "In hour, values outside 0..23 are clipped to the nearer bound" in notes
    early = commuters().set_column(3, "hour", [[-5] * 3000])
    (tmp_path / "early").mkdir()
    beyond = ask(curator(tmp_path / "early", table=early), profile=[HOURS]).plan(epsilon=9).release().profile()
    assert sum(beyond["count"][::3]) > 2900


def test_a_profile_may_be_computed(tmp_path):
    found = ask(desk(tmp_path), profile=[key("hour // 12", name="half of the day")]).plan(epsilon=10**5).release()
    assert found.profile()["characteristic"][0] == "half of the day"
    assert found.profile()["group"][:2] == ["0", "1"]
