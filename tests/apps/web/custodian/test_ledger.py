"""The custodian's ledger: questions in words, filters, pages, budgets over time."""

import pytest
from custodian_pages import asked, made, signed, told

from discreet.apps.web import burns
from discreet.apps.web.burns import all_burns
from discreet.apps.web.custodian import ledger as ledger_page
from discreet.apps.web.custodian.ledger import entries_of


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = made(tmp_path_factory.mktemp("ledger"))
    asked(service, "SELECT town, AVG(age) AS a FROM people WHERE age > 17 GROUP BY town", who="ann", why="<b>why</b>")
    asked(service, "SELECT town, COUNT(*) AS n FROM people GROUP BY town", "0.2", who="ben", why="")
    return service


def test_questions_stand_there_in_words_and_budgets_too(service):
    page = signed(service).get("/custodian/ledger")
    assert "Mean age by town, where age > 17" in told(page)
    assert "<b>why</b>" not in page.text
    assert "Budget opened: team epsilon = 1; guests epsilon = 1" in told(page)
    assert "4 entries" in told(page)


@pytest.mark.parametrize(
    ("filters", "there", "not_there"),
    [
        ("who=ben", "Number of rows by town", "Mean age by town"),
        ("kind=budget", "Budget opened", "Mean age by town"),
        ("kind=question&who=ann&dataset=people", "Mean age by town", "Number of rows by town"),
        ("since=2999-01-01", "No entry matches", "Mean age by town"),
        ("until=2999-01-01&who=ann", "Mean age by town", "Budget opened"),
    ],
)
def test_filters_leave_what_fits(service, filters, there, not_there):
    page = told(signed(service).get(f"/custodian/ledger?{filters}"))
    assert there in page
    assert not_there not in page


def test_a_day_that_is_none_is_refused(service):
    page = signed(service).get("/custodian/ledger?since=yesterday")
    assert (page.status_code, "a day, such as" in told(page)) == (422, True)


def test_long_lists_have_pages(service, monkeypatch):
    monkeypatch.setattr(ledger_page, "_PAGE", 3)
    carla = signed(service)
    first, second = (carla.get(f"/custodian/ledger?dataset=people&page={number}") for number in (1, 2))
    assert "page 1 of 1" not in told(first)
    assert 'rel="next"' not in first.text
    first, second = (carla.get(f"/custodian/ledger?page={number}") for number in (1, 2))
    assert 'href="/custodian/ledger?page=2" rel="next"' in first.text
    assert "2 of 2" in told(second)
    assert "Ledger: created" in told(second)
    assert "2 of 2" in told(carla.get("/custodian/ledger?page=99"))
    assert "1 of 2" in told(carla.get("/custodian/ledger?page=x"))


def test_what_was_left_is_drawn_over_time(service, monkeypatch):
    team, guests = all_burns(service, "people")
    assert "0.2 spent" in team
    assert "0.2 spent" not in guests
    assert all_burns(service, "nothing") == []
    monkeypatch.setattr(burns, "_STEPS", 2)
    few, _ = all_burns(service)
    assert "2 records" in few  # the last of them says what is left
    assert few.count("<title>") < team.count("<title>")
    assert [entry.kind for entry in entries_of(service)[0]] == ["question", "question", "budget", "budget"]


def test_a_long_ledger_is_shown_from_its_end_and_its_earlier_records_by_a_link(service, monkeypatch):
    whole, none_earlier = entries_of(service)
    assert none_earlier == 0
    records = list(service.ledgers[0].records())
    monkeypatch.setattr("discreet.apps.web.custodian.ledger.WINDOW", 3)
    monkeypatch.setattr("discreet.apps.web.burns.WINDOW", 3)
    found, before, turns = [], None, 0
    while before != 0:
        entries, before = entries_of(service, before)
        found += entries
        turns += 1
    assert turns == -(-len(records) // 3) + (len(records) % 3 == 0)
    # Everything is there once, and what came of a question is known although it is among later records. Which
    # opening of a budget was the first is known only to whoever sees them all.
    assert [(one.sequence, one.state) for one in found] == [(one.sequence, one.state) for one in whole]
    carla = signed(service)
    assert "Earlier records" in told(carla.get("/custodian/ledger"))
    assert "Earlier records" not in told(carla.get("/custodian/ledger?before=2"))
    assert carla.get("/custodian/ledger?before=x").status_code == 200
    team, _ = all_burns(service, "people")
    assert team.count("<title>")


def test_the_ledger_is_verified_from_here(service):
    carla = signed(service)
    carla.get("/custodian/ledger")
    assert "Ledger verified" in told(carla.post("/custodian/ledger/verify", {}))
