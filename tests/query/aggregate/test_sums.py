"""Sums of a column: large ones do not wrap."""

from __future__ import annotations

import numpy as np
from interval_coverage import PURE

from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.query.aggregate import total
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query


def test_large_sums_do_not_wrap():
    schema = Schema("t", {"big": Integer(0, 2**52, nullable=False)})
    made = plan_query(Query().agg(s=total("big")), schema, PURE, Price.read(epsilon=1))
    (step,) = {float(m.lattice.step) for m in made.measures}
    result = made.table([np.array([2**61])])["columns"]
    assert result["s"] == [float(2**61) * step]
    assert result["s_lower"][0] < result["s"][0] < result["s_upper"][0]
