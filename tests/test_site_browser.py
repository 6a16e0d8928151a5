"""The documentation in a real browser: light, dark and narrow pass axe, no other host is asked, searches work."""

import logging
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

pytest.importorskip("mkdocs", reason="needs discreet[docs]")
pytest.importorskip("material", reason="needs discreet[docs]")
if find_spec("ziamath") is None or find_spec("latex2mathml") is None:
    pytest.skip("needs discreet[docs]", allow_module_level=True)
pytest.importorskip("starlette", reason="needs discreet[server]")

from starlette.staticfiles import StaticFiles

from axe import violations
from browser import Guest, Site, screenshot

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
if not DOCS.is_dir():  # the tests may run without the documentation beside them
    pytest.skip("no documentation here", allow_module_level=True)

LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 844}},
}
SAMPLE = ["", "concepts/epsilon/", "proofs/laplace/", "coming-from/opendp/", "benchmarks/audit/", "404.html"]
QUERIES = {  # what somebody types, and the page that should come first
    "schema": "guides/schema/",
    "budget": ("guides/budget/", "guides/share-a-budget/"),
    "median": "guides/questions/",
    "synthetic rows": ("guides/synthetic/", "guides/quality/"),
    "fine-tune": "guides/fine-tuning/",
    "confidence interval": ("glossary/", "guides/hierarchies/"),
    "SQL": "guides/questions/",
    "clipping": ("glossary/", "guides/training/"),
    "survey": "guides/surveys/",
    "map": "guides/maps/",
    "postgres": "guides/ledger-postgres/",
    "epsilon": "concepts/epsilon/",
}


def build(folder: Path) -> Path:
    """Build what is written, as mkdocs.yml says, without the reference, which takes most of the time."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("hooks", "figures", "screens", "*.jsonl"))
    settings = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    hook = DOCS / "hooks" / "build_pages.py"
    settings |= {
        "hooks": [str(hook)],
        "strict": False,
        "docs_dir": str(folder / "docs"),
        "site_dir": str(folder / "site"),
    }
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    logging.getLogger("mkdocs").setLevel(logging.ERROR)  # links to the reference, which is not there, are warned of
    build(load_config(str(folder / "mkdocs.yml")))
    return folder / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    sys.path.append(str(DOCS / "hooks"))
    here = Site(StaticFiles(directory=build(tmp_path_factory.mktemp("documentation")), html=True))
    yield here
    here.stop()


@pytest.mark.parametrize("look", LOOKS)
def test_pages_are_readable_fit_the_window_and_ask_no_other_host(browser, site, look):
    guest = Guest(browser, site, **LOOKS[look])
    wrong = {}
    for path in SAMPLE:
        page = guest.go(f"/{path}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if found := violations(page) + ([f"{wide} pixels too wide"] if wide > 0 else []):
            wrong[path] = found
        if path in ("", "proofs/laplace/"):
            screenshot(page, f"docs-{path.partition('/')[0] or 'front'}-{look}")
    guest.close()
    assert wrong == {}


def test_a_link_that_only_its_colour_shows_and_pale_words_are_noticed(browser, site):
    guest = Guest(browser, site, **LOOKS["light"])
    page = guest.go("/concepts/epsilon/")
    page.add_style_tag(content=".md-typeset a { text-decoration: none !important; color: #333 !important }")
    page.add_style_tag(content=".md-typeset h1 { color: #ccc !important }")
    found = " ".join(violations(page))
    guest.close()
    assert "link-in-text-block" in found
    assert "color-contrast" in found


def test_searches_find_guides_before_benchmarks_and_proofs(browser, site):
    guest = Guest(browser, site, **LOOKS["light"])
    page = guest.go("/")
    box = page.locator("input.md-search__input")
    box.click()
    results = page.locator(".md-search-result__item > a")
    wrong = {}
    for query, right in QUERIES.items():
        for text, said in (("qqzz", "No matching"), (query, "matching documents")):  # first nothing: no older results
            box.fill(text)
            box.press("End")
            page.locator(".md-search-result__meta", has_text=re.compile(f"^\\s*(?:\\d+ )?{said}")).wait_for()
        links = results.evaluate_all("a => a.map(x => x.href)")
        first = [re.split("[?#]", link.removeprefix(f"{site.url}/"))[0] for link in links]
        behind = [number for number, link in enumerate(first) if link.startswith(("proofs/", "benchmarks/"))]
        ahead = [number for number, link in enumerate(first) if link.startswith(("guides/", "tutorials/"))]
        if first[0] not in ({right} if isinstance(right, str) else set(right)):
            wrong[query] = first[:3]
        elif behind and ahead and behind[0] < ahead[0]:
            wrong[query] = first[: behind[0] + 1]
    guest.close()
    assert wrong == {}


def test_the_button_on_a_block_copies_what_was_typed_and_nothing_that_was_printed(browser, site):
    guest = Guest(browser, site, permissions=["clipboard-read", "clipboard-write"])
    page = guest.go("/concepts/epsilon/")
    block = page.locator(".highlight", has=page.locator(".gp")).first
    block.hover()
    block.get_by_role("button", name="Copy").click()
    block.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    guest.close()
    assert ">>>" not in copied
    compile(copied, "copied", "exec")
