"""A desk on a server: what it knows of the data, and what was released."""

import pytest

from discreet import col, count
from discreet.errors import DiscreetError, InputError

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from remote import wide_fixture  # noqa: F401


def test_the_rest_of_the_surface(wide):
    there, here = wide
    assert there.standing() == here.standing()
    assert there.schema == here.schema
    price = {"epsilon": "0.1", "allotment": "team"}
    for ask in (
        lambda table: table.top("county", 2),
        lambda table: table.histogram("age", [0, 5, 10]),
        lambda table: table.median("age"),
        lambda table: table.quantiles("age", [0.25, 0.75]),
        lambda table: table.suggest_bounds("age"),
        lambda table: table.range("age"),
        lambda table: table.where(col("works") == True).agg(n=count()),  # noqa: E712
    ):
        assert str(ask(there.table()).plan(**price)) == str(ask(here.table()).plan(**price))
    with pytest.raises(InputError, match="question of its own"):
        there.table().group_by("county").top("age")
    with pytest.raises(DiscreetError, match="custodians"):
        there.charges()
