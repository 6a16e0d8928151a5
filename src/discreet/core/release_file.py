"""Files of a release: tables, pictures and a page, each with what is known of it inside or beside.

Pages, `release.save(...)` and the command line write the same bytes.
"""

from __future__ import annotations

import io
import json
import struct
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.chart import chart, drawable
from discreet.core.metadata import ENDINGS, metadata, source_lines
from discreet.errors import InputError
from discreet.show import Picture, element, shorten

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = ["file_content", "picture", "save", "sidecar"]

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_LINE, _LETTERS = 16, 96


def file_content(release: Release, ending: str, output: str | None = None) -> bytes:
    """The content of a file; `output` is what a picture shows, the first that has one unless named."""
    match ending:
        case "csv":
            return release.to_csv().encode()
        case "json":
            return (json.dumps(release.to_dict() | {"metadata": metadata(release)}, indent=1) + "\n").encode()
        case "parquet":
            return _parquet(release)
        case "md":
            return _markdown(release).encode()
        case "html":
            from discreet.core.release_page import release_page

            return release_page(release).encode()
        case "svg":
            return picture(release, output).to_svg().encode()
        case "png" | "pdf":
            return _drawn(release, ending, output)
    raise InputError("path", f".{ending}", "a file that ends in " + ", ".join(f".{one}" for one in ENDINGS))


def save(release: Release, path: str | Path, output: str | None = None) -> list[Path]:
    """Write a file by its ending, and beside a CSV file its metadata; the files that were written."""
    place = Path(path)
    if place.suffix[1:].lower() not in ENDINGS:
        raise InputError("path", str(path), "a file that ends in " + ", ".join(f".{one}" for one in ENDINGS))
    if place.is_dir() or not place.absolute().parent.is_dir():
        raise InputError("path", str(path), "a file in a folder that exists")
    ending = place.suffix[1:].lower()
    place.write_bytes(file_content(release, ending, output))
    if ending != "csv":
        return [place]
    beside = Path(f"{place}-metadata.json")
    beside.write_bytes(sidecar(release, place.name))
    return [place, beside]


def sidecar(release: Release, name: str) -> bytes:
    """What is known of a CSV file, in a file beside it: where readers of CSV on the Web look for it."""
    words = release.facts.get("outputs", {})
    columns = []
    for column, values in release.columns.items():
        output, _, end = column.rpartition("_")
        described = words.get(column) or (f"{end} end of the interval of {output}" if output in release.outputs else "")
        kind = next((_TYPES.get(type(value), "string") for value in values if value is not None), "string")
        columns.append({"name": column, "datatype": kind} | ({"dc:description": described} if described else {}))
    told = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": name,
        **metadata(release),
        "tableSchema": {"columns": columns},
    }
    return (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()


def picture(release: Release, output: str | None = None) -> Picture:
    """A picture that says where its numbers come from: it will be pasted elsewhere."""
    if output is None:
        known = drawable(release)
        if not known:
            raise InputError(
                "output", ", ".join(release.outputs) or "none", "an output of numbers over at most three keys"
            )
        output = known[0]
    drawn = chart(release, output)
    below = drawn.height + 10
    lines = [
        element("text", {"class": "tick", "x": 0, "y": below + _LINE * (index + 1)}, shorten(line, _LETTERS))
        for index, line in enumerate(source_lines(release))
    ]
    told = element("metadata", None, json.dumps(metadata(release), ensure_ascii=False))
    height = below + _LINE * len(lines) + 6
    return replace(drawn, title=release.title, height=height, parts=(told, *drawn.parts, *lines))


def _drawn(release: Release, ending: str, output: str | None) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        content = picture(release, output).save(Path(folder) / f"picture.{ending}").read_bytes()
    return _labelled(content, json.dumps(metadata(release))) if ending == "png" else content


def _labelled(png: bytes, text: str) -> bytes:
    """A PNG file with a text inside, before its end."""
    body = b"iTXt" + b"discreet\x00\x00\x00\x00\x00" + text.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    end = png.rindex(b"IEND") - 4
    return png[:end] + chunk + png[end:]


def _parquet(release: Release) -> bytes:
    import pyarrow.parquet

    table: Any = release.to_arrow()
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def _markdown(release: Release) -> str:
    from discreet.core.release import inline

    lines = "\n".join(f"* {inline(line)}" for line in source_lines(release))
    return (
        f"# {inline(release.title)}\n\n{release.to_markdown()}\n\n{lines}\n\n{inline(metadata(release)['citation'])}\n"
    )
