"""Population groups and a census over HTTP: files, noisy counts, sums and maps of what was released."""

import io
import zipfile

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from job_server import (
    client,
    service_fixture,  # noqa: F401
)

from discreet.trees.census import read_census
from discreet.trees.detail import read_groups

AT = "/api/datasets/people"
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}


def unpacked(answer, folder):
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        packed.extractall(folder)
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_groups_are_files_sums_and_a_map(service, tmp_path):
    curator = service.curators["people"]
    asked = curator.detail(["county"], groups={"all": "age >= 0"}, details={"work": ["works"]})
    made = asked.plan(epsilon="0.5", allotment="team").release(release="groups")
    ann = client(service)
    assert {"groups.csv", "dictionary.md", "README.json"} <= unpacked(
        ann.get(f"{AT}/detail/groups/files?format=csv"), tmp_path / "files"
    )
    unpacked(ann.get(f"{AT}/detail/groups/measurements"), tmp_path / "noisy")
    assert dict(read_groups(tmp_path / "noisy").columns) == dict(made.columns)
    told = ann.get(f"{AT}/detail/groups/sum", params={"of": "county=A1,B1; group=all"}).json()
    assert told == made.sum({"county": ["A1", "B1"]}, "all").to_dict()
    assert ann.get(f"{AT}/detail/groups/sum", params={"of": "town=A1"}).json()["field"] == "of"
    shapes = {"type": "Feature", "id": "A1", "geometry": SQUARE}
    drawn = ann.post(f"{AT}/detail/groups/map", json={"geometry": shapes})
    assert drawn.text.count('"mapped":true') == 1
    assert ann.post(f"{AT}/detail/groups/map", json={"label": "now"}).status_code == 422
    assert ann.get(f"{AT}/census/groups/files").status_code == 404


def test_a_census_is_a_zip_of_folders_and_a_map_of_each_table(service, tmp_path):
    curator = service.curators["people"]
    tables = {"people": {"counts": "persons", "by": ["works"]}, "homes": {"counts": "households"}}
    made = curator.census(["county"], tables, household="state", most=5).plan(epsilon="0.5", allotment="team")
    census = made.release(release="census")
    ann = client(service)
    found = unpacked(ann.get(f"{AT}/census/census/files?format=csv"), tmp_path / "files")
    assert {"people/county.csv", "people/dictionary.md", "homes/county.csv"} <= found
    unpacked(ann.get(f"{AT}/census/census/measurements"), tmp_path / "noisy")
    again = read_census(tmp_path / "noisy")
    assert dict(again["people"]["county"].columns) == dict(census["people"]["county"].columns)
    assert "(people)" in ann.post(f"{AT}/census/census/map", json={}).text
    assert "(homes)" in ann.post(f"{AT}/census/census/map?table=homes", json={}).text
    assert ann.post(f"{AT}/census/census/map?table=cars", json={}).json()["field"] == "table"
