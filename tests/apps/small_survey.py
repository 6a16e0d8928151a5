"""A survey for the tests of its page and server: one question of each kind, and one for each law the page carries."""

import asyncio

from discreet.local.questionnaire import Questionnaire

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
