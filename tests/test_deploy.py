"""What is in `deploy/`: files that parse, agree with each other, and name only what the server has."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from inspect import signature
from pathlib import Path

import pytest

pytest.importorskip("yaml")
pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("uvicorn")
import uvicorn
import yaml
from prometheus_client.parser import text_string_to_metric_families
from small_server import service_fixture  # noqa: F401

from asgi_client import Client
from discreet.apps.server.app import STATUS, application
from discreet.apps.server.config import read_config
from discreet.apps.server.identity import Proxy
from servers import free_port

FOLDER = Path(__file__).parents[1] / "deploy"
METRIC = re.compile(r"discreet_[a-z_]+")


def samples(service) -> list[tuple[str, dict[str, str]]]:
    """All figures that a server has, once it refused something and answered something: names and labels."""
    served = application(service)
    token = service.tokens.create("watch", "monitor")
    Client(served).get("/api/datasets")
    ann = Client(served, {"authorization": "Bearer " + service.tokens.create("ann", "analyst")})
    ann.post("/api/datasets/people/plan", json={"epsilon": "-1", "outputs": ["count"], "allotment": "team"})
    text = Client(served, {"authorization": f"Bearer {token}"}).get("/metrics").text
    return [(one.name, one.labels) for family in text_string_to_metric_families(text) for one in family.samples]


def emitted(service) -> set[str]:
    """Their names."""
    return {name for name, _ in samples(service)}


def expressions() -> list[str]:
    rules = yaml.safe_load((FOLDER / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((FOLDER / "grafana/discreet.json").read_text())["panels"]
    return [one["expr"] for one in rules] + [target["expr"] for one in panels for target in one["targets"]]


def test_alerts_and_dashboard_are_about_figures_that_there_are(service):
    there = emitted(service)
    named = {name for one in expressions() for name in METRIC.findall(one)}
    assert len(named) >= 8
    assert named - there == set()


def test_alerts_choose_by_labels_that_there_are_and_say_only_what_is_known(service):
    rules = yaml.safe_load((FOLDER / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    found = samples(service)
    names = {name: {label for other, labels in found if other == name for label in labels} for name, _ in found}
    values = {(name, label, value) for name, labels in found for label, value in labels.items()}
    errors = {cls.__name__ for cls in STATUS}
    for rule in rules:
        for name, chosen in re.findall(r"(discreet_[a-z_]+)\{([^}]*)\}", rule["expr"]):
            for label, value in re.findall(r'(\w+)="([^"]*)"', chosen):
                assert (name, label, value) in values or (label == "error" and value in errors), rule["alert"]
        there = {label for name in METRIC.findall(rule["expr"]) for label in names.get(name, ())}
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= there, rule["alert"]


def test_one_worker_that_dies_raises_an_alert_and_a_reload_does_not():
    rules = yaml.safe_load((FOLDER / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    (rule,) = [one for one in rules if one["alert"] == "WorkerDied"]
    assert rule["expr"] == "increase(discreet_worker_deaths_total[10m]) > 0"  # starts are counted in a reload, too
    assert "for" not in rule


def test_the_four_alerts_that_an_agency_needs_are_there():
    rules = yaml.safe_load((FOLDER / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    named = {one["alert"] for one in rules}
    assert named >= {"BudgetBelowTenPercent", "LedgerUnreachable", "GuardMismatch", "WorkerDied"}
    assert all(one["annotations"]["summary"] for one in rules)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.yaml")), ids=lambda path: path.name)
def test_every_manifest_is_yaml(path):
    assert [one for one in yaml.safe_load_all(path.read_text()) if one]


def test_the_configuration_is_one_that_the_server_reads(tmp_path):
    text = (FOLDER / "server.toml").read_text().replace("/etc/discreet", str(tmp_path))
    (tmp_path / "people.toml").write_text("")
    (tmp_path / "server.toml").write_text(text)
    found = read_config(tmp_path / "server.toml")
    assert found.settings.behind_proxy
    assert found.port == 8000


def test_whoever_stops_the_server_waits_for_longer_than_it_drains():
    drain = tomllib.loads((FOLDER / "server.toml").read_text())["server"]["drain"]
    unit = (FOLDER / "systemd/discreet.service").read_text()
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["curator"]
    pod = next(yaml.safe_load_all((FOLDER / "kubernetes/discreet.yaml").read_text()))["spec"]["template"]["spec"]
    waits = [
        int(re.search(r"TimeoutStopSec=(\d+)", unit)[1]),
        int(compose["stop_grace_period"].removesuffix("s")),
        pod["terminationGracePeriodSeconds"],
    ]
    assert all(one > drain for one in waits)


def test_containers_run_without_rights_and_cannot_write_but_where_they_must():
    pod = next(yaml.safe_load_all((FOLDER / "kubernetes/discreet.yaml").read_text()))["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")} == {"/livez"}
    curator = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["curator"]
    assert curator["read_only"]
    assert curator["cap_drop"] == ["ALL"]
    assert "USER 10001" in (FOLDER / "Containerfile").read_text()


def test_the_password_of_the_ledger_is_in_a_file_that_libpq_reads():
    """With fsGroup a secret has group access, and libpq ignores a password file of more than its owner's."""
    pod = next(yaml.safe_load_all((FOLDER / "kubernetes/discreet.yaml").read_text()))["spec"]["template"]["spec"]
    (container,), (copying,) = pod["containers"], pod["initContainers"]
    (variable,) = container["env"]
    assert copying["command"][-1] == variable["value"]
    assert int(copying["command"][copying["command"].index("-m") + 1], 8) & 0o077 == 0
    kinds = {one["name"]: one for one in pod["volumes"]}
    written = {one["mountPath"]: kinds[one["name"]] for one in copying["volumeMounts"]}
    assert "emptyDir" in written[variable["value"].rpartition("/")[0]]
    assert "secret" in written[copying["command"][-2].rpartition("/")[0]]


def test_what_is_secret_is_in_no_image_and_in_no_commit():
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    places = {str(Path("deploy") / one["file"]).rpartition("/")[0] for one in compose["secrets"].values()}
    mounted = [one for one in compose["services"]["curator"]["volumes"] if one.startswith("./data")]
    assert places == {"deploy/secrets"}
    assert mounted
    for name in (".dockerignore", ".gitignore"):
        left_out = {line.rstrip("/") for line in (FOLDER.parent / name).read_text().splitlines()}
        assert {*places, "deploy/data"} <= left_out


def test_the_ledger_is_reached_by_the_curator_alone_and_the_curator_by_its_proxy():
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    joined = {name: set(one["networks"]) for name, one in compose["services"].items()}
    assert joined["ledger"] & joined["proxy"] == set()
    assert all(compose["networks"][name]["internal"] for name in joined["ledger"])
    assert [name for name, one in compose["services"].items() if "ports" in one] == ["proxy"]
    deployment, _, policy = yaml.safe_load_all((FOLDER / "kubernetes/discreet.yaml").read_text())
    assert policy["spec"]["podSelector"]["matchLabels"] == deployment["spec"]["selector"]["matchLabels"]
    assert policy["spec"]["ingress"][0]["from"]
    assert deployment["spec"]["template"]["spec"]["automountServiceAccountToken"] is False


@pytest.mark.parametrize("path", ["proxy/Caddyfile", "proxy/nginx.conf"])
def test_proxies_keep_figures_inside_and_let_uploads_through(path):
    text = (FOLDER / path).read_text()
    assert "/metrics" in text
    assert "404" in text
    assert re.search(r"300m", text, re.IGNORECASE)  # a table that a custodian brings has up to 256 MB


def test_one_dataset_out_of_reach_takes_nobody_out_of_service():
    """Behind a proxy that asks /readyz its callers would get an empty 503, and those of the other datasets, too."""
    asked = ["deploy/proxy/Caddyfile", "deploy/Containerfile", "deploy/kubernetes/discreet.yaml"]
    for path in asked:
        text = (FOLDER.parent / path).read_text()
        assert "/livez" in text
        assert not re.search(r"(path:|health_uri|urlopen\(\S*) ?\S*/readyz", text)
    unit = (FOLDER / "systemd/discreet.service").read_text()
    assert re.search(r"^ExecStartPre=-.* doctor ", unit, re.MULTILINE)  # the hyphen: what it finds does not stop it


def test_proxies_let_go_of_connections_before_the_server_does():
    """Else a request is sent on a connection that is just being closed, and one that spends is not sent again."""
    ends = signature(uvicorn.Config).parameters["timeout_keep_alive"].default
    nginx = re.search(r"keepalive_timeout (\d+)s;", (FOLDER / "proxy/nginx.conf").read_text())
    caddy = re.search(r"keepalive (\d+)s", (FOLDER / "proxy/Caddyfile").read_text())
    assert int(nginx[1]) < ends
    assert int(caddy[1]) < ends


def kept(text: str) -> list[str]:
    """The commands of the unit that makes backups, as systemd reads them."""
    lines = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    return [line.replace("%%", "%") for line in lines]


def nightly(source: str) -> tuple[list[list[str]], str]:
    """The commands that a night's backup is made with, and the folder that they write to."""
    if source == "systemd":
        lines = kept((FOLDER / "systemd/discreet-backup.service").read_text())
        return [shlex.split(line.replace("/opt/discreet/bin/", "")) for line in lines], "/var/backups/discreet"
    job = yaml.safe_load((FOLDER / "kubernetes/backup.yaml").read_text())["spec"]["jobTemplate"]["spec"]["template"]
    (container,) = job["spec"]["containers"]
    return [container["command"]], "/backup"


@pytest.mark.skipif(sys.platform == "win32", reason="commands of a shell")
@pytest.mark.parametrize("source", ["systemd", "kubernetes"])
def test_the_nightly_backup_is_one_that_can_be_put_back(tmp_path, monkeypatch, source):
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.restoration import restore_backup

    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "discreet").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m discreet "$@"\n')
    (tools / "discreet").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path / "ledger.db"))
    Ledger.open(tmp_path / "ledger.db", create=True).close()
    commands, place = nightly(source)
    (tmp_path / "backups").mkdir()
    for command in commands:
        line = [part.replace(place, str(tmp_path / "backups")) for part in command]
        subprocess.run(line, check=True, capture_output=True, cwd=tmp_path)
    (made,) = (tmp_path / "backups").iterdir()
    restore_backup(made, tmp_path / "again.db")
    with_all = Ledger.open(tmp_path / "again.db")
    assert with_all.head().sequence == 1
    with_all.close()


def test_the_health_check_of_the_image_asks_the_server_that_the_image_starts(service):
    """Its command, word by word, against a server of this test instead of the one in the image."""
    import threading

    text = (FOLDER / "Containerfile").read_text()
    command = json.loads(re.search(r"^  CMD (\[.*\])$", text, re.MULTILINE)[1])
    port = free_port()
    here = [sys.executable, *command[1:-1], command[-1].replace(":8000", f":{port}")]
    assert here[-1] != command[-1]
    server = uvicorn.Server(uvicorn.Config(application(service), port=port, log_level="critical"))
    serving = threading.Thread(target=server.run)
    assert subprocess.run(here, capture_output=True).returncode != 0  # nobody is there yet
    serving.start()
    try:
        while not server.started:
            serving.join(0.05)
            assert serving.is_alive()
        assert subprocess.run(here, capture_output=True).returncode == 0
    finally:
        server.should_exit = True
        serving.join()


def lost(given, read, where="") -> list[str]:
    """What stands in a manifest and is not there once its types are read."""
    if isinstance(given, dict):
        there = read if isinstance(read, dict) else {}
        found = [f"{where}.{name}" for name in given if name not in there]
        return found + [
            one for name in given if name in there for one in lost(given[name], there[name], f"{where}.{name}")
        ]
    if isinstance(given, list):
        return [one for number, part in enumerate(given) for one in lost(part, read[number], f"{where}[{number}]")]
    return []


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
@pytest.mark.parametrize("path", ["discreet.yaml", "backup.yaml", "setup.yaml"])
def test_kubernetes_knows_every_field_of_what_it_is_to_run(path):
    """Its own types read the manifest, without a cluster: a field that they do not know would not come back."""
    ran = [
        one
        for one in yaml.safe_load_all((FOLDER / "kubernetes" / path).read_text())
        if one["kind"] in ("Deployment", "CronJob", "Pod")
    ]
    assert ran
    for one in ran:
        template = one["spec"].get("jobTemplate", one)["spec"].get("template", one)
        name = template["spec"]["containers"][0]["name"]
        line = ["kubectl", "set", "image", "--local", "-f", "-", f"{name}=discreet:2", "-o", "json"]

        def read(values, line=line):
            return subprocess.run(line, input=json.dumps(values), capture_output=True, text=True, check=True).stdout

        assert lost(one, json.loads(read(one))) == []
        broken = {**one, "spec": {**one["spec"], "scheduled": "never"}}
        assert lost(broken, json.loads(read(broken))) == [".spec.scheduled"]  # the test would see one


@pytest.mark.parametrize("path", ["proxy/Caddyfile", "proxy/nginx.conf"])
def test_nobody_outside_says_who_they_are(path):
    proxy = Proxy(("127.0.0.1",))
    names = {proxy.user_header, proxy.groups_header}
    dropped = r'proxy_set_header (\S+) "";|header_up -(\S+)'
    found = {one or two for one, two in re.findall(dropped, (FOLDER / path).read_text())}
    assert names <= {name.lower() for name in found}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze (apt install systemd)")
def test_the_units_are_such_as_systemd_reads(tmp_path):
    names = ("discreet.service", "discreet-backup.service", "discreet-backup.timer")
    for name in names:
        unit = (FOLDER / "systemd" / name).read_text().replace("/opt/discreet/bin/discreet", "/bin/true")
        (tmp_path / name).write_text(unit.replace("User=discreet", "User=root"))
    line = ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / name) for name in names)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert not [one for one in done.stderr.splitlines() if any(name in one for name in names)], done.stderr
