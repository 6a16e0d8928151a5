"""Requests made up from the description of the API: whatever it lets anyone send, the server keeps its word."""

import io
import random
import time
import zipfile

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
schemathesis = pytest.importorskip("schemathesis")
from fastapi import Depends, FastAPI  # noqa: E402
from fastapi.responses import JSONResponse  # noqa: E402
from fastapi.security import HTTPBearer  # noqa: E402
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import positive_data_acceptance  # noqa: E402

from discreet.apps.server.service import Service  # noqa: E402
from discreet.apps.server.tokens import Tokens  # noqa: E402
from discreet.apps.web.site import application  # noqa: E402

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
SECRET = "Xyzzy-7431"
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", SECRET]})
CAP = 4
EXAMPLES = {"custodian": 4, "analyst": 3, "viewer": 2, None: 1}
GOOD = {  # requests that are answered, by the path before /plan and /release: made-up ones seldom get that far
    "people": [
        {"outputs": ["count", "mean(age)"], "by": ["county"], "epsilon": "1/8"},
        {"sql": "SELECT county, COUNT(*) AS n FROM people GROUP BY county", "within": 25},
        {"top": "county", "k": 1, "share": "1/50"},
        {"outputs": ["median(age)"], "where": "age >= 18", "epsilon": 100},
    ],
    "tree": [{"levels": ["county"], "epsilon": "1/8"}, {"levels": ["county"], "by": ["age/60"], "epsilon": 100}],
    "synth": [{"epsilon": "1/8"}, {"workload": [["county", "age"]], "epsilon": 100}],
    "relations": [{"parent": ["county"], "epsilon": "1/8"}],  # refused: every row is another person
    "train": [{"target": "county", "epsilon": 1, "steps": 1, "examples": 3, "lot": 1}],
    "search": [{"target": "county", "epsilon": 1, "steps": 1, "examples": 3, "settings": [{"rate": 1}]}],
    "choose": [{"score": "county", "epsilon": "1/8"}, {"score": "age * option", "options": [1, "2"], "epsilon": 100}],
    "batch": [{"questions": {"n": "SELECT COUNT(*) AS n FROM people"}, "epsilon": "1/8"}],
    "stream": [{"query": "SELECT COUNT(*) AS n FROM people", "period": "age/60", "epsilon": "1/8"}],
    "detail": [{"levels": ["county"], "groups": {"old": "age > 50"}, "details": {"age": ["age/60"]}, "epsilon": "1/8"}],
    "census": [
        {
            "levels": ["county"],
            "tables": {"ages": {"counts": "persons", "by": ["age/60"]}},
            "household": "age",
            "epsilon": "1/8",
        }
    ],
    "flows": [{"origin": "county", "destination": "age/60", "epsilon": "1/8"}],
    "loads": [{"cost": "measured", "epsilon": "1/8"}],  # refused: people are no grid
    "hidden": [{"highest": 100, "epsilon": "1/8"}],  # and no private numbers
    "commute": [{"origin": "county", "destination": "age/60", "coordinates": {"Ash": [0, 0]}, "epsilon": "1/8"}],
}
WORDS = {  # and what someone who knows the data would say
    "name": ["people"],
    "identity": ["one", "tree", "none"],
    "release": ["one", "tree", "synth", "new", None],
    "part": ["", "none"],
    "epsilon": ["1/10", 0.25, "nan", 1e-9, 1e9, None],
    "allotment": [None, "questions"],
    "noise": ["auto", "laplace", "gaussian", "loud"],
    "where": ["age >= 18", "county = 'Ash'", "", None],
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    curator = discreet.open(TABLE, SCHEMA, ledger=folder / "b.db", budget=Budget(CAP), create=True)
    curator.table().agg(n=discreet.count()).plan(epsilon="1/8").release(release="one")
    curator.tree(["county"]).plan(epsilon="1/8").release(release="tree")
    curator.synthesize().plan(epsilon="1/8").release(release="synth")
    return Service({"people": curator}, Tokens(folder / "tokens.db")).within(rate=1e9, burst=1e9, pace=0)


def known(operation):
    """Requests to a path that are answered, or refused for a reason that is not their form."""
    names = [one for one in operation.path.split("/") if one.startswith("{")]
    *_, kind, last = operation.path.replace("{name}", "people").split("/")
    if operation.method == "post":
        return [operation.Case(path_parameters={"name": "people"}, body=dict(body)) for body in GOOD.get(kind, [])]
    if "{name}" not in names:
        return [operation.Case()]
    level = {"level": "county"} if last == "table" else {}
    ids = [{names[-1][1:-1]: one} for one in ("one", "tree", "synth")] if len(names) > 1 else [{}]
    return [operation.Case(path_parameters={"name": "people", **one}, query=level) for one in ids]


def plausible(case, dice):
    """A request that may well be answered: a good one with something of the case in it, or the case in our words."""
    case.path_parameters = case.path_parameters or {}
    *_, kind, last = case.operation.path.replace("{name}", "people").split("/")
    if isinstance(case.body, dict) and last in ("plan", "release") and dice.random() < 0.7:
        made = list(case.body.items())
        case.body = {**dice.choice(GOOD[kind]), **dict(dice.sample(made, min(len(made), dice.choice([0, 0, 1]))))}
    for told in (case.path_parameters, case.query, case.body):
        if isinstance(told, dict):
            for name in sorted(told.keys() & WORDS.keys()):
                if name == "name" or (last not in ("plan", "release") and dice.random() < 0.8) or dice.random() < 0.2:
                    told[name] = dice.choice(WORDS[name])
    return case


def problems(app, headers, watched, examples):
    """What is wrong with the answers to requests made up for every path of an application: in words, by path.

    `positive_data_acceptance` is left out: a description cannot say which columns a table has, so a request that fits
    it may still be refused. Everything else that schemathesis knows to check is checked.
    """
    found = {}
    for operation in (
        one.ok() for one in schemathesis.openapi.from_asgi("/api/openapi.json", app).get_all_operations()
    ):
        good = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        bad = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
        likely = st.builds(plausible, good, st.integers(0, 10**6).map(random.Random))

        def checked(case):
            answer = case.call(headers=headers)
            try:
                case.validate_response(answer, headers=headers, excluded_checks=[positive_data_acceptance])
                watched(case, answer)
            except (AssertionError, schemathesis.errors.FailureGroup) as problem:
                first = getattr(problem, "exceptions", [problem])[0]
                found.setdefault(f"{case.operation.label}: {answer.status_code} {first!s:.200}", str(problem))

        for case in known(operation):
            checked(case)

        @settings(
            max_examples=examples,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(likely | bad)
        def asked(case):
            checked(case)

        asked()
    return found


def content(answer):
    """What an answer holds; of a ZIP file, all that is in it."""
    if not zipfile.is_zipfile(io.BytesIO(answer.content)):
        return answer.content
    packed = zipfile.ZipFile(io.BytesIO(answer.content))
    return b"".join(packed.read(name) for name in packed.namelist())


@pytest.mark.parametrize("role", EXAMPLES)
def test_every_path_does_what_its_description_says(service, role):
    headers = {} if role is None else {"authorization": f"Bearer {service.tokens.create(role, role)}"}
    curator, statuses = service.curators["people"], set()
    (before,) = curator.standing()

    def watched(case, answer):
        statuses.add(answer.status_code)
        assert SECRET.encode() not in content(answer), "a value of the data is told"
        assert role is not None or answer.status_code >= 400, "someone without a token is served"

    found = problems(application(service), headers, watched, EXAMPLES[role])
    end = time.monotonic() + 30
    while any(job.state in ("waiting", "running") for job in service.listed("people")) and time.monotonic() < end:
        time.sleep(0.05)
    assert not found, "\n".join(found)
    (after,) = curator.standing()
    assert after.spent.amount <= CAP
    assert curator.ledger.verify().ok
    assert (after.spent.amount > before.spent.amount) == (role in ("custodian", "analyst"))
    wanted = {"custodian": {200, 202, 404, 409, 422}, "analyst": {200, 202, 403, 404, 422}, "viewer": {200, 403, 404}}
    assert statuses >= wanted.get(role, {401})  # it was not all refused at the door


def test_an_api_that_breaks_its_word_is_found():
    broken = FastAPI(openapi_url="/api/openapi.json")

    class Pair(BaseModel):
        left: int
        right: int

    @broken.get("/fails")
    def fails():
        return JSONResponse({"error": "oh"}, 500)

    @broken.get("/teapot")
    def teapot():
        return JSONResponse({}, 418)

    @broken.get("/half", response_model=Pair)
    def half():
        return JSONResponse({"left": 1})

    @broken.get("/open", dependencies=[Depends(HTTPBearer(auto_error=False))])
    def open_to_all():
        return {}

    @broken.get("/tells/{name}")
    def tells(name: str):
        return {"name": SECRET}

    def watched(case, answer):
        assert SECRET not in answer.text, "a value of the data is told"

    found = problems(broken, {"authorization": "Bearer x"}, watched, 3)
    assert {one.split(":")[0].split("/")[1] for one in found} == {"fails", "teapot", "half", "open", "tells"}
