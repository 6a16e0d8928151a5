"""Whether a server is ready: known without a token, told by parts, and not asked of the ledger each time."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from small_server import client, service_fixture  # noqa: F401

from asgi_client import Client
from discreet.apps.server.app import application
from discreet.apps.server.health import CHECKS, Health
from discreet.errors import LedgerError


def test_a_server_that_is_well_says_so_to_anyone(service):
    anyone = Client(application(service))
    assert anyone.get("/livez").json() == {"alive": True}
    assert anyone.get("/readyz").json() == {"ready": True, "failing": []}
    assert {check for _, check in Health(service).look()} == set(CHECKS)


@pytest.mark.parametrize(("part", "verb"), [("ledger", "standing"), ("guard", "check_guard")])
def test_a_part_that_fails_is_named_and_nothing_of_its_message_is(service, monkeypatch, part, verb):
    from discreet.ledger.ledger import Ledger

    def broken(*args):
        raise LedgerError("host db.example of ann refuses")

    monkeypatch.setattr(Ledger, verb, broken)
    found = Client(application(service)).get("/readyz")
    assert found.status_code == 503
    assert found.json() == {"ready": False, "failing": [part]}
    assert Client(application(service)).get("/livez").status_code == 200


def test_data_that_is_gone_is_noticed(service, monkeypatch):
    from discreet.data.source import Source

    def gone(self):
        raise OSError("no such file: people.csv")

    monkeypatch.setattr(Source, "columns", gone)
    assert Client(application(service)).get("/readyz").json() == {"ready": False, "failing": ["source"]}


def test_a_ledger_is_asked_once_in_a_while_however_many_ask(service, monkeypatch):
    from discreet.ledger.ledger import Ledger

    asked = []
    was = Ledger.check_guard
    monkeypatch.setattr(Ledger, "check_guard", lambda self: asked.append(1) or was(self))
    health = Health(service, fresh=1000.0)
    assert [health.ready for _ in range(5)] == [True] * 5
    assert len(asked) == len(service.curators)
    impatient = Health(service, fresh=0.0)
    assert [impatient.ready for _ in range(3)] == [True] * 3
    assert len(asked) == 4 * len(service.curators)


def test_a_load_balancer_does_not_wait_behind_strangers(service):
    crowded = Client(application(service.within(rate=0.001, burst=2)))
    assert [crowded.get("/api/datasets").status_code for _ in range(4)][-1] == 429
    assert [crowded.get("/readyz").status_code for _ in range(4)] == [200] * 4
    assert crowded.get("/api/datasets").status_code == 429


def test_nobody_waits_for_the_look_of_another(service, monkeypatch):
    import threading

    from discreet.apps.server import health as module
    from discreet.ledger.ledger import Ledger

    begun, ended = threading.Event(), threading.Event()
    was = Ledger.check_guard

    def hang(self):
        begun.set()
        assert ended.wait(60)
        return was(self)

    health = Health(service, fresh=0.0)
    assert health.ready
    monkeypatch.setattr(Ledger, "check_guard", hang)
    looking = threading.Thread(target=health.look)
    looking.start()
    try:
        assert begun.wait(60)
        assert health.ready  # as it was found before
        now = module.time.monotonic()
        monkeypatch.setattr(module.time, "monotonic", lambda: now + module._PATIENCE)
        assert not any(health.look().values())
        assert {check for _, check in health.look()} == set(CHECKS)
    finally:
        ended.set()
        looking.join()
    monkeypatch.undo()
    assert health.ready
