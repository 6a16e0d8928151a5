"""What someone fills in to have a job done, priced by accuracy too."""

from fractions import Fraction

import pytest

from discreet import Allotment

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from job_pages import (
    ROWS,
    TREE,
    service_fixture,  # noqa: F401
)

from discreet.apps.web.form import Form
from discreet.apps.web.job_input import JobInput
from discreet.errors import InputError
from discreet.query.price import amount_within


def test_an_accuracy_buys_the_least_price_that_keeps_it(service):
    curator = service.curators["people"]
    for kind, fields, within in (("tree", TREE, "20"), ("synth", ROWS, "30")):
        wish = JobInput.read(kind, Form([*fields.items(), ("within", within)])).with_texts(way="within")
        offer, _ = wish.offer(curator, None)
        assert wish.error(offer) <= float(within)
        dearer = offer.plan.charge.amount
        cheaper = wish.with_texts(way="epsilon", epsilon=str(float(dearer * Fraction(98, 100))))
        assert wish.error(cheaper.offer(curator, None)[0]) > float(within)


@pytest.mark.parametrize("law", [lambda price: 7 / price, lambda price: 3 / price**0.5, lambda price: 100 // price])
@pytest.mark.parametrize("within", [0.5, 12, 4000])
def test_the_search_for_a_price_ends_at_the_least_in_three_digits(law, within):
    part = Allotment("all", "pure", epsilon=1)
    found = amount_within(lambda price: law(float(price)), within, part)
    assert law(float(found)) <= within
    assert law(float(found) * 0.985) > within
    with pytest.raises(InputError, match="within"):
        amount_within(lambda price: 5.0, 1, part)  # no price helps
    for nothing in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="within"):
            amount_within(lambda price: law(float(price)), nothing, part)


def test_a_percentage_is_the_same_price_as_its_share(service):
    curator = service.curators["people"]
    wish = JobInput.read("tree", Form([*TREE.items(), ("epsilon", "9")]))
    assert {"percent", "epsilon"} <= set(wish.prices)
    part, whole = wish.with_price("percent", "12.5 %"), wish.with_price("share", "1/8")
    assert part.way == "percent"
    (offer, sent), (other, _) = part.offer(curator, None), whole.offer(curator, None)
    assert sent["share"] == "1/8"
    assert "percent" not in sent
    assert offer.plan.charge == other.plan.charge
    assert ("epsilon", "9") not in part.fields()
    for amount in ("many", "0", "-1", "101"):
        with pytest.raises(InputError):
            wish.with_price("percent", amount).offer(curator, None)
