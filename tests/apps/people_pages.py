"""Pages about a few people: a server, signed-in visitors, and a question confirmed."""

import html
import re

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Real, Schema, Text, Unit

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor, served

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens

EVIL = "<img src=x onerror=alert(1)>"
ROWS = 400
TABLE = pa.table(
    {
        "person": [f"p{i}" for i in range(ROWS)],
        "age": [i % 90 for i in range(ROWS)],
        "pay": [float(i) for i in range(ROWS)],
        "county": [("Ash", "Elm", EVIL)[i % 3] for i in range(ROWS)],
        "remark": [("fine", "Xyzzy-7431")[i == 7] for i in range(ROWS)],
        "height": [170] * ROWS,
    }
)
COLUMNS = {
    "age": Integer(0, 100, nullable=False),
    "pay": Real(0, 1000, nullable=False),
    "county": Category(["Ash", "Elm", EVIL], nullable=False),
    "remark": Text(),
}


@pytest.fixture(name="shared", scope="module")
def shared_fixture(tmp_path_factory):
    """A service for what spends nothing."""
    return made(tmp_path_factory.mktemp("shared"))


@pytest.fixture(name="service")
def service_fixture(tmp_path):
    return made(tmp_path)


def made(folder, budget=None, name="people", unit=None):
    schema = Schema(name, COLUMNS, unit=unit or Unit("person", groups=1, rows=1))
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "zcdp", epsilon=1, delta="1e-6")]
    budget = budget or Budget(2, delta="1e-6", allotments=parts)
    curator = discreet.open(TABLE, schema, ledger=folder / "b.db", budget=budget, create=True)
    return Service({name: curator}, Tokens(folder / "t.db"))


def signed(service, name="ann", role="analyst", allotment=None):
    visitor = Visitor(served(service))
    token = service.tokens.create(f"{name}{len(service.tokens)}" if name == "ann" else name, role, allotment)
    assert visitor.sign_in(token).status_code == 303
    return visitor


def spent(service, part=0):
    (desk,) = service.curators.values()
    return desk.standing()[part].spent.amount


def told(page):
    """A page as a person reads it."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


def hidden(page, name):
    return html.unescape(re.search(rf'name="{name}" value="([^"]*)"', page.text)[1])


ASK = {"of0": "count", "by0": "county", "way": "epsilon", "epsilon": "0.25", "allotment": "team"}


def confirmed(visitor, asked, typed=None, why="a test", **more):
    """Price a question, then type what the page says."""
    page = visitor.post("/d/people/ask", asked)
    assert page.status_code == 200
    amount = re.search(r"Type <b[^>]*>([^<]*)</b>", page.text)[1]
    sent = {**asked, "release": hidden(page, "release"), "digest": hidden(page, "digest"), "why": why}
    return visitor.post("/d/people/ask/release", {**sent, "confirm": amount if typed is None else typed, **more})
