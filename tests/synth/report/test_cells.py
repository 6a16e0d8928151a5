"""Cells are sure and possible as the rows in them are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from report_rows import CONDITIONS, DOMAIN, SCHEMA, condition

from discreet.core.unit import Unit
from discreet.data.column import Timestamp
from discreet.data.schema import Schema
from discreet.marginals.domain import Attribute, Domain
from discreet.query.key import bins
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked
from discreet.synth.exclusions import holds
from discreet.synth.report.cells import met
from discreet.synth.rows import draw_rows


@pytest.mark.parametrize("text", CONDITIONS)
def test_cells_are_sure_and_possible_as_rows_are(text):
    wanted = condition(text)
    columns = tuple(sorted({DOMAIN.place(name) for name in DOMAIN.names if name in text}))
    cells = met(wanted, columns, DOMAIN, SCHEMA.columns)
    seen = np.zeros(cells.sure.shape, dtype=bool)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        codes = np.stack([rng.integers(0, size, 20_000) for size in DOMAIN.sizes], axis=1)
        true = holds(wanted, draw_rows(DOMAIN, SCHEMA.columns, codes), DOMAIN)
        place = tuple(codes[:, column] for column in columns)
        assert (true | ~cells.sure[place]).all()
        assert (~true | cells.may[place]).all()
        np.logical_or.at(seen, place, true)
    # Not only safe but tight: nearly every cell that may hold such a row does hold one, given enough rows; a single
    # number is rarely drawn from its bin.
    assert seen.sum() >= (0.4 if "= 1000 or" in text or "in (3" in text else 0.9) * cells.may.sum()


def test_merged_cells_are_sure_where_all_are_and_possible_where_any_is():
    columns = (2, 4)
    cells = met(condition("age >= 25 and pay < 500"), columns, DOMAIN, SCHEMA.columns)
    bins = [np.arange(size) * 3 // size for size in (DOMAIN.sizes[2], DOMAIN.sizes[4])]
    found = cells.merged(bins)
    for a, b in itertools.product(range(3), range(3)):
        part = np.ix_(bins[0] == a, bins[1] == b)
        assert found.sure[a, b] == cells.sure[part].all()
        assert found.may[a, b] == cells.may[part].any()


def test_instants_in_bins_are_told_apart_by_the_second():
    column = Timestamp("2024-01-01", "2024-12-31", "Europe/Vienna", nullable=False)
    schema = Schema("t", {"at": column}, Unit())
    key = bins("at", ["2024-01-01", "2024-07-01", "2025-01-01"]).checked(schema)
    domain = Domain((Attribute("at", key, tuple(key.labels(schema)), True, False),))

    def truth(text):
        cells = met(checked(parse_condition(text), schema), (0,), domain, schema.columns)
        return cells.sure.tolist(), cells.may.tolist()

    assert truth("at < '2024-07-01'") == ([True, False], [True, False])
    assert truth("at <= '2024-06-30 23:59:59'") == ([True, False], [True, False])
    assert truth("at <= '2024-06-30 23:59:58'") == ([False, False], [True, False])
    assert truth("at > '2024-06-30 23:59:59'") == ([False, True], [False, True])
