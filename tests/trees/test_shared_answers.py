"""Regions with a single child are asked once: what that costs, by all neighbours, and what it does to estimates."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pyarrow
import pytest

import discreet
from chance import fits
from discreet import Budget, Category, Integer, Schema, Unit
from discreet.accounting import pure
from discreet.core.loss import LaplaceNoise, Pure
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import SystemBits
from discreet.trees import Hierarchy
from discreet.trees.gls import gls
from discreet.trees.intervals.typical import remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.measurement_reader import read_measurements
from discreet.trees.record import measured_from, measured_to
from discreet.trees.shared_answers import Chains, Question, chains_of, draw_answers, pooled_law

# County 1 is one tract and one block; county 2 has a tract that is one block, and one of two.
BLOCKS = ["111", "211", "221", "222"]
LEVELS = {"county": 1, "tract": 2, "block": 3}
TREE = Hierarchy.from_prefixes(BLOCKS, LEVELS)
PLACES = {name: [code[:length] for code in BLOCKS] for name, length in LEVELS.items()}
SEXES = ["f", "m"]


def schema_of(unit: Unit) -> Schema:
    columns = {name: Category(sorted(set(codes)), nullable=False) for name, codes in PLACES.items()}
    person = {} if unit.column is None else {unit.column: Integer(0, 10**6, nullable=False)}
    return Schema("people", {**columns, "sex": Category(SEXES, nullable=False), **person}, unit)


def curator_of(folder, unit: Unit | None = None, budget: Budget | None = None):
    rows = {name: codes * 3 for name, codes in PLACES.items()} | {"sex": ["f", "m", "f", "m"] * 3}
    if unit is not None and unit.column is not None:
        rows[unit.column] = list(range(12))
    account = {"ledger": folder / "books.db", "budget": budget or Budget(10), "who": "ann", "create": True}
    return discreet.open(pyarrow.table(rows), schema_of(unit or Unit()), **account)


def drawn(plan, leaves) -> list[tuple[Fraction, np.ndarray]]:
    """Every draw of noise that a release makes: its scale, and what it is added to."""
    calls = []

    def release(self, values, *, bits=None):
        calls.append((self.scale, np.array(values)))
        return np.zeros(len(values), np.int64)  # the same answers for neighbours: what is drawn next does not differ

    with mock.patch.object(Laplace, "release", release):
        plan.noisy(leaves, SystemBits())
    return calls


def worst_loss(plan, moves) -> Fraction:
    """The largest log-ratio of densities over neighbours that differ by a move: exact, for Laplace noise."""
    base = np.full((len(BLOCKS), len(SEXES)), 7, np.int64)
    before, found = drawn(plan, base), Fraction()
    for move in moves:
        after = drawn(plan, base + move)
        losses = [int(np.abs(a - b).sum()) / scale for (scale, a), (_, b) in zip(after, before, strict=True)]
        found = max(found, sum(losses, Fraction()))
    return found


def moves_of(entries: int, most: int, replaced: bool = False):
    """What one unit may add: vectors with so many entries, each of at most so many rows; or the difference of two."""
    cells = list(itertools.product(range(len(BLOCKS)), range(len(SEXES))))
    found = []
    for picked in itertools.combinations(cells, entries):
        move = np.zeros((len(BLOCKS), len(SEXES)), np.int64)
        for cell in picked:
            move[cell] = most
        found.append(move)
    return [one - two for one in found for two in found] if replaced else found


UNITS = {
    "row": (Unit(), moves_of(1, 1)),
    "replaced": (Unit(neighbours="replace"), moves_of(1, 1, replaced=True)),
    "person": (Unit("person", groups=2, rows=3), [*moves_of(2, 3), *moves_of(1, 3)]),
}


@pytest.mark.parametrize("who", UNITS)
@pytest.mark.parametrize("split", ["equal", "auto"])
def test_no_neighbours_are_told_apart_by_more_than_is_charged(tmp_path, who, split):
    unit, moves = UNITS[who]
    plan = curator_of(tmp_path, unit).tree(list(LEVELS), geography=PLACES, by=["sex"]).plan(epsilon=1, split=split).plan
    assert plan.pooled
    assert plan.single == {1: 1, 2: 2}
    charged = pure(plan.cost).epsilon
    assert charged <= 1
    assert charged * Fraction(1, 2) < worst_loss(plan, moves) <= charged


def test_pooled_noise_drawn_for_every_level_is_caught(tmp_path):
    plan = curator_of(tmp_path).tree(list(LEVELS), geography=PLACES, by=["sex"]).plan(epsilon=1, split="equal").plan
    honest = Chains.of_levels

    def apart(tree, levels):
        return [Chains(one.level, one.begin, np.full_like(one.only, -1)) for one in honest(tree, levels)]

    with mock.patch.object(Chains, "of_levels", apart):
        assert worst_loss(plan, moves_of(1, 1)) > pure(plan.cost).epsilon


def test_the_charge_is_pure_epsilon_and_nothing_finer(tmp_path):
    # Two laws composed are less than one with both rates at a delta; the charge must not be read so.
    plan = curator_of(tmp_path).tree(list(LEVELS), geography=PLACES).plan(epsilon=1, split="equal").plan
    assert plan.cost == Pure(1)
    apart = replace(plan, pooled=False)
    assert isinstance(plan.cost, Pure)
    assert not isinstance(apart.cost, Pure)
    assert plan.digest != apart.digest


def test_nothing_is_pooled_at_a_rho(tmp_path):
    curator = curator_of(tmp_path, budget=Budget(rho=10, delta="1e-9"))
    plan = curator.tree(list(LEVELS), geography=PLACES).plan(rho=1, split="equal").plan
    assert not plan.pooled
    # Under rho one answer with both rates costs more than the two: pooling there would not be paid for.
    from discreet.accounting import zcdp

    one, both = (zcdp(LaplaceNoise(scale, 1)).rho for scale in (10, pooled_law([Laplace(10)] * 2).scale))
    assert both > 2 * one


def test_nothing_changes_where_no_region_has_a_single_child():
    tree = Hierarchy.from_prefixes(["11", "12", "21", "22"], {"county": 1, "tract": 2})
    asked = [Question(level, "counts", Laplace(3), np.zeros((tree.sizes[level], 2), np.int64)) for level in range(3)]
    assert chains_of(tree, asked) == {}


def test_a_chain_is_one_answer_with_the_rates_of_its_levels():
    laws = {1: Laplace(4), 2: Laplace(8), 3: Laplace(8)}
    leaves = np.full((4, 20_000), 50, np.int64)
    asked = [Question(level, "counts", law, TREE.sums(leaves)[level]) for level, law in laws.items()]
    county, tract, block = draw_answers(TREE, asked, SystemBits(), pooled=True)
    assert (county[0] == tract[0]).all()
    assert (tract[0] == block[0]).all()
    assert (tract[1] == block[1]).all()
    assert not (tract[2] == block[2] + block[3]).all()

    def law(scale):
        return lambda k: np.tanh(1 / (2 * float(scale))) * np.exp(-np.abs(k) / float(scale))

    assert fits(block[0] - 50, law(2))
    assert fits(block[1] - 50, law(4))
    assert fits(block[2] - 50, law(8))
    assert not fits(block[0] - 50, law(4))
    assert not fits(block[1] - 50, law(8))
    apart = draw_answers(TREE, asked, SystemBits(), pooled=False)
    assert not (apart[0][0] == apart[1][0]).all()


def test_a_level_of_only_children_is_one_answer_too():
    tree = Hierarchy.from_prefixes(["11", "21"], {"county": 1, "tract": 2})
    asked = [Question(level, "counts", Laplace(6), np.zeros((2, 5000), np.int64)) for level in (1, 2)]
    county, tract = draw_answers(tree, asked, SystemBits(), pooled=True)
    assert (county == tract).all()
    assert fits(county.ravel(), lambda k: np.tanh(1 / 6) * np.exp(-np.abs(k) / 3))


def test_margins_and_totals_of_a_chain_are_asked_once_too(tmp_path):
    question = curator_of(tmp_path).tree(list(LEVELS), geography=PLACES, by=["sex"], queries={"total": 1, "all": 1})
    plan = question.plan(epsilon=1).plan
    levels = plan.noisy(np.full((4, 2), 9, np.int64), SystemBits()).levels
    assert (levels[1].totals[0] == levels[2].totals[0] == levels[3].totals[0]).all()
    assert (levels[1].counts[0] == levels[3].counts[0]).all()


def variances_of(laws, pooled: bool):
    """The true variance of every region's least-squares estimate, and the stated one: one cell, the laws of levels."""
    starts, stated, weights = [0, 1, 3, 6], None, []
    for place in range(10):
        unit = np.zeros(10, np.int64)
        unit[place] = 1
        parts = np.split(unit, starts[1:])
        levels = tuple(Level(part[:, None], law) for part, law in zip(parts, laws, strict=True))
        best = gls(Measurement(TREE, levels))
        weights.append(np.concatenate([level[:, 0] for level in best.counts]))
        stated = np.concatenate(best.variance)
    variance = np.repeat([law.variance for law in laws], [1, 2, 3, 4])
    covariance = np.diag(variance)
    if pooled:
        for chain, scales in (([1, 3, 6], laws[1:]), ([4, 7], laws[2:])):
            covariance[np.ix_(chain, chain)] = pooled_law(scales).variance
    matrix = np.array(weights).T
    return np.diag(matrix @ covariance @ matrix.T), stated


@pytest.mark.parametrize("scales", [(5, 5, 5, 5), (9, 2, 3, 20), (40, Fraction(1, 3), 1, Fraction(1, 2))])
def test_stated_variances_are_never_below_the_true_ones_and_asking_once_is_better(scales):
    laws = [Laplace(scale) for scale in scales]
    once, stated = variances_of(laws, pooled=True)
    apart, same = variances_of(laws, pooled=False)
    assert np.allclose(apart, same)
    assert (once <= stated * (1 + 1e-9)).all()
    assert (once <= apart * (1 + 1e-9)).all()
    assert once[1] < 0.95 * apart[1]  # the county that is one block


def test_at_a_rho_least_squares_makes_of_two_answers_what_one_at_both_prices_is_worth():
    # County 1, tract 1 and block 1 alone: their precisions add up, as their rhos do.
    tree = Hierarchy.from_prefixes(["111"], LEVELS)
    laws = [Gaussian(40), Gaussian(30), Gaussian(50), Gaussian(20)]
    levels = tuple(Level(np.array([[10 * place]]), law) for place, law in enumerate(laws))
    found = gls(Measurement(tree, levels))
    together = 1 / sum(1 / law.variance for law in laws)
    assert all(np.allclose(level, together) for level in found.variance)
    assert np.isclose(together, 1 / float(sum(1 / Fraction(law.sigma) ** 2 for law in laws)), rtol=1e-6)
    assert len({round(float(level[0, 0]), 9) for level in found.counts}) == 1


def test_a_release_says_so_and_its_files_too(tmp_path):
    offer = curator_of(tmp_path).tree(list(LEVELS), geography=PLACES, by=["sex"]).plan(epsilon=1, split="equal")
    assert "measured once" in offer.explain()
    assert "1 of 2 in county, 2 of 3 in tract" in offer.explain()
    for method in ("bayes", "topdown", "exact"):
        release = offer.release().again(method)
        for code in ("1", "11", "111"):
            level = {1: "county", 2: "tract", 3: "block"}[len(code)]
            place = release.tree.codes[len(code)].index(code)
            assert (release.estimate.counts[len(code)][place] == release.estimate.counts[1][0]).all(), level
    assert release.measured.pooled
    release.save_measurements(tmp_path / "files")
    back = read_measurements(tmp_path / "files")
    assert back.measured.pooled
    for one, two in zip(back.estimate.counts, release.again(back.method).estimate.counts, strict=True):
        assert (one == two).all()
    about = json.loads((tmp_path / "files" / "measurements.json").read_text())
    assert "measured once" in about["pooled"]


HOMES = {"a": {"counts": "persons", "by": ["sex"]}, "b": {"counts": "sizes", "largest": 3}}


@pytest.mark.parametrize("kind", ["tree", "census"])
@pytest.mark.filterwarnings("ignore:Release")
def test_what_was_paid_for_before_regions_were_asked_once_is_published_and_retried(tmp_path, kind):
    curator = curator_of(tmp_path, Unit("person", groups=1, rows=1))

    def offer():
        if kind == "tree":
            return curator.tree(list(LEVELS), geography=PLACES, by=["sex"]).plan(epsilon=1)
        return curator.census(list(LEVELS), HOMES, household="county", geography=PLACES, most=2).plan(epsilon=1)

    with mock.patch("discreet.trees.plan.chains_of", return_value={}):  # nothing is pooled, as it was once
        made = offer().release(release="old")
    left = curator.ledger.remaining("people").amount
    (former,) = offer().plan.former
    assert former.digest == made.digest != offer().plan.digest
    assert former.former == ()
    levels = list(LEVELS) if kind == "tree" else [f"b.{name}" for name in LEVELS]
    for again in (curator.publish("old"), offer().release(release="old")):
        for level in levels:
            assert dict(again.tables()[level].columns) == dict(made.tables()[level].columns)
    assert curator.ledger.remaining("people").amount == left


def test_simulations_draw_as_the_release_did_and_old_records_are_read():
    levels = tuple(Level(np.zeros((size, 2), np.int64), Laplace(9)) for size in TREE.sizes)
    apart, once = (Measurement(TREE, levels, pooled=pooled) for pooled in (False, True))
    again = remeasure(once, np.full((4, 2), 5, np.int64), SystemBits())
    assert again.pooled
    assert (again.levels[1].counts[0] == again.levels[3].counts[0]).all()
    entry = measured_to(apart)
    assert "pooled" not in entry
    assert not measured_from(entry).pooled
    assert measured_from(measured_to(once)).pooled
