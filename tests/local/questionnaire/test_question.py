"""Questions: what is sent follows the law, and the best mechanism a page can carry is taken."""

from fractions import Fraction

import numpy as np
import pytest

from chance import fits
from discreet.errors import InputError
from discreet.local import GRR
from questionnaires import asked, every


@pytest.mark.statistical
@every
def test_what_python_sends_follows_the_law_and_a_wrong_law_is_seen(entry):
    question = asked(entry)
    value = question.law.values - 1
    answer = question.example(value)
    listed = list(question.law.reports())
    place = {report: number for number, report in enumerate(listed)}
    sent = [place[question.privatize(answer)] for _ in range(1500)]

    def pmf(of):
        chances = np.array([float(question.law.probability(report, of)) for report in listed])
        return lambda numbers: np.append(chances, np.zeros(numbers.max() + 1))[numbers]

    assert fits(sent, pmf(value))
    if float(question.epsilon) >= 1:
        assert not fits(sent, pmf(0))


def test_the_best_mechanism_that_a_page_can_carry_is_taken():
    kinds = [
        asked({"kind": "choice", "options": list(map(str, range(k))), "epsilon": e}).mechanism.kind
        for k, e in ((2, 1), (5, 3), (100, 1), (400, "0.5"))
    ]
    assert kinds == ["grr", "grr", "subset", "subset"]
    numbers = {"kind": "number", "low": 0, "high": 100, "step": 1}
    assert [asked({**numbers, "epsilon": e}).mechanism.kind for e in (1, 4)] == ["duchi", "piecewise"]


def test_a_coin_is_the_oldest_survey():
    """Heads: the truth. Tails: another coin answers. Two fair coins are epsilon = ln 3."""
    by_coin = asked({"kind": "binary", "coin": 0.5})
    assert by_coin.mechanism == GRR.coin() == GRR(2, ratio=3)
    assert by_coin.law == asked({"kind": "binary", "epsilon": "ln3"}).law
    several = asked({"kind": "choice", "options": ["a", "b", "c"], "coin": "4/5"})
    assert several.mechanism.hit == Fraction(4, 5) + Fraction(1, 15)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"coin": 0}, "between 0 and 1"),
        ({"coin": 1}, "between 0 and 1"),
        ({"coin": "heads"}, "finite number"),
        ({"coin": 0.5, "epsilon": 1}, "left out beside a coin"),
        ({"coin": 0.5, "mechanism": "grr"}, "left out beside a coin"),
        ({"coin": 0.5, "kind": "number", "low": 0, "high": 1, "step": 1}, "coin"),
    ],
)
def test_a_coin_that_is_none_is_refused(more, problem):
    with pytest.raises(InputError, match=problem):
        asked({"kind": "binary", **more})


def test_two_coins_reveal_three_in_four_and_not_more():
    """The ratio of the law is exact, and so is what is said of it: no rounding up of a logarithm on the way."""
    assert (
        asked({"kind": "binary", "coin": 0.5})
        .reveals("0.02")
        .endswith("at most 5.8% after; someone who thought 50%, at most 75%.")
    )
