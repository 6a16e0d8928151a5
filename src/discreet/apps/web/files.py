"""Files that people download from pages."""

from __future__ import annotations

import io
import re
from typing import Any

from starlette.responses import Response

from discreet.core.release import Release
from discreet.core.release_file import file_content, sidecar

__all__ = ["attached", "file_stem", "parquet", "table_file"]

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "md": "text/markdown; charset=utf-8",
    "npz": "application/octet-stream",
    "safetensors": "application/octet-stream",
    "toml": "application/toml",
    "yaml": "application/yaml",
    "zip": "application/zip",
    "csv-metadata.json": "application/csvm+json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "application/octet-stream",  # to be saved, never shown here: it has its own scripts
}


def file_stem(name: str) -> str:
    """A name without an ending that any system can hold."""
    return re.sub(r"[^A-Za-z0-9_-]", "", name)[:80] or "file"


def attached(content: str | bytes, name: str, ending: str) -> Response:
    """A file to be saved, under a name that any system can hold."""
    plain = file_stem(name)
    body = content.encode() if isinstance(content, str) else content
    headers = {"content-disposition": f'attachment; filename="{plain}.{ending}"'}
    return Response(body, media_type=_KINDS[ending], headers=headers)


def table_file(table: Release, name: str, ending: str, output: str | None = None) -> Response:
    """A table, or a picture of one of its outputs, as a file: the same that `release.save` writes."""
    if ending == "csv-metadata.json":
        return attached(sidecar(table, f"{file_stem(name)}.csv"), name, ending)
    return attached(file_content(table, ending, output), name, ending)


def parquet(table: Any) -> bytes:
    """An Arrow table as the content of a Parquet file."""
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()
