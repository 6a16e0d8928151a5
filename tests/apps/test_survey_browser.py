"""A survey in a real browser: a phone, no network, two tabs, keys alone; and what chance sends, against the claim."""

import json
import re
import threading
from importlib.resources import files

import numpy as np
import pytest
from small_survey import FRUIT, survey

from chance import LEVEL, fits
from discreet.apps.survey.server import application
from discreet.apps.survey.store import open_reports
from discreet.audit.audit import audit
from discreet.core.loss import Pure
from discreet.local.questionnaire.law import law_to_page
from servers import free_port

pytest.importorskip("fastapi", reason="needs discreet[server]")
uvicorn = pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytestmark = pytest.mark.xdist_group("chromium")

SURVEY = survey()
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
OTHER = {"service_workers": "block"}  # or the page's own worker would fetch what the test wants to replace
RUNS = 25_000


class Site:
    """The survey's server in a thread, which can go away and come back at the same address."""

    def __init__(self, path):
        self.reports = open_reports(str(path), SURVEY.digest)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"

    def start(self):
        app = application(SURVEY, self.reports)
        config = uvicorn.Config(
            app, host="127.0.0.1", port=self.port, log_level="warning", ws="none", lifespan="off", access_log=False
        )
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


@pytest.fixture
def site(tmp_path):
    here = Site(tmp_path / "r.db")
    here.start()
    yield here
    here.stop()
    here.reports.close()


@pytest.fixture
def visit(browser, site):
    """Open the page; at the end, it must have said nothing on the console and asked nobody but its own server."""
    contexts, said, asked = [], [], []

    def opened(context=None, path="", **settings):
        if context is None:
            context = browser.new_context(**{**PHONE, **settings})
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # the machine may be busy
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request))
        page.goto(site.url + path)
        return page

    opened.said, opened.asked = said, asked
    yield opened
    for context in contexts:
        context.close()
    # What the network, the server or the test refuses is not the page's fault.
    others = ("Failed to load resource", "Service Worker registration blocked")
    assert [text for text in said if not text.startswith(others)] == []
    assert {request.url.startswith(site.url) for request in asked} == {True}


def answer(page, pills="Yes", fruit="Pear"):
    group = page.get_by_role("group", name="Do you take pills to sleep?")
    group.get_by_role("radio", name=pills, exact=True).check()
    for text in ("Which fruit?", "Which now?", "And next?"):
        page.get_by_role("group", name=text).get_by_role("radio", name=fruit, exact=True).check()
    page.get_by_role("textbox", name="How long?").fill("2.5")
    page.get_by_role("textbox", name="How late?").fill(" +3,0")


def said(page, text):
    from playwright.sync_api import expect

    expect(page.get_by_role("status")).to_contain_text(text, timeout=120_000)


def memory(page):
    return json.loads(page.evaluate(f"localStorage.getItem('discreet.survey.{SURVEY.digest}')"))


def test_on_a_phone_what_is_shown_is_sent_and_sending_again_changes_nothing(visit, site):
    page = visit()
    assert page.title() == "Night & <day>"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing to scroll sideways
    for target in page.locator(".option, button").all():
        assert target.bounding_box() is None or target.bounding_box()["height"] >= 44  # room for a thumb
    answer(page)
    page.get_by_role("button", name="Randomise my answers").tap()
    page.get_by_role("heading", name="What will be sent").wait_for()
    assert page.evaluate("document.activeElement.id") == "preview-title"
    assert site.kept() == []  # nothing has left the device
    kept = memory(page)
    assert set(kept) == {"token", "answers", "state"}
    shown = page.locator("#reports .sent").all_inner_texts()
    marked = [[FRUIT[i] for i, mark in enumerate(marks) if mark == "1"] for marks in kept["answers"][2:4]]
    assert shown == [
        ["Yes", "No"][kept["answers"][0]],
        FRUIT[kept["answers"][1]],
        *("Marked: " + ", ".join(fruits) if fruits else "Nothing is marked" for fruits in marked),
        *(question.report_labels()[kept["answers"][4 + i]] for i, question in enumerate(SURVEY.questions[4:])),
    ]
    revealed = page.locator("#reports li").first.inner_text()
    assert "someone who thought 2% before will think at most 5.3% after" in revealed
    page.get_by_text("Exactly what is sent").tap()
    exact = page.locator("#raw").inner_text()
    page.get_by_role("button", name="Send this").tap()
    said(page, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]
    page.reload()
    page.get_by_role("heading", name="What was sent").wait_for()
    assert page.locator("input").count() == 0  # there is no way to answer afresh
    assert page.locator("#reports .sent").all_inner_texts() == shown
    page.get_by_role("button", name="Send the same report again").tap()
    said(page, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]
    bodies = [request.post_data for request in visit.asked if request.method == "POST"]
    assert bodies == [exact, exact]
    assert json.loads(exact) == {"survey": SURVEY.digest, "token": kept["token"], "answers": kept["answers"]}
    assert "cookie" not in {name for request in visit.asked for name in request.headers}


def test_the_true_answers_are_nowhere_once_chance_has_decided(visit):
    page = visit()
    answer(page, pills="No", fruit="Quince")
    page.get_by_role("button", name="Randomise my answers").click()
    page.get_by_role("heading", name="What will be sent").wait_for()
    assert page.locator("input").count() == 0
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])")
    assert json.loads(stored)[0].keys() == {f"discreet.survey.{SURVEY.digest}"}
    assert json.loads(stored)[1:] == [{}, "", None]
    page.go_back()
    page.go_forward()
    assert page.locator("input").count() == 0


def test_without_a_network_the_report_waits_and_is_sent_later(visit, site):
    page = visit()
    answer(page)
    page.context.set_offline(True)
    page.get_by_role("button", name="Randomise my answers").click()
    page.get_by_role("button", name="Send this").click()
    said(page, "Not sent yet")
    assert site.kept() == []
    kept = memory(page)
    assert kept["state"] == "waiting"
    page.context.set_offline(False)
    said(page, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]


def test_the_page_itself_opens_without_a_network(visit, site):
    page = visit()
    page.evaluate("() => navigator.serviceWorker.ready.then(() => 1)")
    site.stop()
    page.reload()
    answer(page)
    page.get_by_role("button", name="Randomise my answers").click()
    page.get_by_role("button", name="Send this").click()
    said(page, "Not sent yet")
    kept = memory(page)
    page.close()
    site.start()
    later = visit(page.context)  # the person comes back, and need not press anything
    said(later, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]


def test_two_tabs_at_the_same_moment_make_one_report(visit, site):
    first = visit()
    second = visit(first.context)
    answer(first, pills="Yes", fruit="Apple")
    answer(second, pills="No", fruit="Quince")
    click = "document.getElementById('make').click()"
    first.evaluate(f"setTimeout(() => {click}, 200)")
    second.evaluate(f"setTimeout(() => {click}, 200)")
    for page in (first, second):
        page.locator("#preview").wait_for()
        page.locator("#send").click()
        said(page, "Sent. Thank you.")
    assert len(site.kept()) == 1
    assert first.locator("#raw").text_content() == second.locator("#raw").text_content()


def test_keys_and_a_screen_reader_are_enough(visit, site):
    page = visit(has_touch=False, is_mobile=False)
    page.keyboard.press("Tab")
    for question in SURVEY.questions:
        if question.grid is None:
            page.keyboard.press("Space")
            page.keyboard.press("ArrowDown")
        else:
            page.keyboard.type(question.grid.text(1))
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "make"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What will be sent").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "send"
    page.keyboard.press("Enter")
    said(page, "Sent. Thank you.")
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    assert len(site.kept()) == 1


def test_a_question_without_an_answer_is_named_and_nothing_is_decided(visit, site):
    page = visit()
    page.get_by_role("button", name="Randomise my answers").click()
    assert page.get_by_role("alert").inner_text() == "Please choose an answer to: Do you take pills to sleep?"
    assert page.evaluate("document.activeElement.name") == "q0"
    assert page.evaluate("localStorage.length") == 0
    assert site.kept() == []


def test_a_number_off_the_grid_is_named_and_one_on_it_is_found_exactly(visit, site):
    page = visit()
    answer(page)
    box = page.get_by_role("textbox", name="How long?")
    for wrong in ("", "x", "5", "-1.5", "0.25", "1e0", "2.50000000000000000000001", "--1", "1.", "0x1"):
        box.fill(wrong)
        page.get_by_role("button", name="Randomise my answers").click()
        if wrong == "1.":
            break
        told = "Please give a number from -1 to 4 in steps of 0.5 for: How long?"
        assert page.get_by_role("alert").inner_text() == told
        assert page.evaluate("document.activeElement.id") == "q4"
    page.get_by_role("heading", name="What will be sent").wait_for()
    grid = {"low": ["-1", "1"], "by": ["1", "2"], "points": 11}
    texts = ["-1", "-0.5", "0", "-0", "4", "4.000", "4.5", "-1.0", "\u22120.5", "0,5", "9" * 31]
    each = "async ([url, all, grid]) => { const { point } = await import(url); return all.map((x) => point(x, grid)); }"
    places = page.evaluate(each, [site.url + "number.js", texts, grid])
    assert places == [0, 1, 2, 2, 10, 10, None, 0, 1, 3, None]


def test_a_browser_that_cannot_remember_says_so(browser, site, visit):
    context = browser.new_context(**PHONE)
    context.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    page = visit(context)
    assert "Answer once only" in page.locator("#forgetful").inner_text()
    answer(page)
    page.get_by_role("button", name="Randomise my answers").click()
    page.get_by_role("button", name="Send this").click()
    said(page, "Sent. Thank you.")
    page.get_by_role("button", name="Send the same report again").click()
    said(page, "Sent. Thank you.")
    assert len(site.kept()) == 1
    context.close()


def test_what_is_refused_is_said_and_may_be_tried_again_as_it_is(visit, site):
    page = visit(**OTHER)
    answer(page)
    page.get_by_role("button", name="Randomise my answers").click()
    page.get_by_role("heading", name="What will be sent").wait_for()
    kept = memory(page)
    page.route("**/report", lambda route: route.fulfill(status=403, body='{"error":"refused"}'))
    page.get_by_role("button", name="Send this").click()
    said(page, "does not take this report")
    page.reload()  # by itself the page does not try again, nor ask anew
    said(page, "does not take this report")
    assert page.locator("input").count() == 0
    again = page.get_by_role("button", name="Try the same report again")
    again.click()
    said(page, "does not take this report")
    assert site.kept() == []
    page.unroute("**/report")
    again.click()
    said(page, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]
    bodies = [request.post_data for request in visit.asked if request.method == "POST"]
    assert len(bodies) == 3
    assert len(set(bodies)) == 1


# --- chance

DRAW = """async ([module, law, value, runs]) => {
  const { randomise } = await import(module);
  const seen = {};
  for (let i = 0; i < runs; i++) { const r = randomise(law, value); seen[r] = (seen[r] ?? 0) + 1; }
  return seen;
}"""
SOURCE = (files("discreet.apps.survey") / "randomise.js").read_text("utf-8")


def drawn(page, module, law, value, runs=RUNS):
    """How often each report came out of the page's own function."""
    return page.evaluate(DRAW, [module, law_to_page(law), value, runs])


def agrees(seen, law, value):
    """Whether counts of reports agree with the law, by a test that errs once in 2e12."""
    listed = [str(report) for report in law.reports()]
    if set(seen) - set(listed):
        return False
    samples = np.repeat(np.arange(len(listed)), [seen.get(report, 0) for report in listed])
    chances = np.array([float(law.probability(report, value)) for report in law.reports()])
    return fits(samples, lambda numbers: np.append(chances, np.zeros(numbers.max() + 1))[numbers])


@pytest.mark.statistical
@pytest.mark.parametrize("question", SURVEY.questions, ids=lambda question: question.name)
def test_what_the_page_sends_follows_the_claimed_law(visit, site, question):
    page = visit()
    for value in (0, question.law.values - 1):
        assert agrees(drawn(page, site.url + "randomise.js", question.law, value), question.law, value)


LIST = """async ([module, law, value, runs]) => {
  const { randomise } = await import(module);
  return Array.from({ length: runs }, () => randomise(law, value));
}"""


def audited(page, module, question):
    """The page's own function, attacked by the auditor on two answers as far apart as they can be."""

    def side(value):
        return lambda runs: page.evaluate(LIST, [module, law_to_page(question.law), value, runs])

    pair = (side(0), side(question.law.values - 1))
    return audit(pair, Pure(question.epsilon), runs=RUNS, confidence=1 - LEVEL, name=question.name)


@pytest.mark.statistical
@pytest.mark.parametrize("question", SURVEY.questions, ids=lambda question: question.name)
def test_the_auditor_cannot_refute_the_page(visit, site, question):
    found = audited(visit(), site.url + "randomise.js", question)
    assert not found.violated
    assert found.found > 0.5 * float(question.epsilon)  # the attack is a good one


@pytest.mark.statistical
def test_the_auditor_refutes_a_page_that_tells_the_truth_too_often(visit, site):
    page = visit(**OTHER)
    cheat = SOURCE.replace("< BigInt(share)", "< BigInt(share) + BigInt(total) / 16n")
    page.route("**/randomise.js?*", lambda route: route.fulfill(body=cheat, content_type="text/javascript"))
    found = audited(page, site.url + "randomise.js?cheat", SURVEY.questions[0])
    assert found.violated
    assert found.found > float(SURVEY.questions[0].epsilon)


MUTANTS = {
    "a remainder instead of another draw": ("if (value < bound) return value;", "return value % bound;"),
    "a coin that favours the truth": ("< BigInt(share)", "< BigInt(share) + BigInt(total) / 16n"),
    "a generator that is not uniform": (
        "crypto.getRandomValues(bytes);",
        "bytes.forEach((_, i) => { bytes[i] = 256 * Math.random() ** 1.2; });",
    ),
    "a bit that is always zero": ("value << 8n | BigInt(byte)", "value << 8n | BigInt(byte & 127)"),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", MUTANTS)
def test_a_page_that_cheats_is_found_out(visit, site, name):
    before, after = MUTANTS[name]
    assert SOURCE.count(before) == 1
    page = visit(**OTHER)
    cheat = SOURCE.replace(before, after)
    page.route("**/randomise.js?*", lambda route: route.fulfill(body=cheat, content_type="text/javascript"))
    module = site.url + "randomise.js?cheat"
    # One law that it breaks is enough; the last ones draw the most.
    assert any(not agrees(drawn(page, module, one.law, 1), one.law, 1) for one in reversed(SURVEY.questions))


def test_the_form_uses_that_very_function(visit, site):
    page = visit(**OTHER)
    broken = SOURCE.replace("if (happens(law.own, law.total)) return value;", "return 1 - value;")
    assert broken != SOURCE
    page.context.route("**/randomise.js", lambda route: route.fulfill(body=broken, content_type="text/javascript"))
    page.reload()
    answer(page, pills="Yes", fruit="Apple")
    page.get_by_role("button", name="Randomise my answers").click()
    assert page.locator("#reports .sent").all_inner_texts()[:2] == ["No", "Pear"]


def test_the_scripts_know_no_other_chance_and_no_float():
    for name in ("page.js", "memory.js", "number.js", "randomise.js", "sw.js"):
        text = (files("discreet.apps.survey") / name).read_text("utf-8")
        assert "Math.random" not in text
        assert "Date" not in text
        assert not re.search(r"https?:", text)
    assert not re.search(r"\d\.\d|parseFloat|Math\.(?!ceil)", SOURCE)
