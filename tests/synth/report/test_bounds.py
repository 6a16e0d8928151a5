"""Intervals from noisy counts miss no more often than they may, whatever was measured and why."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from report_rows import BINS, DOMAIN, MARGINALS, SCHEMA, condition, made_of, some_codes

from chance import at_most
from discreet.data.column import Boolean
from discreet.data.schema import Schema
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked
from discreet.synth.exclusions import holds
from discreet.synth.report.bounds import Interval, Known
from discreet.synth.report.statistic import answer, read_statistics
from discreet.synth.rows import draw_rows
from discreet.synth.synthetic import Synthetic

ASKS = [
    ("age >= 25", True),
    ("age >= 25 and sex = 'f'", True),
    ("pay < 500 and age >= 30 and works", True),
    ("mean(age)", True),
    ("mean(age) where sex = 'f'", True),
    ("mean(works) where age >= 40", True),
    ("mean(size) where sex = 'f'", False),
    ("size > 3 or day < '2020-06-01'", False),
]


def missed(noises, runs, *, listed=ASKS, claimed=None, level=0.8):
    codes = some_codes(3000)
    drawn = draw_rows(DOMAIN, SCHEMA.columns, codes)
    asks = read_statistics([text for text, _ in listed], DOMAIN, SCHEMA.columns)
    truth = [answer(one, drawn, DOMAIN) for one in asks]
    misses = np.zeros(len(asks), dtype=int)
    for run in range(runs):
        made = made_of(codes, noises, None if run % 2 else BINS, MARGINALS)
        if claimed is not None:
            measured = [Noisy(one.columns, one.values, claimed) for one in made.measured]
            made = Synthetic(made.codes, made.total, tuple(measured), made.bins, made.fine)
        known = Known(DOMAIN, SCHEMA.columns, made)
        for place, one in enumerate(asks):
            interval = known.ask(one, level)
            assert (interval is not None) == listed[place][1]
            if interval is not None:
                misses[place] += not interval.lower - 1e-9 <= truth[place] <= interval.upper + 1e-9
    return misses


@pytest.mark.statistical
@pytest.mark.parametrize("noises", [(Laplace(20), Laplace(9)), (Gaussian(20), Gaussian(9))], ids=["laplace", "gauss"])
def test_intervals_miss_no_more_often_than_they_may(noises):
    misses = missed(noises, 30)
    assert all(at_most(int(one), 30, 0.2) for one in misses)


@pytest.mark.statistical
def test_intervals_for_noise_that_was_larger_are_caught():
    # Shares will do: means take ten times as long.
    misses = missed((Gaussian(2000), Gaussian(2000)), 30, listed=ASKS[:3], claimed=Gaussian(20))
    assert not all(at_most(int(one), 30, 0.2) for one in misses)


def suspicious(first: float) -> bool:
    """A method that measures again, a little better, if the first measurement looks plausible."""
    return 500 < first < 1500


def again_and_again(narrowest: bool, runs: int) -> int:
    """How often a count is missed if what is measured depends on earlier noise."""
    rows = np.zeros((1000, 1), dtype=np.int64)
    domain, declared = Domain.of(Schema("u", {"a": Boolean(nullable=False)})), {"a": Boolean(nullable=False)}
    wanted, misses = checked(parse_condition("not a"), Schema("u", declared)), 0
    first, second = Gaussian(400), Gaussian(399)
    for _ in range(runs):
        exact = ArrayCounts(domain, rows).marginal((0,))
        measured = [Noisy((0,), first.release(exact), first)]
        if suspicious(measured[0].values[0]):
            measured.append(Noisy((0,), second.release(exact), second))
        known = Known(domain, declared, Synthetic(rows, 1000.0, tuple(measured)))
        interval = known.count(wanted, 0.8)
        if narrowest:
            half = measured[-1].noise.error(0.8)
            interval = Interval(measured[-1].values[0] - half, measured[-1].values[0] + half)
        misses += not interval.lower <= 1000 <= interval.upper
    return misses


@pytest.mark.statistical
def test_measuring_again_because_of_what_was_seen_breaks_nothing():
    assert at_most(again_and_again(False, 800), 800, 0.2)


@pytest.mark.statistical
def test_the_narrowest_interval_that_happens_to_be_there_is_wrong():
    # It is missed 0.36 of the time: of 2,000 runs that is eight deviations above what is allowed, of 800 three.
    assert not at_most(again_and_again(True, 2000), 2000, 0.2)


def test_with_hardly_any_noise_intervals_are_as_narrow_as_cells():
    codes = some_codes(5000)
    tiny = Gaussian(Fraction(1, 5))
    known = Known(DOMAIN, SCHEMA.columns, made_of(codes, (tiny, tiny), None, MARGINALS))
    exact = int((codes[:, 2] >= 25).sum())
    found = known.count(condition("age >= 25"))
    assert found.lower - 3 <= exact <= found.upper + 3
    assert found.upper - found.lower < 40
    assert known.count(None).upper - known.count(None).lower < 12
    ages = codes[:, 2].mean()
    mean = known.ask(read_statistics(["mean(age)"], DOMAIN, SCHEMA.columns)[0])
    assert mean.lower <= ages <= mean.upper
    assert mean.upper - mean.lower < 2.5
    # Parts bound the whole: no more than either, no less than what must overlap.
    both = known.count(condition("age >= 10 and size <= 900"))
    true = int(
        ((codes[:, 2] >= 10) & holds(condition("size <= 900"), draw_rows(DOMAIN, SCHEMA.columns, codes), DOMAIN)).sum()
    )
    assert both.lower <= true <= both.upper
    assert known.count(condition("size > 3 or pay < 5")) is None
    assert Interval(0, 5) & Interval(3, 9) == Interval(3, 5)
    assert Interval(0, 1) & Interval(3, 9) == Interval(0, 1)
