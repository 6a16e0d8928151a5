"""`discreet.connect`: a curator elsewhere answers as one here, over a real socket."""

import http.server
import threading
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from ipaddress import ip_address

import pyarrow as pa
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

import discreet
from discreet import Allotment, Boolean, Budget, Category, Integer, Rules, Schema, bins, col, count, mean
from discreet.errors import BudgetError, DiscreetError, InputError, RunError
from servers import serving

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Ash"]})


@pytest.fixture
def served(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    service = Service({"people": curator}, Tokens(tmp_path / "tokens.db"))
    with serving(application(service)) as url:
        yield url, service, curator


def test_the_same_words_the_same_plan_the_same_books(served):
    url, service, curator = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    ask = lambda table: table.where("age >= 18").group_by("county").agg(n=count(), age=mean("age"))  # noqa: E731
    offer = ask(there.table("people")).plan(epsilon=0.5)
    assert str(offer) == str(ask(curator.table("people")).plan(epsilon=0.5))
    answer = offer.release(release="one", why="a test")
    assert answer.columns == curator.release("one").columns
    assert there.release("one").to_csv() == answer.to_csv()
    assert there.releases() == ["one"]
    assert "1.5" in repr(there)
    assert "ann" not in repr(there.desk.transport)
    sql = there.sql("SELECT COUNT(*) AS n FROM people").plan(epsilon="0.25").release()
    assert sql.outputs == ("n",)


def test_refusals_are_the_same_errors(served):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    with pytest.raises(BudgetError, match="Nothing was spent"):
        there.table().agg(n=count()).plan(epsilon=3).release()
    with pytest.raises(InputError, match="shoe") as told:
        there.table().agg(n=mean("shoe")).plan(epsilon=1)
    assert (told.value.field, "age" in told.value.allowed) == ("mean", True)
    with pytest.raises(InputError, match="stored release"):
        there.release("nothing")
    with pytest.raises(DiscreetError, match="401"):
        discreet.connect(url, "dsc_0_wrong")
    with pytest.raises(InputError, match="dataset"):
        discreet.connect(url, service.tokens.create("bob", "viewer"), "other")
    with pytest.raises(InputError, match="https"):
        discreet.connect("http://curator.example", "dsc_token")
    with pytest.raises(InputError, match="address"):
        discreet.connect("ftp://x")
    with pytest.raises(InputError, match="answers"):
        discreet.connect("http://127.0.0.1:9")


@pytest.fixture
def wide(tmp_path):
    """A served table to make hierarchies, rows and models of, and a curator of the same books."""
    schema = Schema(
        "people",
        {
            "age": Integer(0, 9, nullable=False),
            "county": Category(["A1", "A2", "B1"], nullable=False),
            "works": Boolean(nullable=False),
        },
    )
    many = range(300)
    table = pa.table(
        {
            "age": [n % 10 for n in many],
            "county": [("A1", "A2", "B1")[n % 3] for n in many],
            "works": [n % 10 > 4 for n in many],
        }
    )
    parts = [Allotment("team", "pure", epsilon=4), Allotment("models", "plan", epsilon=3, delta=1e-5)]
    budget = Budget(7, delta=1e-5, allotments=parts)
    curator = discreet.open(table, schema, ledger=tmp_path / "b.db", budget=budget, create=True)
    service = Service({"people": curator}, Tokens(tmp_path / "tokens.db"))
    with serving(application(service)) as url:
        yield discreet.connect(url, service.tokens.create("ann", "analyst")), curator


def test_a_hierarchy_there_is_one_here(wide, tmp_path):
    there, here = wide
    regions = tmp_path / "regions.csv"
    regions.write_text("state,county\nA,A1\nA,A2\nB,B1\n")
    ask = lambda desk: desk.tree(  # noqa: E731
        ["state", "county"],
        by=["works", bins("age", [0, 5, 10])],
        geography=regions,
        where=col("age") >= 1,
        rules=Rules(upper={"county": 10_000}),
    )
    price = {"epsilon": "0.5", "allotment": "team", "split": {"all": 1, "state": 1, "county": 2}}
    offer = ask(there).plan(**price)
    assert str(offer) == str(ask(here).plan(**price))
    made = offer.release(release="census", why="a test")
    same = here.release("census")
    assert made["county"].columns == same["county"].columns
    assert there.release("census").totals("state").to_csv() == same.totals("state").to_csv()
    assert made.again("topdown").method == "topdown"
    assert repr(made) == repr(same)
    assert here.ledger.find("census").charged.why == "a test"
    with pytest.raises(InputError) as told:
        there.tree(["county"], by="shoe").plan(epsilon=1, allotment="team")
    assert told.value.field == "by"
    with pytest.raises(BudgetError, match="Nothing was spent") as refused:
        there.tree(["county"]).plan(epsilon=5, allotment="team").release()
    assert (refused.value.asked.amount, refused.value.left.amount) == (5, Fraction(7, 2))
    with pytest.raises(InputError, match="levels"):
        there.tree("county")


def test_rows_there_are_rows_here(wide):
    there, here = wide
    ask = lambda desk: desk.synthesize(  # noqa: E731
        "mst", workload={("age", "works"): 2.0}, columns=["age", "works"], rows=40, impossible=[col("age") > 8]
    )
    offer = ask(there).plan(epsilon=1, allotment="team")
    assert str(offer) == str(ask(here).plan(epsilon=1, allotment="team"))
    job = offer.begin(release="rows")
    rows = job.wait(120)
    assert len(rows) == 40
    assert rows.to_arrow().equals(here.release("rows").to_arrow())
    assert there.job("rows").wait(10).to_csv() == rows.to_csv()
    assert (job.state, job.stage, job.progress) == ("done", "done", 1.0)
    assert [one["kind"] for one in there.jobs()] == ["synth"]
    assert there.release("rows", "rows").columns == here.release("rows", "rows").columns
    with pytest.raises(InputError, match="must be rows"):
        there.release("rows", "county")


def test_a_model_there_predicts_here(wide):
    pytest.importorskip("jax")
    from discreet.learn.model import Model

    there, here = wide
    asked = {"target": "works", "features": ["age"], "examples": 300, "lot": 100, "steps": 5, "rate": 2}
    model = there.train(**asked).plan(epsilon=1).release(release="m")
    rows = {"age": [1, 9]}
    assert model.predict(rows) == here.release("m").predict(rows)
    assert model.card().to_dict() == there.release("m").card().to_dict()
    with pytest.raises(InputError, match="no code"):
        there.train(Model(lambda params, x: x, ()), target="works").plan(epsilon=1)


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


def test_an_answer_that_takes_long_is_waited_for(served, monkeypatch):
    url, service, _ = served
    there = discreet.connect(url, service.tokens.create("ann", "analyst"))
    offer = there.table().agg(n=count()).plan(epsilon="0.1")
    said = [{"release": "slow", "text": "Not done yet."}] * 2
    real = type(there.desk.transport).send
    monkeypatch.setattr(
        type(there.desk.transport), "sent", lambda line, *words: said.pop() if said else real(line, *words)
    )
    assert offer.release(release="slow").outputs == ("n",)
    said.extend([{"release": "slow", "text": "Not done yet."}] * 2)
    with pytest.raises(RunError, match="Not done yet") as late:
        offer.release(release="late", wait=0)
    assert late.value.release == "late"


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


def certificate(folder, name):
    """A certificate of our own for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / f"{name}.pem").write_bytes(made.public_bytes(Encoding.PEM))
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / f"{name}.key").write_bytes(secret)
    return folder / f"{name}.pem", folder / f"{name}.key"


def test_over_tls_only_who_is_trusted_is_spoken_to(tmp_path):
    own, key = certificate(tmp_path, "own")
    other, _ = certificate(tmp_path, "other")
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    service = Service({"people": curator}, Tokens(tmp_path / "tokens.db"))
    token = service.tokens.create("ann", "analyst")
    with serving(application(service), ssl_certfile=str(own), ssl_keyfile=str(key)) as url:
        assert discreet.connect(url, token, certificate=own).standing() == curator.standing()
        for trusted in (None, other):
            with pytest.raises(InputError, match="answers"):
                discreet.connect(url, token, certificate=trusted)
        with pytest.raises(InputError, match="certificates"):
            discreet.connect(url, token, certificate=tmp_path / "nowhere.pem")
