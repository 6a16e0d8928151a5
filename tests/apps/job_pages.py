"""Pages of jobs about a few people: a server, visitors, a job begun and waited for."""

import html
import re
import time

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor

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
TREE = {"levels": "state=1, county=2", "by": "works", "way": "epsilon", "epsilon": "0.5"}
ROWS = {"columns": "age", "method": "independent", "rows": "40", "way": "epsilon", "epsilon": "0.5"}
WHY = "<script>alert(1)</script>"


@pytest.fixture(name="service")
def service_fixture(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    tokens = Tokens(tmp_path / "tokens.db")
    return Service({"people": curator}, tokens, jobs=Jobs(tmp_path / "jobs.db")).within(rate=500.0, burst=500.0)


def signed(service, role="analyst", name=None, allotment=None):
    visitor = Visitor(application(service))
    assert visitor.sign_in(service.tokens.create(name or role, role, allotment)).status_code == 303
    return visitor


def spent(service):
    (one,) = service.curators["people"].standing()
    return one.spent.amount


def confirmation(answer):
    """What the panel's form would send, without its hidden value for the session."""
    form = answer.text.split('class="confirm"')[1].split("</form>")[0]
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return [(name, html.unescape(value)) for name, value in pairs if name != "csrf"]


def begun(visitor, place, fields, why="", dataset="people"):
    """Price, type the price, spend; the address of the job."""
    visitor.get(f"/d/{dataset}/{place}")
    priced = visitor.post(f"/d/{dataset}/{place}", fields)
    assert priced.status_code == 200
    typed = re.search(r'<b class="figure">([^<]+)</b> to spend', priced.text)[1]
    sent = [*confirmation(priced), ("why", why), ("confirm", typed)]
    answer = visitor.post(f"/d/{dataset}/{place}/release", sent)
    assert answer.status_code == 303
    return answer.headers["location"]


def waited(visitor, address):
    for _ in range(2400):
        page = visitor.get(address)
        if "data-running" not in page.text:
            return page
        time.sleep(0.05)
    raise AssertionError(page.text)


def result_of(page):
    return re.search(r'href="(/d/people/\w+\?release=[^"]+)"', page.text)[1]
