"""Who changed what: added, and never changed or removed."""

import sqlite3

import pytest

from discreet.apps.server.trail import Trail


def test_entries_are_kept_as_they_were_written(tmp_path):
    trail = Trail(tmp_path / "state" / "trail.db")
    trail.add("carla", "survey", "night", "opened")
    trail.add("carla", "token", "ann", "made")
    trail.add("carla", "survey", "night", "closed", "over")
    assert [(one.subject, one.what, one.why) for one in trail.listed("survey")] == [
        ("night", "closed", "over"),
        ("night", "opened", ""),
    ]
    assert len(trail.listed("survey", most=1)) == 1
    assert (trail.path.stat().st_mode & 0o077, trail.path.parent.stat().st_mode & 0o077) == (0, 0)
    for statement in ("UPDATE trail SET who = 'x'", "DELETE FROM trail"):
        rows = sqlite3.connect(trail.path)
        with pytest.raises(sqlite3.IntegrityError):
            rows.execute(statement)
        rows.close()
