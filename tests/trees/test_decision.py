"""Decisions by a hierarchy: what is said of them beside what truly goes wrong, and what a repair does."""

import numpy as np
import pytest
from empty_blocks import LEAVES, TREE, measured

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.bayes import bayes
from discreet.trees.release import TreeRelease
from discreet.trees.rules import Rules

TRUE = LEAVES.sum(axis=1)
LARGE = {code: "large" if size >= 100 else "other" for code, size in zip(TREE.codes[-1], TRUE.tolist(), strict=True)}


@pytest.fixture(scope="module")
def release():
    seen = measured(Laplace(30), 1)
    head = dict.fromkeys(("id", "dataset", "cost", "remaining", "mechanism", "digest"), "x")
    by = (("sex", ("f", "m")),)
    return TreeRelease(
        **head, confidence=0.95, by=by, cumulative=False, method="bayes", measured=seen, _published=bayes(seen, Rules())
    )


def shift(decision, group):
    return next(effect for effect in decision.groups if effect.group == group)


def truth(release, numbers, chosen):
    return numbers[chosen].sum() / numbers.sum() / (TRUE[chosen].sum() / TRUE.sum()) - 1


def test_what_is_said_of_a_fund_is_what_happens(release):
    found = release.decide(fund=1000, by=LARGE)
    published = release.estimate.totals[-1]
    off = np.abs(published / published.sum() - TRUE / TRUE.sum()).sum() / 2
    assert found.misallocated == pytest.approx(off, rel=0.35)
    large = shift(found, "large")
    true = truth(release, published, TRUE >= 100)
    assert large.lower <= true <= large.upper
    assert large.shift == pytest.approx(true, abs=0.03)
    assert sum(found.columns["allotted"]) == pytest.approx(1000)


def test_groups_get_their_due_after_the_repair(release):
    plain, repaired = (release.decide(fund=1000, by=LARGE, repair=repair) for repair in (None, "groups"))
    allotted = np.array(repaired.columns["allotted"])
    assert shift(plain, "large").shift < -0.03
    assert abs(truth(release, allotted, TRUE >= 100)) < 0.03
    assert repaired.misallocated < plain.misallocated * 1.1
    rougher = release.again("topdown").estimate.totals[-1]
    blended = release.decide(fund=1000, blend=1).columns["allotted"]
    assert np.allclose(blended, 1000 * rougher / rougher.sum())


def test_the_wrong_side_of_a_limit_is_foreseen(release):
    found = release.decide(threshold=40, by="size")
    wrong = int(((release.estimate.totals[-1] >= 40) != (TRUE >= 40)).sum())
    assert found.wrong == pytest.approx(wrong, rel=0.2)
    assert sum(effect.wrong for effect in found.groups) == pytest.approx(found.wrong)


def test_wider_levels_and_single_cells_can_be_decided_by(release):
    found = release.decide(fund=1, level="county")
    assert found.columns["county"] == list(TREE.codes[1])
    assert found.misallocated < 0.02
    women = release.decide(fund=1, level="county", cells={"sex": "f"})
    assert women.columns["published"] == release.estimate.counts[1][:, 0].tolist()
    assert [effect.group for effect in release.decide(fund=1, by="county").groups] == list(TREE.codes[1])
    assert release.decide(fund=1, level="county").to_dict() == found.to_dict()


def test_before_it_is_paid_more_noise_decides_worse(coded):
    sizes = {f"{one:04}": 5 * (one % 7) for one in range(300)}
    draft = coded.tree(["part", "county"], geography=GEOGRAPHY, by=["sex"], column="code")
    rough, fine = (draft.plan(epsilon=epsilon).decide(sizes, fund=1, by="size", draws=4) for epsilon in ("0.05", 5))
    assert rough.simulated
    assert rough.misallocated > 3 * fine.misallocated > 0
    assert shift(rough, "empty").got > 0.05 > shift(fine, "empty").got
    parts = draft.plan(epsilon=1).decide(sizes, fund=1, by="part", draws=2, repair="groups", blend=0.5)
    assert len(parts.groups) == 12
    assert draft.plan(epsilon=1).decide(sizes, threshold=20, level="part", draws=2).columns["part"][0] == "00"
    for wrong in ({"draws": 1}, {"draws": True}, {"level": "town"}):
        with pytest.raises(InputError):
            draft.plan(epsilon=1).decide(sizes, fund=1, **wrong)
    with pytest.raises(InputError, match="`sizes` must be a table with a number for each leaf region"):
        draft.plan(epsilon=1).decide({"0000": 3}, fund=1)


def test_only_plain_counts_are_decided_by(curator):
    offer = curator.tree(["state", "county"], sizes="sex", largest=3).plan(epsilon=1)
    with pytest.raises(InputError, match="counts"):
        offer.decide({}, fund=1)
    with pytest.raises(InputError, match="counts"):
        offer.release().decide(fund=1)


GEOGRAPHY = {"part": [f"{one // 25:02}" for one in range(300)], "county": [f"{one:04}" for one in range(300)]}


@pytest.fixture
def coded(tmp_path):
    import pyarrow

    import discreet
    from discreet import Budget, Category, Schema, Text

    schema = Schema("people", {"code": Text(), "sex": Category(["f", "m"], nullable=False)})
    rows = pyarrow.table({"code": ["0000"], "sex": ["f"]})
    return discreet.open(rows, schema, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)
