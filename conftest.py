"""Examples in the documentation run in a folder that holds the demonstration's table and schema."""

import atexit
import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import pytest

# A ledger waits for the disk with each commit, and so would thousands of tests. Where memory has room, the folders of
# tests lie there: less than a gigabyte, and gone afterwards. What a ledger asks of the disk is the same. Processes of
# the run inherit the place; TESTS_ON_DISK=1 leaves the folders of the last runs where pytest does, to be looked at.
MEMORY = Path("/dev/shm")
CHOSEN = "PYTEST_DEBUG_TEMPROOT" in os.environ or "TESTS_ON_DISK" in os.environ
if not CHOSEN and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * 2**30:
    os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.mkdtemp(prefix="tests", dir=MEMORY)
    atexit.register(shutil.rmtree, os.environ["PYTEST_DEBUG_TEMPROOT"], ignore_errors=True)

# Guards of ledgers go to a folder of this run, not to that of whoever runs it.
STATE = tempfile.mkdtemp(prefix="discreet-state", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
os.environ["XDG_STATE_HOME"] = STATE

# Lines are as wide as they are for a file. pytest loads readline, which puts the size of its terminal into the
# environment behind Python's back: workers and all that tests start would inherit it.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
    os.unsetenv(name)

# One worker a core is busy already: further threads of BLAS would only wait for each other, and they wait by spinning.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

collect_ignore_glob = ["docs/**/*.py"]  # programs that make the documentation; tests of theirs are under tests


@pytest.fixture(autouse=True)
def _example_folder(request):
    if not str(getattr(request.node, "path", "")).endswith(".md"):
        return
    # Asked for here only: a folder for each of ten thousand tests takes its time.
    monkeypatch, tmp_path = map(request.getfixturevalue, ("monkeypatch", "tmp_path"))
    shipped = Path(str(files("discreet.apps.demo")))
    (tmp_path / "demo").mkdir()
    for name in ("people.csv", "discreet.toml", "counties.geojson"):
        shutil.copy(shipped / name, tmp_path / "demo" / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_WHO", "reader")
