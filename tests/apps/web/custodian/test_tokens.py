"""Tokens on the custodian's pages: shown once, revoked, with their last use and a trail."""

import re

from custodian_pages import agree, service_fixture, signed, told  # noqa: F401
from visitor import Visitor, served


def test_a_token_is_made_shown_once_used_and_revoked(service):
    carla = signed(service, name="carla")
    page = carla.get("/custodian/tokens")
    assert "carla you" in told(page)
    made = agree(carla, "/custodian/tokens/create", {"name": "ann", "role": "analyst", "allotment": "team"})
    token = re.search(r'value="(dsc_[^"]+)"', made.text)[1]
    page = carla.get("/custodian/tokens")
    assert token not in page.text
    assert re.search(r"ann analyst team all \S+ \S+ never", told(page))
    ann = Visitor(served(service))
    assert ann.sign_in(token).status_code == 303
    page = carla.get("/custodian/tokens")
    assert not re.search(r"ann analyst team all \S+ \S+ never", told(page))
    assert "carla ann made, as analyst, for team" in told(page)
    gone = carla.follow(agree(carla, "/custodian/tokens/revoke", {"name": "ann"}))
    assert "The token is revoked" in told(gone)
    assert ann.get("/").headers["location"].startswith("/login")
    assert service.tokens.trail.listed("token", most=1)[0].what == "revoked"


def test_what_cannot_be_made_or_revoked_is_said_and_nothing_happens(service):
    carla = signed(service, name="carla")
    carla.get("/custodian/tokens")
    for sent, says in (
        ({"name": "", "role": "analyst"}, "a printable name"),
        ({"name": "carla", "role": "analyst"}, "a name that has no token yet"),
        ({"name": "x", "role": "king"}, "one of custodian"),
        ({"name": "x", "role": "analyst", "allotment": "teem"}, "Did you mean"),
    ):
        answer = carla.post("/custodian/tokens/create", sent)
        assert (answer.status_code, says in told(answer)) == (422, True), sent
    assert carla.post("/custodian/tokens/revoke", {"name": "carl"}).status_code == 422
    shown = carla.post("/custodian/tokens/revoke", {"name": "carla"})
    assert "This is your own token" in told(shown)
    assert "the last custodian's" in told(shown)
    assert [one["name"] for one in service.tokens.listed()] == ["carla"]


def test_a_token_of_one_dataset_ends_and_is_rotated(service):
    carla = signed(service, name="carla")
    carla.get("/custodian/tokens")
    name = next(iter(service.curators))
    sent = {"name": "ann", "role": "analyst", "expires": "90d", "datasets": name}
    made = agree(carla, "/custodian/tokens/create", sent)
    old = re.search(r'value="(dsc_[^"]+)"', made.text)[1]
    (ann,) = [one for one in service.tokens.listed() if one["name"] == "ann"]
    assert ann["datasets"] == [name]
    assert ann["expires"] is not None
    again = agree(carla, "/custodian/tokens/rotate", {"name": "ann", "grace": "0"})
    new = re.search(r'value="(dsc_[^"]+)"', again.text)[1]
    assert service.tokens.caller(old) is None
    assert service.tokens.caller(new).datasets == frozenset([name])
    for path, wrong in (
        ("create", {"name": "x", "role": "analyst", "expires": "soon"}),
        ("create", {"name": "x", "role": "analyst", "datasets": "nothing"}),
        ("create", {"name": "x", "role": "custodian", "datasets": name}),
        ("rotate", {"name": "nobody"}),
        ("rotate", {"name": "ann", "grace": "long"}),
    ):
        assert carla.post(f"/custodian/tokens/{path}", wrong).status_code == 422, wrong


def test_a_cap_is_set_shown_and_taken_away(service):
    from discreet.ledger.caps import Caps

    carla = signed(service, name="carla")
    carla.get("/custodian/tokens")
    name, curator = next(iter(service.curators.items()))
    part = curator.standing()[0].allotment.name
    sent = {"caller": "ann", "dataset": name, "part": part, "rate": "0.5/day"}
    page = carla.follow(agree(carla, "/custodian/tokens/cap", sent))
    assert f"ann {name} {part} 0.5 in any day" in told(page)
    (cap,) = Caps(curator.ledger).listed(name)
    assert (cap.caller, float(cap.amount)) == ("ann", 0.5)
    carla.follow(agree(carla, "/custodian/tokens/cap", {**sent, "rate": ""}))
    assert Caps(curator.ledger).listed(name) == ()
    for wrong in (
        {**sent, "rate": "1/month"},
        {**sent, "dataset": "x"},
        {**sent, "caller": ""},
        {**sent, "rate": "-1"},
    ):
        assert carla.post("/custodian/tokens/cap", wrong).status_code == 422, wrong
