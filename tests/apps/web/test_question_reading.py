"""A question moves between form, SQL, saved questions and stored releases, and nothing typed is lost."""

import html
import re

import pytest

import discreet

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from people_pages import ASK, confirmed, service_fixture, shared_fixture, signed, spent, told  # noqa: F401

FORM = {**ASK, "of1": "mean", "column1": "pay", "name1": "income", "by1": "age", "bins1": "0,18,65,100"}
SQL = """SELECT county, BIN(age, 0, 18, 65, 100), COUNT(*) AS count, AVG(pay) AS income
FROM people
WHERE age > 3
GROUP BY county, BIN(age, 0, 18, 65, 100)"""


def field(page, name):
    """What a field of the form holds, shown or kept."""
    form = page.text[page.text.index('<form id="ask"') : page.text.index('<section id="panel"')]
    if found := re.search(rf'<textarea id="{name}"[^>]*>([^<]*)</textarea>', form):
        return html.unescape(found[1])
    if found := re.search(rf'<select id="{name}".*?</select>', form, re.DOTALL):
        chosen = re.search(r"<option(?: value=\"([^\"]*)\")?[^>]* selected[^>]*>([^<]*)", found[0])
        return "" if chosen is None else html.unescape(chosen[1] or chosen[2])
    checked = " checked" if name == "way" else ""
    found = re.search(rf'name="{name}" value="([^"]*)"{checked}', form)
    return None if found is None else html.unescape(found[1])


def test_a_form_becomes_sql_and_sql_the_same_form(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    asked = {**FORM, "where": "age > 3"}
    page = ann.post("/d/people/ask", {**asked, "go": "sql"})
    assert field(page, "sql") == SQL
    assert {name: field(page, name) for name in asked} == asked  # kept, though not shown
    back = ann.post("/d/people/ask", {"tab": "sql", "sql": SQL, "way": "epsilon", "epsilon": "0.25", "go": "form"})
    assert back.status_code == 200
    named = {name: text for name, text in asked.items() if name != "allotment"}
    assert {name: field(back, name) for name in named} == named
    assert field(back, "sql") == SQL
    assert spent(shared) == 0


def test_a_statement_that_says_the_same_stays_as_it_was_typed(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    typed = "select count(*) as count -- all of them\nfrom people group by county"
    page = ann.post("/d/people/ask", {**ASK, "sql": typed, "go": "sql"})
    assert field(page, "sql") == typed
    other = ann.post("/d/people/ask", {**ASK, "sql": "SELECT AVG(age) FROM people", "go": "sql"})
    assert field(other, "sql").startswith("SELECT county, COUNT(*) AS count")
    assert "-- SELECT AVG(age) FROM people" in field(other, "sql")  # nothing typed is lost


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT county, COUNT(*) AS n FROM people GROUP BY county ORDER BY n",
        "SELECT COUNT(*) * 2 AS n FROM people",
        "SELECT nonsense FROM people",
        "SELECT COUNT(age) AS n FROM people",
    ],
)
def test_what_the_form_has_no_field_for_stays_sql(shared, sql):
    ann = signed(shared)
    ann.get("/d/people/ask")
    sent = {"tab": "sql", "sql": sql, "of0": "sum", "column0": "pay", "way": "epsilon", "epsilon": "0.1"}
    page = ann.post("/d/people/ask", {**sent, "go": "form"})
    assert page.status_code == 422
    assert field(page, "sql") == sql
    assert "Go to the form anyway" in told(page)
    there = ann.post("/d/people/ask", {**sent, "go": "anyway", "allotment": "team"})
    assert (field(there, "of0"), field(there, "column0"), field(there, "sql")) == ("sum", "pay", sql)


def test_a_condition_on_a_key_is_no_hindrance_and_a_list_of_its_values_is(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    sent = {"tab": "sql", "sql": "SELECT county, COUNT(*) AS count FROM people WHERE county = 'Ash' GROUP BY county"}
    back = ann.post("/d/people/ask", {**sent, "way": "epsilon", "epsilon": "0.1", "go": "form", "allotment": "team"})
    assert (field(back, "by0"), field(back, "where")) == ("county", "county = 'Ash'")
    desk = service.curators["people"]
    listed = desk.table().group_by(discreet.key("county", ["Ash"])).agg(n=discreet.count())
    listed.plan(epsilon="0.1", allotment="team").release(release="listed")
    assert "the form or SQL can show" in told(ann.get("/d/people/ask?from=listed"))


def test_what_sql_has_no_words_for_stays_a_form(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", {**ASK, "groups": "Elm\nAsh", "go": "sql"})
    assert page.status_code == 422
    assert "SQL has words for" in told(page)
    assert field(page, "groups") == "Elm\nAsh"


def test_the_question_of_a_release_is_filled_in_again(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    first = {**FORM, "where": "age > 3", "limit_rows": "2"}
    release = confirmed(ann, first).headers["location"].partition("/releases/")[2].partition("?")[0]
    page = ann.get(f"/d/people/ask?from={release}")
    assert page.status_code == 200
    assert {name: field(page, name) for name in first} == first
    assert "You have this answer already (free)" in told(page)
    assert ann.get("/d/people/ask?from=nothing").status_code == 422
    limits = {
        "tab": "limits",
        "way": "epsilon",
        "epsilon": "0.1",
        "allotment": "team",
        "count_by": "county",
        "most": "8",
    }
    release = confirmed(ann, {**limits, "where": "age < 90"}).headers["location"].rpartition("/")[2].partition("?")[0]
    page = ann.get(f"/d/people/ask?from={release}")
    assert (field(page, "count_by"), field(page, "most"), field(page, "where")) == ("county", "8", "age < 90")


def test_a_release_of_sql_or_of_another_kind_is_shown_as_far_as_can_be(service):
    desk = service.curators["people"]
    desk.sql("SELECT COUNT(age) AS n FROM people").plan(epsilon="0.1", allotment="team").release(release="counted")
    desk.tree(["county"]).plan(epsilon="0.1", allotment="team").release(release="tree")
    desk.table().top("county", 1).plan(epsilon="0.1", allotment="team").release(release="top")
    ann = signed(service)
    assert field(ann.get("/d/people/ask?from=counted"), "sql") == "SELECT COUNT(age) AS n\nFROM people"
    assert "another kind" in told(ann.get("/d/people/ask?from=tree"))
    assert "the form or SQL can show" in told(ann.get("/d/people/ask?from=top"))


def test_a_question_is_saved_listed_asked_again_and_removed(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", {**FORM, "go": "save", "save_as": "by county"})
    assert "Saved as by county" in told(page)
    sql = {"tab": "sql", "sql": "SELECT COUNT(*) AS n FROM people", "way": "percent", "percent": "5"}
    ann.post("/d/people/ask", {**sql, "allotment": "team", "go": "save", "save_as": "all"})
    mean = {**ASK, "of0": "mean", "column0": "pay", "way": "within", "within": "50", "at_rows": "1000"}
    ann.post("/d/people/ask", {**mean, "go": "save", "save_as": "accurate"})
    assert float(field(ann.get("/d/people/ask?saved=accurate"), "epsilon")) < 1  # what the accuracy came to
    listed = ann.get("/d/people/ask/saved")
    assert "by county" in told(listed)
    again = ann.get("/d/people/ask?saved=by+county")
    assert {name: field(again, name) for name in FORM} == FORM
    assert "Saved questions (3)" in told(again)
    statement = ann.get("/d/people/ask?saved=all")
    assert field(statement, "sql") == sql["sql"]
    assert "5% of the allotment team" in told(statement)
    assert ann.post("/d/people/ask", {**FORM, "go": "save", "save_as": " "}).status_code == 422
    assert ann.post("/d/people/ask", {**FORM, "epsilon": "much", "go": "save", "save_as": "x"}).status_code == 422
    ann.get("/d/people/ask/saved")
    assert ann.post("/d/people/ask/forget", {"saved": "all"}).status_code == 303
    assert ann.get("/d/people/ask?saved=all").status_code == 422
    vic = signed(service, "vic", "viewer")
    vic.get("/d/people/ask")
    assert vic.post("/d/people/ask", {**FORM, "go": "save", "save_as": "mine"}).status_code == 403
    assert spent(service) == 0


def test_only_who_saved_a_question_and_custodians_replace_or_remove_it(service):
    ann, ben, carla = signed(service, "anna"), signed(service, "ben"), signed(service, "carla", "custodian")
    ann.get("/d/people/ask")
    ann.post("/d/people/ask", {**ASK, "go": "save", "save_as": "by county"})
    ben.get("/d/people/ask")
    other = ben.post("/d/people/ask", {**ASK, "epsilon": "0.5", "go": "save", "save_as": " by county "})
    assert (other.status_code, "Somebody else saved it" in told(other)) == (422, True)
    assert ben.post("/d/people/ask/forget", {"saved": "by county"}).status_code == 422
    listed = ben.get("/d/people/ask/saved")
    assert "by county" in told(listed)
    assert "saved by" not in listed.text
    assert "Remove by county" not in listed.text
    assert "saved by anna" in ann.get("/d/people/ask/saved").text
    assert "saved by anna" in carla.get("/d/people/ask/saved").text
    assert ann.post("/d/people/ask", {**ASK, "go": "save", "save_as": "by county"}).status_code == 200
    assert carla.post("/d/people/ask/forget", {"saved": "by county"}).status_code == 303
    assert "None yet" in told(ann.get("/d/people/ask/saved"))
