"""Figures for Prometheus: they agree with the ledger, hold nothing private, and are for monitors alone."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("prometheus_client")
from prometheus_client.parser import text_string_to_metric_families
from small_server import ASK, client, service_fixture  # noqa: F401

from asgi_client import Client
from discreet.apps.server import metrics
from discreet.apps.server.app import application


def figures(served, token) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, in the order of their names."""
    found = Client(served, {"authorization": f"Bearer {token}"}).get("/metrics")
    assert found.status_code == 200, found.text
    assert found.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(found.text)
    samples = [one for family in families for one in family.samples]
    return {(one.name, *(one.labels[name] for name in sorted(one.labels))): one.value for one in samples}


@pytest.fixture
def watched(service):
    served = application(service)
    ann = Client(served, {"authorization": "Bearer " + service.tokens.create("ann", "analyst")})
    return served, ann, service.tokens.create("watch", "monitor")


def test_figures_are_those_of_the_ledger(service, watched):
    served, ann, token = watched
    before = figures(served, token)
    assert ann.post("/api/datasets/people/release", json={**ASK, "release": "one"}).status_code == 200
    assert ann.post("/api/datasets/people/release", json={**ASK, "epsilon": "900"}).status_code == 409
    after = figures(served, token)
    for one in service.curators["people"].standing():
        key = (one.allotment.name, one.allotment.currency, "people")
        assert after["discreet_budget_left", *key] == float(one.left.amount)
        assert after["discreet_budget_cap", *key] == float(one.allotment.cap.amount)
    assert before != after
    assert after["discreet_refusals_total", "BudgetError"] == 1
    route = "/api/datasets/{name}/release"
    assert after["discreet_requests_total", "POST", route, "200"] == 1
    assert after["discreet_requests_total", "POST", route, "409"] == 1
    assert all(after["discreet_healthy", check, "people"] == 1 for check in ("ledger", "guard", "source"))


def test_how_long_a_private_run_took_is_not_among_them(watched):
    served, ann, token = watched
    ann.post("/api/datasets/people/plan", json=ASK)
    ann.post("/api/datasets/people/release", json={**ASK, "release": "one"})
    timed = {key[1] for key in figures(served, token) if key[0] == "discreet_request_seconds_count"}
    assert "/api/datasets/{name}/plan" in timed
    assert not [route for route in timed if "release" in route]


def test_timing_every_request_would_be_caught(watched, monkeypatch):
    monkeypatch.setattr(metrics, "_TIMED", ("GET", "HEAD", "POST"))
    with pytest.raises(AssertionError):
        test_how_long_a_private_run_took_is_not_among_them(watched)


def test_a_monitor_reads_figures_and_nothing_else(service, watched):
    served, ann, token = watched
    watch = Client(served, {"authorization": f"Bearer {token}"})
    asked = [watch.get("/api/datasets"), watch.get("/api/datasets/people/releases"), watch.get("/api/ledger/verify")]
    asked += [watch.post(f"/api/datasets/people/{verb}", json=ASK) for verb in ("plan", "release")]
    assert [one.status_code for one in asked] == [403] * 5
    assert ann.get("/metrics").status_code == 403
    assert Client(served).get("/metrics").status_code == 401
    assert client(service, "custodian").get("/metrics").status_code == 200


def test_a_monitor_has_no_session_in_a_browser(service):
    from discreet.apps.web.session import Sessions

    sessions = Sessions(service.tokens)
    assert sessions.begin(service.tokens.create("watch", "monitor")) is None
    assert sessions.begin(service.tokens.create("bob", "viewer")) is not None


def test_a_ledger_that_cannot_be_read_is_a_figure_and_no_failure(service, watched, monkeypatch):
    from discreet.errors import LedgerError
    from discreet.ledger.ledger import Ledger

    def broken(*args):
        raise LedgerError("unreachable")

    served, _, token = watched
    monkeypatch.setattr(Ledger, "standing", broken)
    found = figures(served, token)
    assert found["discreet_healthy", "ledger", "people"] == 0
    assert not [key for key in found if key[0] == "discreet_budget_left"]


def test_processes_count_together():
    count = "from discreet.apps.server.metrics import Counts; c = Counts(); c.refusals.labels('BusyError').inc()"
    with metrics.sharing_counts():
        folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
        for more in ("", "", "; print(c.text().decode())"):
            done = subprocess.run([sys.executable, "-c", count + more], capture_output=True, text=True, check=True)
    assert 'discreet_refusals_total{error="BusyError"} 3.0' in done.stdout
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
    assert not os.path.exists(folder)  # noqa: PTH110


def test_engines_of_a_process_that_died_run_no_more_and_what_it_counted_stays():
    begun = "import os; from discreet.apps.server.metrics import Counts; c = Counts(); "
    busy = begun + "c.refusals.labels('BusyError').inc(); c.engines.set(3); print(os.getpid())"
    look = begun + "print(c.text().decode())"
    with metrics.sharing_counts() as folder:

        def told(code):
            return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

        process = int(told(busy))
        assert "discreet_engines 3.0" in told(look)
        metrics.forget_process(process, folder)
        after = told(look)
    assert "discreet_engines 0.0" in after
    assert 'discreet_refusals_total{error="BusyError"} 1.0' in after


def test_deaths_of_processes_are_a_figure(service, watched):
    served, _, token = watched
    with metrics.sharing_counts() as folder:
        assert figures(served, token)["discreet_worker_deaths_total",] == 0
        metrics.note_deaths(2, folder)
        assert figures(served, token)["discreet_worker_deaths_total",] == 2


def test_the_figures_of_budgets_are_those_of_the_ledger(service):
    """What a dashboard shows of budgets is what the records add up to."""
    from fractions import Fraction

    from prometheus_client.parser import text_string_to_metric_families
    from small_server import ASK, client

    ann = client(service, "analyst", name="ann")
    for number, epsilon in enumerate(("0.1", "0.25", "0.3")):
        asked = {**ASK, "epsilon": epsilon, "release": f"r{number}"}
        assert ann.post("/api/datasets/people/release", json=asked).status_code == 200
    text = client(service, "monitor").get("/metrics").text
    samples = {
        (one.name, one.labels.get("allotment")): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
        if one.name.startswith("discreet_budget")
    }
    (ledger,) = service.ledgers
    for part in ("team", "guests"):
        charges = [
            one.charge.amount for one in ledger.records("people") if one.kind == "charge" and one.allotment == part
        ]
        left = samples["discreet_budget_cap", part] - samples["discreet_budget_left", part]
        assert left == pytest.approx(float(sum(charges, Fraction(0))), abs=1e-12)
    assert samples["discreet_budget_left", "team"] == pytest.approx(0.35)
    assert "discreet_engines" in text
