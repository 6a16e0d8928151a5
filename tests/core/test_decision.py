"""A fund and a limit, decided by noisy numbers: what goes wrong, for whom, and what a repair changes."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.core.decision import decide
from discreet.core.release import Release
from discreet.core.trials import NoiseLaw, Trials, noisy_trials, table_trials
from discreet.errors import InputError

VALUES = [1200, 40, 3, -12, 150]
REGIONS = {"A": "large", "B": "small", "C": "small", "D": "small", "E": "large"}


def table(values=VALUES, half=30, **changes) -> Release:
    columns = {"county": list("ABCDE"), "n": values}
    columns |= {"n_lower": [v - half for v in values], "n_upper": [v + half for v in values]}
    given = {"id": "q", "dataset": "d", "columns": columns, "keys": ("county",), "outputs": ("n",), "confidence": 0.95}
    given |= {"cost": "epsilon = 0.1", "mechanism": "discrete Laplace, scale 10", "digest": "ab"}
    return Release(**{**given, **changes})


def test_a_fund_is_dealt_whole_and_nothing_goes_to_negative_counts():
    found = table().decide(fund=1000)
    assert sum(found.columns["allotted"]) == pytest.approx(1000)
    assert found.columns["allotted"][3] == 0
    assert 0 < found.misallocated < 0.1
    assert all(low <= high for low, high in zip(found.columns["due_lower"], found.columns["due_upper"], strict=True))
    assert found.wrong is None
    assert table(half=1).decide(fund=1000).misallocated < found.misallocated / 2


def test_cutting_at_zero_favours_small_groups_and_the_repair_gives_all_their_due():
    found = table().decide(fund=1, by=REGIONS)
    large, small = found.groups
    assert (large.group, small.group) == ("large", "small")
    assert large.shift < 0 < small.shift
    assert large.lower < large.shift < large.upper
    repaired = table().decide(fund=1, by=REGIONS, repair="groups")
    assert [effect.shift for effect in repaired.groups] == pytest.approx([0, 0], abs=1e-12)
    assert repaired.repair
    assert not found.repair


def test_numbers_that_may_all_truly_be_zero_still_deal_a_fund():
    found = table([1, 0, 0, 0, 0], half=1).decide(fund=10, by="county")
    assert sum(found.columns["allotted"]) == pytest.approx(10)
    assert all(map(math.isfinite, found.columns["expected_error"]))
    assert 0 < found.misallocated <= 1


def test_the_chance_of_the_wrong_side_is_the_tail_of_the_noise():
    found = table().decide(threshold=50, by="county")
    scale = 30 / math.log(20)
    assert found.columns["above"] == [True, False, False, False, True]
    assert found.columns["wrong_side"][1] == pytest.approx(math.exp(-9.5 / scale) / 2, abs=0.01)
    assert found.wrong == pytest.approx(sum(found.columns["wrong_side"]))
    assert sum(effect.wrong for effect in found.groups) == pytest.approx(found.wrong)
    normal = table(mechanism="discrete Gaussian, sigma 15.3").decide(threshold=50)
    assert normal.columns["wrong_side"][1] == pytest.approx(0.267, abs=0.01)


def test_before_it_is_paid_what_would_go_wrong_is_what_goes_wrong():
    """Trials of a plan on sizes that are true tell what decisions by such releases miss on average."""
    sizes = np.array([0, 0, 5, 40, 60, 900.0])
    half = np.full(6, 30.0)
    plan = noisy_trials("abcdef", sizes, NoiseLaw(half, half, 0.95, normal=False), b"plan")
    said = decide(plan, fund=1.0, by="size")
    fresh = np.random.default_rng(4).laplace(scale=30 / math.log(20), size=(4000, 6)) + sizes
    got = np.maximum(fresh, 0) / np.maximum(fresh, 0).sum(axis=1, keepdims=True)
    due = sizes / sizes.sum()
    assert said.misallocated == pytest.approx(np.abs(got - due).sum(axis=1).mean() / 2, rel=0.05)
    assert said.groups[0].group == "empty"
    assert said.groups[0].got == pytest.approx(got[:, :2].sum(axis=1).mean(), rel=0.1)
    assert said.groups[0].shift is None
    assert said.simulated
    limit = decide(plan, threshold=50)
    assert limit.wrong == pytest.approx(((fresh >= 50) != (sizes >= 50)).sum(axis=1).mean(), rel=0.05)
    assert "would be" in repr(limit)


def test_a_blend_trades_bias_for_variance():
    truth = np.array([[10.0, 10.0, 80.0]])
    smooth, rough = np.array([[20.0, 20.0, 60.0]]), np.array([[0.0, 20.0, 80.0], [20.0, 0.0, 80.0]])
    trials = Trials(tuple("abc"), smooth, truth, rough, simulated=True, rougher=rough)
    large = [
        decide(trials, fund=1, by={"a": "s", "b": "s", "c": "l"}, blend=part).groups[1].shift for part in (0, 0.5, 1)
    ]
    assert large == pytest.approx([-0.25, -0.125, 0])
    off = [decide(trials, fund=1, blend=part).columns["expected_error"][0] for part in (0, 1)]
    assert off == pytest.approx([0.1, 0.1])


def test_every_form_holds_the_same_decision(tmp_path):
    found = table().decide(fund=1000, by=REGIONS)
    rows = list(csv.DictReader(io.StringIO(found.to_csv(tmp_path / "fund.csv"))))
    assert [row["county"] for row in rows] == list("ABCDE")
    assert (tmp_path / "fund.csv").read_text() == found.to_csv()
    assert found.to_dict()["groups"][0]["shift"] == found.groups[0].shift
    assert "large" in repr(found)
    assert "large" in found.plot().to_svg()
    assert "small" in table().decide(threshold=50, by=REGIONS).plot().to_svg()
    with pytest.raises(InputError, match="by"):
        table().decide(fund=1).plot()


def test_rows_about_all_groups_and_unknown_numbers_are_left_out():
    made = table()
    columns = {name: [*values, 1381 if name != "county" else None] for name, values in made.columns.items()}
    found = table(columns=columns, absent={"county": [5]}).decide(fund=10)
    assert len(found) == 5
    columns = {
        name: [None if place == 2 and name != "county" else v for place, v in enumerate(values)]
        for name, values in made.columns.items()
    }
    assert table(columns=columns).decide(fund=10).columns["county"] == ["A", "B", "D", "E"]


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({}, "fund"),
        ({"fund": 1, "threshold": 1}, "fund"),
        ({"fund": 0}, "fund"),
        ({"fund": math.nan}, "fund"),
        ({"fund": 10**400}, "fund"),
        ({"fund": "much"}, "fund"),
        ({"threshold": -1}, "threshold"),
        ({"fund": 1, "by": "couty"}, "by"),
        ({"fund": 1, "by": {"A": "x"}}, "by"),
        ({"fund": 1, "by": 3}, "by"),
        ({"fund": 1, "repair": "group", "by": REGIONS}, "repair"),
        ({"fund": 1, "repair": "groups"}, "by"),
        ({"fund": 1, "repair": "groups", "by": "size"}, "by"),
        ({"threshold": 1, "repair": "groups", "by": REGIONS}, "repair"),
        ({"fund": 1, "output": "m"}, "output"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_is_refused_by_name(how, field):
    with pytest.raises(InputError) as caught:
        table().decide(**how)
    assert caught.value.field == field


@pytest.mark.parametrize("blend", [-0.1, 1.1, "half"], ids=str)
def test_a_blend_is_a_part_and_needs_a_rougher_method(blend):
    trials = Trials(("a",), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), simulated=False)
    for part in (blend, 0.5):
        with pytest.raises(InputError, match="blend"):
            decide(trials, fund=1, blend=part)


def test_a_release_without_numbers_decides_nothing():
    with pytest.raises(InputError, match="a release with numbers to decide by"):
        table(outputs=()).decide(fund=1)


def test_nothing_is_dealt_by_sizes_that_are_all_zero():
    half = np.full(2, 30.0)
    nobody = noisy_trials("ab", np.zeros(2), NoiseLaw(half, half, 0.95, normal=False), b"plan")
    with pytest.raises(InputError, match="`sizes` must be more than zero somewhere"):
        decide(nobody, fund=1)
    assert decide(nobody, threshold=50).wrong > 0


def test_the_group_of_missing_values_is_called_as_in_a_table():
    columns = {**table().columns, "county": ["A", "B", None, "D", "E"]}
    found = table(columns=columns).decide(fund=1, by={**REGIONS, None: "not known"})
    assert found.columns["county"][2] == "(missing)"
    assert [effect.group for effect in found.groups] == ["large", "small", "not known"]


def test_a_class_of_sizes_that_holds_no_region_is_not_told():
    found = table([5000, 900, 800, 850, 950], half=30).decide(fund=1, by="size")
    assert [effect.group for effect in found.groups] == ["100 to 999", "1,000 and more"]


def covered(fieller):
    """How often the due of regions, most of them empty, and of a group lies between its ends."""
    truth = np.array([0.0] * 50 + [30.0] * 10)
    labels = {f"r{number}": "full" if size else "empty" for number, size in enumerate(truth)}
    bits, regions, groups = np.random.default_rng(22), [], []
    for _ in range(150):
        values = truth + np.rint(bits.laplace(0, 10, len(truth)))
        columns = {"county": list(labels), "n": values.astype(int).tolist()}
        columns |= {"n_lower": (values - 30).tolist(), "n_upper": (values + 30).tolist()}
        trials = table_trials(table(columns=columns), "n", natural=True)
        found = decide(trials if fieller else replace(trials, ends=None), fund=1, by=labels)
        due = truth / truth.sum()
        low, high = (np.array(found.columns[f"due_{end}"]) for end in ("lower", "upper"))
        regions.append(np.mean((low - 1e-9 <= due) & (due <= high + 1e-9)))
        full = found.groups[1]
        if values.sum() <= 0:
            assert math.isnan(full.due)  # a share of nothing
            continue
        assert 0 <= full.due <= 1
        if full.lower is not None:
            groups.append(full.lower - 1e-9 <= full.got - 1 <= full.upper + 1e-9)
    return np.mean(regions), np.mean(groups)


def test_the_due_of_regions_and_groups_lies_between_its_ends_where_most_regions_are_empty():
    regions, groups = covered(True)
    assert regions > 0.94
    assert groups > 0.9
    assert covered(False)[0] < 0.8  # what might be true of each, taken alone, leaves out nothing at all
