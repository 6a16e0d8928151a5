"""A price as a form says it, and as a program sends it."""

import pytest

from discreet.apps.web.ways import price_sent
from discreet.errors import InputError


@pytest.mark.parametrize(
    ("way", "amount", "sent"),
    [
        ("percent", "10", {"share": "1/10"}),
        ("percent", "0.1%", {"share": "1/1000"}),
        ("epsilon", "0.1", {"epsilon": "0.1"}),
    ],
)
def test_a_percentage_is_sent_as_an_exact_share(way, amount, sent):
    assert price_sent(way, amount) == sent


def test_a_percentage_that_is_no_number_is_refused_by_its_name():
    with pytest.raises(InputError, match="percent"):
        price_sent("percent", "a tenth")
