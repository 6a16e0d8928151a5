"""All pages put together: beside the API, never in its way."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor
from visits import service_fixture  # noqa: F401

from asgi_client import Client
from discreet.apps.server import app as server
from discreet.apps.server.settings import Settings
from discreet.apps.web.site import PAGES, WORKER, application, worker


def client(app, service, **headers):
    token = service.tokens.create("ann", "analyst") if len(service.tokens) == 0 else None
    return Client(app, headers | ({} if token is None else {"authorization": f"Bearer {token}"}))


def test_the_server_alone_has_the_api_and_no_page(service):
    here = client(server.application(service), service)
    assert here.get("/api/datasets").status_code == 200
    assert here.get("/").status_code == 404
    assert here.get("/login").status_code == 404


def test_pages_stand_beside_an_api_that_stays_what_it_is(service):
    plain, both = server.application(service), application(service)
    assert plain.openapi() == both.openapi()
    here = client(both, service)
    assert here.get("/api/datasets").status_code == 200
    assert here.get("/login").status_code == 200


def test_what_is_not_there_is_a_page_for_people_and_json_for_programs(service):
    page = Visitor(application(service)).get("/nowhere")
    assert page.status_code == 404
    assert "Nothing is at this address." in page.text
    told = client(application(service), service, accept="application/json").get("/nowhere")
    assert told.status_code == 404
    assert told.json() == {"error": "HTTPError", "message": "there is nothing here"}


def test_a_path_of_the_api_that_is_not_there_is_json_even_for_a_browser(service):
    answer = client(application(service), service, accept="text/html").get("/api/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"


def test_every_module_of_pages_is_put_in_once():
    assert len(set(PAGES)) == len(PAGES)
    assert all(callable(module.routes) for module in PAGES)


def test_the_application_of_a_worker_is_found_by_its_name(monkeypatch, service):
    module, _, name = WORKER.partition(":")
    assert (module, name) == (worker.__module__, worker.__name__)
    monkeypatch.setattr(Settings, "received", classmethod(lambda cls: Settings((), "t.db", "jobs.db")))
    monkeypatch.setattr(Settings, "service", lambda self, patient=(): service)
    assert "Sign in" in Visitor(worker()).get("/login").text
