"""What is public of a grid file does not depend on what its loads draw: byte for byte, on every surface."""

import json
import re

import pytest

pytest.importorskip("clarabel", reason="needs discreet[power]")

import discreet
from discreet.errors import DiscreetError, InputError
from discreet.power.matpower import Case
from grid_files import CASE, lay_out_grid
from surfaces import command

DRAWN = ["0", "-0.4", "0.4000000000000000000001", "1e9", "-1e9", "1e999", "NaN", "Inf", "unknown", ",,"]
LINE = "2  1  7.25  0"
SECRET = re.compile(r'name="csrf" value="[0-9a-f]{64}"')  # of a session, drawn anew
TERMS = [
    {"cost": 800, "epsilon": 1},
    {"cost": "measured", "epsilon": 1},
    {"cost": 800, "within": 3},
    {"cost": 10**9, "epsilon": 1},
    {"cost": 800, "epsilon": 100},
    {"cost": 800, "epsilon": 1, "highest": "0.5"},
    {"cost": 800, "epsilon": 1, "step": "1e9"},
]


def write(folder, drawn):
    """The ring, of which bus 2 draws something else."""
    assert LINE in CASE
    (folder / "ring.m").write_text(CASE.replace(LINE, f"2  1  {drawn}  0"))


def planned(ring, terms):
    """Everything that a plan says, or why there is none."""
    try:
        offer = ring.loads().plan(**terms)
    except DiscreetError as refused:
        return [type(refused).__name__, str(refused), repr(refused)]
    plan = offer.plan
    return [str(offer), offer.explain(), repr(offer), plan.digest, json.dumps(plan.query), str(plan.cost), plan.columns]


def over_http(ring):
    """What a server says of the dataset and of plans."""
    pytest.importorskip("fastapi", reason="needs discreet[server]")
    pytest.importorskip("httpx", reason="needs httpx")
    from asgi_client import Client
    from discreet.apps.server.service import Service
    from discreet.apps.web.site import application

    client = Client(application(Service({"ring": ring}, None).within(rate=1e6, burst=1e6)))
    pages = [client.get(path).text for path in ("/api/datasets", "/api/datasets/ring", "/d/ring", "/")]
    found: list = [SECRET.sub("", page) for page in pages]
    for terms in TERMS[::3]:
        sent = {name: value if name == "cost" else str(value) for name, value in terms.items()}
        answer = client.post("/api/datasets/ring/loads/plan", json=sent)
        found.append([answer.status_code, answer.text])
    return found


def public(ring):
    """Everything that can be seen of a grid file before anything is spent."""
    ring.desk.data.check()
    ring.desk.fits(None, ())
    lines = ["loads", "plan", "ring.m", "--cost", "800", "--epsilon", "1"]
    return [
        repr(ring),
        json.dumps(ring.declared.to_dict()),
        ring.declared.digest,
        [planned(ring, terms) for terms in TERMS],
        [command(*lines), command(*lines, "--json"), command(*lines[:-2], "--within", "x")],
        over_http(ring),
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A ledger, and a grid whose bus 2 draws 0.4 MW."""
    lay_out_grid(tmp_path)
    write(tmp_path, "0.4")
    monkeypatch.chdir(tmp_path)
    discreet.open("ring.m", create=True, who="ann")
    return tmp_path


def test_nothing_that_is_public_follows_from_what_a_load_draws(folder):
    expected = public(discreet.open("ring.m", who="ann"))
    for drawn in DRAWN:
        write(folder, drawn)
        assert public(discreet.open("ring.m", who="ann")) == expected, drawn


def test_a_file_that_changed_under_an_open_curator_is_the_same_grid(folder):
    ring = discreet.open("ring.m", who="ann")
    for drawn in DRAWN:
        write(folder, drawn)
        ring.desk.data.check()
        with ring.desk.data.open() as read:
            assert len(read) == 3


@pytest.mark.parametrize("drawn", ["0", "-0.4"])
def test_loads_that_are_found_by_their_sign_are_caught(folder, monkeypatch, drawn):
    expected = public(discreet.open("ring.m", who="ann"))
    monkeypatch.setattr(
        Case, "load_buses", lambda self, declared: [int(row[0]) for row in self.connected if row[2] > 0]
    )
    write(folder, drawn)
    assert public(discreet.open("ring.m", who="ann")) != expected


def test_a_refusal_does_not_quote_a_load(folder):
    write(folder, "7.654321")
    (folder / "ring.m").write_text((folder / "ring.m").read_text().replace("0.09", "x"))
    with pytest.raises(InputError) as refused:
        discreet.open("ring.m")
    assert "7.654321" not in str(refused.value)
