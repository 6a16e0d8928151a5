"""The documentation on this server: every page renders, every link stays here, and nothing in it is run."""

import re

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("markdown_it")

from discreet.apps.web.manual import GUIDES, Manual, Page, manual_folder
from discreet.apps.web.manual_text import slug

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
    sections = {section.title: section for section in MANUAL.listed()}
    assert list(sections)[:2] == ["Tutorials", "Guides"]
    assert [title for title in sections if sections[title].folded] == ["Proofs", "Benchmarks"]
    ((_, pages),) = sections["Course"].groups
    course = [page.title for page in pages]
    assert course.index("2. Randomized response") < course.index("10. Private learning")
    assert course[-1] == "Every statement, with its number"
    ((_, concepts),) = sections["Concepts"].groups
    assert [page.name for page in concepts][:: len(concepts) - 1] == ["concepts/epsilon", "concepts/architecture"]


def test_guides_are_listed_by_what_they_are_about_as_in_the_navigation_of_the_site():
    (guides,) = (section for section in MANUAL.listed() if section.title == "Guides")
    assert [title for title, _ in guides.groups] == [*GUIDES, "More"]
    assert [page.name for page in dict(guides.groups)["More"]] == [
        "guides/porting"
    ]  # beside those who come from others
    site = (manual_folder().parent / "mkdocs.yml").read_text(encoding="utf-8").split("  - Guides:\n")[1]
    navigation = re.findall(
        r"^ +- ([^:\n]+):(?: guides/([\w-]+)\.md)?$", site.partition("\n  - Concepts:")[0], re.MULTILINE
    )
    groups: dict[str, list[str]] = {}
    for title, name in navigation:
        if name:
            groups[list(groups)[-1]].append(name)
        else:
            groups[title] = []
    assert groups == {title: list(names) for title, names in GUIDES.items()}


def test_formulas_are_set_and_dollars_in_code_are_not():
    pytest.importorskip("latex2mathml")
    page = Page("x", "X", "# X\n\nHas $\\Delta_1 < x$, costs $5, `$b$`.\n\n$$\nP[X = x]\n$$\n\nOdd: $\\nonsense{x}$.")
    text = str(MANUAL.rendered(page))
    assert text.count("<math ") == 2
    assert 'alttext="\\Delta_1 &lt; x"' in text
    assert 'tabindex="0"><math alttext="P[X = x]" ' in text
    assert "costs $5" in text
    assert "<code>$b$</code>" in text
    assert "<code>\\nonsense{x}</code>" in text
    course = str(MANUAL.rendered(MANUAL.pages["course/laplace"]))
    assert "<math " in course
    assert not re.search(
        r"\$\\?\w", re.sub(r"<pre.*?</pre>|<code.*?</code>|<math.*?</math>", "", course, flags=re.DOTALL)
    )


def test_a_page_has_no_marks_of_the_site_around_its_pictures():
    text = str(MANUAL.rendered(MANUAL.pages["index"]))
    assert "picture&gt;" not in text
    assert "front-picture" not in text
    assert '<img src="/help/file/release-light.webp" alt="A release' in text


def test_what_a_search_shows_is_what_a_reader_sees():
    for words in ("bins", "ledger verify", "epsilon", "quantile", "postgres"):
        for hit in MANUAL.search(words):
            shown = f"{hit.before}{hit.found}{hit.after}"
            assert not re.search(r"\]\(|```|\*\*|\.md\b", shown), (hit.page.name, shown)
    hit = MANUAL.search("bins")[0]
    assert (hit.page.name, hit.heading) == ("glossary", "Bins")
    assert MANUAL.search("sharp edges")[0].found or MANUAL.search("sharp edges")[0].heading
    sections = [hit.page.name for hit in MANUAL.search("noise")]
    assert "comparison" not in sections[:10]  # guides come first


def test_without_the_documentation_the_glossary_is_there():
    alone = Manual(None)
    assert list(alone.pages) == ["glossary"]
    assert alone.listed() == []
    assert slug("A `b`: c") == "a-b-c"
