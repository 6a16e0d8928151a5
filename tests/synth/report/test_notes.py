"""Notes are read in groups: every one once, below the heading of its kind."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Integer, Real, Schema, Timestamp
from discreet.synth.report.notes import grouped_notes, note_lists


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Rows with timestamps, at a price with some noise and at one with none."""
    rng = np.random.default_rng(1)
    seen = np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 300 * 86400, 400).astype("timedelta64[s]")
    fee = np.where(rng.random(400) < 0.3, 19.99, rng.gamma(3, 20, 400)).round(2)
    table = pyarrow.table({"age": rng.integers(0, 100, 400), "sex": ["f", None] * 200, "seen": seen, "fee": fee})
    columns = {
        "age": Integer(0, 99, nullable=False),
        "sex": Category(["f", "m"], nullable=True),
        "seen": Timestamp("2024-01-01", "2024-12-31", "Europe/Berlin", nullable=False),
        "fee": Real(0, 300, nullable=False),
    }
    ledger = tmp_path_factory.mktemp("notes") / "b.db"
    curator = discreet.open(table, Schema("clinic", columns), ledger=ledger, budget=Budget(50_000), create=True)
    return [curator.synthesize().plan(epsilon=price).release() for price in (2, 20_000)]


def test_every_note_stands_in_one_group(releases):
    groups = grouped_notes(releases[0])
    assert list(groups) == ["How the rows were made", "How values are binned", "What is left out"]
    texts = [text.rstrip(".").lower() for listed in groups.values() for text in listed]
    assert sorted(texts) == sorted(note.rstrip(".").lower() for note in releases[0].notes)
    assert any("is left out of everything" in text for text in groups["What is left out"])
    assert any(text.startswith("seen is put together from its day") for text in groups["How values are binned"])


def test_notes_are_lists_and_no_wall(releases):
    page = releases[0].report(copies=0).to_html()
    assert page.count("<li>") >= len(releases[0].notes)
    assert "".join(str(part) for part in note_lists(releases[0])) in page


def test_parts_of_a_column_are_called_in_words(releases):
    page = releases[0].report(copies=0).to_html()
    assert "<h3>Day of seen</h3>" in page
    assert "<h3>Time of seen</h3>" in page
    assert "23:59" in page
    assert "CAST(" not in page
    assert "MINUTE(" not in page


def test_where_noise_is_nil_a_sentence_stands_in_place_of_the_chart(releases):
    noisy, exact = (release.report(copies=0).to_html() for release in releases)
    assert "Gaps of measured marginals" in noisy
    assert "next to no noise" not in noisy
    assert "Gaps of measured marginals" not in exact
    assert "measured marginals have next to no noise at this price" in exact
    assert "e-9" not in exact.split("Farthest off")[1].split("</table>")[0]
    assert "this price protects nobody" in exact
