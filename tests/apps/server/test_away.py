"""A dataset that is out of reach does not keep the others from being served, and is served once it is back."""

import threading
from dataclasses import replace

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
from asgi_client import Client
from discreet.apps.server import away
from discreet.apps.server.app import application
from discreet.apps.server.away import Away, watch
from discreet.apps.server.health import Health
from discreet.apps.server.identity import Identity, Proxy, Rule
from discreet.apps.server.settings import Served, Settings
from discreet.curator import open_curator
from discreet.errors import InputError, LedgerError, MissingLedgerError, Phrase, SourceError
from discreet.ledger.ledger import Ledger

SCHEMA = '[dataset]\nname = "{name}"\n[budget]\nepsilon = 1\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 99\n'
SECRET = "db7.internal"
GONE = SourceError("source", Phrase(SECRET), "a database that can be reached")


@pytest.fixture
def settings(tmp_path):
    """Two datasets on a ledger each."""
    for name in ("people", "visits"):
        (tmp_path / f"{name}.csv").write_text("age\n30\n")
        (tmp_path / f"{name}.toml").write_text(SCHEMA.format(name=name))
        Ledger.open(tmp_path / f"{name}.db", create=True).close()
    tables = (
        Served(str(tmp_path / f"{name}.csv"), str(tmp_path / f"{name}.toml"), str(tmp_path / f"{name}.db"))
        for name in ("people", "visits")
    )
    return Settings(tuple(tables), tokens=str(tmp_path / "tokens.db"), jobs=str(tmp_path / "jobs.db"))


def opening(problem=None):
    """An opener to which visits is out of reach, as long as there is a problem."""

    def opener(data, schema, ledger):
        if problem is not None and "visits" in data:
            raise problem
        return open_curator(data, schema, ledger=ledger)

    return opener


def test_the_others_are_served_and_callers_are_told_the_truth(settings):
    service = settings.service(opening(GONE), patient=settings.tables)
    served = application(service)  # without tokens everyone is the custodian
    listed = Client(served).get("/api/datasets").json()
    assert [(one["dataset"], "problem" in one) for one in listed] == [("people", False), ("visits", True)]
    assert SECRET not in str(listed)
    for path in ("/api/datasets/visits", "/api/datasets/visits/releases", "/api/datasets/visits/jobs"):
        told = Client(served).get(path)
        assert (told.status_code, told.json()["error"]) == (503, "SourceError")
        assert SECRET not in told.text
    asked = {"outputs": ["count"], "epsilon": "0.1", "release": "one"}
    assert Client(served).post("/api/datasets/visits/release", json=asked).status_code == 503
    assert Client(served).post("/api/datasets/people/release", json=asked).status_code == 200
    assert Client(served).get("/api/datasets/nowhere").status_code == 404


@pytest.mark.parametrize(
    ("problem", "failing"), [(GONE, {("visits", "source")}), (LedgerError("down"), {("visits", "ledger")})]
)
def test_health_names_what_is_away(settings, problem, failing):
    found = Health(settings.service(opening(problem), patient=settings.tables)).look()
    assert {key for key, passed in found.items() if not passed} == failing
    assert found["people", "source"]


def test_a_guard_that_disagrees_is_not_taken_for_a_ledger_that_is_down(settings, monkeypatch):
    whole = Ledger.check_guard

    def check(self):
        if "visits" in str(self.kept_at):
            raise LedgerError("not the one last seen")
        whole(self)

    monkeypatch.setattr(Ledger, "check_guard", check)
    found = Health(settings.service(opening(), patient=settings.tables)).look()
    assert {key for key, passed in found.items() if not passed} == {("visits", "guard")}
    assert found["visits", "ledger"]  # so that the alert of a guard fires, and not that of a ledger


@pytest.mark.parametrize("problem", [InputError("type", "float", "one of them"), MissingLedgerError("none")])
def test_a_mistake_is_refused_and_not_waited_for(settings, problem):
    with pytest.raises(type(problem)):
        settings.service(opening(problem), patient=settings.tables)


def test_what_was_not_served_before_must_be_in_reach(settings):
    with pytest.raises(SourceError):
        settings.service(opening(GONE), patient=settings.tables[:1])
    with pytest.raises(SourceError):
        settings.service(opening(GONE))


def test_rules_and_names_about_what_is_away_are_taken(settings, tmp_path):
    rules = (Rule("analyst", group="stats", allotment="elsewhere", datasets=("visits",)),)
    identity = Identity(rules, proxy=Proxy(("127.0.0.1",)))
    known = replace(settings, identity=identity)
    assert list(known.service(opening(GONE), patient=settings.tables).away) == ["visits"]
    with pytest.raises(InputError, match="elsewhere"):
        known.service(opening(), patient=settings.tables)
    (tmp_path / "visits.toml").write_text(SCHEMA.format(name="people"))
    with pytest.raises(InputError, match="different names"):
        settings.service(opening(GONE), patient=settings.tables)


def test_it_is_tried_again_until_it_is_there(settings, monkeypatch):
    monkeypatch.setattr(away, "_PAUSE", 0.01)
    tried, found, noted = [], threading.Event(), []

    def attempt():
        tried.append(1)
        if len(tried) < 3:
            raise GONE

    watch({"visits": Away("source", GONE, attempt)}, lambda event, **values: noted.append((event, values)), found.set)
    assert found.wait(60)
    assert noted == [("back", {"dataset": "visits"})]
    assert len(tried) == 3
    service = settings.service(opening(GONE), patient=settings.tables)
    with pytest.raises(SourceError):
        service.away["visits"].attempt()


@pytest.fixture
def half(settings, monkeypatch):
    """A server of two datasets, the ledger of one of which stops answering."""
    service = settings.service(opening())
    ledger = service.curators["visits"].ledger

    def down(*words, **how):
        raise LedgerError(SECRET)

    for verb in ("standing", "account", "records", "find"):
        monkeypatch.setattr(type(ledger), verb, _of(ledger, down, getattr(type(ledger), verb)))
    return service


def _of(ledger, down, whole):
    """The verb of one ledger replaced, and of all others left as it is."""
    return lambda self, *words, **how: (down if self is ledger else whole)(*((self, *words)), **how)


def test_a_ledger_that_stops_answering_leaves_the_other_datasets_alone(half):
    told = Client(application(half)).get("/api/datasets")
    assert told.status_code == 200
    assert [(one["dataset"], "problem" in one) for one in told.json()] == [("people", False), ("visits", True)]
    assert SECRET not in told.text
    assert Client(application(half)).get("/api/datasets/visits").json()["error"] == "LedgerError"


def test_pages_say_which_dataset_cannot_be_used(half):
    pytest.importorskip("jinja2")
    from discreet.apps.web.site import application as with_pages

    browser = Client(with_pages(half), {"accept": "text/html"})
    home = browser.get("/")
    assert home.status_code == 200
    assert 'href="/d/people/ask"' in home.text
    assert "The ledger cannot be used now." in home.text
    assert browser.get("/d/people").status_code == 200
    for path in ("/d/visits", "/d/visits/ask", "/d/visits/releases"):
        page = browser.get(path)
        assert (path, page.status_code) == (path, 503)
        assert "The ledger cannot be used now." in page.text
        assert SECRET not in page.text


def test_a_client_is_told_that_a_dataset_is_away_and_not_that_it_is_nowhere(settings):
    pytest.importorskip("uvicorn")
    import discreet
    from servers import serving

    service = settings.service(opening(GONE), patient=settings.tables)
    with serving(application(service)) as url, pytest.raises(SourceError):
        discreet.connect(url, dataset="visits").describe()
