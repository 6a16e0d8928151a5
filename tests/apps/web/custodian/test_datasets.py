"""Datasets on the custodian's pages: what is served is checked against its schema."""

import pyarrow as pa
from custodian_pages import SECRET, made, shared_fixture, signed, told  # noqa: F401

import discreet
from discreet import Budget
from discreet.apps.server.service import Service


def test_what_is_served_is_checked_as_the_command_does(shared):
    carla = signed(shared)
    assert "people everything of one person" in told(carla.get("/custodian/datasets"))
    spent = shared.curators["people"].standing()
    page = carla.post("/custodian/datasets/served/people/check", {})
    assert "41 rows, 3 columns declared" in told(page)
    assert SECRET in page.text
    assert shared.curators["people"].standing() == spent  # nothing is spent
    assert "people data checked against its schema" in told(carla.get("/custodian/datasets"))
    assert carla.post("/custodian/datasets/served/nobody/check", {}).status_code == 404


def test_without_a_folder_for_state_nothing_is_brought(tmp_path):
    service = made(tmp_path)
    bare = Service(service.curators, service.tokens)
    carla = signed(bare)
    assert "no folder for state" in told(carla.get("/custodian/datasets"))
    for path in ("uploads/" + "0" * 32, "schemas/people"):
        assert carla.get(f"/custodian/datasets/{path}").status_code in (404, 422)
    assert "no folder for state" in told(carla.get("/custodian/surveys"))
    assert carla.get("/custodian/surveys/new").status_code == 409


def test_a_server_without_tokens_says_so(tmp_path):
    table, schema = pa.table({"age": [1]}), discreet.Schema("t", {"age": discreet.Integer(0, 9)})
    curator = discreet.open(table, schema, ledger=tmp_path / "b.db", budget=Budget(1), create=True)
    from visitor import Visitor, served

    visitor = Visitor(served(Service({"t": curator}, None)))
    assert "opened without tokens" in told(visitor.get("/custodian/tokens"))
    visitor.get("/custodian/datasets")
    assert visitor.post("/custodian/tokens/revoke", {"name": "x"}).status_code == 409
