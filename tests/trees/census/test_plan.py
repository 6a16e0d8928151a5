"""One price and one charge for all tables, and numbers that agree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from homes import TABLES, draft, tables_by_hand, town

import discreet

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
