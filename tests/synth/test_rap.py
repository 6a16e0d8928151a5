"""The method rap: its price is spent to the last bit, and what is planted is found."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from relaxed_tables import ROWS, domain, rows

from discreet.core.progress import listening
from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import InputError, MissingExtraError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.noise.replay import Replay
from discreet.synth import relaxation
from discreet.synth.rap import _Rap, outline, rap
from discreet.synth.relaxation import PROJECTIONS

PLENTY = Fraction(10**6)


def meter(price=PLENTY, currency="rho", table=None, bits=None) -> Meter:
    table = rows() if table is None else table
    return Meter(ArrayCounts(domain(), table), Sensitivity(1), currency, Fraction(price), bits)


def distance(made: np.ndarray, columns, table=None) -> float:
    """Half the sum of absolute differences of a marginal's parts of one."""
    table = rows() if table is None else table
    one, two = ArrayCounts(domain(), table).marginal(columns), ArrayCounts(domain(), made).marginal(columns)
    return float(np.abs(one / len(table) - two / len(made)).sum() / 2)


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


def test_stages_do_not_tell_how_many_rounds_there_are():
    def heard(table) -> tuple[list[str], int]:
        stages: list[str] = []
        with listening(lambda stage, done: stages.append(stage)):
            made = rap(meter(Fraction(1, 5), "epsilon", table=table), [(0, 1), (2, 3)], rows=5, relaxed_rows=ROWS)
        return stages, len(made.measured)

    many, once = heard(rows(20_000))
    for _ in range(60):  # noise decides how many rows an empty table seems to have: about every second draw is too few
        few, measured = heard(rows(0))
        assert few == many
        if measured != once:
            return
    pytest.fail("an empty table never had several rounds")


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
