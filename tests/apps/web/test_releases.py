"""Pages of releases: read for free, whoever paid; files that hold what the page shows."""

import html
import json
import re

import pytest

import discreet

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import (
    ASK,
    EVIL,
    confirmed,
    service_fixture,  # noqa: F401
    signed,
    told,
)


def test_keys_that_are_not_there_are_explained(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    asked = {"of0": "count", "by0": "remark", "bins0": "?", "allotment": "guests", "way": "rho", "rho": "0.02"}
    page = ann.follow(confirmed(ann, {**asked, "delta": "1e-7"}))
    assert "Rows that are not shown" in told(page)
    assert "fine" in told(page)
    assert "Xyzzy-7431" not in page.text  # one person's remark


def test_a_release_that_is_not_done_yet_can_be_looked_at_later(service):
    ann = signed(service, "anna")
    desk = service.curators["people"]
    offer = desk.table().agg(n=discreet.count()).plan(epsilon=0.1, allotment="team")
    desk.ledger.spend(
        "people",
        offer.plan.cost,
        release="slow",
        who="anna",
        digest=offer.plan.digest,
        allotment="team",
        unit=offer.plan.unit,
    )
    assert "Not finished yet" in told(ann.get("/d/people/releases/slow"))
    assert "no answer yet" in told(ann.get("/d/people/releases"))
    for ending in ("csv", "json", "parquet"):
        assert ann.get(f"/d/people/releases/slow/download.{ending}").status_code == 404


def test_what_is_no_table_is_named_for_what_it_is(service):
    ann = signed(service)
    desk = service.curators["people"]
    books, more = desk.ledger, {"release": "flows", "who": "anna", "allotment": "team"}
    books.spend("people", discreet.Pure("0.1"), query={"mobility": {}}, digest="d", unit=desk.schema.unit, **more)
    books.answer("flows", '{"mobility": {}}', who="anna")
    page = ann.get("/d/people/releases/flows")
    assert page.status_code == 200
    assert "of another kind" in told(page)
    assert ann.get("/d/people/releases/flows/download.csv").status_code == 422


def test_ids_of_the_callers_choice_are_found(service):
    ann = signed(service)
    desk = service.curators["people"]
    for name in (EVIL, "a/b c?d#e%2F", "äöü"):
        desk.table().agg(n=discreet.count()).plan(epsilon="0.01", allotment="team").release(release=name, why=EVIL)
    page = ann.get("/d/people/releases")
    assert EVIL not in page.text
    for link in re.findall(r'href="(/d/people/releases/[^"]*)"', page.text):
        found = ann.get(html.unescape(link))
        assert found.status_code == 200, link
        assert EVIL not in found.text


def test_who_and_why_is_for_the_custodian_and_ones_own(service):
    ann, bob, carla = signed(service, "anna"), signed(service, "bob"), signed(service, "carla", "custodian")
    ann.get("/d/people/ask")
    ann.follow(confirmed(ann, ASK, why="secret plans"))
    for path in ("/d/people/ledger", "/d/people/releases"):
        assert "secret plans" in told(ann.get(path))
        assert "secret plans" in told(carla.get(path))
        assert "anna" in told(carla.get(path))
        assert "secret plans" not in told(bob.get(path))
        assert "anna" not in told(bob.get(path))
    (identity,) = service.curators["people"].releases()
    assert "secret plans" not in told(bob.get(f"/d/people/releases/{identity}"))


def test_what_is_left_of_another_allotment_is_in_no_page_and_no_file(service):
    desk = service.curators["people"].acting_for("anna")
    made = desk.table().group_by("county").agg(n=discreet.count()).plan(epsilon="0.25", allotment="team").release()
    assert made.remaining == "epsilon = 0.75"
    guest, member = signed(service, "gil", allotment="guests"), signed(service, "mia", allotment="team")
    here = f"/d/people/releases/{made.id}"
    assert json.loads(guest.get(f"{here}/download.json").text)["remaining"] == ""
    assert json.loads(member.get(f"{here}/download.json").text)["remaining"] == made.remaining
    assert "0.75" not in told(guest.get(f"{here}?new=1"))
    assert f"{made.remaining} is left" in told(member.get(f"{here}?new=1"))
    for ending in ("csv", "csv-metadata.json", "md", "html"):
        assert made.remaining not in guest.get(f"{here}/download.{ending}").text


def test_commuters_have_a_page_for_every_work_area(service):
    ann = signed(service)
    desk = service.curators["people"]
    towns = {"Ash": (0, 0), "Elm": (1, 2), EVIL: (3, 1)}
    asked = desk.commute(origin="county", destination=discreet.key("county || ''", name="work"), coordinates=towns)
    asked.plan(epsilon=0.1, allotment="team").release(release="moves")
    page = ann.get("/d/people/releases/moves")
    assert "Work area: where its people live" in page.text
    assert html.escape(EVIL) in page.text
    found = ann.get("/d/people/releases/moves/area.html?work=Ash&work=Elm")
    assert found.status_code == 200
    assert "Work area: Ash, Elm" in found.text
    assert EVIL not in found.text
    assert ann.get("/d/people/releases/moves/area.html?work=Oak").status_code >= 400
    assert ann.get("/d/people/releases/moves/area.html").status_code >= 400
    assert ann.get("/d/people/releases/none/area.html?work=Ash").status_code == 404
