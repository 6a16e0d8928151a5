"""Shapes that a reader sends for a map: drawn by if they fit, refused in words if not, and seen by nobody else."""

import json

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from job_pages import (
    begun,
    service_fixture,  # noqa: F401
    signed,
    spent,
    waited,
)

from discreet.apps.web.shapes import LARGEST

AT = "/d/people/map/shapes?release=tree"


def shapes(*codes, key="id"):
    """Squares side by side, as the content of a GeoJSON file."""
    features = []
    for x, code in enumerate(codes):
        ring = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]
        named = {"id": code} if key == "id" else {"properties": {key: code}}
        features.append({"type": "Feature", **named, "geometry": {"type": "Polygon", "coordinates": [ring]}})
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


@pytest.fixture(name="ann")
def ann_fixture(service):
    """An analyst who looks at the map of a hierarchy."""
    tree = service.curators["people"].tree(["county"]).plan(epsilon="0.1")
    tree.release(release="tree")
    tree.release(release="later")
    ann = signed(service)
    ann.get("/d/people/map?release=tree")
    return ann


def mapped(visitor, **more):
    query = "".join(f"&{name}={value}" for name, value in more.items())
    head = visitor.get(f"/d/people/map/content?release=tree{query}").json()
    return [layer["mapped"] for layer in head["layers"]]


def sent(visitor, content, at=AT, **headers):
    marks = {"x-csrf": visitor.csrf, "content-type": "application/json", **headers}
    return visitor._sent("POST", at, content, marks)


def test_a_map_is_drawn_by_shapes_that_its_reader_sends_for_them_alone(service, ann):
    assert mapped(ann) == [False, False]
    assert sent(ann, shapes("A1", "A2", "B1")).json() == {"kept": True}
    assert mapped(ann) == [False, True]
    assert "Remove them" in ann.get("/d/people/map?release=tree").text
    bob = signed(service, "viewer", "bob")
    assert mapped(bob) == [False, False]
    assert sent(ann, b"").json() == {"kept": False}
    assert mapped(ann) == [False, False]
    assert sent(ann, shapes("A1", "B1", key="code"), f"{AT}&code_property=code").status_code == 200
    assert mapped(ann) == [False, True]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04", "a JSON file of polygons"),
        (b"[1, 2]", "a JSON file of polygons"),
        (b'{"county": "/etc/hostname"}', "a JSON file of polygons"),
        (b'{"type": "Point", "coordinates": [0, 0]}', "TopoJSON"),
        (b'{"type": "FeatureCollection", "features": [7]}', "well-formed"),
        (b"[" * 100_000, "a JSON file of polygons"),
        (shapes("X9", "X8"), "codes such as"),
    ],
)
def test_a_wrong_file_is_refused_in_words(ann, content, said):
    found = sent(ann, content)
    assert found.status_code == 422
    assert found.json()["message"].startswith("`shapes` must be")
    assert said in found.json()["message"]
    assert mapped(ann) == [False, False]


def test_files_are_small_and_come_from_the_page(ann):
    assert sent(ann, b" " * (LARGEST + 1)).status_code == 413
    assert sent(ann, shapes("A1"), **{"x-csrf": "0" * 64}).status_code == 403
    assert sent(ann, shapes("A1"), "/d/people/map/shapes?release=none").status_code == 404


def test_another_release_is_put_beside_it(ann):
    page = ann.get("/d/people/map?release=tree&compare=later").text
    assert "content?release=tree&amp;compare=later" in page
    assert '<option value="later" selected' in page
    assert ann.get("/d/people/map/content?release=tree&compare=later").json()["editions"] == ["tree", "later"]
    assert ann.get("/d/people/map?release=tree&compare=none").status_code == 404


def test_shapes_given_with_the_form_are_compared_before_anything_is_paid_and_drawn_by_after(service):
    ann = signed(service)
    form = {"levels": "county", "way": "epsilon", "epsilon": "0.1", "geometry": shapes("X9", "X8").decode()}
    ann.get("/d/people/map")
    page = ann.post("/d/people/map", form)
    assert page.status_code == 422
    assert "ids such as &#39;X9&#39;" in page.text
    assert 'aria-invalid="true"' in page.text
    before = spent(service)
    begun_at = begun(ann, "map", {**form, "geometry": shapes("A1").decode()})
    waited(ann, begun_at)
    assert spent(service) != before
    (release,) = [one.charged.release for one in service.curators["people"].ledger.releases("people")]
    head = ann.get(f"/d/people/map/content?release={release}").json()
    assert [layer["mapped"] for layer in head["layers"]] == [False, True]
    bob = signed(service, "viewer", "bob")
    assert not any(one["mapped"] for one in bob.get(f"/d/people/map/content?release={release}").json()["layers"])
