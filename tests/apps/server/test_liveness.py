"""Which processes of a server are alive: a lock says so, and the operating system frees it when they die."""

import gc
import subprocess
import sys

import pytest

from discreet.apps.server.liveness import Liveness

CHILD = """
import sys
from pathlib import Path
from discreet.apps.server.liveness import Liveness
mine = Liveness(Path(sys.argv[1]))
print(mine.name, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_another_process_is_known_until_it_is_killed_and_nothing_of_it_is_left(tmp_path):
    path = tmp_path / "jobs.db"
    here = Liveness(path)
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        name = child.stdout.readline().strip()
        assert here.knows(name)
        child.kill()
        child.wait()
    assert not here.knows(name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_is_its_own_and_is_known_to_itself_and_to_others(tmp_path):
    one, two = Liveness(tmp_path / "jobs.db"), Liveness(tmp_path / "jobs.db")
    assert one.name == one.name != two.name
    assert one.knows(one.name)
    assert two.knows(one.name)
    assert not one.knows("0" * 32)


def test_who_never_gave_a_name_holds_no_file_and_who_ends_leaves_none(tmp_path):
    one = Liveness(tmp_path / "jobs.db")
    assert list(tmp_path.iterdir()) == []
    held = tmp_path / f"jobs.db.{one.name}"
    assert held.stat().st_mode & 0o077 == 0
    del one
    gc.collect()
    assert not held.exists()
