"""The server of a survey: what it takes, what it refuses and always in the same words, what it never writes down."""

import json
import logging
import sqlite3

import pytest
from small_survey import Client, keep, report, survey

from discreet.apps.survey.results import results_of
from discreet.apps.survey.server import HEADERS, Throttle, application, is_loopback

pytest.importorskip("fastapi", reason="needs discreet[server]")

pytest.importorskip("httpx", reason="needs httpx")

SURVEY = survey()

HOME = {"Origin": "http://testserver"}


def sent(client, body, **headers):
    return client.post("/report", json=body, headers={**HOME, **headers})


def test_a_report_is_kept_once_and_the_same_one_again_changes_nothing(client, reports):
    mine = report(SURVEY, 1)
    for _ in range(3):
        answer = sent(client, mine)
        assert (answer.status_code, answer.json()) == (200, {"kept": True})
    assert [row[0] for row in reports.rows()] == [mine["token"]]
    other = {**mine, "answers": [1 - mine["answers"][0], *mine["answers"][1:]]}
    refusal = sent(client, other)  # one token, one report: the first stays
    assert (refusal.status_code, refusal.content) == (409, b'{"error":"refused"}')
    assert [json.loads(row[2]) for row in reports.rows()] == [mine["answers"]]


GOOD = report(SURVEY, 7)


def with_answer(place, value):
    return {**GOOD, "answers": [value if i == place else each for i, each in enumerate(GOOD["answers"])]}


MALFORMED = [
    [],
    "text",
    None,
    {},
    {**GOOD, "more": 1},
    {key: value for key, value in GOOD.items() if key != "token"},
    {**GOOD, "survey": survey(id="other").digest},
    {**GOOD, "token": "A" * 32},
    {**GOOD, "token": "a" * 31},
    {**GOOD, "token": 5},
    {**GOOD, "answers": []},
    {**GOOD, "answers": {"pills": 0}},
    {**GOOD, "answers": GOOD["answers"][:-1]},
    {**GOOD, "answers": [*GOOD["answers"], 0]},
    with_answer(0, 2),
    with_answer(0, -1),
    with_answer(0, True),
    with_answer(0, 0.0),
    with_answer(0, "0"),
    with_answer(0, None),
    with_answer(2, "0101"),
    with_answer(2, "01012"),
    with_answer(2, 5),
]


def test_what_is_malformed_is_refused_in_the_same_words(client, reports):
    bodies = [json.dumps(body).encode() for body in MALFORMED]
    bodies += [b"", b"{", b"\xff\xfe", b"[" * 3000, json.dumps(GOOD).encode()[:-4], b'{"survey": NaN}']
    for body in bodies:
        answer = client.post("/report", content=body, headers={**HOME, "Content-Type": "application/json"})
        assert (answer.status_code, answer.content) == (400, b'{"error":"refused"}'), body
    assert reports.tally() == []
    assert sent(client, GOOD).status_code == 200


def test_only_json_from_its_own_page_is_taken(client, reports):
    text = json.dumps(GOOD)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client.post("/report", content=text, headers={**HOME, "Content-Type": kind})
        assert (answer.status_code, answer.content) == (403, b'{"error":"refused"}')
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {**HOME, "Sec-Fetch-Site": "cross-site"},
        {**HOME, "Sec-Fetch-Site": "same-site"},
    ):
        assert client.post("/report", json=GOOD, headers=headers).status_code == 403
    assert client.post("/report", json=GOOD).status_code == 403  # no Origin: not a browser's page
    assert reports.tally() == []


def test_behind_a_proxy_the_address_people_see_counts(reports):
    client = Client(application(SURVEY, reports, origin="https://survey.example.org"))
    assert client.post("/report", json=GOOD, headers=HOME).status_code == 403
    assert client.post("/report", json=GOOD, headers={"Origin": "https://survey.example.org"}).status_code == 200


def test_a_huge_body_is_cut_short(client, reports):
    answer = sent(client, {**GOOD, "answers": ["0" * 200_000]})
    assert (answer.status_code, answer.content) == (413, b'{"error":"refused"}')
    read = []

    async def endless():
        for _ in range(10_000):
            read.append(1)
            yield b" " * 1024

    answer = client.post("/report", content=endless(), headers={**HOME, "Content-Type": "application/json"})
    assert answer.status_code == 413
    assert len(read) < 100
    assert reports.tally() == []


def test_every_answer_carries_the_headers_that_shut_others_out(client):
    for path in ("/", "/page.js", "/sw.js", "/style.css", "/results", "/nothing", "/report"):
        answer = client.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
        assert answer.headers["cache-control"] in ("no-cache", "no-store")
        assert "set-cookie" not in answer.headers
    assert "frame-ancestors 'none'" in HEADERS["Content-Security-Policy"]
    for path in ("/nothing", "/docs", "/openapi.json", "/../store.py", "/survey.toml", "/<script>"):
        answer = client.get(path)
        assert (answer.status_code, answer.content) == (404, b'{"error":"refused"}')
    assert client.get("/report").status_code == 405


def test_too_many_at_once_wait_and_no_address_is_needed_for_it(reports):
    now = [0.0]
    throttle = Throttle(rate=2, burst=3, clock=lambda: now[0])
    client = Client(application(SURVEY, reports, throttle=throttle))
    codes = [sent(client, report(SURVEY, number)).status_code for number in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    now[0] = 1.0
    codes = [sent(client, report(SURVEY, number)).status_code for number in range(10, 13)]
    assert codes == [200, 200, 429]
    now[0] = 100.0
    assert [throttle.allows() for _ in range(4)] == [True, True, True, False]


def test_no_address_and_no_time_is_written_anywhere(client, reports, tmp_path, caplog):
    caplog.set_level(logging.DEBUG, logger="discreet")
    for number in range(3):
        assert sent(client, report(SURVEY, number), **{"X-Forwarded-For": "203.0.113.9"}).status_code == 200
    sent(client, [], **{"X-Forwarded-For": "203.0.113.9"})
    assert [one for one in caplog.records if one.name.startswith("discreet")] == []
    reports.close()
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        assert b"203.0.113.9" not in content
        assert b"testclient" not in content


def test_a_store_that_is_away_keeps_nothing_and_says_only_that(client, reports, caplog):
    reports._connection.close()
    answer = sent(client, GOOD)
    assert (answer.status_code, answer.content) == (503, b'{"error":"refused"}')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "cannot be used now" in caplog.text
    assert GOOD["token"] not in caplog.text


def test_results_say_what_estimate_says(reports):
    keep(reports, SURVEY, range(120))
    client = Client(application(SURVEY, reports))
    shown = client.get("/results.json").json()
    assert shown == results_of(SURVEY, reports).to_dict()
    assert (shown["reports"], shown["public"]) == (120, True)
    page = client.get("/results").text
    for one in results_of(SURVEY, reports).estimates:
        for row in one.rows():
            for cell in row[1:]:
                assert f'<td class="number">{cell}</td>' in page
    assert page.count("<svg") == len(SURVEY.questions)
    assert "120 reports" in page
    hidden = Client(application(SURVEY, reports, show_results=False))
    assert hidden.get("/results").status_code == 404
    assert hidden.get("/results.json").status_code == 404


def test_below_the_declared_minimum_the_public_is_shown_nothing(reports):
    pages = set()
    for here in (range(0), range(1), range(99)):
        keep(reports, SURVEY, here)
        client = Client(application(SURVEY, reports))  # a fresh one: what was shown last is remembered for a moment
        told = client.get("/results.json").json()
        assert (told["reports"], told["public"], told["minimum"], told["questions"]) == (None, False, 100, [])
        pages.add(client.get("/results").text)
    (page,) = pages  # not even how many reports there are
    assert "Fewer than 100 reports have arrived" in page
    assert "<table" not in page
    assert "<svg" not in page
    keep(reports, SURVEY, [99])
    full = Client(application(SURVEY, reports))
    assert full.get("/results.json").json()["reports"] == 100
    assert full.get("/results").text.count("<svg") == len(SURVEY.questions)


def test_a_row_that_was_tampered_with_is_seen(client, reports, tmp_path):
    reports.keep("a" * 32, SURVEY.digest, SURVEY.written(GOOD["answers"]))
    with sqlite3.connect(tmp_path / "r.db") as file:
        file.execute("UPDATE discreet_report SET answers = '[9]'")
    file.close()
    answer = Client(application(SURVEY, reports)).get("/results")
    assert (answer.status_code, answer.content) == (503, b'{"error":"refused"}')


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_which_addresses_stay_on_this_machine(host, here):
    assert is_loopback(host) is here


def test_a_failure_nobody_thought_of_says_nothing_either(reports, caplog):
    class Broken:
        def keep(self, *_):
            raise ZeroDivisionError("secret")

    answer = sent(Client(application(SURVEY, Broken())), GOOD)
    assert (answer.status_code, answer.content) == (500, b'{"error":"refused"}')
    assert answer.headers["content-security-policy"]
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text
