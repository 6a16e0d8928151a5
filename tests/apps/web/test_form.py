"""Forms that are sent: only our own, and only as forms."""

import json

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from visits import (
    ASK,
    service_fixture,  # noqa: F401
    signed,
)


def test_a_form_that_is_not_of_this_session_is_refused(service):
    ann, bob = signed(service), signed(service, "bob")
    ann.get("/d/people/ask")
    bob.get("/d/people/ask")
    for wrong in ("0" * 64, bob.csrf, "x", ""):
        assert wrong != ann.csrf
        for path in ("/d/people/ask", "/d/people/ask/price", "/d/people/ask/release", "/logout"):
            ann.get("/d/people/ask")
            found = ann.post(path, ASK, csrf=wrong or "-")
            assert found.status_code == 403
            assert "belongs to another session" in found.text
    assert ann.get("/").status_code == 200  # nobody was signed out
    assert service.curators["people"].standing()[0].spent.amount == 0


def test_other_bodies_are_no_forms(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    csrf = ann.csrf
    body = json.dumps({"csrf": csrf, **ASK}).encode()
    found = ann._sent("POST", "/d/people/ask", body, {"content-type": "application/json"})
    assert found.status_code == 400
    long = ann.post("/d/people/ask", {**ASK, "where": "x" * 300_000}, csrf=csrf)
    assert long.status_code == 400
    many = ann.post("/d/people/ask", [(f"n{i}", "") for i in range(1000)], csrf=csrf)
    assert many.status_code == 400
    bad = ann._sent("POST", "/d/people/ask", b"csrf=%ff%fe", {"content-type": "application/x-www-form-urlencoded"})
    assert bad.status_code == 400
