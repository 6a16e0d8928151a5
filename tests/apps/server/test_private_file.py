"""Files of the pages: whole or not there, and their owner's alone."""

import os

import pytest

from discreet.apps.server.private_file import write_private


def test_a_file_is_its_owners_alone_and_a_new_one_replaces_none(tmp_path):
    path = tmp_path / "state" / "a.toml"
    write_private(path, "first", new=True)
    with pytest.raises(FileExistsError):
        write_private(path, "second", new=True)
    assert path.read_text() == "first"
    write_private(path, "third", new=False)
    assert path.read_text() == "third"
    assert (path.stat().st_mode | path.parent.stat().st_mode) & 0o077 == 0
    assert [one.name for one in path.parent.iterdir()] == ["a.toml"]


@pytest.mark.parametrize("new", [True, False])
def test_whoever_is_stopped_before_the_end_leaves_what_was_there(tmp_path, monkeypatch, new):
    path = tmp_path / "a.toml"
    if not new:
        write_private(path, "before", new=True)

    def stopped(handle):
        assert (path.read_text() if path.exists() else "none") == ("none" if new else "before")
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_private(path, "after", new=new)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == ({} if new else {"a.toml": "before"})
