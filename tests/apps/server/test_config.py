"""`server.toml`: read whole, refused whole, and read again without a lost request."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from discreet.errors import ConfigError, InputError
from servers import free_port

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from discreet.apps.server.config import SECTIONS, latest, read_config
from discreet.apps.server.settings import Served
from discreet.apps.server.tokens import Tokens
from discreet.ledger.ledger import Ledger

SCHEMA = """
[dataset]
name = "{name}"
[columns]
age = {{ type = "integer", lower = 0, upper = 120 }}
[budget]
epsilon = 2
"""
FILE = """
[server]
port = {port}
ledger = "ledger.db"
[limits]
rate = 1000
[log]
access = "access.log"
format = "json"
[[dataset]]
data = "people.csv"
schema = "people.toml"
"""
MORE = """
[[dataset]]
data = "visits.csv"
schema = "visits.toml"
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("people", "visits"):
        (tmp_path / f"{name}.toml").write_text(SCHEMA.format(name=name))
        (tmp_path / f"{name}.csv").write_text("age\n30\n40\n")
    Ledger.open(tmp_path / "ledger.db", create=True).close()
    (tmp_path / "server.toml").write_text(FILE.format(port=8000))
    return tmp_path


def test_paths_are_beside_the_file_and_what_is_left_out_has_its_default(folder):
    found = read_config(folder / "server.toml")
    ledger = str(folder / "ledger.db")
    assert found.settings.tables == (Served(str(folder / "people.csv"), str(folder / "people.toml"), ledger),)
    assert (found.host, found.port, found.settings.workers) == ("127.0.0.1", 8000, 2)
    assert (found.settings.rate, found.settings.pace) == (1000, 0.1)
    assert found.settings.tokens == str(folder / "state" / "tokens.db")
    assert found.settings.config == str(folder / "server.toml")


def test_every_problem_is_named_at_once(folder):
    (folder / "server.toml").write_text(
        '[server]\nport = 0\nprot = 8\nworkers = true\norigin = "curator"\n[tls]\ncertificate = "none.pem"\n'
        "[limits]\nrate = -1\n[lgo]\n[[dataset]]\nschema = 'people.toml'\n[[survey]]\nfile = 3\n"
    )
    with pytest.raises(ConfigError) as refused:
        read_config(folder / "server.toml")
    named = "\n".join(refused.value.problems)
    wrong = ("server.port", "server.prot", "server.workers", "server.origin", "tls.certificate", "limits.rate")
    assert [one for one in (*wrong, "lgo", "dataset[1].data", "survey[1].file") if f"`{one}`" not in named] == []
    assert len(refused.value.problems) == 9
    assert "Did you mean `port`?" in named
    assert "Did you mean `log`?" in named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[server", "TOML"),
        ("", "dataset"),
        ("server = 3", "server"),
        ("dataset = 3", "dataset"),
        ("dataset = [3]", "[1]"),
    ],
)
def test_files_of_another_shape_are_refused(folder, text, named):
    (folder / "server.toml").write_text(text)
    with pytest.raises(ConfigError, match="problem") as refused:
        read_config(folder / "server.toml")
    assert named in str(refused.value)
    with pytest.raises(InputError, match="--config"):
        read_config(folder / "nowhere.toml")


def test_every_key_stands_in_the_guide():
    guide = (Path(__file__).parents[3] / "docs/guides/server.md").read_text()
    missing = [f"{name}.{key}" for name, keys in SECTIONS.items() for key in keys if f"\n{key} = " not in guide]
    assert not missing


def test_a_worker_serves_what_the_file_says_now_and_what_it_said_before_if_that_cannot_be(folder):
    before = read_config(folder / "server.toml").settings
    with before.shared():
        (folder / "server.toml").write_text(FILE.format(port=8000) + MORE)
        after, service = latest(before)
        assert list(service.curators) == ["people", "visits"]
        assert type(before).received() == after
        (folder / "server.toml").write_text("[server]\nport = 0\n")
        kept, service = latest(after)
        assert (kept, list(service.curators)) == (after, ["people", "visits"])
    (noted,) = [json.loads(line) for line in (folder / "access.log").read_text().splitlines()]
    assert noted["event"] == "kept"
    assert "server.port" in noted["problem"]


def test_with_a_file_nothing_else_is_said_on_the_command_line(folder):
    from shell import run

    said = run("serve", "--config", "server.toml", "--port", "9000", cwd=folder, code=2)
    assert "`--port` must be left out with --config" in said.stderr
    assert "`data` must be given" in run("serve", cwd=folder, code=2).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="signals")
def test_a_dataset_is_added_while_the_server_runs_and_no_request_is_lost(folder):
    port = free_port()
    (folder / "server.toml").write_text(FILE.format(port=port))
    (folder / "state").mkdir(mode=0o700)
    token = Tokens(folder / "state" / "tokens.db").create("ann", "custodian")
    watched = folder / "notify"
    with _manager(watched) as told:
        child = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve", "--config", "server.toml"],
            cwd=folder,
            env={**os.environ, "NOTIFY_SOCKET": str(watched)},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert "Serving people on" in child.stdout.readline()
            assert told() == "READY=1"
            answers, over = [], threading.Event()
            asking = threading.Thread(target=_ask, args=(port, token, answers, over))
            asking.start()
            (folder / "server.toml").write_text(FILE.format(port=port) + MORE)
            child.send_signal(signal.SIGHUP)
            end = time.monotonic() + 60
            while (not answers or answers[-1] != 2) and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(0.5)
            over.set()
            asking.join()
            assert {*answers} == {1, 2}  # never a failure, and in the end both
        finally:
            child.terminate()
            child.wait(30)
            child.stdout.close()
        assert told() == "STOPPING=1"
    lines = (folder / "access.log").read_text()
    assert '"event": "started"' in lines
    assert '"seconds": ' in lines


def _ask(port, token, answers, over):
    """How many datasets there are, over a new connection each time; the error where there is one."""
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/datasets", headers={"authorization": f"Bearer {token}", "connection": "close"}
    )
    while not over.is_set():
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                answers.append(len(json.load(answer)))
        except OSError as problem:
            answers.append(str(problem))
        over.wait(0.02)  # some dozens a second, all the time: more would only keep the server from reading its file


class _manager:  # noqa: N801
    """A service manager's socket."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        import socket

        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(30)
        self.socket.bind(str(self.path))
        return lambda: self.socket.recv(100).decode()

    def __exit__(self, *ended):
        self.socket.close()


IDENTITY = """
[identity.oidc]
issuer = "https://login.example/realm"
client = "discreet"
audience = "discreet-api"
[identity.proxy]
from = ["127.0.0.1", "10.1.0.0/16"]
user_header = "Remote-User"
[[identity.rule]]
group = "stats"
role = "analyst"
allotment = "questions"
datasets = ["people"]
[[identity.rule]]
user = "eve"
role = "none"
"""


def test_people_and_rules_are_read(folder):
    pytest.importorskip("jwt")
    text = FILE.format(port=8000).replace("[server]", '[server]\norigin = "https://curator.example"')
    (folder / "server.toml").write_text(text + IDENTITY)
    settings = read_config(folder / "server.toml").settings
    identity = settings.identity
    assert identity.provider.home == "https://curator.example"
    assert identity.proxy.peers == ("127.0.0.1/32", "10.1.0.0/16")
    assert identity.proxy.user_header == "remote-user"
    assert [rule.role for rule in identity.rules] == ["analyst", "none"]
    Ledger.open(folder / "ledger.db").close()
    service = settings.service()
    assert service.issuer is not None
    assert service.tokens is not None  # people alone are enough for a server
    for wrong in ('["people"]', '"questions"'):
        (folder / "server.toml").write_text(text + IDENTITY.replace(wrong, wrong.replace("e", "x", 1)))
        with pytest.raises(InputError, match=r"identity\.rule\[1\]"):
            read_config(folder / "server.toml").settings.service()


def test_every_problem_of_people_and_rules_is_named(folder):
    (folder / "server.toml").write_text(
        FILE.format(port=8000)
        + """
[identity.oidc]
issuer = "http://login.example"
audience = "a"
[identity.proxy]
from = ["everywhere"]
[identity.saml]
[[identity.rule]]
role = "king"
[[identity.rule]]
group = "g"
role = "custodian"
datasets = ["people"]
"""
    )
    with pytest.raises(ConfigError) as refused:
        read_config(folder / "server.toml")
    text = str(refused.value)
    for name in (
        "oidc.issuer",
        "oidc.client",
        "proxy.from",
        "saml",
        "rule[1].role",
        "rule[1].group",
        "rule[2].datasets",
    ):
        assert f"identity.{name}" in text, name
    assert "server.origin" in text
