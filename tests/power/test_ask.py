"""Hidden loads as a person asks for them: one account, one alpha, a price in epsilon."""

from fractions import Fraction

import pytest

from discreet import Budget, Ledger
from discreet.curator import hide_loads
from discreet.errors import InputError
from discreet.power.ask import LoadsAsk
from discreet.power.loads import Loads
from discreet.query.ask import options
from grids import ring

pytest.importorskip("clarabel", reason="needs discreet[power]")


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "ledger.db", create=True)


def test_an_account_protects_one_alpha(ledger):
    grid, exact = ring()
    first = hide_loads(grid, Loads(exact), ledger, alpha=1, budget=Budget(epsilon=1), who="me")
    first.plan(epsilon=0.1, cost=2900).release()  # with which the account is opened
    hide_loads(grid, Loads(exact), ledger, alpha=1, who="me")
    with pytest.raises(InputError, match="alpha"):
        hide_loads(grid, Loads(exact), ledger, alpha=0.5, who="me")
    with pytest.raises(InputError, match="budget"):
        hide_loads(grid, Loads(exact), ledger, alpha=0.5, budget=Budget(epsilon=1), who="me")


def test_the_cost_has_to_be_said_with_the_price(ledger):
    field = options(LoadsAsk)["cost"]
    assert (field.required, field.late, field.default) == (True, True, None)
    grid, exact = ring()
    draft = hide_loads(grid, Loads(exact), ledger, alpha=1, budget=Budget(epsilon=1), who="me")
    with pytest.raises(InputError, match="`cost` must be given"):
        draft.plan(epsilon=0.1)
    with pytest.raises(InputError, match="`cost` must be given"):
        LoadsAsk.from_dict({"beta": "0.1"}, draft.desk.declared)


def test_what_does_not_fit_together_is_refused(ledger):
    grid, exact = ring()
    budget = {"budget": Budget(epsilon=1), "who": "me"}
    for given, field in [
        (lambda: hide_loads(grid, Loads(exact[:3]), ledger, alpha=1, **budget), "loads"),
        (lambda: hide_loads(grid, exact, ledger, alpha=1, **budget), "loads"),
        (lambda: hide_loads("grid", Loads(exact), ledger, alpha=1, **budget), "grid"),
        (lambda: hide_loads(grid, Loads(exact), ledger, alpha=0, **budget), "alpha"),
        (lambda: hide_loads(grid, Loads(exact), ledger, alpha=1, who="me"), "dataset"),
    ]:
        with pytest.raises(InputError) as caught:
            given()
        assert caught.value.field == field
    assert ledger.datasets() == ()


def test_a_zcdp_allotment_pays_what_laplace_noise_costs_it(ledger):
    grid, exact = ring()
    hide_loads(grid, Loads(exact), ledger, alpha=1, budget=Budget(rho=1), who="me")
    question = hide_loads(grid, Loads(exact), ledger, alpha=1, who="me")
    assert 0 < question.plan(epsilon=0.5, cost=3000).plan.charge.amount <= Fraction(1, 8)
    with pytest.raises(InputError, match="share"):
        question.plan(share=0.5, cost=3000)
