"""A survey for the tests of its page and server: one question of each kind, and one for each law the page carries."""

import asyncio
import json
import threading

import pytest

from discreet.apps.survey.server import application
from discreet.apps.survey.store import open_reports
from discreet.local.questionnaire import Questionnaire
from servers import free_port

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
FRUIT = ["Apple", "Pear", "Plum", "Fig", "Quince"]


def survey(**changes):
    questions = [
        {"name": "pills", "text": "Do you take pills to sleep?", "kind": "binary", "epsilon": 1},
        {"name": "fruit", "text": "Which fruit?", "kind": "choice", "options": FRUIT, "epsilon": 2, "mechanism": "grr"},
        {"name": "marks", "text": "Which now?", "kind": "choice", "options": FRUIT, "epsilon": 1, "mechanism": "oue"},
        {"name": "sets", "text": "And next?", "kind": "choice", "options": FRUIT, "epsilon": 1, "mechanism": "subset"},
        {
            "name": "hours",
            "text": "How long?",
            "kind": "number",
            "low": -1,
            "high": 4,
            "step": "0.5",
            "epsilon": 1,
            "unit": "hours",
            "mechanism": "duchi",
        },
        {
            "name": "late",
            "text": "How late?",
            "kind": "number",
            "low": 0,
            "high": 3,
            "step": 1,
            "epsilon": 3,
            "mechanism": "piecewise",
        },
    ]
    return Questionnaire.from_dict(
        {"id": "night", "title": "Night & <day>", "intro": "Sleep well.", "questions": questions, **changes}
    )


def report(of, number, answers=None):
    """A report as the page sends it; `number` makes its token."""
    made = of.privatize({**{q.name: q.example(0) for q in of.questions}, **(answers or {})})
    return {"survey": of.digest, "token": f"{number:032x}", "answers": made}


def keep(reports, of, numbers):
    """Reports of people of whom a third say yes, written to a store."""
    for number in numbers:
        answers = {"pills": "Yes" if number % 3 == 0 else "No"}
        reports.keep(f"{number:032x}", of.digest, of.written(report(of, 0, answers)["answers"]))


class Client:
    """Speaks to an application in memory, one request at a time."""

    def __init__(self, application):
        self.application = application

    def request(self, method, path, **more):
        import httpx

        async def asked():
            transport = httpx.ASGITransport(self.application)
            async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
                return await client.request(method, path, **more)

        return asyncio.run(asked())

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, **more):
        return self.request("POST", path, **more)


class Site:
    """The survey's server in a thread, which can go away and come back at the same address."""

    def __init__(self, of, path, **how):
        self.survey, self.how = of, how
        self.reports = open_reports(str(path), of.series)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"

    def start(self):
        uvicorn = pytest.importorskip("uvicorn", reason="needs discreet[server]")
        app = application(self.survey, self.reports, **self.how)
        quiet = {"log_config": None, "log_level": "warning", "access_log": False}
        config = uvicorn.Config(app, host="127.0.0.1", port=self.port, ws="none", lifespan="off", **quiet)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            self.thread.join(0.01)

    def stop(self):
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(10)

    def kept(self):
        return [(token, json.loads(answers)) for token, _, answers in self.reports.rows()]
