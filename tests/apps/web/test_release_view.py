"""What the page of a release shows: rows in the order asked for, a page at a time, and code at the price paid."""

from dataclasses import replace

import pytest

from discreet.core.note import Note
from discreet.core.release import UNKNOWN, Release

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")

from discreet.apps.web.release_view import ROWS, view_release, with_code
from discreet.core.unit import Unit
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.query.aggregate import count
from discreet.query.question import Query

HERE = "/d/people/releases/r1"


def release(values, keys=("county",), **more):
    columns = {key: [f"g{place:03}" for place in range(len(values))] for key in keys}
    columns["n"] = values
    columns["n_lower"] = [None if value is None else value - 5 for value in values]
    columns["n_upper"] = [None if value is None else value + 5 for value in values]
    return Release("r1", "people", columns, keys, ("n",), 0.95, "epsilon = 1", "noise", "digest", **more)


def first_keys(view):
    return [keys[0] for keys, _, _ in view.rows]


def test_rows_are_sorted_by_the_column_asked_for_and_unknown_ones_come_last():
    made = release([30, None, 10, 20])
    assert first_keys(view_release(made, HERE, {})) == ["g000", "g001", "g002", "g003"]
    assert first_keys(view_release(made, HERE, {"sort": "n"})) == ["g002", "g003", "g000", "g001"]
    assert first_keys(view_release(made, HERE, {"sort": "-n"})) == ["g000", "g003", "g002", "g001"]
    assert first_keys(view_release(made, HERE, {"sort": "-county"}))[0] == "g003"
    assert first_keys(view_release(made, HERE, {"sort": "secret"})) == ["g000", "g001", "g002", "g003"]


def test_heads_lead_to_the_other_order_and_say_the_one_there_is():
    plain, sorted_once = (view_release(release([3, 1]), HERE, {"sort": sort}).headings for sort in ("", "-n"))
    assert [(head.name, head.order) for head in plain] == [("county", ""), ("n", ""), ("interval", "")]
    assert plain[1].link == f"{HERE}?sort=-n"
    assert (sorted_once[1].order, sorted_once[1].link) == ("descending", f"{HERE}?sort=n")


def test_two_hundred_groups_are_pages_of_a_screen():
    made = release(list(range(200)))
    view = view_release(made, HERE, {"page": "2", "sort": "-n"})
    assert len(view.rows) == ROWS
    assert view.shown == (26, 50, 200)
    assert first_keys(view)[0] == "g174"
    assert [number for number, _ in view.pages] == [1, 2, 3, 4, 8]
    assert view.pages[0][1] == f"{HERE}?sort=-n"
    assert all(len(picture.table.rows) == ROWS for picture in view.pictures)  # the picture is of the same rows
    assert view_release(made, HERE, {"page": "99"}).page == 8
    assert view_release(made, HERE, {"page": "x"}).page == 1


def test_one_number_is_shown_large_and_needs_no_picture():
    view = view_release(release([4999], keys=()), HERE, {})
    assert view.figures == [("n", "", "4,999", "4,994 to 5,004")]
    assert view.pictures == []
    none = view_release(release([None], keys=()), HERE, {})
    assert none.figures[0][2] == UNKNOWN


def test_one_output_of_several_is_drawn_and_the_others_are_a_click_away():
    columns = {**release([1, 2]).columns, "m": [5.0, 6.0], "m_lower": [4.0, 5.0], "m_upper": [6.0, 7.0]}
    made = replace(release([1, 2]), columns=columns, outputs=("n", "m"), facts={"outputs": {"m": "mean pay"}})
    view = view_release(made, HERE, {"output": "m"})
    assert view.output == "m"
    assert view.caption.startswith("Mean pay by county")
    assert [(name, link) for name, _, link in view.outputs] == [("n", f"{HERE}?output=n"), ("m", f"{HERE}?output=m")]
    assert view_release(made, HERE, {"output": "secret"}).output == "n"


def test_days_have_no_picture_and_no_file_of_one():
    days = {"county": ["a"], "n": ["2024-01-02"], "n_lower": ["2024-01-01"], "n_upper": ["2024-01-03"]}
    view = view_release(replace(release([1]), columns=days), HERE, {})
    assert view.pictures == []
    assert not {"svg", "png"} & {ending for ending, _, _ in view.files}
    assert view.rows[0][1] == [("2024-01-02", "2024-01-01 to 2024-01-03")]


def test_code_is_sql_where_there_is_some_and_python_at_the_price_paid():
    schema = Schema("people", {"county": Category(["a", "b"], nullable=False)}, unit=Unit())
    query = Query().group_by("county").agg(n=count()).checked(schema).to_dict()
    made = release([1, 2], query=query, facts={"code": {"Python": "old"}})
    code = with_code(made, schema, {"within": 30}).facts["code"]
    assert code["SQL"] == "SELECT county, COUNT(*) AS n\nFROM people\nGROUP BY county"
    assert "plan(within=30)" in code["Python"]
    paid = replace(made, facts={**made.facts, "price": {"epsilon": 0.5}})
    shared = with_code(paid, schema, {"share": 0.5, "noise": "gaussian"}).facts["code"]["Python"]
    assert '.plan(epsilon=0.5, noise="gaussian")' in shared  # the budget may have changed since
    assert with_code(release([1]), schema, {}) == release([1])
    assert with_code(made, None, {}).facts["code"] == {"Python": "old"}


def test_notes_stand_under_the_outputs_they_are_about():
    about = [
        Note("bounds", "Of both.", ("n", "pay")),
        Note("bounds", "Of pay.", ("pay",)),
        Note("rows", "Of none.", ()),
    ]
    made = release([3], notes=tuple(about))
    two = replace(made, columns={**made.columns, "pay": [1], "pay_lower": [0], "pay_upper": [2]}, outputs=("n", "pay"))
    assert view_release(two, HERE, {}).remarks == [("", ["Of both.", "Of none."]), ("pay", ["Of pay."])]
    assert view_release(replace(made, notes=()), HERE, {}).remarks == []
