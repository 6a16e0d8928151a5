"""Files of a release: each can be read by what reads such files, and carries what is known of it."""

import csv
import io
import json
import struct
import zlib
from dataclasses import replace

import pyarrow.parquet
import pytest

from discreet.core.metadata import ENDINGS, metadata
from discreet.core.release_file import file_content, save, sidecar
from discreet.errors import InputError
from paid_release import FACTS, MADE


def test_a_csv_file_has_its_metadata_beside_it(tmp_path):
    written = MADE.save(tmp_path / "pay.csv")
    assert [path.name for path in written] == ["pay.csv", "pay.csv-metadata.json"]
    assert list(csv.reader(io.StringIO(written[0].read_text("utf-8")))) == [
        ["sector", "m", "m_lower", "m_upper"],
        ["a", "1.5", "1.0", "2.0"],
    ]
    told = json.loads(written[1].read_text("utf-8"))
    assert told["url"] == "pay.csv"
    assert told | metadata(MADE) == told
    kinds = {column["name"]: column["datatype"] for column in told["tableSchema"]["columns"]}
    assert kinds == {"sector": "string", "m": "number", "m_lower": "number", "m_upper": "number"}
    assert sidecar(MADE, "pay.csv") == written[1].read_bytes()


def test_json_holds_numbers_as_numbers_and_the_metadata():
    read = json.loads(file_content(MADE, "json"))
    assert read["columns"]["m"] == [1.5]
    assert read["metadata"]["epsilon"] == 2.5
    assert read["facts"]["price"]["rho"] == 0.125


def test_parquet_keeps_the_metadata_in_its_schema():
    schema = pyarrow.parquet.read_schema(io.BytesIO(file_content(MADE, "parquet")))
    assert json.loads(schema.metadata[b"discreet.metadata"]) == json.loads(json.dumps(metadata(MADE)))
    assert json.loads(schema.metadata[b"discreet.notes"])[0]["kind"] == "bounds"


def test_pictures_say_below_them_where_their_numbers_come_from():
    text = file_content(MADE, "svg").decode()
    for part in (
        FACTS["title"].replace(">", "&gt;"),
        "rho = 0.125",
        "release r1",
        "90% confidence",
        "protects one row",
    ):
        assert part in text
    assert "<metadata>" in text


def test_a_png_file_holds_its_metadata_and_is_whole():
    pytest.importorskip("vl_convert")
    png = file_content(MADE, "png")
    assert png.startswith(b"\x89PNG")
    place, found = 8, {}
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        kind, body = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[place + 8 + size : place + 12 + size])[0]
        found[kind] = body
        place += 12 + size
    assert json.loads(found[b"iTXt"].split(b"\x00", 5)[-1])["release"] == "r1"
    assert list(found)[-1] == b"IEND"


def test_markdown_and_html_name_the_release():
    assert f"# {FACTS['title']}".replace(">", "\\>") in file_content(MADE, "md").decode()
    assert "Release r1" in file_content(MADE, "html").decode()


@pytest.mark.parametrize("path", ["pay", "pay.xls", "nowhere/pay.csv"])
def test_a_file_that_cannot_be_written_is_refused(path, tmp_path):
    with pytest.raises(InputError) as caught:
        save(MADE, tmp_path / path)
    assert caught.value.field == "path"
    assert list(tmp_path.iterdir()) == []


def test_a_release_without_a_picture_says_so():
    days = replace(MADE, columns={**MADE.columns, "m": ["2024-01-01"]})
    with pytest.raises(InputError, match="numbers"):
        file_content(days, "svg")
    assert {"csv", "json", "parquet", "html", "svg", "png"} <= set(ENDINGS)
