"""Files to download."""

import io

import pyarrow.parquet
import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import (
    ASK,
    confirmed,
    service_fixture,  # noqa: F401
    signed,
)


def test_files_hold_what_the_page_shows(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    ann.follow(confirmed(ann, ASK))
    (identity,) = service.curators["people"].releases()
    release = service.curators["people"].release(identity)
    base = f"/d/people/releases/{identity}/download"
    csv = ann.get(f"{base}.csv")
    assert csv.text == release.to_csv()
    assert csv.headers["content-disposition"] == f'attachment; filename="people-{identity}.csv"'
    assert ann.get(f"{base}.json").json()["columns"] == release.to_dict()["columns"]
    table = pyarrow.parquet.read_table(io.BytesIO(ann.get(f"{base}.parquet").content))
    assert table.to_pydict() == dict(release.columns)
    assert ann.get("/d/people/releases/nothing/download.csv").status_code == 404
    assert ann.get(f"{base}.exe").status_code == 404
