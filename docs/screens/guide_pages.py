"""Takes the pictures of the guides on the pages: asking, a release, the ledger, and what a custodian sees.

    python docs/screens/guide_pages.py [NAME ...]

needs Chromium and what `make test` installs. Releases are real ones, so their noise is another every time.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent
sys.path.append(str(DOCS.parent / "tests"))

WIDTH = 1100
QUALITY = 82
APART = 3  # seconds between charges: a budget over time has steps
PAGES = {
    "pages-ask": ("/d/people/ask?of0=count&by0=schooling&way=within&within=40", 1400),
    "pages-release": ("/d/people/releases/pay", 900),
    "pages-ledger": ("/d/people/ledger", 1300),
    "pages-custodian": ("/custodian/ledger", 1250),
}
"""The address of each picture, and how much of the page it shows at most."""


def service(folder: Path) -> Any:
    """The demo's table, of which three questions were asked by two people."""
    import discreet
    from discreet import bins, count, mean
    from discreet.apps.server.service import Service
    from discreet.apps.server.tokens import Tokens

    for name in ("people.csv", "discreet.toml"):
        shutil.copy(str(files("discreet.apps.demo") / name), folder / name)
    place = (folder / "people.csv", folder / "discreet.toml")
    curators = {
        who: discreet.open(*place, ledger=folder / "demo.db", who=who, create=who == "ann") for who in ("ann", "ben")
    }
    table = curators["ann"].table()
    asked = (
        (table.where("hours > 0").group_by("sector").agg(pay=mean("pay")), "0.3", "pay", "for the council"),
        (curators["ben"].table().group_by("county").agg(people=count()), "0.2", "counties", "first look"),
        (table.group_by(bins("age", width=10)).agg(people=count()), "0.1", "ages", "age structure"),
    )
    for question, epsilon, release, why in asked:
        question.plan(epsilon=epsilon).release(release=release, why=why)
        time.sleep(APART)
    return Service({"people": curators["ann"]}, Tokens(folder / "tokens.db"))


def take(folder: Path, names: list[str]) -> list[Path]:
    """Write what a browser shows of each page."""
    from playwright.sync_api import sync_playwright

    from browser import Site
    from discreet.apps.web.site import application

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as made, sync_playwright() as engine:
        served = service(Path(made))
        site = Site(application(served))
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
            page.set_default_timeout(120_000)
            page.goto(site.url)
            page.get_by_label("Token").fill(served.tokens.create("carla", "custodian"))
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("heading", name="Datasets").wait_for()
            return [
                _picture(page, site.url + PAGES[name][0], folder / f"{name}.webp", PAGES[name][1]) for name in names
            ]
        finally:
            browser.close()
            site.stop()


def _picture(page: Any, address: str, path: Path, most: int) -> Path:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    height = min(most, page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
    how = {"format": "webp", "quality": QUALITY, "captureBeyondViewport": True, "clip": clip}
    path.write_bytes(base64.b64decode(page.context.new_cdp_session(page).send("Page.captureScreenshot", how)["data"]))
    return path


if __name__ == "__main__":
    for written in take(DOCS / "guides", sys.argv[1:] or list(PAGES)):
        sys.stdout.write(f"{written.name}\n")
