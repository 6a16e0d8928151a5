"""`discreet.connect`: a curator elsewhere answers as one here, over a real socket."""

import http.server
import socket
import threading
import time

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema, count, mean
from discreet.errors import BudgetError, DiscreetError, InputError

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")
from discreet.apps.server.app import application  # noqa: E402
from discreet.apps.server.house import House  # noqa: E402
from discreet.apps.server.tokens import Tokens  # noqa: E402

SCHEMA = Schema("people", {"age": Integer(0, 120), "county": Category(["Ash", "Elm"])})
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Ash"]})


@pytest.fixture
def served(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2))
    house = House({"people": curator}, Tokens(tmp_path / "tokens.db"))
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(application(house), port=port, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(200):
        if server.started:
            break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}", house, curator
    server.should_exit = True
    thread.join(10)


def test_the_same_words_the_same_plan_the_same_books(served):
    url, house, curator = served
    there = discreet.connect(url, house.tokens.create("ann", "analyst"))
    ask = lambda table: table.where("age >= 18").group_by("county").agg(n=count(), age=mean("age"))  # noqa: E731
    offer = ask(there.table("people")).plan(epsilon=0.5)
    assert str(offer) == str(ask(curator.table("people")).plan(epsilon=0.5))
    answer = offer.release(release="one", why="a test")
    assert answer.columns == curator.release("one").columns
    assert there.release("one").to_csv() == answer.to_csv()
    assert there.releases() == ["one"]
    assert "1.5" in repr(there)
    assert "ann" not in repr(there.line)
    sql = there.sql("SELECT COUNT(*) AS n FROM people").plan(epsilon="0.25").release()
    assert sql.outputs == ("n",)


def test_refusals_are_the_same_errors(served):
    url, house, _ = served
    there = discreet.connect(url, house.tokens.create("ann", "analyst"))
    with pytest.raises(BudgetError, match="Nothing was spent"):
        there.table().agg(n=count()).plan(epsilon=3).release()
    with pytest.raises(DiscreetError, match="shoe"):
        there.table().agg(n=mean("shoe")).plan(epsilon=1)
    with pytest.raises(DiscreetError, match="401"):
        discreet.connect(url, "dsc_0_wrong")
    with pytest.raises(InputError, match="dataset"):
        discreet.connect(url, house.tokens.create("bob", "viewer"), "other")
    with pytest.raises(InputError, match="https"):
        discreet.connect("http://curator.example", "dsc_token")
    with pytest.raises(InputError, match="address"):
        discreet.connect("ftp://x")
    with pytest.raises(InputError, match="answers"):
        discreet.connect("http://127.0.0.1:9")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_does_not_follow_to_another_place(status):
    seen = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("authorization")))
            self.send_response(status)
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/stolen")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(DiscreetError, match=str(status)):
            discreet.connect(f"http://127.0.0.1:{server.server_port}", "dsc_a_secret")
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
    assert seen == [("/api/datasets", "Bearer dsc_a_secret")]
