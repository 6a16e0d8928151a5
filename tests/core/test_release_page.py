"""A release as one HTML file: everything is in it, nothing is fetched, and nothing from the data runs."""

from dataclasses import replace

from discreet.core.release import UNKNOWN
from discreet.core.release_page import release_page, table_cells
from paid_release import FACTS, MADE

EVIL = "<img src=x onerror=alert(1)>"


def test_the_page_has_title_numbers_notes_code_and_citation():
    code = {"SQL": "SELECT 1\nFROM t", "Python": "offer = 1"}
    text = release_page(replace(MADE, facts={**FACTS, "code": code}))
    for part in (
        "Mean pay by sector",
        "1.50",
        "1.00 to 2.00",
        "Values are clipped to the nearer bound.",
        "SELECT 1",
        "offer = 1",
    ):
        assert part in text
    assert "SELECT 1\nFROM t" in text
    assert "How to cite it" in text
    assert "epsilon = 2.5" in text
    assert 'src="http' not in text
    assert "default-src 'none'" in text


def test_text_of_the_data_is_text():
    text = release_page(replace(MADE, columns={**MADE.columns, "sector": [EVIL]}, dataset=EVIL))
    assert EVIL not in text
    assert "&lt;img" in text


def test_cells_without_a_number_say_why():
    columns = {"sector": ["a", "b", "c"], "m": [1.5, None, None], "m_lower": [1.0, None, None]}
    made = replace(MADE, columns={**columns, "m_upper": [2.0, None, None]}, absent={"m": [2]})
    assert [cells[0][0] for _, cells in table_cells(made)] == ["1.50", UNKNOWN, "\u2013"]
    whole = table_cells(made)
    assert table_cells(made, [2, 0]) == [whole[2], whole[0]]  # a page of a table is written as the whole
    everywhere = replace(made, absent={"sector": [1], "m": [2]})
    assert table_cells(everywhere, [1]) == [table_cells(everywhere)[1]]
