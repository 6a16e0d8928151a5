"""Bins of days: months and years by their names, and any other text as it is."""

import pytest

from discreet.core.period import period_label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("2023-01-01..2023-02-01", "2023-01"),
        ("2023-12-01..2024-01-01", "2023-12"),
        ("2023-01-01..2024-01-01", "2023"),
        ("2024-02-29..2024-03-01", "2024-02-29"),
        ("2023-01-01..2023-04-01", "2023-01-01..2023-04-01"),
        ("2023-07-01..2024-07-01", "2023-07-01..2024-07-01"),
        ("2023-01-02..2023-02-02", "2023-01-02..2023-02-02"),
        ("2023-01-01", "2023-01-01"),
        ("0..10", "0..10"),
        ("a..b..c", "a..b..c"),
        ("(missing)", "(missing)"),
    ],
)
def test_a_bin_of_days_is_written_as_people_write_it(text, label):
    assert period_label(text) == label
