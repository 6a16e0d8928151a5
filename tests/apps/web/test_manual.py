"""The documentation on this server: every page renders, every link stays here, and nothing in it is run."""

import re

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("markdown_it")

from discreet.apps.web.manual import Manual, Page, manual_folder, slug

MANUAL = Manual(manual_folder())


def test_every_page_renders_and_every_link_leads_to_a_page_of_it():
    anchors, links = {}, []
    for page in MANUAL.pages.values():
        text = str(MANUAL.rendered(page))
        assert text.count("<h1") == 1, page.name
        assert not re.search(r"<script|<style|\son\w+=", text)
        anchors[page.name] = set(re.findall(r' id="([^"]*)"', text))
        links += [(page.name, link) for link in re.findall(r'(?:href|src)="([^"]*)"', text)]
    assert len(anchors) > 100
    for name, link in links:
        target, _, anchor = link.partition("#")
        if target.startswith("/help/file/"):
            assert target.removeprefix("/help/file/") in MANUAL.pictures
            continue
        there = target.removeprefix("/help/") if target else name
        assert there in anchors, (name, link)
        assert not anchor or there == "glossary" or anchor in anchors[there], (name, link)


def test_raw_html_is_text_and_other_hosts_are_written_out():
    page = Page("x", "X", "# X\n\n<b>bold</b> [site](https://example.org/a) ![p](../../etc/passwd) [up](../../x.md)")
    text = str(MANUAL.rendered(page))
    assert "&lt;b&gt;bold" in text
    assert "<span>site</span> <small>(https://example.org/a)</small>" in text
    assert "href" not in text
    assert "src" not in text


def test_a_search_finds_titles_first_and_guides_before_proofs():
    found = MANUAL.search("composition")
    assert found[0].page.name == "concepts/composition"
    sections = [hit.page.section for hit in MANUAL.search("ledger verify")]
    assert sections.index("guides") < sections.index("proofs")
    sections = [hit.page.section for hit in MANUAL.search("clipping")]  # in the title of a page of figures
    assert "benchmarks" in sections
    assert sections == sorted(sections, key=lambda section: section in ("proofs", "benchmarks"))
    hit = MANUAL.search("BINS")[0]
    assert hit.found.casefold() == "bins"
    assert MANUAL.search("xyzzyplugh") == MANUAL.search("  ") == []


def test_a_long_page_has_an_outline_whose_anchors_are_on_it():
    page = MANUAL.pages["guides/questions"]
    outline = MANUAL.outline(page)
    assert ("in-sql", "In SQL") in outline
    text = str(MANUAL.rendered(page))
    assert [anchor for anchor, _ in outline if f' id="{anchor}"' not in text] == []
    assert MANUAL.outline(MANUAL.pages["glossary"]) == []


def test_sections_are_listed_with_numbers_in_order():
    sections = dict(MANUAL.listed())
    assert list(sections)[:2] == ["Tutorials", "Guides"]
    course = [page.title for page in sections["Course"]]
    assert course.index("2. Randomized response") < course.index("10. Private learning")


def test_without_the_documentation_the_glossary_is_there():
    alone = Manual(None)
    assert list(alone.pages) == ["glossary"]
    assert alone.listed() == []
    assert slug("A `b`: c") == "a-b-c"
