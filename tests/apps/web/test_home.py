"""The front page, and the budget that is left on every page of a dataset."""

import re

import pytest

import discreet

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import ASK, confirmed, service_fixture, shared_fixture, signed, told  # noqa: F401

# --- the price, both ways


def test_the_budget_left_is_on_every_page_of_its_dataset(shared):
    ann = signed(shared)
    for path in ("/", "/d/people", "/d/people/ask", "/d/people/releases", "/d/people/ledger"):
        text = told(ann.get(path))
        assert "1 of 1 epsilon left" in text, path
        assert re.search(r"100% left \(rho [\d.]+ of [\d.]+\) ?, delta", text), path


def test_the_budget_left_stands_once_on_the_front_page_and_not_where_no_dataset_is(shared):
    ann = signed(shared)
    assert told(ann.get("/")).count("1 of 1 epsilon left") == 1
    assert "epsilon left" not in told(ann.get("/attacks"))


# --- what was released last


def test_the_latest_releases_are_on_the_front_page_with_as_much_as_one_may_see(service):
    ann, bob = signed(service), signed(service, name="bob")
    assert "Latest releases" not in told(ann.get("/"))
    assert confirmed(ann, ASK, why="for ann alone").status_code == 303
    shown = told(ann.get("/"))
    assert "Latest releases Number of rows by county" in shown
    assert "people · epsilon = 0.25 · ann0 · for ann alone" in shown
    seen = told(bob.get("/"))
    assert "Number of rows by county" in seen
    assert "for ann alone" not in seen
    assert "ann0" not in seen
    assert "for ann alone" in told(signed(service, "carla", "custodian").get("/"))


def test_the_front_page_lists_five_and_reads_the_end_of_a_ledger_alone(service, monkeypatch):
    from discreet.apps.web import home

    ann, curator = signed(service), service.curators["people"]
    for number in range(7):
        curator.table().agg(n=discreet.count()).plan(epsilon="0.01", allotment="team").release(release=f"r{number}")
    listed = re.findall(r"releases/(r[0-9])\"", ann.get("/").text)
    assert listed == ["r6", "r5", "r4", "r3", "r2"]
    monkeypatch.setattr(home, "_RECORDS", 4)  # a release is three
    assert re.findall(r"releases/(r[0-9])\"", ann.get("/").text) == ["r6"]
