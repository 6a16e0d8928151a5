"""A schema drafted in a browser from a table that stays here: nothing is taken for declared without a word."""

import pytest
from custodian_pages import agree, made, shared_fixture, signed, told, upload  # noqa: F401

HEADED = b"patient,age,town\nCANARY-ann,42,CANARYTOWN\nbob,7,Rome\n"
BARE = b"CANARY-ann,1987-03-01,CANARYTOWN\nbob,1990-01-02,Rome\n"
UNIT = {"stage": "unit", "name": "visits", "unit": "patient", "groups": "3", "rows": "10"}


def kept(service):
    return sorted(str(path.relative_to(service.state)) for path in service.state.rglob("*") if path.is_file())


def test_a_table_is_brought_described_and_drafted(shared):
    carla = signed(shared)
    place = upload(carla, HEADED).headers["location"]
    page = carla.get(place)
    assert "CANARY" not in page.text  # nothing of the file is shown before its first line is said to hold names
    assert "patient" not in page.text
    silent = carla.post(place, {"delimiter": ","})
    assert (silent.status_code, "would be written into the schema" in told(silent)) == (422, True)
    page = carla.post(place, {"header": "names", "delimiter": ""})
    assert "by the column patient" in told(page)
    page = carla.post(place, {"header": "names", **UNIT})
    assert "No value was looked at" in told(page)
    assert "column = &#34;patient&#34;" in page.text
    assert "groups = 3" in page.text
    assert "CANARY" not in page.text
    assert "[columns.town]" in page.text
    guessed = carla.post(place, {"header": "names", **UNIT, "types": "yes"})
    assert "Values were read here to guess the types of 2 columns" in told(guessed)
    assert "CANARY" not in guessed.text
    done = agree(carla, f"{place}/remove")
    assert "The upload is removed" in told(carla.follow(done))
    assert carla.get(place).status_code == 404
    assert [one.what for one in shared.trail.listed("schema", most=2)] == [
        "upload removed",
        f"uploaded, {len(HEADED)} bytes",
    ]


def test_values_in_the_first_line_are_never_names(shared):
    carla = signed(shared)
    place = upload(carla, BARE).headers["location"]
    assert "reads as" in told(carla.get(place)) or "Look at it first" in told(carla.get(place))
    row = {"stage": "unit", "name": "visits", "unit": "row"}
    page = carla.post(place, {"header": "values", **row})
    assert "[columns.column_3]" in page.text
    page = carla.post(place, {"header": "given", "names": "who,born,town", **row})
    assert "[columns.born]" in page.text
    assert "CANARY" not in page.text
    few = carla.post(place, {"header": "given", "names": "who,born"})
    assert (few.status_code, "one name for each column" in told(few)) == (422, True)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"unit": ""}, "who is protected"),
        ({"unit": "pateint"}, "Did you mean"),
        ({"groups": ""}, "`groups`"),
        ({"rows": "many"}, "`rows`"),
        ({"name": ""}, "what the ledger calls"),
        ({"rows": "0"}, "unit.rows"),
    ],
)
def test_whom_to_protect_is_never_assumed(shared, changes, says):
    carla = signed(shared)
    place = upload(carla, HEADED).headers["location"]
    carla.get(place)
    page = carla.post(place, {"header": "names", **UNIT, **changes})
    assert page.status_code == 422
    assert says.strip("`") in told(page)
    agree(carla, f"{place}/remove")


def test_an_upload_lies_in_its_folder_whatever_it_is_called(shared):
    carla = signed(shared)
    before = set(kept(shared))
    for name in ("../../evil.csv", "/etc/evil.csv", "..\\\\..\\\\evil.csv", "x" * 400 + ".csv"):
        assert upload(carla, HEADED, name).status_code == 303
    new = set(kept(shared)) - before
    assert all(path.startswith("uploads/") and path.count("/") == 2 for path in new)
    assert {path.rpartition("/")[2] for path in new} == {"name", "table.csv"}
    outside = shared.state.parent
    assert not list(outside.glob("*evil*"))
    for identity in ("%252e%252e", "x" * 32, "..%2f..%2ft.db"):
        assert carla.get(f"/custodian/datasets/uploads/{identity}").status_code == 404


def test_what_is_too_large_or_no_table_leaves_nothing(tmp_path):
    service = made(tmp_path).within(upload=1000)
    carla = signed(service)
    for content, name, says in (
        (b"a\n" + b"1\n" * 600, "big.csv", "of at most"),
        (b"#!/bin/sh", "evil.sh", "a file that ends in"),
        (b"", "empty.csv", "a file with rows"),
    ):
        answer = upload(carla, content, name)
        assert (answer.status_code, says in told(answer)) == (422, True), name
    carla.get("/custodian/datasets")
    huge = carla._sent("POST", "/custodian/datasets/upload", b"x" * (1 << 21), {"content-type": "multipart/form-data"})
    assert huge.status_code == 413
    wrong = carla._sent("POST", "/custodian/datasets/upload", b"x", {"content-type": "text/plain"})
    assert (wrong.status_code, "not a form of these pages" in told(wrong)) == (400, True)
    assert [path for path in kept(service) if path.startswith("uploads")] == []


def test_a_first_line_that_is_no_line_of_a_table_is_said_to_be_none(shared):
    visitor = signed(shared)
    place = upload(visitor, b"CANARY-ann" + b"a" * 200_000 + b"\n1\n", "long.csv").headers["location"]
    page = visitor.get(place)
    assert page.status_code == 422
    assert "characters" in told(page)
    assert "CANARY" not in page.text
