"""Which of a person's groups count looks like chance; what a person adds is cut at the limits, moments are scaled."""

from __future__ import annotations

import math
from fractions import Fraction

import ibis
import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chance import LEVEL
from discreet.core.lattice import Lattice
from discreet.core.unit import Unit
from discreet.noise.bits import SystemBits, words
from discreet.query.contribution import GROUP, PERSON, contributions, limited, order_of, with_order
from discreet.query.measure import Moment, People, Rows, Total, contribution

MASK = 2**31 - 1
SIZE = 2000
SETS = {
    "neighbours": [0, 1, 2, 3],
    "far apart": [0, 250, 500, 750],
    "powers": [1, 2, 4, 8],
    "a million groups": [5, 100_000, 500_000, 999_999],
}


def memory(columns):
    """A table in memory that does not pass through pandas."""
    return ibis.memtable(pyarrow.table(columns))


def fresh(count, words_each=4):
    """Salts as a release draws them."""
    drawn = np.asarray(words(SystemBits(), count * words_each), dtype=np.uint64) & np.uint64(MASK)
    return drawn.astype(np.int64).reshape(count, words_each)


def order(person, group, width, salts, *, squares=2):
    """What `order_of` computes, for arrays (salts, persons, groups)."""
    first, second, *rest = (salts[:, i, None, None] for i in range(4))
    person, group = person[None, :, None], group[None, None, :]
    factors = [(word & (2**30 - 1)) | 2**29 | 1 for word in (first, second)]
    mixed = ((((person ^ (person >> 31)) & MASK) * factors[0] + group * factors[1]) >> 11) & MASK
    for word in rest[:squares]:
        mixed = mixed ^ word
        mixed = ((mixed * mixed) >> 15) & MASK
    return (mixed & (MASK - 2**width + 1)) | group if width <= 10 else (mixed << width) | group


@pytest.fixture(scope="module")
def engine():
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


@pytest.fixture(scope="module")
def persons(engine):
    """Ids of all kinds; text is told apart by the engine's own hash of it."""
    text = memory({"name": [f"person {i}" for i in range(SIZE)]})
    return {
        "from zero": np.arange(SIZE),
        "large": np.arange(SIZE) + 9_000_000_000_000_000_000,
        "negative": -np.arange(1, SIZE + 1),
        "multiples": np.arange(SIZE) * 1024,
        "high bits only": np.arange(SIZE) << 32,
        "text": engine.to_pyarrow(text.select(hash=text["name"].hash()))["hash"].to_numpy(),
    }


KINDS = ["from zero", "large", "negative", "multiples", "high bits only", "text"]


def picks(person, groups, salts, **how):
    """Which of the groups comes first: an array (salts, persons)."""
    width = 10 if max(groups) < 1024 else 20
    return order(person, np.array(groups), width, salts, **how).argmin(axis=2)


def evenness(person, groups, salts, **how):
    """The p-value of: under each salt, persons choose among the groups evenly and apart from each other."""
    chosen = picks(person, groups, salts, **how)
    expected = len(person) / len(groups)
    counts = np.stack([(chosen == place).sum(axis=1) for place in range(len(groups))])
    return stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), (len(groups) - 1) * len(salts))


@pytest.mark.parametrize("width", [1, 2, 10, 11, 20])
@pytest.mark.parametrize("kind", KINDS[:-1])
def test_the_engine_computes_this_hash(engine, persons, kind, width):
    (salt,) = fresh(1)
    generator = np.random.default_rng()
    person = np.concatenate([persons[kind][:500], [2**63 - 1, -(2**63), -1, 0]])
    group = generator.integers(0, 2**width, len(person))
    table = memory({"person": person, "group": group})
    stepwise = with_order(table, "o", table["person"], table["group"], width, salt)
    assert stepwise.columns == ("person", "group", "o")
    stepwise = stepwise.mutate(once=order_of(stepwise["person"], stepwise["group"], width, salt))
    found = engine.to_pyarrow(stepwise)
    assert found["once"].to_pylist() == found["o"].to_pylist()
    expected = [
        order(np.array([p]), np.array([g]), width, salt[None])[0, 0, 0]
        for p, g in zip(found["person"].to_pylist(), found["group"].to_pylist(), strict=True)
    ]
    assert found["o"].to_pylist() == expected


@pytest.mark.parametrize("groups", SETS.values(), ids=SETS)
@pytest.mark.parametrize("kind", KINDS)
def test_persons_choose_evenly_in_one_release(persons, kind, groups):
    assert evenness(persons[kind], groups, fresh(200)) > LEVEL


@pytest.mark.parametrize("groups", SETS.values(), ids=SETS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_the_squares_they_would_not(persons, kind, groups):
    assert evenness(persons[kind], groups, fresh(200), squares=0) < LEVEL


@pytest.mark.parametrize("groups", SETS.values(), ids=SETS)
@pytest.mark.parametrize("kind", KINDS)
def test_one_person_chooses_evenly_over_releases_and_apart_from_the_next(persons, kind, groups):
    chosen = picks(persons[kind][:3], groups, fresh(4000))
    for place in range(3):
        assert stats.chisquare(np.bincount(chosen[:, place], minlength=4)).pvalue > LEVEL
    for one, other in ((0, 1), (1, 2), (0, 2)):
        together = np.bincount(chosen[:, one] * 4 + chosen[:, other], minlength=16)
        assert stats.chisquare(together).pvalue > LEVEL


@pytest.mark.parametrize("groups", SETS.values(), ids=SETS)
def test_one_release_says_nothing_about_the_next(persons, groups):
    """A person who was counted in a group is as likely as any to be counted there again."""
    first, second = (picks(persons["from zero"][:1], groups, fresh(20_000))[:, 0] for _ in range(2))
    assert stats.chisquare(np.bincount(first * 4 + second, minlength=16)).pvalue > LEVEL


@pytest.mark.parametrize("kept", [1, 2, 5, 12])
@pytest.mark.parametrize("groups", [13, 1024, 1025, 1_000_000])
@pytest.mark.parametrize("text", [False, True])
def test_exactly_so_many_groups_are_kept(engine, kept, groups, text):
    generator = np.random.default_rng()
    person = generator.integers(-20, 20, 1500) * 2**40
    group = generator.integers(0, groups, 1500)
    # Some persons have many rows in few groups.
    group[:500] = group[:500] % 3
    has = {p: len({g for q, g in zip(person, group, strict=True) if q == p}) for p in set(person.tolist())}
    table = memory({PERSON: person.astype(str) if text else person, GROUP: group})
    (salt,) = fresh(1)
    parts = contributions(table, {"m0": People()}, Unit("p", groups=kept, rows=3), groups, salt)
    found = engine.to_pyarrow(parts.aggregate(total=parts["m0"].sum()))["total"].to_pylist()
    assert found == [sum(min(kept, count) for count in has.values())]


def both_ways(monkeypatch, engine, groups, text=False):
    """What persons add with one group each, sorted, by a join and by ranking their rows."""
    generator = np.random.default_rng()
    person, group = generator.integers(-300, 300, 3000) * 2**33, generator.integers(0, groups, 3000)
    value = generator.integers(-100, 100, 3000)
    table = memory({PERSON: person.astype(str) if text else person, GROUP: group, "m1": value})
    measures = {"m0": Rows(), "m1": Total("v", Lattice(-100, 100))}
    (salt,) = fresh(1)
    for quick in (True, False):
        monkeypatch.setattr("discreet.query.contribution.joins_quickly", lambda engine, quick=quick: quick)
        parts = contributions(table, measures, Unit("p", groups=1, rows=3), groups, salt)
        sums = parts.group_by(GROUP).aggregate(m0=parts["m0"].sum(), m1=parts["m1"].sum())
        yield (
            ibis.to_sql(parts, dialect="duckdb"),
            sorted(zip(*engine.to_pyarrow(sums).to_pydict().values(), strict=True)),
        )


@pytest.mark.parametrize("groups", [13, 1025])
def test_one_group_of_each_person_is_the_same_by_a_join_and_by_ranks(monkeypatch, engine, groups):
    (joined, quick), (ranked, sorted_rows) = both_ways(monkeypatch, engine, groups)
    assert quick == sorted_rows
    assert "SEMI JOIN" in joined
    assert "DENSE_RANK" not in joined
    assert "DENSE_RANK" in ranked


def test_names_that_a_rule_may_take_for_equal_are_ranked(monkeypatch, engine):
    (text, quick), (_, sorted_rows) = both_ways(monkeypatch, engine, 13, text=True)
    assert quick == sorted_rows
    assert "DENSE_RANK" in text


UNIT = Unit("p", groups=1, rows=3)

LATTICE = Lattice(-100, 2**22 - 100)


def counted(measure, sums, counts, unit=UNIT):
    """What persons with these sums of so many values count as."""
    table = ibis.memtable(pyarrow.table({"i": range(len(sums)), "s": sums, "n": counts}))
    found = table.select("i", found=limited(measure, table["s"], table["n"], unit)).order_by("i")
    return [int(value) for value in ibis.duckdb.connect().to_pyarrow(found)["found"].to_pylist()]


sums_of = st.integers(1, 2**31).flatmap(lambda n: st.tuples(st.just(n), st.integers(-(2**21) * n, 2**21 * n)))


@settings(max_examples=60, deadline=None)
@given(st.lists(sums_of, min_size=1, max_size=20), st.integers(1, 2**20))
def test_a_moment_is_scaled_exactly_however_large(people, rows):
    unit = Unit("p", groups=1, rows=rows)
    measure = Moment("x", Lattice(0, 2**22), 1, Rows())
    found = counted(measure, [s for _, s in people], [n for n, _ in people], unit)
    low, high = contribution(measure, unit)
    for (n, s), value in zip(people, found, strict=True):
        assert value == (s if n <= rows else math.floor(Fraction(s * rows, n) + Fraction(1, 2)))
        assert low <= value <= high


@pytest.mark.parametrize("power", [1, 2])
def test_no_sum_leaves_the_contribution_even_one_that_cannot_be(power):
    measure = Moment("x", LATTICE, power, Rows())
    low, high = contribution(measure, UNIT)
    for value in counted(measure, [2**60, -(2**60), 2**60, 0], [1, 1, 4, 10**9]):
        assert low <= value <= high


def test_sums_and_counts_are_cut():
    assert counted(Rows(), [2, 3, 9], [2, 3, 9]) == [2, 3, 3]
    assert counted(Total("x", Lattice(-2, 5)), [-30, 4, 30], [30, 4, 30]) == [-6, 4, 15]


def test_a_mean_of_whole_numbers_is_not_rounded_to_one_of_them():
    fine = Moment("x", Lattice(0, 1, -20), 1, Rows())  # zeros and ones: a third of three rows is a one
    assert counted(fine, [2**20 - 3 * fine.middle], [3], Unit("p", groups=1, rows=1)) == [
        round(2**20 / 3) - fine.middle
    ]
