"""Invitations: one code, one report, through the server; nothing is taken without."""

import json

import pytest
from small_survey import Client, report, survey

from discreet.apps.survey.blind import blind, message
from discreet.apps.survey.invitations import Invitations
from discreet.apps.survey.server import application
from discreet.apps.survey.store import open_reports
from discreet.errors import InputError

SURVEY = survey()
ORIGIN = {"origin": "http://testserver", "content-type": "application/json"}


@pytest.fixture(scope="module")
def invited(tmp_path_factory):
    stored = Invitations(tmp_path_factory.mktemp("invited") / "i.db", SURVEY.digest, create=True)
    yield stored
    stored.close()


@pytest.fixture
def served(invited, tmp_path):
    reports = open_reports(str(tmp_path / "r.db"), SURVEY.digest)
    yield Client(application(SURVEY, reports, invitations=invited)), reports
    reports.close()


def ask(client, code, blinded):
    body = json.dumps({"survey": SURVEY.digest, "code": code, "blinded": blinded})
    return client.post("/sign", content=body, headers=ORIGIN)


def send(client, token, signature):
    sent = {**report(SURVEY, 0), "token": token}
    body = json.dumps(sent if signature is None else {**sent, "signature": signature})
    return client.post("/report", content=body, headers=ORIGIN).status_code


def test_an_invited_report_is_taken_once_and_no_other(served, invited):
    client, reports = served
    (code,) = invited.invite(1)
    token = "ab" * 16
    made = blind(invited.public, message(SURVEY.digest, token))
    assert send(client, token, None) == send(client, token, "00" * 256) == 400
    answer = ask(client, f" {code[:10].upper()}-{code[10:]} ", made.blinded)  # as people type it
    signature = made.finish(answer.json()["signature"])
    assert send(client, token, signature) == 200
    assert send(client, "cd" * 16, signature) == 400  # of another token
    again = ask(client, code, made.blinded)  # after a lost connection
    assert again.json() == answer.json()
    other = blind(invited.public, message(SURVEY.digest, "cd" * 16))
    assert ask(client, code, other.blinded).status_code == 409  # a code signs one thing only
    assert ask(client, "nobody", other.blinded).status_code == 409
    assert [row[0] for row in reports.rows()] == [token]
    stored = {**report(SURVEY, 0, {"pills": "Yes"}), "token": token, "signature": signature}
    spent = client.post("/report", content=json.dumps(stored), headers=ORIGIN)
    assert spent.status_code in (200, 409)  # the same report again, or the token is spent
    assert len(list(reports.rows())) == 1


def test_what_is_stored_tells_neither_codes_nor_tokens(served, invited, tmp_path):
    (code,) = invited.invite(1)
    token = "ef" * 16
    made = blind(invited.public, message(SURVEY.digest, token))
    signature = made.finish(ask(served[0], code, made.blinded).json()["signature"])
    assert send(served[0], token, signature) == 200
    rows = [
        row
        for table in ("discreet_invitation", "discreet_key")
        for row in invited._connection.execute(f"SELECT * FROM {table}")
    ]
    text = repr(rows)
    assert made.blinded in text
    assert code not in text
    assert token not in text
    assert signature not in text
    kept = repr(list(served[1].rows()))
    assert made.blinded not in kept


def test_malformed_requests_are_refused(served, invited):
    client, _ = served
    (code,) = invited.invite(1)
    for blinded in (None, 7, "", "0" * 512, "zz" * 256):
        assert ask(client, code, blinded).status_code in (400, 409)
    assert client.post("/sign", content=b"{}", headers=ORIGIN).status_code == 400
    assert client.post("/sign", content=b"x" * 10_000, headers=ORIGIN).status_code == 400
    assert client.post("/sign", content=b"{}").status_code == 403
    every, used = invited.used()
    assert used < every  # the code of this test is still good


def test_a_file_of_another_survey_is_refused(invited, tmp_path):
    path = tmp_path / "other.db"
    Invitations(path, "0" * 64, create=True).close()
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="invitations to this survey"):
        Invitations(path, SURVEY.digest)
    with pytest.raises(InputError, match="discreet survey invite makes one"):
        Invitations(tmp_path / "none.db", SURVEY.digest)
    with pytest.raises(InputError, match="--count"):
        invited.invite(0)
