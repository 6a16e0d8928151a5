"""A question as a job: which plan it takes, and how it is read from JSON."""

from __future__ import annotations

import pytest
from pay_table import PEOPLE, ZCDP

from discreet.data.column import Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import count
from discreet.query.key import discover
from discreet.query.price import Price
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.question_ask import plan_any


def test_quantiles_are_not_forgotten_beside_discovered_keys():
    schema = Schema("people", {**PEOPLE, "zip": Text()})
    query = Query().group_by(discover("zip")).agg(n=count(), m=median("pay"))
    with pytest.raises(InputError) as caught:
        plan_any(query, schema, ZCDP, Price.read(rho=1), "1e-9")
    assert caught.value.field == "group_by"
