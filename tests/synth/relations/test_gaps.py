"""Times between rows: octaves first, codes that rise above the noise, and no tail that only noise has."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow
from clinic_desk import sequences

import discreet
from discreet import Budget, Category, Date, Integer, Schema, Unit
from discreet.marginals.meter import Noisy
from discreet.marginals.partition import Partition
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.synth.relations.gaps import Gaps, octaves

CUT = Partition.scaled(Fraction(0), Fraction(1), 729)


def gaps_in(table: pyarrow.Table) -> np.ndarray:
    """Days between rows of one patient."""
    listed = [sorted(rows, key=lambda row: row["day"]) for rows in sequences(table).values()]
    return np.array([(two["day"] - one["day"]).days for rows in listed for one, two in pairwise(rows)])


def noisy(counts: list[int], scale: float = 10) -> Noisy:
    """Counts of octaves as they were measured; none beyond those given."""
    full = counts + [0] * (int(octaves(CUT).max()) + 1 - len(counts))
    return Noisy((0,), np.array(full, dtype=np.int64), Laplace(scale))


def test_octaves_rise_and_hold_every_code():
    octave = octaves(CUT)
    assert len(octave) == CUT.size
    assert np.unique(octave).tolist() == list(range(11))
    assert (np.diff(octave) >= 0).all()


def test_clear_octaves_are_cut_finely_and_the_rest_is_one_code():
    gaps = Gaps.of(CUT, noisy([1000, 1000, 2000, 4000, 300, 20]))
    starts = gaps.cut.starts.tolist()
    assert starts[:8] == [0, 1, 2, 3, 4, 5, 6, 7]  # clear by far: every day by itself
    assert starts[-1] == 16  # behind the last octave that is clear
    assert gaps.cut.size < 20
    assert gaps.shares is not None
    assert abs(gaps.shares.sum() - 1) < 1e-12
    assert gaps.decay is not None
    assert gaps.bins.max() + 1 == gaps.cut.size


def test_without_noise_to_speak_of_codes_are_those_of_the_schema():
    gaps = Gaps.of(CUT, noisy([10**6] * 11, scale=0.1))
    assert gaps.cut.starts.tolist() == CUT.starts.tolist()
    assert gaps.decay is None


def test_a_far_octave_that_is_clear_stays():
    """Yearly visits: nothing in between, and no code for each of the days there."""
    gaps = Gaps.of(CUT, noisy([0, 0, 0, 0, 0, 0, 0, 0, 0, 5000]))
    assert gaps.shares is not None
    assert gaps.groups is not None
    assert gaps.shares[gaps.groups[gaps.bins[np.searchsorted(CUT.starts, 365, side="right") - 1]]] > 0.95


def test_where_nothing_is_clear_there_is_still_something_to_draw():
    for counts in ([-5, 3, 0, 9], [0], [-40] * 11):
        gaps = Gaps.of(CUT, noisy(counts))
        drawn = gaps.draw(np.zeros(50, dtype=np.int64), Replay(b"gaps"))
        assert ((drawn >= 0) & (drawn <= CUT.last)).all()
        pool = np.zeros((20, 1), dtype=np.int64)
        assert len(gaps.calibrated(pool, 0)) == 20


def test_the_last_code_falls_off_as_the_counts_do():
    """Half of what was left in the last octave is left behind it: exponential, and exact there."""
    gaps = Gaps.of(CUT, noisy([0, 0, 0, 0, 0, 4000, 20, 20, 20, 20, 20], scale=10))
    drawn = gaps.draw(np.full(4000, gaps.cut.size - 1), Replay(b"tail"))
    assert drawn.min() == 32
    assert drawn.max() <= CUT.last
    assert np.median(drawn) < 40


def test_a_pool_is_drawn_again_in_the_shares_that_were_counted():
    gaps = Gaps.of(CUT, noisy([1000, 3000]))
    pool = np.array([[0], [1]] * 500)
    drawn = gaps.calibrated(pool, 0)
    assert abs((drawn == 0).mean() - 0.25) < 0.01


def test_long_gaps_at_epsilon_one_are_not_those_of_noise(tmp_path):
    """Before, the 95% and 99% quantiles of gaps with a mean of 10 days came out at hundreds of days."""
    rng = np.random.default_rng(5)
    rows = []
    for person in range(2500):
        day = int(rng.integers(0, 250))
        for _ in range(int(rng.integers(1, 6))):
            rows.append((person, "ab"[int(rng.integers(0, 2))], date(2024, 1, 1) + timedelta(min(day, 729))))
            day += 1 + int(rng.exponential(9))
    names = ("patient", "ward", "day")
    data = pyarrow.table({"home": ["x"] * len(rows)} | dict(zip(names, zip(*rows, strict=True), strict=True)))
    schema = Schema(
        "log",
        {
            "patient": Integer(0, 10**6),
            "home": Category(["x"], nullable=False),
            "ward": Category(["a", "b"], nullable=False),
            "day": Date("2024-01-01", "2025-12-30", nullable=False),
        },
        Unit("patient", groups=5, rows=1),
    )
    curator = discreet.open(data, schema, ledger=tmp_path / "b.db", budget=Budget(3), who="ann", create=True)
    asked = curator.relate(["home"], order="day", limit=5)
    drawn = [gaps_in(asked.plan(epsilon=1).release().children) for _ in range(3)]
    assert min(map(len, drawn)) > 2000
    for share in (0.5, 0.95, 0.99):
        expected = np.quantile(gaps_in(data), share)
        usual = np.median([np.quantile(one, share) for one in drawn])  # one in some tens is farther off
        assert expected / 2.2 < usual < expected * 2.2, share


def octave_counts(mean: float, many: int) -> list[int]:
    """How many of so many gaps of an exponential law lie in each octave."""
    ends = np.array([0.0, *(2.0**power for power in range(11))])
    survival = np.append(np.exp(-ends / mean), 0.0)
    return np.rint(many * (survival[:-1] - survival[1:])).astype(int).tolist()


def test_gaps_that_noise_hides_fall_off_as_an_exponential_law_does():
    """Noise took what lies behind the last clear octave below nothing: there are some all the same."""
    counts = octave_counts(15, 3_000)
    last = 6  # of 32 to 63; behind it lie 42 gaps, below three deviations of the noise
    assert counts[last] > 3 * np.sqrt(2) * 30 > sum(counts[last + 1 :]) > 30
    gaps = Gaps.of(CUT, noisy([*counts[: last + 1], -40, -10], scale=30))
    share = sum(counts[last + 1 :]) / 3_000
    assert 0.8 * share < gaps.shares[-1] < 1.2 * share
    points = gaps.draw(np.full(4_000, gaps.cut.size - 1), Replay(b"x"))
    assert 0.8 * 15 < points.mean() - 64 < 1.3 * 15


def test_a_law_that_expects_no_end_is_not_believed():
    """Evenly over 60 days: the last octave has nearly twice as many as the one before, and nothing lies behind."""
    counts = [0, 50, 100, 200, 400, 800, 1450]
    gaps = Gaps.of(CUT, noisy([*counts, 5, -8, 3, 1], scale=15))
    assert gaps.shares[-1] < 0.01
