"""A training job whose process dies goes on from its checkpoint: one charge, the same noise, no file afterwards."""

from dataclasses import replace

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jax")
from job_server import (
    client,
    service_fixture,  # noqa: F401
)

TRAIN = {"target": "works", "examples": 300, "lot": 30, "steps": 40, "epsilon": "1", "allotment": "models"}


class Died(BaseException):
    """The end of a process, for a thread that is to end like one."""


def test_training_goes_on_where_it_stood(service, tmp_path):
    service = replace(service, state=tmp_path / "state")
    queue, ann = service.queue("people"), client(service, name="ann")
    queue.start = lambda: None  # turns are taken here, one by one
    sent = ann.post("/api/datasets/people/train/release", json={**TRAIN, "release": "model"})
    assert sent.status_code == 202, sent.json()
    ticket = queue.request("people", "model")
    path = service.checkpoint(ticket.job)

    def dies(stage, done):
        if done is not None and done > 0.5:
            raise Died

    with pytest.raises(Died):
        service._perform(ticket, dies)
    assert path.exists()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    while queue.step():
        pass
    assert queue.find("people", "model").state == "done"
    known = service.curators["people"].ledger.find("model")
    assert known.answer is not None
    assert known.notes == 0  # it went on: no second draw is on record
    assert not path.exists()
    assert sum(one.kind == "charge" for one in service.curators["people"].ledger.records("people")) == 1
