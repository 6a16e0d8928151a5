"""Takes the pictures of the front page: a release of the demo as the pages show it, in light and in dark.

    python docs/screens/release_page.py

needs Chromium and what `make test` installs. The release is a real one, so its noise is another every time.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent
sys.path.append(str(DOCS.parent / "tests"))

WIDTH, HEIGHT = 1200, 800
QUALITY = 82


def take(folder: Path) -> list[Path]:
    """Ask the demo's table for workers and their mean pay by county, and write what a browser shows of the answer."""
    import discreet
    from browser import Site
    from discreet import count, mean
    from discreet.apps.server.service import Service
    from discreet.apps.server.tokens import Tokens
    from discreet.apps.web.site import application

    with tempfile.TemporaryDirectory() as made:
        desk = Path(made)
        for name in ("people.csv", "discreet.toml"):
            shutil.copy(str(files("discreet.apps.demo") / name), desk / name)
        curator = discreet.open(desk / "people.csv", desk / "discreet.toml", ledger=desk / "demo.db", create=True)
        question = curator.table().where("hours > 0").group_by("county").agg(workers=count(), pay=mean("pay"))
        question.plan(epsilon="0.8").release(release="pay-by-county")
        service = Service({"people": curator}, Tokens(desk / "tokens.db"))
        site = Site(application(service))
        try:
            return _pictures(site.url, service.tokens.create("ann", "analyst"), folder)
        finally:
            site.stop()


def _pictures(url: str, token: str, folder: Path) -> list[Path]:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    written = []
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for look in ("light", "dark"):
            context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=look)
            context.set_default_timeout(120_000)
            page = context.new_page()
            page.goto(url)
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("heading", name="Datasets").wait_for()
            page.goto(f"{url}/d/people/releases/pay-by-county")
            page.wait_for_load_state("networkidle")
            shot = context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
            written.append(folder / f"release-{look}.webp")
            written[-1].write_bytes(base64.b64decode(shot["data"]))
            context.close()
        browser.close()
    return written


if __name__ == "__main__":
    for path in take(DOCS):
        sys.stdout.write(f"{path.name}\n")
