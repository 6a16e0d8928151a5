"""The figures of a quality report are right: against brute force, against the engine, and as often as they claim."""

from __future__ import annotations

import itertools
import math
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from scipy import stats

from chance import at_most
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts, MergedCounts
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import SystemBits
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked
from discreet.synth.exclusions import holds
from discreet.synth.report.bounds import Interval, Known
from discreet.synth.report.cells import met
from discreet.synth.report.encoding import encoded
from discreet.synth.report.prediction import halves, score, task_of, train
from discreet.synth.report.quality import agreements, associations, distances, marginals_of
from discreet.synth.report.statistic import answer, default_statistics, in_words, read_statistics
from discreet.synth.rows import draw_rows
from discreet.synth.synthetic import Synthetic

SCHEMA = Schema(
    "t",
    {
        "sex": Category(["f", "m", "x"], nullable=True),
        "works": Boolean(nullable=False),
        "age": Integer(0, 99, nullable=False),
        "size": Integer(-7, 1000, nullable=True),
        "pay": Real(0, 1000, nullable=True),
        "day": Date("2020-02-27", "2021-03-02", nullable=True),
    },
    Unit(),
)
DOMAIN = Domain.of(SCHEMA, bins={"size": 9, "pay": 9, "day": 9})  # ages by themselves
CONDITIONS = [
    "age >= 25 and sex = 'f'",
    "size > 100 or not works",
    "not (pay <= 333.3)",
    "pay < 500 and pay >= 111",
    "pay = 1000 or size = -7",
    "sex is null and age <> 40",
    "sex in ('f', 'x') and day >= '2020-06-01'",
    "not (sex = 'f' and size >= 0)",
    "day < '2020-02-28' or size in (3, 900)",
    "works and size <= 1000",
]


def condition(text: str):
    return checked(parse_condition(text), SCHEMA)


def some_codes(rows: int, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, rows) for size in DOMAIN.sizes], axis=1)
    codes[:, 2] = np.where(codes[:, 1] == 1, codes[:, 2] // 2, codes[:, 2])  # something to find
    codes[:, 4] = np.minimum(codes[:, 2] // 12, DOMAIN.sizes[4] - 1)
    return codes


@pytest.mark.parametrize("text", CONDITIONS)
def test_cells_are_sure_and_possible_as_rows_are(text):
    wanted = condition(text)
    columns = tuple(sorted({DOMAIN.place(name) for name in DOMAIN.names if name in text}))
    cells = met(wanted, columns, DOMAIN, SCHEMA.columns)
    seen = np.zeros(cells.sure.shape, dtype=bool)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        codes = np.stack([rng.integers(0, size, 20_000) for size in DOMAIN.sizes], axis=1)
        true = holds(wanted, draw_rows(DOMAIN, SCHEMA.columns, codes), DOMAIN)
        place = tuple(codes[:, column] for column in columns)
        assert (true | ~cells.sure[place]).all()
        assert (~true | cells.may[place]).all()
        np.logical_or.at(seen, place, true)
    # Not only safe but tight: nearly every cell that may hold such a row does hold one, given enough rows; a single
    # number is rarely drawn from its bin.
    assert seen.sum() >= (0.4 if "= 1000 or" in text or "in (3" in text else 0.9) * cells.may.sum()


def test_merged_cells_are_sure_where_all_are_and_possible_where_any_is():
    columns = (2, 4)
    cells = met(condition("age >= 25 and pay < 500"), columns, DOMAIN, SCHEMA.columns)
    bins = [np.arange(size) * 3 // size for size in (DOMAIN.sizes[2], DOMAIN.sizes[4])]
    found = cells.merged(bins)
    for a, b in itertools.product(range(3), range(3)):
        part = np.ix_(bins[0] == a, bins[1] == b)
        assert found.sure[a, b] == cells.sure[part].all()
        assert found.may[a, b] == cells.may[part].any()


# Intervals from noisy counts.


def made_of(codes, noises, bins=None, marginals=()):
    """Single columns, then marginals, measured with noise."""
    plain = ArrayCounts(DOMAIN, codes)
    coarse = plain if bins is None else MergedCounts(plain, bins)
    ones = [(place,) for place in range(len(DOMAIN))]
    measured = []
    for place, columns in enumerate([*ones, *marginals]):
        noise = noises[0] if place < len(ones) else noises[1]
        exact = (plain if place < len(ones) else coarse).marginal(columns)
        measured.append(Noisy(columns, noise.release(exact.ravel()).reshape(exact.shape), noise))
    total = float(np.mean([one.values.sum() for one in measured[: len(ones)]]))
    return Synthetic(codes, max(total, 1.0), tuple(measured), bins, len(ones))


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
MARGINALS = [(0, 2), (1, 2), (2, 4)]
BINS = [np.arange(size) if size < 20 else np.arange(size) // 7 for size in DOMAIN.sizes]


def missed(noises, runs, *, claimed=None, level=0.8):
    codes = some_codes(3000)
    drawn = draw_rows(DOMAIN, SCHEMA.columns, codes)
    asks = read_statistics([text for text, _ in ASKS], DOMAIN, SCHEMA.columns)
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
            assert (interval is not None) == ASKS[place][1]
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
    misses = missed((Gaussian(2000), Gaussian(2000)), 30, claimed=Gaussian(20))
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


# Distances, associations, agreement.


def test_distances_are_those_of_brute_force():
    real, made = some_codes(700, 1), some_codes(900, 2)
    for one in distances(DOMAIN, real, made, [(0,), (0, 2), (0, 1, 4)]):
        cells = itertools.product(*(range(DOMAIN.sizes[column]) for column in one.columns))
        gaps = [
            abs((real[:, one.columns] == cell).all(axis=1).mean() - (made[:, one.columns] == cell).all(axis=1).mean())
            for cell in cells
        ]
        assert one.tv == pytest.approx(sum(gaps) / 2)
        assert one.largest == pytest.approx(max(gaps))
        assert one.cells == len(gaps)
    assert distances(DOMAIN, real, real, [(0, 2)])[0].tv == 0


def test_marginals_are_all_or_some_and_always_the_same():
    assert marginals_of(DOMAIN, 2, 10**6) == list(itertools.combinations(range(6), 2))
    some = marginals_of(DOMAIN, 3, 10**6, most=5)
    assert len(set(some)) == 5 == len(marginals_of(DOMAIN, 3, 10**6, most=5))
    assert some == marginals_of(DOMAIN, 3, 10**6, most=5)
    large = Domain.of(Schema("big", {f"c{place}": Integer(0, 120, nullable=False) for place in range(80)}))
    assert all(large.cells(one) <= 20_000 for one in marginals_of(large, 2, 20_000))
    assert marginals_of(large, 3, 1000) == []


def test_associations_are_pearson_and_cramer():
    codes = some_codes(4000)
    matrix = associations(DOMAIN, codes)
    assert np.array_equal(matrix, matrix.T, equal_nan=True)
    size, age = DOMAIN.attributes[3], codes[:, 2]
    there = codes[:, 3] < size.size - 1
    middles = np.array([float(label.start + label.end) / 2 for label in size.labels[:-1]])
    expected = np.corrcoef(age[there], middles[codes[there, 3]])[0, 1]
    assert matrix[2, 3] == pytest.approx(expected)
    table = ArrayCounts(DOMAIN, codes).marginal((1, 2))
    table = table[:, table.sum(axis=0) > 0]
    chi = stats.chi2_contingency(table, correction=False).statistic / table.sum()
    whole, (high, wide) = table.sum(), table.shape
    square = max(chi - (high - 1) * (wide - 1) / (whole - 1), 0)
    most = min(high - (high - 1) ** 2 / (whole - 1), wide - (wide - 1) ** 2 / (whole - 1)) - 1
    assert matrix[1, 2] == pytest.approx(math.sqrt(square / most))
    assert matrix[0, 1] < 0.1 < matrix[1, 2]
    constant = codes.copy()
    constant[:, 1] = 0
    assert np.isnan(associations(DOMAIN, constant)[1]).all()


def test_agreement_is_that_of_brute_force():
    codes = some_codes(2000)
    made = made_of(codes, (Gaussian(5), Gaussian(7)), BINS, MARGINALS)
    found = agreements(DOMAIN, made, codes, 0.9)
    assert [one.columns for one in found] == [one.columns for one in made.measured]
    noisy = made.measured[2]
    off = noisy.values - made.total / 2000 * np.bincount(codes[:, 2], minlength=100)
    assert found[2].gap == pytest.approx(math.sqrt((off**2).mean() / noisy.variance))
    assert found[2].inside == pytest.approx((np.abs(off) <= noisy.noise.error(0.9)).mean())
    assert found[2].largest == pytest.approx(np.abs(off).max())
    # The very rows that were measured: what is left is noise. Other rows are told from it.
    assert all(0.3 < one.gap < 2 for one in found if one.cells > 30)
    other = agreements(DOMAIN, made, some_codes(2000) // 2, 0.9)
    assert max(one.gap for one in other) > 5


# The real rows, and what is learnt.


def messy(rows: int = 3000) -> pyarrow.Table:
    rng = np.random.default_rng(8)
    sex = rng.choice(["f", "m", "x", "?", ""], rows).tolist()
    return pyarrow.table(
        {
            "sex": [None if one == "" else one for one in sex],
            "works": rng.choice(["yes", "no", "TRUE", "0", "maybe"], rows),
            "age": rng.choice([-5.0, 0.5, 12.4999, 99.5, 1e9, math.inf, math.nan, 40, 41.5], rows),
            "size": [None if one < -50 else int(one) for one in rng.integers(-60, 1100, rows)],
            "pay": rng.choice(["", "1e2", "111.1", "x", "1000", "-3", "333.33333"], rows),
            "day": [
                None if one % 7 == 0 else date.fromordinal(737_400 + int(one)) for one in rng.integers(0, 700, rows)
            ],
        }
    )


def test_a_table_in_hand_is_read_as_the_engine_reads_it():
    table = messy()
    copy = encoded(table, DOMAIN, SCHEMA.columns)
    mine = ArrayCounts(DOMAIN, copy.codes)
    with source_of(table).open() as connection:
        engine = EngineCounts(DOMAIN, SCHEMA, connection, SystemBits())
        for columns in [(place,) for place in range(len(DOMAIN))] + [(0, 1, 4), (2, 3), (3, 5)]:
            assert np.array_equal(mine.marginal(columns), engine.marginal(columns)), columns
    pay = copy.drawn["pay"]
    assert pay.missing.sum() == ArrayCounts(DOMAIN, copy.codes).marginal((4,))[-1]
    assert set(pay.values[~pay.missing]) == {0.0, 100.0, 111.1, 333.33333, 1000.0}
    frames = [table.to_pandas(), __import__("polars").from_arrow(table)]
    for frame in frames:
        assert np.array_equal(encoded(frame, DOMAIN, SCHEMA.columns).codes, copy.codes)


def test_moments_and_whole_floats_are_read_as_the_engine_reads_them():
    schema = Schema(
        "t",
        {
            "zone": Category(["1", "2"], nullable=False),
            "day": Date("2020-01-01", "2020-12-31", nullable=False),
            "b": Boolean(nullable=False),
        },
        Unit(),
    )
    domain = Domain.of(schema, bins=50)
    when = np.datetime64("2020-01-01T00:00:00") + np.arange(400) * np.timedelta64(79_000, "s")
    table = pyarrow.table(
        {
            "zone": [1.0, 2.0, 1.5, 2.0] * 100,
            "day": pyarrow.array(when.astype("datetime64[us]"), pyarrow.timestamp("us", "Europe/Berlin")),
            "b": [True, None, False, True] * 100,
        }
    )
    with source_of(table).open() as connection:
        engine = EngineCounts(domain, schema, connection, SystemBits())
        mine = ArrayCounts(domain, encoded(table, domain, schema.columns).codes)
        assert np.array_equal(mine.marginal((0, 1, 2)), engine.marginal((0, 1, 2)))
    words = table.set_column(1, "day", pyarrow.array([str(one)[:10] for one in when]))
    assert np.array_equal(encoded(words, domain, schema.columns).codes, encoded(table, domain, schema.columns).codes)


def test_tables_that_cannot_be_compared_are_refused():
    with pytest.raises(InputError, match="with the columns sex"):
        encoded(messy().drop_columns(["age"]), DOMAIN, SCHEMA.columns)
    with pytest.raises(InputError, match="in memory"):
        encoded("people.csv", DOMAIN, SCHEMA.columns)
    nothing = messy().set_column(1, "works", pyarrow.array(["maybe"] * 3000))
    with pytest.raises(InputError, match="rows without one"):
        encoded(nothing, DOMAIN, SCHEMA.columns)


def test_what_can_be_learnt_is_learnt_and_nothing_else():
    codes = some_codes(6000)
    first, second = halves(len(codes))
    assert sorted([*first, *second]) == list(range(6000))
    task = task_of(DOMAIN, codes, "pay")  # which follows from the age
    assert task.text.startswith("pay >= ")
    learnt = score(train(DOMAIN, task, codes[first]), task, codes[second])
    assert learnt.auc > 0.99
    assert learnt.accuracy > 0.95
    shuffled = codes.copy()
    shuffled[:, 4] = np.random.default_rng(1).permutation(shuffled[:, 4])
    chance = score(train(DOMAIN, task, shuffled[first]), task, codes[second])
    assert chance.auc < 0.9
    nothing = score(train(DOMAIN, task, shuffled[first]), task, shuffled[second])
    assert abs(nothing.auc - 0.5) < 0.06
    assert task_of(DOMAIN, codes).column in (2, 4)
    with pytest.raises(InputError) as problem:
        task_of(DOMAIN, codes * 0, "pay")
    assert problem.value.field == "target"


def test_the_area_under_the_curve_is_the_chance_that_a_yes_is_ranked_above_a_no():
    codes = some_codes(400)
    task = task_of(DOMAIN, codes, "works")
    trained = train(DOMAIN, task, codes)
    odds, labels = trained.scores(codes), task.labels(codes)
    pairs = [(a > b) + (a == b) / 2 for a in odds[labels] for b in odds[~labels]]
    assert score(trained, task, codes).auc == pytest.approx(np.mean(pairs))
    assert score(trained, task, codes).accuracy == pytest.approx(((odds > 0) == labels).mean())


def test_questions_are_read_answered_and_said_again():
    codes = some_codes(3000)
    drawn = draw_rows(DOMAIN, SCHEMA.columns, codes)
    asks = read_statistics(
        ["age >= 25 and sex = 'f'", " MEAN( age ) where works", "mean(works)"], DOMAIN, SCHEMA.columns
    )
    sexes, ages, works = codes[:, 0], codes[:, 2], codes[:, 1] == 1
    assert answer(asks[0], drawn, DOMAIN) == pytest.approx(((ages >= 25) & (sexes == 0)).mean())
    assert answer(asks[1], drawn, DOMAIN) == pytest.approx(ages[works].mean())
    assert answer(asks[2], drawn, DOMAIN) == pytest.approx(works.mean())
    for text in CONDITIONS:
        wanted = condition(text)
        assert checked(parse_condition(in_words(wanted)), SCHEMA) == wanted
        assert read_statistics(wanted, DOMAIN, SCHEMA.columns)[0].condition == wanted
    chosen = default_statistics(DOMAIN, SCHEMA.columns, codes)
    assert 3 <= len(chosen) <= 6
    assert read_statistics([one.text for one in chosen], DOMAIN, SCHEMA.columns)
    assert math.isnan(answer(read_statistics(["mean(age) where age < 0"], DOMAIN, SCHEMA.columns)[0], drawn, DOMAIN))


@pytest.mark.parametrize(
    "wrong",
    [
        "age >=",
        "nowhere = 1",
        "mean(sex)",
        "mean(day)",
        "mean(nowhere)",
        "mean(age) where",
        5,
        None,
        "sex = 'q'",
        "1; drop",
    ],
)
def test_wrong_questions_are_refused(wrong):
    with pytest.raises(InputError) as problem:
        read_statistics([wrong], DOMAIN, SCHEMA.columns)
    assert problem.value.field == "asks"
