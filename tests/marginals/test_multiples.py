"""Multiples: every number is in the class of the largest step that divides it, also below zero and off the lattice."""

from __future__ import annotations

from fractions import Fraction

import ibis
import numpy as np

from discreet.marginals.multiples import Multiples
from discreet.marginals.partition import Partition


def classes(cut: Partition, kind: str, values: list) -> list[int]:
    found = Multiples.of(cut, kind)
    rows = ibis.memtable({"v": values})
    query = rows.select(code=found.code(rows["v"], found.nearest(rows["v"], whole=kind == "integer")))
    return ibis.duckdb.connect().execute(query)["code"].tolist()


def test_numbers_are_in_the_class_of_the_largest_step_that_divides_them():
    cut = Partition.scaled(Fraction(-1000), Fraction(1), 5000)
    values = [-1000, -7, 0, 3, 5, 10, 50, 55, 100, 250, 500, 1234, 4000]
    factors = Multiples.of(cut, "integer").factors
    assert factors == (1, 5, 10, 50, 100, 500)
    wanted = [max(place + 1 for place, factor in enumerate(factors) if value % factor == 0) for value in values]
    wanted[values.index(0)] = len(factors) + 1  # a multiple of everything says nothing
    assert classes(cut, "integer", values) == wanted


def test_what_is_no_point_is_in_a_class_of_its_own():
    cut = Partition.scaled(Fraction(0), Fraction(1, 100), 10_000)
    assert classes(cut, "real", [0.57, 0.05, 0.5, 5.0, 0.1234, 0.1 + 0.2]) == [1, 2, 4, 6, 0, 0]
    assert Multiples.of(cut, "real").unit(2) == Fraction(1, 20)


def test_few_points_have_no_steps():
    assert Multiples.of(Partition.points(Fraction(0), Fraction(1), 19), "integer") is None
    assert Multiples.of(Partition.points(Fraction(0), Fraction(1), 1000), "date") is None
    assert Multiples.of(Partition.points(Fraction(1, 3), Fraction(1), 1000), "real") is None  # no multiples of its unit
    assert np.diff(Multiples.of(Partition.points(Fraction(0), Fraction(1), 10**6), "integer").factors).min() > 0
