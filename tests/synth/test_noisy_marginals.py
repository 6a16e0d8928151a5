"""Noisy marginals as a file: written, read again the same, and refused where they say nothing sensible."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pytest
from synth_desk import SCHEMA, table

import discreet
from discreet import Boolean, Budget, Category, Date, Integer, Real, Schema
from discreet.errors import InputError
from discreet.synth.noisy_marginals import NoisyMarginals

TOWN = Schema(
    "town",
    {
        "age": Integer(0, 99),
        "sex": Category(["f", "m"]),
        "pay": Real(0, 100, step=0.5),
        "day": Date("2020-01-01", "2020-12-31"),
        "works": Boolean(),
    },
)
ENTRY = {
    "format": "discreet-marginals",
    "version": 1,
    "columns": [
        {"name": "age", "codes": [[0, 18], [18, 65], [65, 100], None]},
        {"name": "sex", "codes": ["f", "m"]},
        {"name": "pay", "codes": [0, [0.5, 10], [10, 100.5]]},
        {"name": "day", "codes": [["2020-01-01", "2020-07-01"], ["2020-07-01", "2021-01-01"]]},
        {"name": "works", "codes": [False, True, None]},
    ],
    "marginals": [
        {"columns": ["sex", "age"], "counts": [[10, 20, 30, 1], [40, 50, 60, 2]], "variance": 4},
        {"columns": ["pay"], "counts": [100, 60, 50.5], "variance": 2.5},
        {"columns": ["day", "works"], "counts": [1, 2, 3, 4, 5, 6], "variance": 1},
    ],
}


def changed(**fields):
    return {**copy.deepcopy(ENTRY), **fields}


def test_codes_become_a_domain_of_the_schema():
    domain, declared = NoisyMarginals.from_dict(ENTRY).domain(TOWN)
    assert domain.names == ("age", "sex", "pay", "day", "works")
    assert domain.sizes == (4, 2, 3, 2, 3)
    pay = domain.attributes[2]
    assert (pay.labels[0], pay.labels[2].start) == (0, 10)
    assert pay.partition.unit == Fraction(1, 2)
    assert pay.partition.last == 200
    assert declared["sex"] == Category(["f", "m"], nullable=False)
    assert declared["works"].nullable


def test_a_file_is_read_as_it_was_written(tmp_path):
    one = NoisyMarginals.from_dict(ENTRY)
    one.save(tmp_path / "a.json")
    two = NoisyMarginals.load(tmp_path / "a.json")
    assert one.to_dict() == two.to_dict()
    assert json.loads((tmp_path / "a.json").read_text())["marginals"][0] == ENTRY["marginals"][0]
    assert two.marginals[2].counts.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (3, "format"),
        (changed(format="other"), "format"),
        (changed(version=2), "the version that is read here"),
        (changed(columns="age"), "a list"),
        (changed(columns=[{"name": "age"}]), "name and codes"),
        (changed(columns=ENTRY["columns"][:1] * 2), "different columns"),
        (changed(marginals=ENTRY["marginals"][:2]), "every column is at least once"),
        (changed(marginals=[{"columns": ["zip"], "counts": [1], "variance": 1}]), "a column with codes"),
        (changed(marginals=[{"columns": [], "counts": [], "variance": 1}]), "at least one"),
        (changed(marginals=[{"columns": ["sex"], "counts": [1], "variance": 1}]), "2 finite numbers"),
        (changed(marginals=[{"columns": ["sex"], "counts": ["a", "b"], "variance": 1}]), "numbers"),
        (changed(marginals=[{"columns": ["sex"], "counts": [1, 2]}]), "variance of the noise"),
        (changed(marginals=[{"columns": ["sex"], "counts": [1, 2], "variance": -1}]), "variance of the noise"),
        (changed(marginals=[{"columns": ["sex"], "counts": [1], "bins": {"sex": [0]}}]), "a bin for each"),
    ],
)
def test_a_file_that_says_something_else_is_refused(entry, message):
    with pytest.raises(InputError, match=message):
        NoisyMarginals.from_dict(entry)


@pytest.mark.parametrize(
    ("place", "codes", "message"),
    [
        (0, [[0, 18], [20, 100]], "without a gap"),
        (0, [[0, 18], [18, 18], [18, 100]], "without a gap"),
        (0, [[0, 100], [100, 200]], "within the bounds"),
        (0, [[-5, 100]], "within the bounds"),
        (0, [None, 3], "is the last"),
        (0, ["x"], "numbers or days"),
        (1, ["f", "x"], "values that the schema declares"),
        (2, [0, [0.7, 10]], "without a gap"),
        (3, ["soon"], "numbers or days"),
        (4, [True, False], "false, true"),
    ],
)
def test_codes_that_the_schema_has_not_are_refused(place, codes, message):
    entry = copy.deepcopy(ENTRY)
    entry["columns"] = [{**entry["columns"][place], "codes": codes}]
    name = entry["columns"][0]["name"]
    entry["marginals"] = [{"columns": [name], "counts": [1] * len(codes), "variance": 1}]
    with pytest.raises(InputError, match=message):
        NoisyMarginals.from_dict(entry).domain(TOWN)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "a.json").write_text("{")
    for path in (tmp_path / "a.json", tmp_path / "b.json"):
        with pytest.raises(InputError, match="a JSON file that can be read"):
            NoisyMarginals.load(path)


def test_what_a_release_measured_is_what_it_exports(tmp_path):
    curator = discreet.open(table(), SCHEMA, ledger=tmp_path / "t.db", budget=Budget(99, delta=1e-6), create=True)
    made = curator.synthesize().plan(rho=1).release()
    exported = made.marginals()
    assert len(exported.marginals) == len(made.measured)
    for one, noisy in zip(exported.marginals, made.measured, strict=True):
        assert np.array_equal(one.counts, noisy.values)
        assert one.variance == noisy.variance
    again, _ = NoisyMarginals.from_dict(json.loads(json.dumps(exported.to_dict()))).domain(SCHEMA)
    assert again.sizes == made.domain.sizes
    assert [list(one.labels) for one in again.attributes] == [list(one.labels) for one in made.domain.attributes]


def test_marginals_of_another_table_are_refused_by_the_names_of_its_columns():
    entry = {
        "format": "discreet-marginals",
        "version": 1,
        "columns": [{"name": "Total bill ($)", "codes": [0, 1]}],
        "marginals": [{"columns": ["Total bill ($)"], "counts": [3, 4], "variance": 1}],
    }
    with pytest.raises(InputError, match="`marginals` must be of declared columns: age"):
        NoisyMarginals.from_dict(entry).domain(Schema("t", {"age": Integer(0, 9)}))
