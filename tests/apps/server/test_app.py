"""The server put together: limits, headers, and errors that say nothing of the data."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from small_server import (
    ASK,
    SECRET,
    client,
    service_fixture,  # noqa: F401
)

from discreet.apps.server.service import Service
from discreet.data.source import Source
from discreet.errors import Phrase, SourceError


def test_bodies_and_rates_are_limited_and_headers_are_set(service):
    small = service.within(body=200, rate=0.001, burst=3)
    ann = client(small, "analyst")
    assert ann.post("/api/datasets/people/plan", json={**ASK, "where": "x" * 500}).status_code == 413
    found = ann.get("/api/datasets")
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
    assert [ann.get("/api/datasets").status_code for _ in range(3)][-1] == 429


def test_what_goes_wrong_inside_is_not_told(service, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError(SECRET)

    monkeypatch.setattr(Service, "described", broken)
    found = client(service, "viewer").get("/api/datasets")
    assert found.status_code == 500
    assert found.json() == {"error": "ServerError", "message": "something went wrong"}


def test_data_out_of_reach_is_503_in_words_that_name_no_place(service, monkeypatch):
    def away(self):
        raise SourceError("source", Phrase("sc://db.internal"), "a cluster that can be reached", "See db.internal.")

    ann = client(service, "analyst")
    left = ann.get("/api/datasets").json()
    with monkeypatch.context() as patch:
        patch.setattr(Source, "reach", away)
        found = ann.post("/api/datasets/people/release", json={**ASK, "release": "r1"})
    assert (found.status_code, found.json()["error"]) == (503, "SourceError")
    assert "Ask again under the same release id" in found.json()["message"]
    assert "db.internal" not in found.text
    assert ann.get("/api/datasets").json() == left
    assert ann.post("/api/datasets/people/release", json={**ASK, "release": "r1"}).status_code == 200
