"""A release read again: every form holds the same table, and none of them can do harm."""

from __future__ import annotations

import csv
import io
import json
import math
import sys

import pytest

from discreet.core.release import Release, number, percent
from discreet.errors import InputError, MissingExtraError


def release(**changes) -> Release:
    columns = {
        "county": ["=cmd()", "Elm | Oak", None],
        "adult": [False, True, True],
        "n": [5, -3, 1_234_567],
        "n_lower": [0, 0, 1_234_000],
        "n_upper": [9, 4, 1_235_000],
        "pay": [1.5, 0.00012, 12345.678],
        "pay_lower": [1.0, 0.0, 12000.0],
        "pay_upper": [2.0, 0.1, 13000.0],
    }
    given = {
        "id": "first",
        "dataset": "people",
        "columns": columns,
        "keys": ("county", "adult"),
        "outputs": ("n", "pay"),
        "confidence": 0.95,
        "cost": "epsilon = 1",
        "mechanism": "discrete Laplace, scale 2",
        "digest": "abcdef0123456789",
        "remaining": "epsilon = 2",
    }
    return Release(**{**given, **changes})


def test_every_form_holds_the_same_table():
    made = release()
    assert len(made) == 3
    assert made["n"] == [5, -3, 1_234_567]
    assert made.rows()[1]["pay"] == 0.00012
    assert json.loads(made.to_json())["columns"] == made.columns
    assert made.to_arrow().to_pydict() == made.columns
    assert list(made.to_pandas().columns) == list(made.columns)
    assert made.to_pandas()["n"].tolist() == made["n"]
    polars = pytest.importorskip("polars")
    assert made.to_polars().to_dict(as_series=False) == made.columns
    assert polars.Int64 == made.to_polars()["n"].dtype
    with pytest.raises(InputError, match="county, adult"):
        made["nothing"]


def test_a_spreadsheet_runs_nothing(tmp_path):
    names = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", " =1", "\uff1d1", "plain", 'say "x"', "a,b", "x=1"]
    columns = {"=key": names, "n": [1] * 13, "n_lower": [-1] * 13, "n_upper": [1.5] * 13}
    text = release(columns=columns, keys=("=key",), outputs=("n",)).to_csv(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == text.encode()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0][0] == "'=key"
    for name, row in zip(names, rows[1:], strict=True):
        assert row[0] == (name if name in ("plain", 'say "x"', "a,b", "x=1") else "'" + name)
        assert row[1:] == ["1", "-1", "1.5"]  # numbers stay numbers


def test_markdown_stays_in_its_cells():
    text = release().to_markdown()
    lines = text.splitlines()
    assert lines[0] == "| county | adult | n | pay |"
    assert len(lines) == 5
    assert "Elm \\| Oak" in lines[3]
    assert "(missing)" in lines[4]
    awkward = {"county": ["a\nb `c` <script> *d*"], "n": [1], "n_lower": [0], "n_upper": [2]}
    line = release(columns=awkward, keys=("county",), outputs=("n",)).to_markdown().splitlines()[2]
    assert line.startswith("| a\\\\nb \\`c\\` \\<script\\> \\*d\\* |")  # what cannot be printed is spelled out


def test_markdown_has_no_link_and_no_picture_of_another_host():
    MarkdownIt = pytest.importorskip("markdown_it").MarkdownIt
    texts = [
        "![x](http://evil/t.png)",
        "[a](javascript:b)",
        "[a][b]",
        "\\![x](http://evil/t.png)",
        "![`](http://evil/`)",
    ]
    columns = {"county": texts, "n": [1] * 5, "n_lower": [0] * 5, "n_upper": [2] * 5}
    page = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(release(columns=columns, keys=("county",), outputs=("n",)).to_markdown() + "\n\n[b]: http://evil/")
    )
    assert "<img" not in page
    assert "<a " not in page
    assert "![x](http://evil/t.png)" in page
    assert "1 [0, 2]" in page


def test_the_repr_says_what_it_cost_and_what_is_left():
    text = repr(release())
    for part in ("1,234,567", "[0, 9]", "95%", "epsilon = 1", "left: epsilon = 2", "first", "abcdef012345"):
        assert part in text
    many = {"n": list(range(50)), "n_lower": [0] * 50, "n_upper": [60] * 50}
    assert "30 more rows" in repr(release(columns=many, keys=(), outputs=("n",)))
    assert "99.9%" in repr(release(confidence=0.999))
    assert "intervals" not in repr(release(columns={"option": ["A"]}, keys=("option",), outputs=()))


def test_numbers_can_be_read():
    assert number(None) == "-"
    assert number(1234567) == "1,234,567"
    assert number(2.0) == "2"
    assert number(1e-6) == "1e-06"
    assert number(-0.5) == "-0.500"
    assert number(1234.56) == "1,234.6"
    assert percent(0.95) == "95%"
    assert percent(0.999) == "99.9%"
    assert percent(0.29) == "29%"
    assert percent(1 - 1e-9) != "100%"
    assert not math.isnan(float(percent(0.5)[:-1]))


def test_a_picture_has_error_bars():
    picture = release().plot("pay")
    text = picture.to_svg()
    assert 'class="interval"' in text
    assert "12,345.68" in {cell for row in picture.table.rows for cell in row}
    assert "95% confidence intervals" in picture.title
    alone = {"n": [1], "n_lower": [0], "n_upper": [2]}
    assert release(columns=alone, keys=(), outputs=("n",)).plot().table.rows == (("n", "1", "0", "2"),)
    three = {**release().columns, "year": [1, 2, 1]}
    parts = release(columns=three, keys=("county", "adult", "year")).plot("n").to_svg()
    assert parts.count('class="title"') == 1 + 2  # its title, and a part for each value of a key
    none = {name: [None] for name in ("n", "n_lower", "n_upper")}
    assert "no number to draw" in release(columns=none, keys=(), outputs=("n",)).plot().to_svg()
    with pytest.raises(InputError, match="n, pay"):
        release().plot("nothing")
    four = {**three, "month": [1, 2, 3]}
    with pytest.raises(InputError, match="three keys"):
        release(columns=four, keys=("county", "adult", "year", "month")).plot()


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[charts\]"):
        release().plot().save("plot.png")
    with pytest.raises(MissingExtraError, match=r"discreet\[polars\]"):
        release().to_polars()
