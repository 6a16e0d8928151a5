"""Uploads: in a folder of their own, under drawn names, limited in size and number, gone after a day."""

import os
import subprocess
import sys
import time

import pytest

from discreet.apps.server.uploads import Uploads
from discreet.errors import InputError, MissingError


def aged(place):
    """The folder of an upload, as if it were of yesterday."""
    old = time.time() - 25 * 3600
    for one in (*place.iterdir(), place):
        os.utime(one, (old, old))


def receive(uploads, name, *parts):
    with uploads.receive(name) as incoming:
        for part in parts:
            incoming.write(part)
    return incoming.identity


def test_a_file_lies_where_nobody_else_reads_it(tmp_path):
    uploads = Uploads(tmp_path / "up", 1000)
    one = uploads.find(receive(uploads, "../a/../Visits May.CSV", b"a,b\n", b"1,2\n"))
    assert (one.name, one.stem, one.path.name, one.bytes) == ("Visits May.CSV", "Visits May", "table.csv", 8)
    assert one.path.parent.parent == tmp_path / "up"
    places = (one.path, one.path.parent, tmp_path / "up")
    assert [place.stat().st_mode & 0o077 for place in places] == [0, 0, 0]
    uploads.remove(one.identity)
    assert uploads.listed() == []


@pytest.mark.parametrize("name", ["a.exe", "", ".csv", "a.csv/", "a.csv\\"])
def test_what_is_no_table_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="a file that ends in"):
        receive(Uploads(tmp_path, 1000), name, b"x")
    assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_or_broken_off_leaves_nothing(tmp_path):
    uploads = Uploads(tmp_path, 1 << 20)
    with pytest.raises(InputError, match="at most 1 MiB"):
        receive(uploads, "a.csv", b"x" * (1 << 20), b"x")
    with pytest.raises(TypeError):
        receive(uploads, "a.csv", b"x", None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("identity", ["", "..", "../up", "0" * 31, "g" * 32, "0" * 32])
def test_no_other_text_finds_a_file(tmp_path, identity):
    with pytest.raises(MissingError):
        Uploads(tmp_path, 1000).find(identity)


def test_they_are_few_and_for_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.apps.server.uploads._MOST", 2)
    uploads = Uploads(tmp_path, 1000)
    first = receive(uploads, "a.csv", b"x")
    receive(uploads, "b.csv", b"x")
    with pytest.raises(InputError, match="at most 2 uploads"):
        receive(uploads, "c.csv", b"x")
    aged(tmp_path / first)
    receive(uploads, "c.csv", b"x")
    assert {one.name for one in uploads.listed()} == {"b.csv", "c.csv"}


def test_one_that_is_too_old_is_gone_for_whoever_looks(tmp_path):
    uploads = Uploads(tmp_path, 1000)
    first, second = receive(uploads, "a.csv", b"x"), receive(uploads, "b.csv", b"x")
    aged(tmp_path / first)
    with pytest.raises(MissingError):
        uploads.find(first)
    assert not (tmp_path / first).exists()
    aged(tmp_path / second)
    assert uploads.listed() == []
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_too_old_goes_though_nobody_looks(tmp_path):
    uploads = Uploads(tmp_path, 1000)
    aged(tmp_path / receive(uploads, "a.csv", b"x"))
    with uploads.expiring():
        while list(tmp_path.iterdir()):
            time.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_server_was_killed_is_no_upload_and_goes_too(tmp_path):
    """Nothing runs after a kill: what was written by then is all there is."""
    uploads = Uploads(tmp_path, 1000)
    code = (
        "import os, sys; from pathlib import Path; from discreet.apps.server.uploads import Uploads\n"
        "with Uploads(Path(sys.argv[1]), 1000).receive('a.csv') as incoming:\n"
        "    incoming.write(b'half of a row'); incoming._file.flush(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -9
    (half,) = tmp_path.iterdir()
    assert uploads.listed() == []
    with pytest.raises(MissingError):
        uploads.find(half.name)
    aged(half)
    uploads.expire()
    assert not half.exists()
