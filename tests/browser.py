"""Debian's Chromium for tests: a fixture for every room, a server in a thread, and where screenshots are kept."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from pathlib import Path

import pytest

from servers import missing

NEEDED = "Browser tests need: pip install playwright, and Chromium (apt install chromium)"
PATIENCE = 300_000  # milliseconds, in any one wait: the machine may be busy
SCREENSHOTS = Path(os.environ.get("DISCREET_SCREENSHOTS", Path(__file__).parent.parent / "build" / "screenshots"))


@pytest.fixture(scope="module")
def browser():
    """A browser, headless; a skip that says what to install, or a failure where CI=true."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        return missing(NEEDED)
    with sync_playwright() as engine:
        started = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def screenshot(page, name: str) -> Path:
    """Keep a picture of a whole page as an artefact of the tests."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=str(path), full_page=True)
    return path


def arrived(page, text: str) -> None:
    """Wait for a page that says something, and until all of it is there: its scripts too."""
    page.get_by_text(text).wait_for()
    page.wait_for_load_state()


def counted(locator, number: int) -> None:
    """Wait until there are so many of something."""
    from playwright.sync_api import expect

    expect(locator).to_have_count(number, timeout=PATIENCE)


class Site:
    """A web application in a thread, at an address of its own, until `stop`."""

    def __init__(self, application):
        import uvicorn

        listening = socket.create_server(("127.0.0.1", 0))  # held from now on: nobody else can take the port
        self.port = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        # Loggers stay as they are: setting them up anew closes the streams of others.
        how = {"log_config": None, "log_level": "warning", "ws": "none", "lifespan": "off", "access_log": False}
        self.server = uvicorn.Server(uvicorn.Config(application, **how))
        self.thread = threading.Thread(target=self.server.run, args=([listening],), daemon=True)
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            self.thread.join(0.01)

    def stop(self):
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(10)


class Guest:
    """One person's browser window: what it says on the console, or asks of other origins, must be nothing."""

    def __init__(self, browser, site: Site, **settings):
        self.site = site
        self.said: list[str] = []
        self.elsewhere: list[str] = []
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
        self.context.route("**/*", self._routed)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))

    def _routed(self, route):
        url = route.request.url
        if url.startswith((self.site.url + "/", "data:", "blob:")):
            route.continue_()
        else:
            self.elsewhere.append(url)
            route.abort()

    def go(self, path: str):
        self.page.goto(self.site.url + path)
        return self.page

    def close(self):
        self.context.close()
        # A status that the server means, such as a refusal, is logged by the browser; anything else is our mistake.
        mistakes = [text for text in self.said if not text.startswith("Failed to load resource")]
        assert mistakes == [], mistakes  # pytest shows nothing of asserts outside of tests
        assert self.elsewhere == [], self.elsewhere


@pytest.fixture
def guest(browser, site):
    """Windows of people at a test's `site`; at the end none may have said anything or asked anyone else."""
    opened = []

    def new(site=site, **settings):
        opened.append(Guest(browser, site, **settings))
        return opened[-1]

    yield new
    for one in opened:
        one.close()
