"""Files that people download from pages."""

from __future__ import annotations

import io
import re
from typing import Any

from starlette.responses import Response

from discreet.core.release import Release

__all__ = ["attached", "parquet", "table_file"]

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "md": "text/markdown; charset=utf-8",
    "npz": "application/octet-stream",
    "safetensors": "application/octet-stream",
    "zip": "application/zip",
    "html": "application/octet-stream",  # to be saved, never shown here: it has its own scripts
}


def attached(content: str | bytes, name: str, ending: str) -> Response:
    """A file to be saved, under a name that any system can hold."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "", name)[:80] or "file"
    body = content.encode() if isinstance(content, str) else content
    headers = {"content-disposition": f'attachment; filename="{plain}.{ending}"'}
    return Response(body, media_type=_KINDS[ending], headers=headers)


def table_file(table: Release, name: str, ending: str) -> Response:
    """A table as CSV, JSON or Parquet."""
    match ending:
        case "csv":
            return attached(table.to_csv(), name, "csv")
        case "json":
            return attached(table.to_json(), name, "json")
        case _:
            return attached(parquet(table.to_arrow()), name, "parquet")


def parquet(table: Any) -> bytes:
    """An Arrow table as the content of a Parquet file."""
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()
