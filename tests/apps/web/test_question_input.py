"""A question as the form has it."""

import html
import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")


from people_pages import ASK, EVIL, confirmed, service_fixture, shared_fixture, signed, spent, told  # noqa: F401


def test_sql_has_a_tab_of_its_own(shared):
    ann = signed(shared)
    page = ann.get("/d/people/ask?tab=sql")
    assert "<textarea" in page.text
    asked = {"tab": "sql", "sql": "SELECT county, COUNT(*) AS n FROM people GROUP BY county", "way": "share"}
    found = ann.post("/d/people/ask", {**asked, "share": "0.1", "allotment": "team"})
    assert found.status_code == 200
    assert "epsilon = 0.1" in told(found)
    quoted = {**asked, "sql": "SELECT `county`, COUNT(*) FROM people GROUP BY 1", "share": "0.1", "allotment": "team"}
    assert "<option selected>bigquery" in ann.post("/d/people/ask", {**quoted, "dialect": "bigquery"}).text
    assert ann.post("/d/people/ask", {**quoted, "dialect": "klingon"}).status_code == 422
    wrong = ann.post("/d/people/ask", {**asked, "sql": f"SELECT {EVIL} FROM people", "share": "0.1"})
    assert wrong.status_code == 422
    assert EVIL not in wrong.text
    assert html.escape(EVIL, quote=False) in wrong.text  # kept as it was written
    assert 'aria-invalid="true"' in wrong.text


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"where": f"age > {EVIL}"}, "where", "where"),
        ({"epsilon": ""}, "epsilon", "a number"),
        ({"epsilon": "much"}, "epsilon", "epsilon"),
        ({"epsilon": "-1"}, "epsilon", "more than zero"),
        ({"of0": "mean"}, "of0", "with a column"),
        ({"of0": "quantile", "column0": "age", "q0": "7"}, "", "q"),
        ({"of0": EVIL}, "of0", "one of count"),
        ({"by0": EVIL}, "by0", "must be"),
        ({"of0": "mean", "column0": "pay", "way": "within", "within": "3"}, "within", "depends on data"),
        ({"delta": "2"}, "delta", "delta"),
        ({"confidence": "7"}, "confidence", "less than 1"),
        ({"way": "percent", "percent": "lots"}, "percent", "a percentage"),
        ({"way": "percent", "percent": "200"}, "percent", "at most 1"),
        ({"allotment": EVIL}, "allotment", "one of"),
        ({"by0": "remark"}, "by0", "remark"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_the_form_is_kept(shared, change, field, words):
    ann = signed(shared)
    ann.get("/d/people/ask")
    page = ann.post("/d/people/ask", {**ASK, "where": "age > 3", **change})
    assert page.status_code == 422
    assert words in told(page)
    assert EVIL not in page.text
    assert "Spend and release" not in page.text
    if field:
        assert re.search(rf'id="{field}"[^>]*aria-invalid="true" aria-describedby="problem"', page.text), field
    if "where" not in change:
        assert 'value="age &gt; 3"' in page.text
    assert spent(shared) == 0


def test_rows_are_added_and_removed_without_a_script(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    assert 'id="of1"' not in ann.post("/d/people/ask", ASK).text
    page = ann.post("/d/people/ask", {**ASK, "where": "age >", "go": "add-of"})
    assert page.status_code == 200  # half filled in
    assert 'id="of1"' in page.text
    assert 'value="age &gt;"' in page.text
    page = ann.post("/d/people/ask", {**ASK, "by1": "age", "bins1": "10", "go": "add-by"})
    assert 'id="by2"' in page.text
    page = ann.post("/d/people/ask", {**ASK, "by1": "age", "bins1": "10", "go": "drop-by0"})
    assert re.search(r'id="by0".*?<option value="age"[^>]* selected', page.text)
    assert 'id="by1"' not in page.text
    full = {f"of{place}": "count" for place in range(8)} | {f"name{place}": f"n{place}" for place in range(8)}
    assert "add-of" not in ann.post("/d/people/ask", {**ASK, **full}).text
    assert spent(shared) == 0


def test_a_discovered_key_needs_a_delta_and_a_budget_that_has_one(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    asked = {"of0": "count", "by0": "remark", "bins0": "?", "allotment": "guests", "way": "rho", "rho": "0.02"}
    assert ann.post("/d/people/ask", asked).status_code == 422
    assert "How many there are is private" in told(ann.post("/d/people/ask", {**asked, "delta": "1e-7"}))


def test_a_question_can_be_linked_to_and_is_not_asked_by_it(shared):
    ann = signed(shared)
    page = ann.get("/d/people/ask?of0=sum&column0=pay&way=epsilon&epsilon=0.5&allotment=team")
    assert "sum_pay" in told(page)
    assert ann.get("/d/people/ask?of0=sum&way=epsilon&epsilon=0.5").status_code == 200
    assert spent(shared) == 0


def test_every_form_without_script_carries_the_whole_question(shared):
    """What the confirmation sends is what was priced, whatever the other form says meanwhile."""
    ann = signed(shared)
    ann.get("/d/people/ask")
    asked = {**ASK, "of1": "quantile", "column1": "age", "q1": "0.9", "by1": "age", "bins1": "50", "where": "age < 90"}
    page = ann.post("/d/people/ask", asked)
    confirm = page.text[page.text.index('class="confirm"') :]
    sent = {
        html.unescape(name): html.unescape(value)
        for name, value in re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', confirm)
    }
    assert {name: sent.get(name) for name in asked} == asked


def test_limits_of_a_question_are_filled_in_kept_and_sent_on(shared):
    ann = signed(shared)
    assert "the schema states 1 group, 1 row in each" in told(ann.get("/d/people/ask"))
    page = ann.post("/d/people/ask", {**ASK, "limit_rows": "7", "limit_groups": "2", "by0": "county"})
    assert "Each person counts in at most 2 groups" in told(page)
    assert "counts with at most 7 rows" in told(page)
    confirm = page.text[page.text.index('class="confirm"') :]
    assert re.search(r'type="hidden" name="limit_rows" value="7"', confirm)
    wrong = ann.post("/d/people/ask", {**ASK, "limit_rows": "0"})
    assert wrong.status_code == 422
    assert re.search(r'id="limit_rows"[^>]*aria-invalid="true"', wrong.text)


def test_groups_are_listed_or_asked_for_alone(shared):
    ann = signed(shared)
    ann.get("/d/people/ask")
    chosen = {**ASK, "by0": "county", "groups": "Elm\nAsh"}
    page = ann.post("/d/people/ask", chosen)
    assert "Releases 2 rows" in told(page)
    assert re.search(r'type="hidden" name="groups" value="Elm\nAsh"', page.text[page.text.index('class="confirm"') :])
    wrong = ann.post("/d/people/ask", {**chosen, "groups": "Yew"})
    assert wrong.status_code == 422
    assert re.search(r'id="groups"[^>]*aria-invalid="true"', wrong.text)
    alone = {"of0": "count", "by0": "remark", "bins0": "?", "allotment": "guests", "way": "rho", "rho": "0.02"}
    page = ann.post("/d/people/ask", {**alone, "delta": "1e-7", "listing": "1"})
    assert page.status_code == 200
    assert re.search(r'id="listing"[^>]* checked', page.text)
    assert spent(shared) == 0


def test_limits_are_chosen_on_a_page_of_their_own(service):
    ann = signed(service)
    assert "Choose limits" in told(ann.get("/d/people/ask"))
    asked = {"tab": "limits", "way": "epsilon", "epsilon": "0.5", "allotment": "team", "where": "age < 90"}
    page = ann.post("/d/people/ask", {**asked, "count_by": "county", "most": "8"})
    assert "Releases 4 rows" in told(page), told(page)
    for wrong, field in (({"most": "1"}, "most"), ({"most": "many"}, "most")):
        refused = ann.post("/d/people/ask", {**asked, **wrong})
        assert refused.status_code == 422
        assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', refused.text), refused.text
    found = ann.get(confirmed(ann, asked).headers["location"])
    assert re.search(r"Suggested: rows_total = \d+", told(found))  # noise decides which
    assert "Limits on rows" in told(found)
    assert "people_cut" in told(found)
    assert "What each limit leaves out" in found.text
    plain = ann.get(confirmed(ann, {**ASK, "by0": "county"}).headers["location"])
    assert "/d/people/ask?tab=limits" in plain.text[plain.text.index('<h2 id="table-title">Table') :]
