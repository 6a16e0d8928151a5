"""What is in `deploy/`: files that parse, agree with each other, and name only what the server has."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("yaml")
pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
import yaml
from small_server import service_fixture  # noqa: F401

from asgi_client import Client
from discreet.apps.server.app import application
from discreet.apps.server.config import read_config
from discreet.apps.server.identity import Proxy

FOLDER = Path(__file__).parents[1] / "deploy"
METRIC = re.compile(r"discreet_[a-z_]+")


def emitted(service) -> set[str]:
    """Names of all figures that a server has, once it refused something and answered something."""
    served = application(service)
    token = service.tokens.create("watch", "monitor")
    Client(served).get("/api/datasets")
    ann = Client(served, {"authorization": "Bearer " + service.tokens.create("ann", "analyst")})
    ann.post("/api/datasets/people/plan", json={"epsilon": "-1", "outputs": ["count"], "allotment": "team"})
    text = Client(served, {"authorization": f"Bearer {token}"}).get("/metrics").text
    return {line.split("{")[0].split(" ")[0] for line in text.splitlines() if not line.startswith("#")}


def expressions() -> list[str]:
    rules = yaml.safe_load((FOLDER / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((FOLDER / "grafana/discreet.json").read_text())["panels"]
    return [one["expr"] for one in rules] + [target["expr"] for one in panels for target in one["targets"]]


def test_alerts_and_dashboard_are_about_figures_that_there_are(service):
    there = emitted(service)
    named = {name for one in expressions() for name in METRIC.findall(one)}
    assert len(named) >= 8
    assert named - there == set()


def test_the_four_alerts_that_an_agency_needs_are_there():
    rules = yaml.safe_load((FOLDER / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    named = {one["alert"] for one in rules}
    assert named >= {"BudgetBelowTenPercent", "LedgerUnreachable", "GuardMismatch", "WorkerRestarted"}
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
    assert {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("liveness", "readiness")} == {"/livez", "/readyz"}
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


@pytest.mark.parametrize("path", ["proxy/Caddyfile", "proxy/nginx.conf"])
def test_nobody_outside_says_who_they_are(path):
    proxy = Proxy(("127.0.0.1",))
    names = {proxy.user_header, proxy.groups_header}
    dropped = r'proxy_set_header (\S+) "";|header_up -(\S+)'
    found = {one or two for one, two in re.findall(dropped, (FOLDER / path).read_text())}
    assert names <= {name.lower() for name in found}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze (apt install systemd)")
def test_the_unit_is_one_that_systemd_reads(tmp_path):
    unit = (FOLDER / "systemd/discreet.service").read_text().replace("/opt/discreet/bin/discreet", "/bin/true")
    (tmp_path / "discreet.service").write_text(unit.replace("User=discreet", "User=root"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "discreet.service")], capture_output=True, text=True
    )
    assert "discreet.service" not in done.stderr, done.stderr
