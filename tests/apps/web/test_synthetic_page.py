"""Synthetic rows as pages, from their price to their report."""

from fractions import Fraction

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from job_pages import (
    ROWS,
    WHY,
    begun,
    result_of,
    service_fixture,  # noqa: F401
    signed,
    spent,
    waited,
)

# Synthetic rows


def test_synthetic_rows_from_their_price_to_their_report(service):
    ann = signed(service)
    assert "every pair of columns" in ann.get("/d/people/synthetic").text
    page = waited(ann, begun(ann, "synthetic", ROWS, WHY))
    assert spent(service) == Fraction(1, 2)
    shown = ann.get(result_of(page))
    identity = result_of(page).partition("release=")[2]
    rows = service.curators["people"].release(identity)
    for words in ("Questions answered from the rows", "Single columns", "Rows against the noisy counts", "<svg"):
        assert words in shown.text
    assert "<script>alert" not in shown.text
    at = f"/d/people/synthetic/rows?release={identity}"
    assert ann.get(at).text == rows.to_csv()
    assert ann.get(f"{at}&format=parquet").content[:4] == b"PAR1"
    assert ann.get(f"/d/people/synthetic/report?release={identity}").text == rows.report().to_html()
    assert spent(service) == Fraction(1, 2)
