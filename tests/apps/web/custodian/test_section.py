"""Who may use the custodian's pages, and that nothing happens without a form of this browser and a yes."""

import re

import pytest
from custodian_pages import (
    SECRET,
    decision,
    made,
    shared_fixture,  # noqa: F401
    signed,
    told,
    upload,
)
from visitor import served

PATHS = {
    "dataset": "people",
    "identity": "0" * 32,
    "name": "night",
    "kind": "json",
}


def paths(service):
    """Every path of the section, with something in the place of its parameters."""
    routes = [one for one in served(service).router.routes if getattr(one, "path", "").startswith("/custodian")]
    assert len(routes) > 20
    for one in routes:
        for method in one.methods & {"GET", "POST"}:
            yield method, re.sub(r"\{(\w+)\}", lambda found: PATHS[found[1]], one.path)


def state(service):
    """Everything that could change."""
    files = sorted(path for path in service.state.rglob("*") if path.is_file()) if service.state.exists() else []
    tokens = [{name: one[name] for name in ("name", "role", "allotment")} for one in service.tokens.listed()]
    head = service.curators["people"].ledger.head()
    return head, tokens, [(path, path.read_bytes()) for path in files if path.suffix != ".db"], len(files)


@pytest.mark.parametrize("role", ["analyst", "viewer"])
def test_everything_is_refused_to_whoever_is_no_custodian(shared, role):
    visitor = signed(shared, role)
    visitor.get("/")
    before = state(shared)
    for method, path in paths(shared):
        answer = visitor.get(path) if method == "GET" else visitor.post(path, {"agreed": "yes", "why": "w"})
        assert answer.status_code == 403, path
        assert f"for custodians; you are signed in as {role}" in told(answer)
    assert upload(visitor, b"a,b\n1,2\n").status_code == 403
    assert state(shared) == before
    assert 'href="/custodian"' not in visitor.get("/").text


def test_nobody_who_is_not_signed_in_sees_or_changes_anything(shared):
    from visitor import Visitor

    stranger = Visitor(served(shared))
    before = state(shared)
    for method, path in paths(shared):
        answer = stranger.get(path) if method == "GET" else stranger.post(path, {"agreed": "yes"})
        assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/login"), path
    assert state(shared) == before


@pytest.mark.parametrize("csrf", ["", "0" * 64])
def test_a_form_of_another_session_changes_nothing(shared, csrf):
    visitor = signed(shared)
    visitor.get("/custodian")
    before = state(shared)
    for method, path in paths(shared):
        if method == "POST" and not path.endswith("/upload"):
            answer = visitor.post(path, {"agreed": "yes", "why": "w"}, csrf=csrf)
            assert answer.status_code == 403, path
            assert "Nothing was spent or changed" in told(answer)
    assert upload(visitor, b"a,b\n1,2\n", csrf=csrf).status_code == 403
    assert state(shared) == before


def test_a_yes_to_something_else_is_no_yes(shared):
    visitor = signed(shared)
    visitor.get("/custodian/tokens")
    sent = {"name": "zoe", "role": "viewer", "allotment": ""}
    fields = decision(visitor.post("/custodian/tokens/create", sent))
    other = visitor.post("/custodian/tokens/create", {**fields, "role": "custodian"})
    assert other.status_code == 422
    assert "Something changed since this was shown" in told(other)
    assert "zoe" not in [one["name"] for one in shared.tokens.listed()]


def test_the_tabs_name_the_page_one_is_on(shared):
    visitor = signed(shared)
    for path, name in (("/custodian", "Overview"), ("/custodian/budgets", "Budgets"), ("/custodian/ledger", "Ledger")):
        page = visitor.get(path)
        assert re.search(rf'aria-current="page">{name}</a>', page.text)
        assert 'href="/custodian" aria-current="true"' in page.text


def test_what_nobody_foresaw_is_a_page_that_says_nothing_of_it(tmp_path, monkeypatch):
    service = made(tmp_path)
    visitor = signed(service)
    visitor.get("/custodian/datasets")

    def broken(*_, **__):
        raise ValueError(SECRET)

    monkeypatch.setattr("discreet.apps.web.custodian.datasets.inspect_data", broken)
    answer = visitor.post("/custodian/datasets/served/people/check", {})
    assert answer.status_code == 500
    assert SECRET not in answer.text
    monkeypatch.setattr("discreet.apps.web.custodian.drafts.source_of", broken)
    uploaded = upload(visitor, b"a,b\n1,2\n")
    failed = visitor.get(uploaded.headers["location"])
    assert (failed.status_code, SECRET in failed.text) == (500, False)
