"""What tests of ledgers share: a state folder of their own, and guards that several machines share."""

import pytest

from discreet.ledger import anchor


@pytest.fixture(autouse=True)
def state(tmp_path):
    """The state folder of this machine. Set apart from what a test itself sets and undoes."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DISCREET_STATE", str(tmp_path / "state"))
        environment.delenv("DISCREET_ANCHOR", raising=False)
        yield tmp_path / "state"


@pytest.fixture(params=["file", "folder", "sqlite", "postgres"])
def witness(request, tmp_path):
    """The address of an anchor that several machines share."""
    if request.param == "postgres":
        from servers import fresh_schema

        return fresh_schema()
    (tmp_path / "shared").mkdir()
    paths = {"file": "shared/visits.head", "folder": "shared", "sqlite": "shared/witness.db"}
    path = tmp_path / paths[request.param]
    return f"sqlite:///{path}" if request.param == "sqlite" else str(path)


@pytest.fixture
def small_logs(monkeypatch):
    """Logs of anchors that are compacted every eight records, and keep two."""
    monkeypatch.setattr(anchor, "RECENT", 2)
    monkeypatch.setattr(anchor, "_EVERY", 8)
