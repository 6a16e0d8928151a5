"""A survey in a real browser: a phone, no network, two tabs, keys alone."""

import json
from importlib.resources import files
from math import gcd

import pytest
from small_survey import FRUIT, PHONE, Site, survey

from browser import screenshot
from discreet.apps.survey.blind import encode, message
from discreet.apps.survey.invitations import Invitations
from discreet.local.questionnaire import Questionnaire

pytest.importorskip("fastapi", reason="needs discreet[server]")

pytest.importorskip("uvicorn", reason="needs discreet[server]")

SURVEY = survey()

OTHER = {"service_workers": "block"}  # or the page's own worker would fetch what the test wants to replace


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


KEY = f"discreet.survey.{SURVEY.digest}"


def memory(page):
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')"))


def press(page):
    """Randomise and send, which is one button."""
    page.get_by_role("button", name="Randomise and send my answers").click()


def test_on_a_phone_one_button_sends_and_then_shows_what_was_sent(visit, site):
    page = visit()
    assert page.title() == "Night & <day>"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing to scroll sideways
    for target in page.locator(".option, button").all():
        assert target.bounding_box() is None or target.bounding_box()["height"] >= 44  # room for a thumb
    assert "once 100 reports have arrived" in page.locator("#published").inner_text()
    answer(page)
    screenshot(page, "survey-ask")
    page.get_by_role("button", name="Randomise and send my answers").tap()
    said(page, "Sent. Thank you.")
    page.get_by_role("heading", name="What was sent").wait_for()
    assert page.evaluate("document.activeElement.id") == "outcome-title"
    kept = memory(page)
    assert set(kept) == {"token", "answers", "state"}
    assert site.kept() == [(kept["token"], kept["answers"])]
    shown = page.locator("#reports .sent").all_inner_texts()
    marked = [[FRUIT[i] for i, mark in enumerate(marks) if mark == "1"] for marks in kept["answers"][2:4]]
    assert shown == [
        ["Yes", "No"][kept["answers"][0]],
        FRUIT[kept["answers"][1]],
        *("Marked: " + ", ".join(fruits) if fruits else "Nothing is marked" for fruits in marked),
        *(question.report_labels()[kept["answers"][4 + i]] for i, question in enumerate(SURVEY.questions[4:])),
    ]
    revealed = page.locator("#reports li").first.inner_text()
    assert "someone who thought 2% before this answer was sent will think at most 5.3% after" in revealed
    page.get_by_text("Exactly what was sent").tap()
    exact = page.locator("#raw").inner_text()
    screenshot(page, "survey-sent")
    page.reload()
    page.get_by_role("heading", name="What was sent").wait_for()
    assert page.locator("input").count() == 0  # there is no way to answer afresh
    assert page.locator("#reports .sent").all_inner_texts() == shown
    assert site.kept() == [(kept["token"], kept["answers"])]
    bodies = [request.post_data for request in visit.asked if request.method == "POST"]
    assert bodies == [exact]
    assert json.loads(exact) == {"survey": SURVEY.digest, "token": kept["token"], "answers": kept["answers"]}
    assert "cookie" not in {name for request in visit.asked for name in request.headers}


HELD = "() => { window.fetch = () => new Promise(() => {}); }"


def seen(page):
    """Everything that a person can read on the page, and whether the report is in the document at all."""
    return page.locator("body").inner_text(), page.locator("#reports li").count(), page.locator("#raw").text_content()


def shows_nothing(page, kept):
    text, reports, raw = seen(page)
    return reports == 0 and raw == "" and kept["token"] not in text


def test_nothing_is_shown_of_a_report_before_the_server_has_it(visit, site):
    page = visit(**OTHER)
    page.evaluate(HELD)  # the request is on its way for ever
    answer(page)
    press(page)
    page.get_by_role("heading", name="Sending").wait_for()
    kept = memory(page)
    assert kept["state"] == "waiting"  # stored before it was sent
    assert shows_nothing(page, kept)
    page.route("**/report", lambda route: route.abort())
    page.reload()
    said(page, "The server cannot be reached")
    assert shows_nothing(page, kept)
    screenshot(page, "survey-waiting")
    page.unroute("**/report")
    page.get_by_role("button", name="Try again now").click()
    said(page, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]
    assert not shows_nothing(page, kept)


def test_a_page_that_shows_a_report_before_it_is_sent_is_found_out(visit, site):
    source = (files("discreet.apps.survey") / "page.js").read_text("utf-8")
    guard = 'if (stage !== "sent") return;'
    assert source.count(guard) == 1
    page = visit(**OTHER)
    page.context.route(
        "**/page.js",
        lambda route: route.fulfill(body=source.replace(guard, ""), content_type="text/javascript"),
    )
    page.reload()
    page.evaluate(HELD)
    answer(page)
    press(page)
    page.get_by_role("heading", name="Sending").wait_for()
    assert not shows_nothing(page, memory(page))


def test_closing_the_page_after_the_button_was_pressed_takes_nothing_back(visit, site):
    page = visit(**OTHER)
    page.evaluate(HELD)
    answer(page)
    press(page)
    page.get_by_role("heading", name="Sending").wait_for()
    kept = memory(page)
    page.close()
    again = visit(page.context)
    said(again, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]


def test_an_answer_that_is_lost_on_the_way_back_makes_the_same_report_come_again(visit, site):
    page = visit(**OTHER)
    answer(page)
    lost = []

    def arrives_unheard(route):
        route.fetch()
        lost.append(1)
        route.abort()

    page.route("**/report", arrives_unheard)
    press(page)
    said(page, "The server cannot be reached")
    assert len(site.kept()) == len(lost) == 1
    page.unroute("**/report")
    page.get_by_role("button", name="Try again now").click()
    said(page, "Sent. Thank you.")
    assert len(site.kept()) == 1
    bodies = [request.post_data for request in visit.asked if request.method == "POST"]
    assert len(bodies) == 2
    assert len(set(bodies)) == 1


def test_a_report_that_an_earlier_page_made_and_did_not_send_waits_for_its_owner(visit, site):
    page = visit()
    answers = SURVEY.privatize({question.name: question.example(0) for question in SURVEY.questions})
    made = {"token": "7" * 32, "answers": answers, "state": "made"}
    page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, json.dumps(made)])
    page.reload()
    said(page, "randomised earlier, but not sent")
    assert site.kept() == []
    page.get_by_role("button", name="Send my report").click()
    said(page, "Sent. Thank you.")
    assert site.kept() == [("7" * 32, answers)]


def test_the_true_answers_are_nowhere_once_chance_has_decided(visit):
    page = visit()
    answer(page, pills="No", fruit="Quince")
    press(page)
    page.get_by_role("heading", name="What was sent").wait_for()
    assert page.locator("input").count() == 0
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])")
    assert json.loads(stored)[0].keys() == {f"discreet.survey.{SURVEY.digest}"}
    assert json.loads(stored)[1:] == [{}, "", None]
    names = page.evaluate("indexedDB.databases().then((all) => all.map((one) => one.name))")
    assert names == ["discreet.survey"]
    reports = page.evaluate("""() => new Promise((resolve) => {
        const opening = indexedDB.open("discreet.survey");
        opening.onsuccess = () => {
            const all = opening.result.transaction("reports").objectStore("reports").getAll();
            all.onsuccess = () => resolve(all.result);
        };
    })""")
    kept = memory(page)
    assert reports == [{"token": kept["token"], "answers": kept["answers"]}]
    page.go_back()
    page.go_forward()
    assert page.locator("input").count() == 0


def test_without_a_network_the_report_waits_and_is_sent_later(visit, site):
    page = visit()
    answer(page)
    page.context.set_offline(True)
    press(page)
    said(page, "The server cannot be reached")
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
    press(page)
    said(page, "The server cannot be reached")
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
        said(page, "Sent. Thank you.")
    assert len(site.kept()) == 1
    assert first.locator("#raw").text_content() == second.locator("#raw").text_content()


def test_a_tab_that_reads_old_storage_sends_the_report_that_another_made(visit, site):
    """Tabs may be processes of their own, with copies of the storage that are brought up to date too late."""
    first = visit()
    second = visit(first.context)
    second.evaluate("""() => {
        const { getItem, setItem } = Storage.prototype;
        let old = true;
        Storage.prototype.getItem = function (key) { return old ? null : getItem.call(this, key); };
        Storage.prototype.setItem = function (key, value) { old = false; setItem.call(this, key, value); };
    }""")
    answer(second, pills="No", fruit="Quince")
    answer(first, pills="Yes", fruit="Apple")
    press(first)
    said(first, "Sent. Thank you.")
    press(second)
    said(second, "Sent. Thank you.")
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
    said(page, "Sent. Thank you.")
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    assert len(site.kept()) == 1


def test_a_question_without_an_answer_is_named_and_nothing_is_decided(visit, site):
    page = visit()
    press(page)
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
        press(page)
        if wrong == "1.":
            break
        told = "Please give a number from -1 to 4 in steps of 0.5 for: How long?"
        assert page.get_by_role("alert").inner_text() == told
        assert page.evaluate("document.activeElement.id") == "q4"
    page.get_by_role("heading", name="What was sent").wait_for()
    grid = {"low": ["-1", "1"], "by": ["1", "2"], "points": 11}
    texts = ["-1", "-0.5", "0", "-0", "4", "4.000", "4.5", "-1.0", "\u22120.5", "0,5", "9" * 31]
    each = "async ([url, all, grid]) => { const { point } = await import(url); return all.map((x) => point(x, grid)); }"
    places = page.evaluate(each, [site.url + "number.js", texts, grid])
    assert places == [0, 1, 2, 2, 10, 10, None, 0, 1, 3, None]


def test_a_browser_that_cannot_remember_says_so(browser, site, visit):
    context = browser.new_context(**PHONE)
    context.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    page = visit(context)
    assert "Answer only once" in page.locator("#forgetful").inner_text()
    answer(page)
    press(page)
    said(page, "Sent. Thank you.")
    assert len(site.kept()) == 1
    context.close()


def test_what_is_refused_is_said_and_may_be_tried_again_as_it_is(visit, site):
    page = visit(**OTHER)
    answer(page)
    page.route("**/report", lambda route: route.fulfill(status=403, body='{"error":"refused"}'))
    press(page)
    said(page, "does not take your report")
    kept = memory(page)
    assert shows_nothing(page, kept)
    page.reload()  # by itself the page does not try again, nor ask anew
    said(page, "does not take your report")
    assert page.locator("input").count() == 0
    again = page.get_by_role("button", name="Try again now")
    again.click()
    said(page, "does not take your report")
    assert site.kept() == []
    page.unroute("**/report")
    again.click()
    said(page, "Sent. Thank you.")
    assert site.kept() == [(kept["token"], kept["answers"])]
    bodies = [request.post_data for request in visit.asked if request.method == "POST"]
    assert len(bodies) == 3
    assert len(set(bodies)) == 1


SOURCE = (files("discreet.apps.survey") / "randomise.js").read_text("utf-8")


def test_the_form_uses_that_very_function(visit, site):
    page = visit(**OTHER)
    broken = SOURCE.replace("if (happens(law.own, law.total)) return value;", "return 1 - value;")
    assert broken != SOURCE
    page.context.route("**/randomise.js", lambda route: route.fulfill(body=broken, content_type="text/javascript"))
    page.reload()
    answer(page, pills="Yes", fruit="Apple")
    press(page)
    said(page, "Sent. Thank you.")
    assert page.locator("#reports .sent").all_inner_texts()[:2] == ["No", "Pear"]


FORMS = {
    "id": "forms",
    "title": "Forms",
    "questions": [
        {"name": "apply", "text": "Which apply?", "kind": "several", "options": ["Pay", "Noise"], "epsilon": 1},
        {"name": "order", "text": "In which order?", "kind": "ranking", "options": ["Pay", "Noise"], "epsilon": 1},
        {
            "name": "hours",
            "text": "How many hours?",
            "kind": "distribution",
            "low": 0,
            "high": 12,
            "step": 1,
            "epsilon": 1,
        },
        {
            "name": "town",
            "text": "Where?",
            "kind": "choice",
            "options": [f"Town {n}" for n in range(60)],
            "epsilon": 1,
            "mechanism": "olh",
        },
        {"name": "drink", "text": "What do you drink?", "kind": "word", "length": 5, "epsilon": 3},
    ],
}


def test_boxes_places_and_long_lists_are_filled_in_and_sent(browser, tmp_path):
    asked = Questionnaire.from_dict(FORMS)
    here = Site(asked, tmp_path / "forms.db")
    here.start()
    context = browser.new_context(**PHONE)
    try:
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(here.url)
        page.get_by_role("checkbox", name="Noise").check()
        page.locator("#q1o0").select_option("2")
        page.locator("#q1o1").select_option("2")
        page.get_by_role("textbox", name="How many hours?").fill("7")
        page.get_by_role("combobox", name="Where?").select_option("Town 41")
        press(page)
        assert "a place of its own" in page.locator("#problem").inner_text()  # two options cannot be second
        page.locator("#q1o1").select_option("1")
        drink = page.get_by_role("textbox", name="What do you drink?")
        for wrong in ("", "coffee", "t3a"):
            drink.fill(wrong)
            press(page)
            assert "at most 5 letters (a to z)" in page.locator("#problem").inner_text()
        drink.fill(" Tea ")
        press(page)
        said(page, "Sent. Thank you.")
        ((_, sent),) = here.kept()
        assert asked.read(sent) == tuple(sent)
        shown = page.locator("#reports .sent").all_inner_texts()
        part, told = sent[0].split(":")
        assert shown[0] == asked.questions[0].report_labels()[int(part)][int(told)]
        letters, _, group = sent[4].split(":")
        count = asked.questions[4].law.buckets
        among = "first letter" if letters == "1" else f"first {letters} letters"
        assert shown[4] == f"Group {int(group) + 1} of the {count} into which chance sorted all words by their {among}"
        assert shown[3] == f"The number {sent[3]}, which stands for a group of many answers"
    finally:
        context.close()
        here.stop()
        here.reports.close()


def test_an_invited_page_has_its_token_signed_blind_and_sends_once(browser, tmp_path):
    asked = Questionnaire.from_dict({**FORMS, "questions": FORMS["questions"][:1]})
    stored = Invitations(tmp_path / "i.db", asked.digest, create=True)
    (code,) = stored.invite(1)
    here = Site(asked, tmp_path / "invited.db", invitations=stored)
    here.start()
    try:
        for visitor in range(2):
            context = browser.new_context(**PHONE)
            page = context.new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{here.url}#code={code}")
            assert page.locator("#fingerprint").inner_text() == stored.public.fingerprint
            press(page)
            said(page, "Sent. Thank you." if visitor == 0 else "The server does not take your report.")
            if visitor == 0:
                left = json.loads(page.evaluate(f"localStorage.getItem('discreet.survey.{asked.digest}')"))
                assert set(left) == {
                    "token",
                    "answers",
                    "state",
                    "signature",
                }  # neither the code nor how it was blinded
                assert stored.valid(left["token"], left["signature"])
                assert [token for token, _ in here.kept()] == [left["token"]]
            context.close()
        assert len(here.kept()) == 1
        assert stored.used() == (1, 1)
    finally:
        here.stop()
        here.reports.close()
        stored.close()


BLIND = """async ([modulus, digest, tokens]) => {
  const { blind } = await import("./blind.js");
  const made = await Promise.all(tokens.map((token) => blind({ modulus, exponent: "65537" }, digest, token)));
  return made.map((one) => one && one.message);
}"""


def test_the_page_blinds_nothing_that_shares_a_factor_with_the_key(visit):
    """A key made of small factors would see in the blinded number which of them a token has."""
    modulus, tokens = 3 * (2**2046 + 1), [f"{number:032x}" for number in range(20)]
    numbers = [encode(message("a" * 64, token), modulus.bit_length()) for token in tokens]
    expected = [str(number) if gcd(number, modulus) == 1 else None for number in numbers]
    assert None in expected
    assert set(expected) != {None}
    assert visit().evaluate(BLIND, [str(modulus), "a" * 64, tokens]) == expected


DIARY = Questionnaire.from_dict(
    {
        "id": "diary",
        "title": "Diary",
        "repeat": {"rounds": 12},
        "questions": [
            {"name": "pills", "text": "Do you take pills to sleep?", "kind": "binary", "epsilon": 2, "instant": 1},
            {
                "name": "fruit",
                "text": "Which fruit?",
                "kind": "choice",
                "options": FRUIT,
                "epsilon": 2,
                "instant": 1,
            },
        ],
    }
)


@pytest.fixture
def diary(tmp_path):
    """The first round of a survey of twelve, at an address that later rounds have, too."""
    here = Site(DIARY.at(1), tmp_path / "diary.db")
    here.start()
    yield here
    here.stop()
    here.reports.close()


def remembered(page):
    return json.loads(page.evaluate(f"localStorage.getItem('discreet.survey.{DIARY.series}.permanent')"))


def test_a_device_remembers_for_all_rounds_what_stands_for_every_answer(browser, diary):
    context = browser.new_context(**PHONE)
    seen = []
    for number, fruit in ((1, "Pear"), (2, "Fig")):
        if number == 2:
            diary.stop()
            diary.survey = DIARY.at(2)
            diary.start()
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(diary.url)
        assert page.locator("#round").inner_text() == f"Round {number} of 12"
        assert page.locator("#loss").inner_text() == DIARY.series_loss().words()
        assert page.get_by_text("This is done once. You cannot").is_hidden()
        assert page.get_by_text("This is done once in each round.").is_visible()
        assert page.get_by_role("radio", checked=True).count() == 0  # what was answered last time is not stored
        page.get_by_role("group", name="pills").get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("group", name="fruit").get_by_role("radio", name=fruit, exact=True).check()
        screenshot(page, f"survey-round-{number}")
        press(page)
        said(page, "Sent. Thank you.")
        screenshot(page, f"survey-round-{number}-sent")
        assert page.locator("#together").inner_text() == DIARY.reveals()
        seen.append(remembered(page))
        page.close()
    assert seen[0] == seen[1]
    assert [len(one) for one in seen[0]] == [2, 5]  # for every option, so that it does not say which was given
    rows = list(diary.reports.rows())
    assert len({token for token, _, _ in rows}) == 2  # tokens of two rounds have nothing in common
    assert {digest for _, digest, _ in rows} == {DIARY.at(1).digest, DIARY.at(2).digest}
    stored = context.storage_state()["origins"][0]["localStorage"]
    keys = {f"discreet.survey.{digest}" for digest in (DIARY.at(1).digest, DIARY.at(2).digest)}
    assert {entry["name"] for entry in stored} == {*keys, f"discreet.survey.{DIARY.series}.permanent"}
    context.close()
