"""One price and one charge for all tables, and numbers that agree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from homes import LEAVES, SEX, TABLES, TYPES, draft, tables_by_hand, town

import discreet
from discreet.errors import InputError
from discreet.trees.census import read_census

ROWS = town(600)


def test_one_charge_pays_for_all_tables_by_their_shares(curator):
    tables = {**TABLES, "types": {**TABLES["types"], "share": 3}}
    offer = draft(curator, tables).plan(epsilon=4)
    parts = {name: plan.charge.amount for name, plan in offer.plan.parts.items()}
    assert offer.plan.charge.amount == sum(parts.values())
    assert Fraction(399, 100) < sum(parts.values()) <= 4
    assert abs(parts["types"] / parts["heads"] - 3) < Fraction(1, 100)
    before = len(curator.ledger.releases())
    offer.release(release="first")
    assert len(curator.ledger.releases()) == before + 1


def same_totals(release):
    """Tables of one universe, in every region of every level."""
    for level in range(3):
        sizes = release["sizes"].estimate.counts[level]
        households = sizes[:, 0] if release["sizes"].cumulative else sizes.sum(axis=1)
        for name in ("types", "heads"):
            assert (release[name].estimate.totals[level] == households).all()
        members = release["members"].estimate.totals[level]
        assert (release["both"].estimate.totals[level] == members).all()
        for part in release.parts.values():
            counts, ends = part.estimate.counts[level], part.estimate.each
            assert (counts >= 0).all()
            assert (ends.lower[level] <= counts).all()
            assert (counts <= ends.upper[level]).all()
            if level:
                assert (part.tree.add(level - 1, counts) == part.estimate.counts[level - 1]).all()


def test_tables_agree_are_whole_and_add_up(curator):
    offer = draft(curator).plan(epsilon=20, confidence=0.999999999)
    release = offer.release(release="a")
    same_totals(release)
    same_totals(release.again("topdown"))
    assert list(curator.release("a")) == list(TABLES)
    same_totals(curator.release("a"))
    # Intervals hold what is true, also those of totals that were published and not measured.
    for name, exact in tables_by_hand(offer.plan.roster, ROWS).items():
        part = release[name]
        for level, true in enumerate(part.tree.sums(exact)):
            ends = part.estimate.each
            assert (ends.lower[level] <= true).all()
            assert (true <= ends.upper[level]).all()
            if not part.cumulative:
                assert (ends.total_lower[level] <= true.sum(axis=1)).all()
                assert (true.sum(axis=1) <= ends.total_upper[level]).all()


def test_intervals_of_totals_are_not_those_of_known_numbers(curator):
    release = draft(curator).plan(epsilon=1).release(release="b")
    ends = release["heads"].estimate.each
    assert (ends.total_lower[2] < ends.total_upper[2]).all()


def test_totals_are_asked_once_in_a_universe(curator):
    offer = draft(curator).plan(epsilon=4)
    asking = {name for name, plan in offer.plan.parts.items() if any(one.totals for one in plan.measures)}
    whole = offer.plan.roster.first.whole
    assert asking == ({"people", "types"} if whole else {"people", "members"})
    assert offer.plan.leads["households"] == ("types" if whole else "sizes")


def test_files_and_measurements_of_every_table_are_written(curator, tmp_path):
    release = draft(curator).plan(epsilon=8).release(release="c")
    files = release.save(tmp_path / "out", "csv")
    assert {path.parent.name for path in files} == set(TABLES)
    release.save_measurements(tmp_path / "noisy")
    again = discreet.trees.read_measurements(tmp_path / "noisy" / "types", method="topdown")
    assert (again.estimate.counts[2] == release["types"].again("topdown").estimate.counts[2]).all()
    assert np.array_equal(
        release.tables()["people.county"].columns["count"], release["people"]["county"].columns["count"]
    )


def test_files_name_the_last_size_by_what_it_stands_for(curator):
    release = draft(curator, {"sizes": {"counts": "sizes", "largest": 3}}).plan(epsilon=4).release()
    table = release.tables()["sizes.county"]
    assert table["size_name"][:3] == ["1", "2", "3 or more"]
    assert table["size"][:3] == [1, 2, 3]
    assert release["sizes"].largest == 3


def test_a_public_covariate_informs_every_table_but_sizes_and_is_named(curator):
    units = {code: 10 * place + 1 for place, code in enumerate(LEAVES)}
    offer = draft(curator, covariate=units).plan(epsilon=4)
    assert any(note.startswith("types: Covariate of the leaf regions") for note in offer.explained.notes)
    assert all((part.rules.covariate is None) == part.counted.chain for part in offer.plan.parts.values())
    plain = draft(curator).plan(epsilon=4)
    assert offer.plan.digest != plain.plan.digest
    assert offer.plan.charge == plain.plan.charge
    release = offer.release()
    for name in ("types", "people"):
        assert np.array_equal(np.ravel(release[name].rules.covariate), list(units.values()))
    same_totals(release)
    same_totals(release.again("topdown"))


def test_cells_that_cannot_occur_are_empty_and_tables_still_agree(curator, tmp_path):
    none = {**TABLES, "both": {**TABLES["both"], "zeros": [{"sex": SEX[0], "type": TYPES[0]}]}}
    offer = draft(curator, none).plan(epsilon=4)
    assert any(note.startswith(f"both: No one in sex {SEX[0]}, type {TYPES[0]}") for note in offer.explained.notes)
    release = offer.release()
    release.save_measurements(tmp_path / "noisy")
    for made in (release, release.again("topdown"), read_census(tmp_path / "noisy")):
        assert not made["both"].estimate.counts[-1][:, 0].any()
        assert made["both"].estimate.counts[-1][:, 1:].any()
        same_totals(made)


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"covariate": {"A1": 3}}, "covariate"),
        ({"tables": {"a": {"counts": "persons", "by": ["sex"], "zeros": [{"sex": "x"}]}}}, "tables.a.zeros.0.sex"),
        ({"tables": {"a": {"counts": "persons", "by": ["sex"], "zeros": [{"sex": s} for s in SEX]}}}, "tables.a.zeros"),
        ({"tables": {"a": {"counts": "persons", "by": ["sex"], "zeros": 3}}}, "tables.a.zeros"),
        ({"tables": {"a": {"counts": "sizes", "largest": 2, "zeros": [{"size": 1}]}}}, "tables.a.zeros"),
    ],
)
def test_public_facts_that_do_not_fit_are_refused_before_spending(curator, how, field):
    with pytest.raises(InputError) as error:
        draft(curator, **how).plan(epsilon=1)
    assert error.value.field == field
    assert curator.standing()[0].spent.amount == 0


def test_a_covariate_that_no_table_uses_is_refused(curator):
    units = dict.fromkeys(LEAVES, 1)
    with pytest.raises(InputError, match="unless the method is bayes"):
        draft(curator, covariate=units).plan(epsilon=1, method="topdown")
    if draft(curator).plan(epsilon=1).plan.parts["sizes"].counted.chain:
        with pytest.raises(InputError, match="no table is made by bayes"):
            draft(curator, {"a": {"counts": "sizes", "largest": 2}}, covariate=units).plan(epsilon=1)
