"""A survey's store, its server in memory, and its server in a thread with a browser that visits it."""

import pytest
from small_survey import PHONE, Client, Site, survey

from discreet.apps.survey.server import application
from discreet.apps.survey.store import open_reports

SURVEY = survey()


@pytest.fixture
def reports(tmp_path):
    opened = open_reports(str(tmp_path / "r.db"), SURVEY.digest)
    yield opened
    opened.close()


@pytest.fixture
def client(reports):
    pytest.importorskip("fastapi", reason="needs discreet[server]")
    pytest.importorskip("httpx", reason="needs httpx")
    return Client(application(SURVEY, reports))


@pytest.fixture
def site(tmp_path):
    here = Site(SURVEY, tmp_path / "r.db")
    here.start()
    yield here
    here.stop()
    here.reports.close()


@pytest.fixture
def visit(browser, site):
    """Open the page; at the end, it must have said nothing on the console and asked nobody but its own server."""
    contexts, said, asked = [], [], []

    def opened(context=None, path="", **settings):
        if context is None:
            context = browser.new_context(**{**PHONE, **settings})
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # the machine may be busy
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request))
        page.goto(site.url + path)
        return page

    opened.said, opened.asked = said, asked
    yield opened
    for context in contexts:
        context.close()
    # What the network, the server or the test refuses is not the page's fault.
    others = ("Failed to load resource", "Service Worker registration blocked")
    assert [text for text in said if not text.startswith(others)] == []
    assert {request.url.startswith(site.url) for request in asked} == {True}
