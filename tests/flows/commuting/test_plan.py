"""The plan of commuters: what it says and charges, and what its digest holds."""

import math
from fractions import Fraction

import pytest
from commute_desk import SIZES, WHERE, ask, curator

from discreet import Allotment, Budget, Unit
from discreet.accounting import pure
from discreet.core.unit import Neighbours
from discreet.errors import BudgetError, InputError
from discreet.flows.commuting.plan import row_price
from discreet.mechanisms import Gaussian, Laplace


def test_what_is_said_before_anything_is_spent(tmp_path):
    desk = curator(tmp_path, Unit("who", groups=2, rows=3))
    text = str(ask(desk, farthest=20).plan(epsilon=1))
    for part in (
        "epsilon = 1 ",
        "cells: +-",
        "destinations: +-",
        "farther than 20",
        "at most 2 cells",
        "at most 3 rows",
    ):
        assert part in text, text
    text = str(ask(desk, sizes=SIZES).plan(epsilon=1, method="classic"))
    for part in (
        "public, and preserved",
        "accepted prior",
        "refused with a chance of at most 1e-5",
        "epsilon 0.16667 a row",
    ):
        assert part in text, text
    assert "charge" not in {record.kind for record in desk.ledger.records()}
    assert "refused" in str(ask(desk).plan(epsilon=100))
    with pytest.raises(BudgetError):
        ask(desk).plan(epsilon=100).release()


def test_gaussian_noise_where_rho_is_counted(tmp_path):
    desk = curator(tmp_path, budget=Budget(rho=1))
    offer = ask(desk).plan(rho="0.5")
    assert isinstance(offer.plan.noise(Fraction(1, 2)), Gaussian)
    assert offer.plan.charge.amount == Fraction(1, 2)
    assert abs(len(offer.release()) - 3000) < 200
    with pytest.raises(InputError, match="classic"):
        ask(desk).plan(rho="0.1", method="classic")


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("groups", [1, 3])
def test_everything_one_unit_does_is_paid_for(tmp_path, neighbours, groups):
    unit = Unit("who", neighbours, groups, 2)
    desk = curator(tmp_path, unit)
    moves = 2 * groups * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
    offer = ask(desk, sizes=SIZES).plan(epsilon=1, method="classic", prior="pure")
    assert offer.plan.urns.epsilon == Fraction(1, moves)
    assert pure(offer.plan.cost).epsilon == 1
    modern = ask(desk).plan(epsilon=1).plan
    assert modern.noise(Fraction(1, 2)) == Laplace(2 * moves)
    assert len(ask(desk).plan(epsilon=1).release()) > 0
    epsilon, delta = Fraction(1, moves), Fraction(1, 10**6)
    each = row_price("approximate", epsilon, delta, moves)
    total = each * Fraction(math.exp(1) - 1) / Fraction(math.exp(1 / moves) - 1)
    assert float(total) == pytest.approx(1e-6)


def test_only_allotments_for_single_questions_pay(tmp_path):
    parts = [Allotment("training", "plan", epsilon=1, delta="1e-6")]
    desk = curator(tmp_path, budget=Budget(1, delta="1e-6", allotments=parts))
    with pytest.raises(InputError, match="pure or zcdp"):
        ask(desk).plan(epsilon=1)


def test_plans_that_differ_have_other_digests(tmp_path):
    desk = curator(tmp_path)
    plans = [
        ask(desk).plan(epsilon=1),
        ask(desk).plan(epsilon=2),
        ask(desk, farthest=20).plan(epsilon=1),
        ask(desk, sizes=SIZES).plan(epsilon=1),
        ask(desk, clusters=2).plan(epsilon=1, method="classic"),
        ask(desk, clusters=3).plan(epsilon=1, method="classic"),
        ask(desk, clusters=3).plan(epsilon=1, method="classic", prior="pure"),
        ask(desk, clusters=3).plan(epsilon=1, method="classic", refusal="0.01"),
        ask(desk, coordinates={**WHERE, "A": (1, 1)}).plan(epsilon=1),
    ]
    assert len({offer.plan.digest for offer in plans}) == len(plans)
    assert ask(desk).plan(epsilon=1).plan.digest == plans[0].plan.digest
