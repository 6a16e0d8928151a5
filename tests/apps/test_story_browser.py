"""The whole story in a real browser: custodian, analyst, refusal, custodian; keys alone; light, dark and narrow."""

import re
import shutil
import sys
from importlib.resources import files

import pytest

import discreet

pytest.importorskip("fastapi", reason="needs discreet[server]")
pytest.importorskip("uvicorn", reason="needs discreet[server]")
pytest.importorskip("jinja2", reason="needs discreet[server]")

from browser import PATIENCE, Guest, Site, arrived, counted, screenshot
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from discreet.ledger.ledger import Ledger

LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


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


@pytest.fixture
def guest(browser, site):
    """Windows of people at the pages; at the end none may have said anything or asked anyone else."""
    opened = []

    def new(**settings):
        opened.append(Guest(browser, site, **settings))
        return opened[-1]

    yield new
    for one in opened:
        one.close()


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
    page.get_by_role("button", name="Spend and release").click()
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
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
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
    assert "Nothing was spent, and no data was read." in page.locator("main").inner_text()
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
    assert page.locator(".steps g").count() == 4
    page.get_by_role("button", name="Verify the books").click()
    page.get_by_text("Ledger verified.").wait_for()
    screenshot(page, "ledger-light")
    assert service.curators["people"].ledger.verify().ok
    assert float(service.curators["people"].standing()[0].spent.amount) <= 1


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_in_every_look(service, guest, look):
    desk = service.curators["people"]
    work = desk.table().where("hours > 0").group_by("sector").agg(workers=discreet.count(), pay=discreet.mean("pay"))
    work.plan(epsilon=0.4).release(release="work", why="who works where")
    desk.table().agg(people=discreet.count()).plan(epsilon=0.1).release(release="all", why="everyone")
    one = guest(**LOOKS[look])
    page = one.go("/login")
    screenshot(page, f"look-login-{look}")
    sign_in(one, service.tokens.create("carla", "custodian"))
    paths = {
        "home": "/",
        "data": "/d/people",
        "ask": "/d/people/ask?of0=count&of1=mean&column1=pay&by0=sex&way=epsilon&epsilon=0.2",
        "sql": "/d/people/ask?tab=sql",
        "too-much": "/d/people/ask?of0=count&way=epsilon&epsilon=0.9",
        "releases": "/d/people/releases",
        "release": "/d/people/releases/work",
        "ledger": "/d/people/ledger",
        "missing": "/d/nobody",
    }
    for name, path in paths.items():
        one.go(path)
        assert page.get_by_role("region", name="Budget left").is_visible()
        width = page.viewport_size["width"]  # innerWidth grows with what sticks out, on narrow screens
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name  # nothing to scroll sideways
        cut = page.evaluate(CUT)
        assert cut == [], name
        screenshot(page, f"look-{name}-{look}")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) is (look == "dark")


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


SEEN = """(() => {
  const style = getComputedStyle(document.activeElement);
  return style.outlineStyle != 'none' && parseFloat(style.outlineWidth) >= 2;
})()"""
CUT = """[...document.querySelectorAll('h1, h2, h3, label, button, .value, .budget')]
  .filter((e) => e.offsetParent && !e.classList.contains('unseen') && getComputedStyle(e).display != 'inline')
  .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.trim())"""


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
            assert page.locator(".steps g").count() == 3
            page.goto(f"http://127.0.0.1:{port}/d/people/ask")
            page.get_by_label("epsilon", exact=True).fill("0.5")
            priced(page)
            spend(page, "asked in the browser")
            page.get_by_text("Released.").wait_for()
        finally:
            context.close()
            demo.terminate()
    assert f"Open http://127.0.0.1:{port}/" in (tmp_path / "out.txt").read_text()
