"""The report as a page: whole, private, escaped, and clean to axe in light and dark."""

import pytest

from axe import violations
from browser import browser as browser
from discreet.risk.report import NOT_A_RELEASE, report_risk
from hospital import hospital


@pytest.fixture(scope="module", name="text")
def text_fixture():
    table = hospital(400) | {"<script>alert(1)</script>": [f"x{one % 3}" for one in range(400)]}
    return report_risk(table, population=4000, seconds=0.5, name="ward & <b>.csv")[0].page()


def test_the_page_is_one_file_that_asks_for_nothing_and_says_whose_it_is(text):
    assert NOT_A_RELEASE in text
    assert 'name="robots" content="noindex"' in text
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "ward &amp; &lt;b&gt;.csv" in text


def test_every_part_of_the_report_is_on_the_page(text):
    for title in ("In short", "Columns", "singles people out", "looks alike", "attackers reach", "in the population"):
        assert title in text
    assert "A coarsening that meets the criteria" in text
    assert "under a privacy budget would cost instead" in text
    assert text.count("<svg") >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(browser, text, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.set_content(text)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
