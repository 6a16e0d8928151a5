"""A report is one file that asks for nothing, and labels are only text."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser

import pytest
from report_desk import EVIL

from discreet.errors import InputError
from servers import missing


class Reader(HTMLParser):
    """Every element and attribute of a page, and whether elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.values: list[str] = []
        self.open: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)
        self.values += [value or "" for _, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said.append(data)


def test_a_page_is_one_file_and_labels_are_only_text(public, owners, tmp_path):
    for report in (public, owners):
        text = report.to_html()
        reader = Reader()
        reader.feed(text)
        assert reader.open == []
        assert not reader.tags & {"script", "img", "link", "iframe", "object", "base", "form"}
        assert not [name for name in reader.names if name.startswith("on")]
        assert not reader.names & {"href", "src", "style", "xlink:href", "action"}
        assert not any("javascript:" in value or "url(" in value for value in reader.values)
        assert "http://" not in text.replace("http-equiv", "")
        assert "https://" not in text
        assert "@import" not in text
        assert "url(" not in text
        assert "default-src 'none'" in text
        assert any(EVIL in one for one in reader.said)  # as text, and as nothing else
        assert re.search(r"style-src 'sha256-[A-Za-z0-9+/=]+'", text)
    assert public.save(tmp_path / "page.html").read_text(encoding="utf-8") == public.to_html()
    with pytest.raises(InputError, match="html"):
        public.save(tmp_path / "page.pdf")


def test_pages_in_a_browser_say_nothing_and_ask_for_nothing(public, owners, tmp_path):
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        missing("Browser tests need: pip install playwright, and Chromium (apt install chromium)")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for report, scheme, wide in ((public, "light", 1200), (owners, "dark", 1200), (public, "dark", 390)):
            place = report.save(tmp_path / "page.html")
            context = browser.new_context(viewport={"width": wide, "height": 900}, color_scheme=scheme)
            page, said, asked = context.new_page(), [], []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("dialog", lambda dialog, said=said: (said.append(dialog.message), dialog.dismiss()))
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(place.as_uri())
            assert said == []
            assert asked == [place.as_uri()]
            assert page.evaluate("document.documentElement.scrollWidth") <= wide
            assert page.locator("svg").count() > 8
            # The style sheet is let in by its hash: the page is not a bare one.
            assert page.evaluate("getComputedStyle(document.querySelector('.card')).borderTopWidth") == "1px"
            assert page.locator(".banner").count() == (1 if report.owner_only else 0)
            context.close()
        browser.close()
