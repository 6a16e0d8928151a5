"""The whole story in a real browser: custodian, analyst, refusal, custodian; keys alone; without scripts."""

import re
import shutil
import sys
from dataclasses import replace
from importlib.resources import files

import pytest

import discreet

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")

from browser import PATIENCE, Site, arrived, counted, screenshot
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from discreet.ledger.ledger import Ledger

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def service(tmp_path):
    shipped = files("discreet.apps.demo")
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(str(shipped / name), tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    curator = discreet.open(tmp_path / "people.csv", tmp_path / "discreet.toml", ledger=tmp_path / "b.db", create=True)
    return Service({"people": curator}, Tokens(tmp_path / "t.db")).within(rate=500.0, burst=500.0)


@pytest.fixture
def site(service):
    here = Site(application(service))
    yield here
    here.stop()


def sign_in(one, token):
    page = one.go("/")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Datasets").wait_for()
    page.wait_for_load_state()
    return page


def left(page):
    """What the header says is left."""
    return float(page.get_by_role("region", name="Budget left").locator(".figure").inner_text())


def priced(page):
    """Wait for the price of what the form says now."""
    page.get_by_role("status").get_by_text("Priced; nothing is spent.").wait_for()


def spend(page, why):
    typed = page.locator("label[for=confirm] .figure").inner_text()
    page.get_by_label("Why").fill(why)
    page.get_by_label(re.compile("^Type")).fill(typed)
    page.get_by_role("button", name=re.compile("Spend and (release|begin)")).click()
    return typed


def test_from_the_custodian_to_a_refusal_and_back(service, guest):
    custodian, analyst = service.tokens.create("carla", "custodian"), service.tokens.create("ann", "analyst")

    # The custodian signs in, looks at what is declared, and leaves.
    office = guest()
    page = sign_in(office, custodian)
    page.get_by_role("link", name="people", exact=True).first.click()
    page.get_by_role("heading", name="Data & schema").wait_for()
    assert "Everything of one person is protected" in page.locator("main").inner_text()
    screenshot(page, "data-light")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    page.go_back()
    assert "Sign in" in office.go("/d/people").title()

    # The analyst asks for an accuracy and sees the price, before anything is spent.
    desk = guest(accept_downloads=True)
    page = sign_in(desk, analyst)
    page.get_by_role("link", name="Ask", exact=True).first.click()
    page.wait_for_url("**/ask")  # loaded: before, no script would hear what is typed
    page.get_by_label("Group by", exact=True).select_option("schooling")
    page.get_by_label("accuracy: within ±", exact=True).fill("40")
    priced(page)
    assert page.get_by_role("radio", name=re.compile("accuracy")).is_checked()
    price = page.get_by_label("epsilon", exact=True).input_value()
    assert 0 < float(price) < 0.2
    assert "± 40" in page.locator("#panel").inner_text()
    assert "whatever the answer is" in page.locator("#panel").inner_text()
    assert left(page) == 1
    screenshot(page, "ask-light")

    # The other way round: the price is set, the accuracy follows.
    page.get_by_label("epsilon", exact=True).fill("0.2")
    priced(page)
    assert float(page.get_by_label("accuracy: within ±", exact=True).input_value()) < 40
    page.get_by_label("accuracy: within ±", exact=True).fill("40")
    page.locator(f"#panel [data-epsilon='{price}']").wait_for()

    # A wrong confirmation spends nothing; the right one does.
    page.get_by_label("Why").fill("schooling, <b>for the report</b>")
    page.get_by_label(re.compile("^Type")).fill("yes")
    page.get_by_role("button", name="Spend and release").click()
    arrived(page, "Nothing was spent")
    assert left(page) == 1
    assert page.get_by_label("Why").input_value() == "schooling, <b>for the report</b>"
    spend(page, "schooling, <b>for the report</b>")
    arrived(page, "Released.")
    counted(page.locator("rect.bar"), 7)
    assert 0.9 < left(page) < 1
    screenshot(page, "release-light")
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV the table").click()
    (identity,) = service.curators["people"].releases()
    kept = waiting.value.path().read_text("utf-8")
    assert kept == service.curators["people"].release(identity).to_csv()
    page.reload()

    # Asking again until it is refused: the page says so before, and the ledger does in any case.
    for amount, why in (("0.5", "once more"), ("0.3", "and again")):
        desk.go("/d/people/ask")
        page.get_by_label("epsilon", exact=True).fill(amount)
        priced(page)
        spend(page, why)
        arrived(page, "Released.")
    rest = left(page)
    desk.go("/d/people/ask")
    page.get_by_label("epsilon", exact=True).fill("0.1")
    priced(page)
    other = desk.context.new_page()
    other.goto(desk.site.url + "/d/people/ask?of0=count&way=epsilon&epsilon=0.1")
    spend(other, "from another window")
    other.get_by_text("Released.").wait_for()
    spend(page, "one too many")
    page.get_by_role("heading", name="Refused: the budget does not cover this").wait_for()
    page.wait_for_load_state()
    assert "Nothing was spent and no data was read." in page.locator("main").inner_text()
    assert left(page) == pytest.approx(rest - 0.1, abs=1e-2)
    screenshot(page, "refused-light")
    page.get_by_role("link", name="Look at it").click()
    page.get_by_role("heading", name="The price, before anything is spent").wait_for()
    assert "after" in page.locator(".spending").inner_text()

    # The custodian sees who and why, and has the books checked.
    page = sign_in(office, custodian)
    office.go("/d/people/ledger")
    table = page.get_by_role("region", name="Charges").inner_text()
    assert "schooling, <b>for the report</b>" in table
    assert table.count("ann") == 4
    assert page.locator("svg.burndown g").count() == 5  # opened, and four charges
    page.get_by_role("button", name="Verify the ledger").click()
    page.get_by_text("Ledger verified.").wait_for()
    screenshot(page, "ledger-light")
    assert service.curators["people"].ledger.verify().ok
    assert float(service.curators["people"].standing()[0].spent.amount) <= 1


def agree(page, yes, why=""):
    """Say yes on the page that shows what will happen."""
    page.get_by_role("heading", name="What will happen").wait_for()
    if why:
        page.get_by_label("Reason").fill(why)
    page.get_by_role("button", name=yes).click()


def test_from_a_token_by_sql_to_synthetic_rows_a_survey_and_a_revoked_token(service, guest, tmp_path):
    service = replace(service, state=tmp_path / "state", jobs=Jobs(tmp_path / "jobs.db")).complete()
    here = Site(application(service))
    try:
        second_story(service, guest, here)
    finally:
        here.stop()


def second_story(service, guest, here):
    office, desk, phone = guest(site=here), guest(site=here), guest(site=here, **PHONE)

    # The custodian makes a token for an analyst.
    page = sign_in(office, service.tokens.create("carla", "custodian"))
    office.go("/custodian/tokens")
    page.get_by_label(re.compile("^Name")).fill("ann")
    page.get_by_role("button", name="Continue").click()
    agree(page, re.compile("Yes"))
    page.get_by_text("This is the only time it is shown.").wait_for()
    token = page.get_by_label("Token", exact=True).input_value()

    # The analyst asks in SQL, and the statement becomes a form.
    page = sign_in(desk, token)
    desk.go("/d/people/ask?tab=sql")
    page.get_by_label("Question in SQL").fill("SELECT sex, AVG(pay) AS pay FROM people WHERE hours > 0 GROUP BY sex")
    page.get_by_label("epsilon", exact=True).fill("0.2")
    priced(page)
    page.get_by_role("button", name="Form", exact=True).click()
    page.get_by_label("Only rows where").wait_for()
    assert page.get_by_label("Only rows where").input_value() == "hours > 0"
    assert page.get_by_label("Group by", exact=True).input_value() == "sex"
    spend(page, "pay of those who work")
    page.get_by_role("heading", name="Mean pay by sex, where hours > 0").wait_for()
    screenshot(page, "story-sql")

    # The same question again is answered already.
    page.get_by_role("link", name="Edit this question").click()
    page.get_by_text("You have this answer already (free).").wait_for()

    # Synthetic rows are a job, with rows and a report to take away.
    desk.go("/d/people/synthetic")
    for name in ("age", "sex"):
        page.get_by_role("checkbox", name=name, exact=True).check()
    page.get_by_label("Method").select_option("independent")
    page.get_by_label("epsilon", exact=True).fill("0.3")
    priced(page)
    spend(page, "rows to try programs on")
    page.get_by_role("link", name="Look at the result").click()
    page.get_by_role("heading", name="Synthetic rows of people").wait_for()
    screenshot(page, "story-synthetic")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    assert waiting.value.path().read_text("utf-8").startswith("age,sex\n")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="one HTML file").click()
    report = waiting.value.path().read_text("utf-8")
    assert "Quality" in report
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", report)

    # A survey is built and opened; somebody answers on a phone; the results are there.
    page = office.go("/custodian/surveys/new")
    page.get_by_label("Title").fill("Sleep")
    page.get_by_label("Short name (in its address)").fill("sleep")
    page.get_by_label("Reports before estimates are public").fill("1")
    page.get_by_label("Text of the question").fill("Do you sleep well?")
    page.get_by_label("Short name", exact=True).fill("well")
    page.get_by_role("button", name="See what it reveals").click()
    page.get_by_role("heading", name=re.compile("^With .* people")).wait_for()
    screenshot(page, "story-survey-plan")
    page.get_by_role("button", name="Open it").click()
    agree(page, re.compile("Yes"))
    page.get_by_text("The survey is open").wait_for()
    answers = phone.go("/surveys/sleep/")
    answers.get_by_label("Yes").check()
    answers.get_by_role("button", name="Randomise and send my answers").click()
    answers.get_by_text("Sent. Thank you.").wait_for()
    phone.go("/surveys/sleep/results").get_by_text("1 report").first.wait_for()
    page = office.go("/custodian/surveys")
    page.get_by_role("button", name="Close: Sleep").click()
    agree(page, re.compile("Yes"))
    page.get_by_text("no more answers are accepted").wait_for()

    # A revoked token ends its session at once.
    page = office.go("/custodian/tokens")
    page.get_by_role("button", name="Revoke the token of ann").click()
    agree(page, re.compile("Yes"))
    page.get_by_role("button", name="Revoke the token of ann").wait_for(state="detached")
    assert "Sign in" in desk.go("/d/people").title()
    page = office.go("/custodian/ledger")
    page.get_by_text("pay of those who work", exact=True).wait_for()
    screenshot(page, "story-ledger")


def test_bars_on_the_screen_are_as_long_as_their_numbers(service, guest):
    service.curators["people"].table().group_by("sector").agg(n=discreet.count()).plan(epsilon=0.9).release(release="r")
    release = service.curators["people"].release("r")
    one = guest()
    sign_in(one, service.tokens.create("ann", "analyst"))
    page = one.go("/d/people/releases/r")
    widths = page.evaluate("[...document.querySelectorAll('rect.bar')].map((e) => e.getBoundingClientRect().width)")
    most = max(release["n"])
    assert widths == pytest.approx([max(n, 0) * max(widths) / most for n in release["n"]], abs=1)


def test_keys_alone_are_enough(service, guest):
    one = guest()
    page = one.go("/login")
    assert page.evaluate("document.activeElement.id") == "token"
    page.keyboard.type(service.tokens.create("ann", "analyst"))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Datasets").wait_for()
    page.wait_for_load_state()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id == 'main'")  # the browser moves there in its own time
    reach(page, lambda: page.evaluate("document.activeElement.textContent") == "Ask")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Ask", exact=True).wait_for()
    page.wait_for_load_state()  # before, no script would hear what is typed
    reach(page, lambda: focused(page) == "by0")
    page.keyboard.type("sex")
    reach(page, lambda: focused(page) == "epsilon")
    page.keyboard.press("Control+a")
    page.keyboard.type("0.3")
    priced(page)
    reach(page, lambda: focused(page) == "why")
    page.keyboard.type("by keys")
    page.keyboard.press("Tab")
    assert focused(page) == "confirm"
    page.keyboard.type("0.3")
    page.keyboard.press("Enter")
    page.get_by_text("Released.").wait_for()
    (release,) = service.curators["people"].releases()
    assert service.curators["people"].release(release)["sex"] == ["female", "male"]


def test_a_screen_reader_is_told_price_error_and_answer(service, guest):
    """What assistive technology gets: roles and names, in reading order."""
    one = guest()
    sign_in(one, service.tokens.create("ann", "analyst"))
    page = one.go("/d/people/ask")
    page.locator("#by0").select_option("sex")
    page.locator("#epsilon").fill("0.3")
    priced(page)
    asking = page.locator("main").aria_snapshot()
    for told in ('heading "Ask" [level=1]', "Expected error", 'button "Spend and release"'):
        assert told in asking
    assert asking.index('combobox "Group by"') < asking.index("Expected error") < asking.index("Spend and release")
    named = [line for line in asking.splitlines() if re.match(r"\s*- (textbox|combobox|button|radio|checkbox)\b", line)]
    assert named
    assert [line for line in named if '"' not in line] == []  # every field and button has a name
    page.locator("#confirm").fill("0.3")
    page.get_by_role("button", name="Spend and release").click()
    page.get_by_text("Released.").wait_for()
    answer = page.locator("main").aria_snapshot()
    for told in ("heading", "[level=1]", "status", "table", 'columnheader "sex"', 'rowheader "female"'):
        assert told in answer, answer


SEEN = """(() => {
  const style = getComputedStyle(document.activeElement);
  return style.outlineStyle != 'none' && parseFloat(style.outlineWidth) >= 2;
})()"""


def focused(page):
    return page.evaluate("document.activeElement.id")


def reach(page, there):
    """Go on with Tab until something has the focus, which must be seen wherever it is."""
    for _ in range(60):
        page.keyboard.press("Tab")
        assert page.evaluate(SEEN), page.evaluate("document.activeElement.outerHTML")
        if there():
            return
    raise AssertionError("not reached by keys")


def test_without_scripts_the_same_can_be_done(service, guest):
    one = guest(java_script_enabled=False)
    page = sign_in(one, service.tokens.create("ann", "analyst"))
    one.go("/d/people/ask")
    page.get_by_label("Group by", exact=True).select_option("sex")
    page.get_by_role("radio", name=re.compile("accuracy")).check()
    page.get_by_label("accuracy: within ±", exact=True).fill("25")
    page.get_by_role("button", name="Price it").click()
    page.locator(".errors .value", has_text="± 25").wait_for()
    assert 0 < float(page.get_by_label("epsilon", exact=True).input_value()) < 1
    spend(page, "no scripts")
    page.get_by_text("Released.").wait_for()


def test_a_server_that_goes_away_is_said(service, guest, site):
    one = guest()
    sign_in(one, service.tokens.create("ann", "analyst"))
    page = one.go("/d/people/ask")
    one.context.set_offline(True)
    page.get_by_label("epsilon", exact=True).fill("0.3")
    page.get_by_role("status").get_by_text("cannot be reached").wait_for()


def test_the_demo_serves_its_pages(browser, tmp_path):
    """`discreet demo --serve`: the story, then the pages on the same data with budget left."""
    import subprocess
    import time

    from servers import free_port

    port = free_port()
    command = [sys.executable, "-m", "discreet", "demo", "--serve", "--port", str(port)]
    with (
        (tmp_path / "out.txt").open("w") as out,
        subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL) as demo,
    ):
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        try:
            page = context.new_page()
            for _ in range(PATIENCE // 100):
                try:
                    (address,) = re.findall(r"http://\S*token=\S+", (tmp_path / "out.txt").read_text())[:1]
                    page.goto(address)
                    break
                except Exception:  # the story is still being told
                    assert demo.poll() is None
                    time.sleep(0.1)
            page.goto(f"http://127.0.0.1:{port}/d/people/ledger")
            assert left(page) > 2
            assert page.locator("svg.burndown g").count() == 5  # opened, three charges, raised
            page.goto(f"http://127.0.0.1:{port}/d/visits/releases/counties")  # a map, with the shapes of the folder
            assert page.get_by_role("heading", name="visits: counts by county").count() == 1
            page.locator("svg path").nth(11).wait_for(state="attached")
            assert page.goto(f"http://127.0.0.1:{port}/d/visits/releases/rows").status == 200
            page.goto(f"http://127.0.0.1:{port}/surveys/survey/results")
            page.get_by_text("What weighs on you most?").first.wait_for()
            page.goto(f"http://127.0.0.1:{port}/d/people/ask")
            page.get_by_label("epsilon", exact=True).fill("0.5")
            priced(page)
            spend(page, "asked in the browser")
            page.get_by_text("Released.").wait_for()
        finally:
            context.close()
            demo.terminate()
    assert f"Open http://127.0.0.1:{port}/" in (tmp_path / "out.txt").read_text()
