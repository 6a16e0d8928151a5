"""The owner's page names what differs before it shows figures, and says what the closest rows do not prove."""

import re

from report_rows import DOMAIN, SCHEMA, some_codes

from discreet.show import element
from discreet.synth.report.comparison import comparison_of
from discreet.synth.report.owner_page import closest_rows, differences, value_sections
from discreet.synth.rows import draw_rows

REAL = draw_rows(DOMAIN, SCHEMA.columns, some_codes(2000, 1))
OTHER = draw_rows(DOMAIN, SCHEMA.columns, some_codes(1500, 2) // 2)
FOUND = comparison_of(SCHEMA.columns, REAL, OTHER)


def text(parts):
    return str(element("div", None, *parts))


def test_differences_are_a_list_whose_rest_is_opened():
    page = text(differences(FOUND))
    assert page.count("<li>") == len(FOUND.findings)
    first = FOUND.findings[0].text.partition(": ")[0]
    assert page.index(f"<strong>{first}</strong>") == page.index("<strong>")
    assert ("<details>" in page) == (len(FOUND.findings) > 10)


def test_equal_tables_have_no_differences():
    same = comparison_of(SCHEMA.columns, REAL, REAL)
    page = text(differences(same))
    assert "<li>" not in page
    assert "No column and no pair differs" in page


def test_columns_pairs_and_conditions_are_drawn():
    page = text(value_sections(FOUND))
    cards = re.findall(r'<div class="card"><h3>([^<]+)</h3>', page)
    assert cards[: len(FOUND.columns)] == [one.name for one in FOUND.columns]
    assert [title for title in cards if title.startswith(("Total variation", "What the pair adds"))]
    assert [title for title in cards if " given " in title] == [f"{one.name} given {one.given}" for one in FOUND.given]
    assert len(FOUND.given) >= 4
    assert "NaN" not in page
    assert "nan%" not in page


def test_the_closest_rows_are_labelled_for_what_they_are():
    page = text(closest_rows(FOUND.closest))
    assert "Sanity check" in page
    assert "no privacy guarantee" in page
    assert closest_rows(None) == []
