"""Entries for a registry, and the ledger as files."""

import json

from custodian_pages import asked, service_fixture, signed, told  # noqa: F401

from discreet.ledger.export import export


def test_entries_and_files_are_those_of_the_command(service):
    carla = signed(service)
    assert "people has no entry yet" in told(carla.get("/custodian/registry"))
    asked(service, "SELECT COUNT(*) AS n FROM people", "0.25")
    ledger = service.curators["people"].ledger
    assert '"spent_so_far"' in told(carla.get("/custodian/registry"))
    for kind in ("registry", "csv", "json"):
        answer = carla.get(f"/custodian/registry/people/{kind}")
        assert answer.text == export(ledger, kind, dataset="people")
        assert "attachment" in answer.headers["content-disposition"]
    assert json.loads(answer.text)["format"] == 1
    for path in ("people/xml", "nobody/json"):
        assert carla.get(f"/custodian/registry/{path}").status_code == 404
