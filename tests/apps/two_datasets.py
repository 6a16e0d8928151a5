"""A server of two datasets on one ledger, of which some people may know one only."""

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.ledger.ledger import Ledger

HIDDEN = "arrests"
COLUMN = "charge_sheet"


@pytest.fixture(name="pair")
def pair_fixture(tmp_path):
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "pure", epsilon=1)]
    curators = {}
    ledger = Ledger.open(tmp_path / "b.db", create=True)
    for name, column in (("visits", "age"), (HIDDEN, COLUMN)):
        schema = Schema(name, {column: Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"])})
        table = pa.table({column: [30, 40, 50], "county": ["Ash", "Elm", "Ash"]})
        ledger.create(name, Budget(2, allotments=parts), who="carla")
        curators[name] = discreet.open(table, schema, ledger=ledger)
    service = Service(curators, Tokens(tmp_path / "tokens.db"), jobs=Jobs(tmp_path / "jobs.db"))
    for name in curators:
        mine = curators[name].acting_for("carla")
        mine.table().group_by("county").agg(n=discreet.count()).plan(epsilon=0.1, allotment="team").release(
            release=f"{name}-counts", why=f"about {name}"
        )
    return service
