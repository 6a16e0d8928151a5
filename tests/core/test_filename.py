"""Whatever a table is called, its file lies in the folder it is written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.filename import file_name


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/people", "..", ".", "", "a/b", "a\\b", "c:\\x", "line\nbreak", "nul\0", " ", "~/x", "*"]
)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    path = Path(tmp_path) / f"{file_name(name)}.csv"
    path.write_text("x")
    assert path.parent == tmp_path
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert file_name(file_name(name)) == file_name(name)


def test_plain_names_stay():
    for name in ("county", "block group", "part-totals", "Gemeinde (2020)", "age_group", "Kreis Ä"):
        assert file_name(name) == name
