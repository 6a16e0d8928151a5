"""What an engine spills lies in a folder of its owner, and is gone with the next start if its process was killed."""

import signal
import subprocess
import sys
import time

import pytest

from discreet.data.pool import Engine
from discreet.data.spill import Spill, spill_root

# A sort far beyond its memory, in a process that will not live to tidy up.
CHILD = """
import duckdb
from discreet.data.spill import Spill
spill = Spill()
print(spill.path.name, flush=True)
duckdb.connect().execute(
    f"SET temp_directory = '{spill.path}'; SET memory_limit = '100MB'; SET threads = 2;"
    "CREATE TEMP TABLE t AS SELECT 'CANARY-' || lpad((i * 7919 % 3000000)::VARCHAR, 12, '0') p, hash(i) h "
    "FROM range(30000000) r(i) ORDER BY h"
)
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "spill"


@pytest.mark.skipif(sys.platform == "win32", reason="locks that end with their process")
def test_what_was_spilled_when_killed_is_gone_at_the_next_start(root):
    with subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True) as child:
        folder = root / child.stdout.readline().strip()
        deadline = time.monotonic() + 120
        while not spilled(folder):
            assert child.poll() is None, "it ended before anything was spilled"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with Spill():
            assert spilled(folder)  # another one's folder, in use
        child.send_signal(signal.SIGKILL)
    assert spilled(folder)  # left behind in clear
    with Spill() as spill:
        assert [path.name for path in root.iterdir() if path.is_dir()] == [spill.path.name]
    assert [path.name for path in root.iterdir()] == ["all"]


def spilled(folder):
    return any(b"CANARY-" in file.read_bytes() for file in folder.iterdir())


def test_engines_spill_there(root):
    engine = Engine()
    try:
        (place,) = engine._backend.raw_sql("SELECT current_setting('temp_directory')").fetchone()
        assert place == str(engine._spill.path)
        assert engine._spill.path.parent == root
    finally:
        engine.close()
    assert [path.name for path in root.iterdir()] == ["all"]


def test_only_its_owner_reads_it(root):
    with Spill() as spill:
        assert [path.stat().st_mode & 0o777 for path in (spill.path, root)] == [0o700, 0o700]


def test_where_no_state_can_be_written_it_lies_among_temporary_files(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    root = spill_root()
    assert root.parent.parent == tmp_path
    assert root.stat().st_mode & 0o777 == 0o700


def test_the_engine_cannot_encrypt_what_it_spills_yet(tmp_path):
    """If this fails, DuckDB can: turn `temp_file_encryption` on in `fixed_settings`, and mend sharp-edges.md."""
    import duckdb

    engine = duckdb.connect()
    known = engine.execute("SELECT name FROM duckdb_settings() WHERE name = 'temp_file_encryption'").fetchall()
    if not known:
        return
    loaded = engine.execute("SELECT installed FROM duckdb_extensions() WHERE extension_name = 'httpfs'").fetchall()
    if loaded == [(True,)]:
        pytest.skip("someone installed httpfs, which brings another library")
    engine.execute(f"SET temp_directory = '{tmp_path}'; SET memory_limit = '60MB'; SET threads = 1")
    engine.execute("SET temp_file_encryption = true")
    with pytest.raises(duckdb.Error, match="read-only crypto module"):
        engine.execute("CREATE TEMP TABLE t AS SELECT hash(i) h, i::VARCHAR s FROM range(3000000) r(i) ORDER BY h")
