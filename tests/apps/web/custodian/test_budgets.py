"""Budgets on the custodian's pages: raised, lowered, divided, closed, each shown first and on the ledger."""

from dataclasses import replace
from fractions import Fraction

import pytest
from custodian_pages import agree, asked, decision, service_fixture, signed, told  # noqa: F401

from discreet import Allotment, Budget
from discreet.apps.web.custodian.budgets import budget_in
from discreet.apps.web.form import Form
from discreet.curator.setup import read_setup
from discreet.errors import BudgetError, InputError

COUNT = "SELECT COUNT(*) AS n FROM people"
SAME = {"amount0": "1", "amount1": "1"}


def caps(service):
    account = service.curators["people"].ledger.account("people")
    return {part.name: part.cap.amount for part in account.budget.allotments}


def test_a_budget_is_opened_raised_divided_and_closed_on_record(service):
    carla = signed(service, name="carla")
    page = carla.get("/custodian/budgets")
    assert "not open yet" in told(page)
    assert "/custodian/total" not in page.text  # there is nothing to add up yet
    assert agree(carla, "/custodian/budgets/people/open").status_code == 303
    asked(service, COUNT, "0.25")
    ledger = service.curators["people"].ledger

    # What one person gives away in all datasets is added up.
    assert "Added up 0.25" in told(carla.get("/custodian/total?delta=1e-6"))
    assert carla.get("/custodian/total?delta=2").status_code == 422
    assert "/custodian/total" in carla.get("/custodian/budgets").text

    # Raised: what was and what will be is shown, and nothing is done before the yes and a reason.
    larger = {**SAME, "amount0": "3"}
    page = carla.post("/custodian/budgets/people", larger)
    assert "epsilon = 1 epsilon = 3" in told(page)
    assert "The promise becomes the larger one" in told(page)
    bare = carla.post("/custodian/budgets/people", {**decision(page), "why": " "})
    assert (bare.status_code, "A reason is needed" in told(bare)) == (422, True)
    assert caps(service)["team"] == 1
    done = carla.follow(agree(carla, "/custodian/budgets/people", larger, why="the board"))
    assert "is raised, and that is on record" in told(done)
    assert "[budget.allotments.team]" in done.text
    assert caps(service) == {"team": 3, "guests": 1}
    last = list(ledger.records())[-1]
    assert (last.kind, last.who, last.why) == ("open", "carla", "the board")

    # Divided: one part gives to a new one, and the whole stays.
    parts = {"amount0": "2", "amount1": "1", "new_name0": "models", "new_kind0": "pure", "new_amount0": "1"}
    assert agree(carla, "/custodian/budgets/people", parts, why="for models").headers["location"].endswith("did=divide")
    assert caps(service) == {"team": 2, "guests": 1, "models": 1}
    assert ledger.account("people").budget.epsilon == 4

    # Lowered, an allotment that nobody used goes.
    less = {"amount0": "0.5", "amount1": "1", "gone1": "1", "amount2": "1"}
    assert agree(carla, "/custodian/budgets/people", less, why="less").headers["location"].endswith("did=lower")
    assert caps(service) == {"team": Fraction(1, 2), "models": 1}

    # Closed, for good.
    closed = agree(carla, "/custodian/budgets/people/close", why="the study is over")
    assert "Nothing more is released from people" in told(carla.follow(closed))
    with pytest.raises(BudgetError, match="closed"):
        asked(service, COUNT)
    assert ledger.verify().ok


def test_what_cannot_be_is_said_beside_what_was_typed(service):
    carla = signed(service)
    carla.get("/custodian/budgets")
    agree(carla, "/custodian/budgets/people/open")
    asked(service, COUNT, "0.5")
    head = service.curators["people"].ledger.head()
    for typed, says in (
        ({**SAME, "amount0": "0.4"}, "at least what is spent"),
        ({**SAME, "amount0": "lots"}, "budget.allotments.team.epsilon"),
        ({**SAME, "amount0": "-1"}, "more than zero"),
        (SAME, "has already"),
        ({**SAME, "gone0": "1"}, "something was spent from it"),
        ({**SAME, "gone0": "1", "gone1": "1"}, "at least one"),
        ({**SAME, "new_name0": "team", "new_amount0": "1"}, "names that differ"),
    ):
        page = carla.post("/custodian/budgets/people", typed)
        assert page.status_code == 422, typed
        assert says in told(page)
    assert f'value="{SAME["amount1"]}"' in page.text
    assert carla.get("/custodian/budgets/nobody").status_code == 404
    assert service.curators["people"].ledger.head() == head


def test_a_form_is_read_as_the_budget_it_describes():
    old = Budget(3, delta="1e-6", allotments=[Allotment("a", "zcdp", epsilon=1, delta="1e-6", failure_share="0.1")])
    same = budget_in(Form([("amount0", "1"), ("delta0", "1e-6")]), old)
    assert same == old  # caps as they are on record, and what was never allotted stays
    more = Form([("amount0", "1"), ("delta0", "1e-6"), ("new_name0", "b"), ("new_kind0", "pure"), ("new_amount0", "1")])
    assert budget_in(more, old).epsilon == 3
    less = budget_in(Form([("amount0", "0.5"), ("delta0", "1e-6")]), old)
    assert less.epsilon == Fraction(5, 2)
    rho = Budget(rho="0.5")
    assert budget_in(Form([("amount0", "0.7")]), rho).rho == Fraction(7, 10)
    with pytest.raises(InputError, match=r"`budget.allotments.questions.rho` must be more than zero"):
        budget_in(Form([("amount0", "0")]), rho)


def test_a_changed_budget_is_written_into_the_schema_once_that_is_agreed_to(service, tmp_path):
    file = tmp_path / "people.toml"
    begin = '[dataset]\nname = "people"\n\n[unit]\ncolumn = "person"\ngroups = 1\nrows = 1\n\n'
    columns = '[columns.age]\ntype = "integer"\nlower = 0\nupper = 100\n'
    file.write_text(begin + "[budget]\nepsilon = 2\n\n" + columns)
    file.chmod(0o644)
    service = replace(service, schemas={"people": file})
    carla = signed(service, name="carla")
    place = "/custodian/budgets/people"
    carla.get("/custodian/budgets")
    assert agree(carla, f"{place}/open").status_code == 303
    assert agree(carla, place, {**SAME, "amount0": "3"}, why="the board").status_code == 303
    page = carla.get(f"{place}?did=raise")
    assert "declares another budget" in told(page)

    # Shown first, and nothing is written before the yes.
    page = carla.post(f"{place}/schema", {})
    assert "[budget.allotments.team]" in told(page)
    assert read_setup(file).budget == Budget(2)
    done = carla.follow(agree(carla, f"{place}/schema"))
    assert "is written into its schema" in told(done)
    assert "declares another budget" not in told(done)
    assert read_setup(file).budget == service.curators["people"].ledger.account("people").budget
    assert file.read_text().endswith(columns)
    assert file.stat().st_mode & 0o777 == 0o644
    ann = signed(service, "analyst")
    ann.get("/d/people/ask")
    assert ann.post(f"{place}/schema", {}).status_code == 403

    # What cannot be written is said, and the file stays.
    file.write_text(file.read_text().replace("people", "others"))
    kept = file.read_text()
    page = carla.post(f"{place}/schema", {})
    assert (page.status_code, "the one that declares people" in told(page)) == (422, True)
    assert file.read_text() == kept
