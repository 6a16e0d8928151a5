"""A backup from the custodian's page: shown first, written on the server's machine, by a custodian alone."""

import stat

from custodian_pages import (
    agree,
    asked,
    decision,
    made,
    service_fixture,  # noqa: F401
    signed,
    told,
)

from discreet.apps.server.service import Service
from discreet.ledger.backup import Manifest, is_backup

PATH = "/custodian/ledger/backup"


def test_a_backup_is_shown_and_agreed_to_and_holds_every_record(service):
    asked(service, "SELECT COUNT(*) AS n FROM people")
    carla = signed(service)
    carla.get("/custodian/ledger")
    shown = carla.post(PATH, {})
    assert "nothing can be spent from a backup" in told(shown)
    assert not (service.state / "backups").exists()  # nothing is written before it is agreed to
    done = carla.follow(carla.post(PATH, decision(shown)))
    assert "The backup is written" in told(done)
    (folder,) = (service.state / "backups").iterdir()
    assert is_backup(folder)
    head = service.ledgers[0].head()
    assert Manifest.read(folder).head.sequence in (head.sequence, head.sequence - 1)  # the trail goes on the ledger too
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.name in told(done)  # on the trail
    again = carla.post(PATH, decision(shown))
    assert again.status_code >= 400  # the same form once more replaces nothing


def test_no_name_leads_out_of_the_folder_and_nobody_else_may(service):
    carla = signed(service)
    carla.get("/custodian/ledger")
    for name in ("../../elsewhere", "/tmp/x", "2026-05-03", "x" * 200):
        assert carla.post(PATH, {"name": name}).status_code == 422
    ann = signed(service, "analyst")
    ann.get("/")
    assert ann.post(PATH, {}, csrf=ann.csrf).status_code in (403, 404)
    assert not (service.state / "backups").exists()


def test_a_server_without_a_folder_for_state_says_where_to_make_one(tmp_path):
    here = made(tmp_path)
    carla = signed(Service(here.curators, here.tokens).within(rate=500.0, burst=500.0))
    assert "discreet ledger backup FOLDER" in told(carla.get("/custodian/ledger"))
    assert carla.post(PATH, {}).status_code == 422


def test_what_is_agreed_to_is_what_was_shown(service):
    carla = signed(service)
    carla.get("/custodian/ledger")
    fields = decision(carla.post(PATH, {}))
    changed = carla.post(PATH, {**fields, "name": "2020-01-01-000000"})
    assert "Something changed since this was shown" in told(changed)
    assert agree(carla, PATH).status_code == 303
