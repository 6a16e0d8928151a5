"""Relaxed adaptive projection: the map onto the simplex, the tiles, the fit, and what a whole run spends and finds."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.progress import listening
from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import InputError, MissingExtraError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.noise.replay import Replay, uniforms
from discreet.synth import relaxation
from discreet.synth.descent import Target
from discreet.synth.rap import _Rap, outline, rap
from discreet.synth.relaxation import PROJECTIONS, Relaxed, load
from discreet.synth.tiles import cut

SIZES = (3, 4, 2, 5)
ROWS = 100
PLENTY = Fraction(10**6)


def domain(sizes=SIZES) -> Domain:
    columns = {f"c{i}": Category([f"v{j:02d}" for j in range(size)], nullable=False) for i, size in enumerate(sizes)}
    return Domain.of(Schema("t", columns))


def rows(count=2000) -> np.ndarray:
    """A table of which the second column nearly follows from the first, and the fourth from the third."""
    chance = np.random.default_rng(5)
    first, third = chance.integers(0, 3, count), chance.integers(0, 2, count)
    second = np.where(chance.random(count) < 0.9, first + 1, chance.integers(0, 4, count))
    fourth = np.where(chance.random(count) < 0.8, 4 * third, chance.integers(0, 5, count))
    return np.stack([first, second, third, fourth], axis=1)


def meter(price=PLENTY, currency="rho", table=None, bits=None) -> Meter:
    table = rows() if table is None else table
    return Meter(ArrayCounts(domain(), table), Sensitivity(1), currency, Fraction(price), bits)


def distance(made: np.ndarray, columns, table=None) -> float:
    """Half the sum of absolute differences of a marginal's parts of one."""
    table = rows() if table is None else table
    one, two = ArrayCounts(domain(), table).marginal(columns), ArrayCounts(domain(), made).marginal(columns)
    return float(np.abs(one / len(table) - two / len(made)).sum() / 2)


def projected(logits, sizes, projection) -> np.ndarray:
    owner = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return np.asarray(load().project(np.asarray(logits, dtype=np.float32), owner, len(sizes), projection))


def nearest(point: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex, by trying every support."""
    best, found = np.inf, None
    for support in itertools.product((False, True), repeat=len(point)):
        if not any(support):
            continue
        held = np.array(support)
        candidate = np.where(held, point - (point[held].sum() - 1) / held.sum(), 0.0)
        if candidate.min() >= 0 and ((candidate - point) ** 2).sum() < best:
            best, found = ((candidate - point) ** 2).sum(), candidate
    return found


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    sizes = (1, 2, 5, 7)
    chance = np.random.default_rng(3)
    spread = 10.0 ** chance.integers(-2, 2, 40)
    logits = chance.normal(size=(sum(sizes), 40)) * spread
    logits[3:6, :5] = 1.0  # ties
    logits[:, 5] = 0.0
    logits[:, 6] = -1000.0
    logits[8, 7] = 1000.0
    found, start = projected(logits, sizes, "sparsemax"), 0
    for size in sizes:
        block = slice(start, start + size)
        wanted = np.stack([nearest(column) for column in logits[block].T], axis=1)
        assert np.abs(found[block] - wanted).max() < 1e-4
        start += size
    assert (found == 0).any()


def test_softmax_is_softmax():
    logits = np.array([[0.0, 900.0], [1.0, -900.0], [5.0, 5.0]])
    found = projected(logits, (2, 1), "softmax")
    assert found[:, 0] == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e), 1])
    assert found[:, 1] == pytest.approx([1, 0, 1])


def test_tiles_lose_and_add_nothing():
    sizes = (3, 70, 2, 9, 40)
    marginals = [columns for many in range(1, 5) for columns in itertools.combinations(range(5), many)][:-2]
    tiles = cut(sizes, marginals)
    everything = np.zeros((len(tiles), *tiles.shape))
    tables = []
    for number, columns in enumerate(marginals):
        shape = tuple(sizes[column] for column in columns)
        tables.append(np.arange(1.0, np.prod(shape) + 1).reshape(shape))
        laid = tiles.lay(number, tables[-1])
        assert laid.sum() == tables[-1].sum()
        everything[tiles.of(number)] += laid
    for number, table in enumerate(tables):
        assert np.array_equal(tiles.read(number, everything), table)


def shares(sizes=SIZES, count=ROWS) -> np.ndarray:
    parts = [-np.log(1 - uniforms(Replay(b"shares%d" % size), size * count)).reshape(size, count) for size in sizes]
    return np.concatenate([part / part.sum(axis=0) for part in parts])


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_answers_are_means_of_products(projection):
    marginals = [(0,), (1, 3), (0, 1, 2), (0, 1, 2, 3)]
    start = shares()
    table = Relaxed(cut(SIZES, marginals), start, projection)
    assert np.abs(table.shares - start).max() < 1e-5
    blocks = np.split(start, np.cumsum(SIZES)[:-1])
    for columns, answer in zip(marginals, table.answers(), strict=True):
        letters = "abcd"[: len(columns)]
        how = ",".join(f"{letter}r" for letter in letters) + "->" + letters
        assert np.abs(answer - np.einsum(how, *(blocks[column] for column in columns)) / ROWS).max() < 1e-5


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_a_fit_finds_exact_marginals_that_can_be_met(projection):
    marginals = [(0, 1), (1, 2, 3)]
    exact = [ArrayCounts(domain(), rows()).marginal(columns).astype(float) for columns in marginals]
    table = Relaxed(cut(SIZES, [*marginals, (0, 2)]), shares(), projection)
    before = table.answers()
    targets = {number: Target(columns, exact[number], np.array(1.0)) for number, columns in enumerate(marginals)}
    left = table.fit(targets, 2000.0, 400, 0.05)
    after = table.answers()
    off = [[np.abs(answers[n] - exact[n] / 2000).sum() for n in (0, 1)] for answers in (before, after)]
    assert max(off[1]) < 0.03 < min(off[0])
    # What it says is left is the mean squared deviation, in variances.
    assert left == pytest.approx(
        sum(((2000 * after[n] - exact[n]) ** 2).sum() for n in (0, 1)) / (exact[0].size + exact[1].size), rel=0.2, abs=1
    )


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_planted_pair_is_found(projection, rounds):
    asked = meter()
    made = rap(asked, [(0, 1), (2, 3)], relaxed_rows=ROWS, rounds=rounds, per_round=1, projection=projection)
    assert asked.spent == asked.price
    assert abs(len(made.codes) - 2000) <= 5
    assert max(distance(made.codes, pair) for pair in ((0, 1), (2, 3))) < 0.04
    # Nobody asked for this one: it stays as if its columns were independent, as far as they are.
    assert distance(rap(meter(), [(0, 1)], relaxed_rows=ROWS, projection=projection).codes, (2, 3)) > 0.2


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_the_price_is_spent_to_the_last_bit_on_fresh_noise(currency):
    asked = meter(Fraction(7, 9), currency)
    heard = []
    with listening(lambda stage, done: heard.append((stage, done))):
        made = rap(asked, [(0, 1)], rows=50, relaxed_rows=ROWS, rounds=3, per_round=2)
    assert asked.spent == asked.price
    assert made.codes.shape == (50, 4)
    pairs = [one.values for one in made.measured[made.fine :]]
    assert len(pairs) == 3
    assert all(not np.array_equal(one, two) for one, two in itertools.combinations(pairs, 2))
    assert heard
    assert all(done is None or 0 <= done <= 1 for _, done in heard)


def test_one_column_and_no_rows():
    made = rap(meter(1, table=rows(0)), [(0,), (2,)], rows=0, relaxed_rows=ROWS)
    assert domain().check(made.codes).shape[1] == 4
    single = Domain.of(Schema("t", {"c": Category(["a", "b", "c"], nullable=False)}))
    asked = Meter(ArrayCounts(single, rows()[:, :1]), Sensitivity(1), "rho", PLENTY)
    made = rap(asked, [(0,)], relaxed_rows=ROWS)
    assert asked.spent == asked.price
    assert np.abs(np.bincount(made.codes[:, 0]) - np.bincount(rows()[:, 0])).max() <= 40  # of 2,000, dealt


def test_weights_buy_less_noise():
    made = rap(meter(1), {(0, 1): 4.0, (2, 3): 1.0}, relaxed_rows=ROWS, rounds=1)
    heavy, light = (one.variance for one in made.measured[made.fine :])
    assert light == pytest.approx(4 * heavy, rel=0.01)


def test_an_outline_says_what_will_be_measured():
    asked = meter(1)
    ones, others = outline(asked, [(0, 1), (2, 3), (1,)], 0.95)
    assert "4 columns" in ones
    assert "2 marginals" in others
    assert len(outline(asked, [(1,)], 0.95)) == 1
    assert asked.spent == 0


def test_rounds_follow_from_the_noise():
    for price, rounds in ((10, 1), (Fraction(1, 10**5), 5)):
        job = _Rap(meter(price), {(0, 1, 2): 1.0, (0, 1, 2, 3): 1.0}, None, ROWS, None, 1, "sparsemax")
        job.coarse, job.total = job.meter, 2000.0
        assert job._enough() == rounds


class Still:
    """Bits that are the same each time."""

    def __init__(self):
        self._bits = Replay(b"still")

    def read(self, count):
        return self._bits.read(count)


def test_the_same_answers_make_the_same_rows():
    first, second = (rap(meter(1, bits=Still()), [(0, 1)], relaxed_rows=ROWS, rounds=3, per_round=2) for _ in range(2))
    assert all(np.array_equal(one.values, two.values) for one, two in zip(first.measured, second.measured, strict=True))
    assert np.array_equal(first.codes, second.codes)


@pytest.mark.parametrize(
    ("field", "how"),
    [
        ("rows", {"rows": -1}),
        ("rows", {"rows": 2.0}),
        ("relaxed_rows", {"relaxed_rows": 0}),
        ("relaxed_rows", {"relaxed_rows": True}),
        ("rounds", {"rounds": 0}),
        ("rounds", {"rounds": "2"}),
        ("per_round", {"per_round": 0}),
        ("projection", {"projection": "max"}),
        ("workload", {"workload": [(0, 9)]}),
        ("workload", {"workload": []}),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_spent(field, how):
    asked = meter()
    with pytest.raises(InputError, match=field):
        rap(asked, **{"workload": [(0, 1)], **how})
    assert asked.spent == 0


def test_without_jax_nothing_is_spent(monkeypatch):
    asked = meter()
    relaxation.load.cache_clear()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[synth\]"):
        rap(asked, [(0, 1)])
    assert asked.spent == 0


def test_importing_the_method_does_not_load_jax():
    code = "import sys, discreet.synth.rap; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
