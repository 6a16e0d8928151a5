"""A census is made again of its noisy measurements, and sums over its tables know that they share noise."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from homes import draft

from discreet.errors import InputError
from discreet.trees.census import read_census


def test_the_folder_makes_the_same_tables_by_every_method(curator, tmp_path):
    release = draft(curator).plan(epsilon=4).release()
    release.save_measurements(tmp_path / "noisy")
    for made, again in (
        (release, read_census(tmp_path / "noisy")),
        (release.again("topdown"), read_census(tmp_path / "noisy", method="topdown")),
    ):
        assert list(again) == list(made)
        assert again.notes == made.notes
        for name in made:
            for one, two in zip(made[name].estimate.counts, again[name].estimate.counts, strict=True):
                assert np.array_equal(one, two)
            for one, two in zip(made[name].estimate.each.lower, again[name].estimate.each.lower, strict=True):
                assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ("no json", "census.json"),
        ({"format": "other"}, "census.json: format"),
        ({"tables": None}, "census.json: tables"),
        ({"tables": [{"name": "../a", "totals_of": "../a"}]}, "census.json: tables"),
        ({"tables": [{"name": "a", "totals_of": "b"}]}, "census.json: tables"),
        ({"notes": [3]}, "census.json: notes"),
        ({"agreements": [3]}, "census.json: agreements"),
        (None, "folder"),
    ],
)
def test_a_folder_that_was_changed_is_refused(curator, tmp_path, wrong, field):
    folder = tmp_path / "noisy"
    draft(curator, {"types": {"counts": "households", "by": ["type"]}}).plan(epsilon=1).release().save_measurements(
        folder
    )
    path = folder / "census.json"
    if wrong is None:
        shutil.rmtree(folder)
    elif isinstance(wrong, str):
        path.write_text(wrong)
    else:
        path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    with pytest.raises(InputError) as error:
        read_census(folder)
    assert error.value.field == field


def test_sums_over_tables_of_one_census_take_the_noise_they_share_twice(curator):
    release = draft(curator).plan(epsilon=4).release()
    pairs = [(name, lead) for name, lead in release.leads.items() if name != lead]
    assert pairs
    for name, lead in pairs:
        one, two = release[name].sum(), release[lead].sum()
        assert (one + two).deviation == pytest.approx(one.deviation + two.deviation)
        assert (one - two).deviation == pytest.approx(one.deviation + two.deviation)
        ratio, alone = one / two, one / one
        assert ratio.upper - ratio.lower > alone.upper - alone.lower
