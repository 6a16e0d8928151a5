"""The page of the ledger: it burns down, it verifies, and a changed one is found out."""

import pytest

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


def test_the_ledger_burns_down_and_verifies(service):
    carla = signed(service, "carla", "custodian")
    carla.get("/d/people/ask")
    for part in ("0.25", "0.5"):
        carla.get("/d/people/ask")
        assert confirmed(carla, {**ASK, "epsilon": part}, why=EVIL).status_code == 303
    page = carla.get("/d/people/ledger")
    assert EVIL not in page.text
    assert page.text.count("<g><title>") == 4  # two allotments opened, and two charges
    assert "carla: " in page.text
    assert "Verify the ledger" in page.text
    found = carla.post("/d/people/ledger/verify", {})
    assert "Ledger verified" in told(found)
    ann = signed(service)
    other = ann.get("/d/people/ledger")
    assert "Verify the ledger" not in other.text
    assert "<title>someone; 0.25 spent</title>" in other.text  # who and why are for the custodian
    assert "carla" not in told(other)
    assert ann.post("/d/people/ledger/verify", {}).status_code == 403


def test_a_changed_ledger_is_found_out(service, tmp_path):
    import sqlite3

    carla = signed(service, "carla", "custodian")
    carla.get("/d/people/ask")
    confirmed(carla, ASK)
    with sqlite3.connect(tmp_path / "b.db") as books:
        for (name,) in books.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            books.execute(f'DROP TRIGGER "{name}"')
        books.execute("UPDATE discreet_record SET body = replace(body, 'a test', 'a joke')")
    books.close()
    carla.get("/d/people/ledger")
    found = carla.post("/d/people/ledger/verify", {})
    assert "The ledger does not verify" in told(found)
