"""Ratios over commits: which are kept, which way is better, and what is named as worse."""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def history():
    """By its path: names in that folder are those of libraries too."""
    made = {}
    for name in ("harness", "history"):
        spec = spec_from_file_location(name, BENCH / f"{name}.py")
        sys.modules[name] = made[name] = module_from_spec(spec)
        spec.loader.exec_module(made[name])
    yield made["history"]
    for name in made:
        del sys.modules[name]


def figure(metric, value, target=None, unit="x"):
    return json.dumps(
        {"bench": "noise", "case": "c", "metric": metric, "value": value, "unit": unit, "target": target, "holds": None}
    )


def recorded(history, *values, metric="peer / discreet"):
    return [ratio for n, value in enumerate(values) for ratio in history.ratios([figure(metric, value)], f"c{n}", "d")]


def test_ratios_are_kept_with_the_way_that_is_better(history):
    lines = [
        "a line for people",
        figure("peer / discreet", 7),
        figure("process / plain", 1.3),
        figure("ours / theirs", 2, ">= 1"),
        figure("stated / limit", 1, "<= 1.1"),
        figure("ours / theirs", 2),  # nobody knows which way
        figure("time", 3, "<= 4", unit="s"),
    ]
    assert [(one.metric, one.less) for one in history.ratios(lines, "c", "d")] == [
        ("peer / discreet", False),
        ("process / plain", True),
        ("ours / theirs", False),
        ("stated / limit", True),
    ]


@pytest.mark.parametrize(
    ("metric", "values", "by"),
    [
        ("peer / discreet", (10, 10, 10, 8), 0.25),
        ("peer / discreet", (10, 10, 10, 8.5), None),
        ("peer / discreet", (10, 40), None),  # better
        ("process / plain", (1, 1, 1.3), 0.3),
        ("process / plain", (1, 1, 0.5), None),
        ("process / plain", (9, 1, 1, 1, 1.3), 0.3),  # beside the last three
        ("process / plain", (1, 1, 9, 1.1), None),  # one that was off is no measure
        ("process / plain", (1,), None),
    ],
)
def test_a_ratio_that_became_worse_by_a_fifth_is_named(history, metric, values, by):
    found = history.regressions(recorded(history, *values, metric=metric))
    assert [round(one.by, 6) for one in found] == ([] if by is None else [by])


def test_the_index_says_what_became_worse_and_keeps_the_rest_of_the_page(history):
    page = f"# Measured\n\n{history._BEGIN}\nold\n{history._END}\n\n## After\n"
    worse = history.written(page, recorded(history, 10, 5))
    assert "| noise | c | peer / discreet | 10 | 5 | 100% |" in worse
    assert worse.startswith("# Measured\n")
    assert worse.endswith("## After\n")
    assert "old" not in worse
    assert "None is worse" in history.written(worse, recorded(history, 10, 10))
    assert "nothing to compare" in history.written(worse, recorded(history, 10))


def test_a_picture_shows_how_many_times_better_each_ratio_is(history):
    drawn = history.drawn([*recorded(history, 10, 40), *recorded(history, 2, 2, metric="process / plain")])
    assert "How many times better" in drawn.title
    assert "noise, c1: 2" in str(drawn.__html__()) or ">2<" in str(drawn.__html__())  # 4 times and 1 time
