"""The custodian's pages: a small server with a folder for state, and someone who is signed in."""

import html
import re

import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema, Unit

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor, served

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens

SECRET = "Xyzzy-7431"
COLUMNS = {"age": Integer(0, 100, nullable=False), "town": Category(["Ash", "Elm"], nullable=False)}
ROWS = "person,age,town\n" + "".join(f"p{n},{n % 90},{'Ash' if n % 2 else 'Elm'}\n" for n in range(40))
TABLE = ROWS + f"q,130,{SECRET}\n"


def made(folder, **changes):
    (folder / "people.csv").write_text(TABLE)
    schema = Schema("people", COLUMNS, unit=Unit("person", groups=1, rows=1))
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "pure", epsilon=1)]
    budget = Budget(2, allotments=parts)
    curator = discreet.open(folder / "people.csv", schema, ledger=folder / "b.db", budget=budget, create=True)
    service = Service({"people": curator}, Tokens(folder / "t.db"), state=folder / "state", **changes)
    return service.complete().within(rate=500.0, burst=500.0)


@pytest.fixture(name="service")
def service_fixture(tmp_path):
    return made(tmp_path)


@pytest.fixture(name="shared", scope="module")
def shared_fixture(tmp_path_factory):
    """A service for what changes nothing that another test looks at."""
    return made(tmp_path_factory.mktemp("shared"))


def asked(service, sql, epsilon="0.1", who="ann", why="a test"):
    plan = service.curators["people"].acting_for(who).sql(sql).plan(epsilon=epsilon, allotment="team")
    return plan.release(why=why)


def signed(service, role="custodian", name=None):
    visitor = Visitor(served(service))
    named = name or f"{role}{len(service.tokens)}"
    assert visitor.sign_in(service.tokens.create(named, role)).status_code == 303
    return visitor


def told(page):
    """A page as a person reads it."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


def hidden(page):
    """Every hidden field of the last form of a page."""
    last = page.text.rpartition("<form")[2]
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', last)
    return {name: html.unescape(value) for name, value in pairs if name != "csrf"}


def decision(page):
    """The hidden fields of the form that agrees."""
    form = next(one for one in page.text.split("<form")[1:] if 'name="agreed"' in one)
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form)
    return {name: html.unescape(value) for name, value in pairs if name != "csrf"}


def agree(visitor, path, fields=None, why=""):
    """Send a form, read what would happen, and say yes to it."""
    shown = visitor.post(path, fields or {})
    assert shown.status_code == 200, told(shown)
    assert "What will happen" in shown.text
    return visitor.post(path, {**decision(shown), "why": why})


def upload(visitor, content, name="visits.csv", csrf=None):
    """Send a file as a browser does."""
    visitor.get("/custodian/datasets")
    mark = "----discreet-test"
    body = (
        f'--{mark}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{visitor.csrf if csrf is None else csrf}\r\n'
        f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: text/csv\r\n\r\n"
    ).encode() + content
    kind = {"content-type": f"multipart/form-data; boundary={mark}"}
    return visitor._sent("POST", "/custodian/datasets/upload", body + f"\r\n--{mark}--\r\n".encode(), kind)
