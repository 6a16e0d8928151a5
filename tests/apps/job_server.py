"""A server with people to ask for jobs about, and a wait for what they make."""

import time

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 9, nullable=False),
        "county": Category(["A1", "A2", "B1"], nullable=False),
        "state": Category(["A", "B"], nullable=False),
        "works": discreet.Boolean(nullable=False),
    },
)
TABLE = pa.table(
    {
        "age": [n % 10 for n in range(300)],
        "county": [("A1", "A2", "B1")[n % 3] for n in range(300)],
        "state": [("A", "A", "B")[n % 3] for n in range(300)],
        "works": [n % 10 > 4 for n in range(300)],
    }
)
TREE = {"levels": {"state": 1, "county": 2}, "by": ["works"], "epsilon": "0.5", "allotment": "team"}
SYNTH = {"columns": ["age", "works"], "rows": 50, "epsilon": "0.5", "allotment": "team", "method": "independent"}


@pytest.fixture(name="service")
def service_fixture(tmp_path):
    parts = [
        Allotment("team", "pure", epsilon=2),
        Allotment("guests", "pure", epsilon=1),
        Allotment("models", "plan", epsilon=3, delta=1e-5),
    ]
    budget = Budget(6, delta=1e-5, allotments=parts)
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=budget, create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"), jobs=Jobs(tmp_path / "jobs.db"))


def client(service, role="analyst", allotment=None, name=None):
    token = service.tokens.create(name or role, role, allotment)
    return Client(application(service), {"authorization": f"Bearer {token}"})


def waited(ann, release, seconds=120):
    for _ in range(int(seconds / 0.05)):
        job = ann.get(f"/api/datasets/people/jobs/{release}").json()
        if job["state"] not in ("waiting", "running"):
            return job
        time.sleep(0.05)
    raise AssertionError(job)
