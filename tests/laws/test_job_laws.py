"""What holds of every job there is, whatever its kind: one table of asks (tests/asks.py), one set of laws.

Where a kind breaks a law today it stands in a table of what is not yet so; a law that begins to hold fails the test
until its line is taken out.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pytest

pytest.importorskip("jax")
pytest.importorskip("clarabel")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")
pytest.importorskip("jinja2")

from asks import ASKS, COUNTED, SCHEMA, town
from changes import CHANGES
from discreet.core.loss import ZCDP, Pure
from discreet.core.wire import canonical
from discreet.curator import Draft
from discreet.errors import InputError
from discreet.learn.recipe import Recipe
from discreet.query.question_ask import QuestionAsk
from discreet.query.top import TopPlan
from surfaces import READ

HERE = Path(__file__).parent
SPARE = """
[budget.allotments.spare]
kind = "zcdp"
epsilon = 50.0
delta = 0.001

[budget.allotments.others]
kind = "plan"
epsilon = 50.0
delta = 0.002
"""
AT = """
[columns.at]
type = "timestamp"
lower = 2024-01-01
upper = 2024-12-31
timezone = "Europe/Vienna"
"""
PERSON = 'column = "person"\ngroups = 2\nrows = 2\n'
WIDE = SCHEMA.replace("epsilon = 1000.0\ndelta = 0.02\n", "epsilon = 2000.0\ndelta = 0.04\n" + SPARE) + AT

# --- what is not yet so ----------------------------------------------------------------------------------------------

# Asks whose digest depends on the order in which outputs are named.
ORDER_IN_DIGEST = {"question"}

# Outputs of which nobody says before they are paid for how far off they may be.
NO_ERROR_STATED = {"train": {"sex"}, "train at a price": {"sex"}, "search": {"sex"}}

# Fields of an ask that its digest does not see. None of them decides the law of what is released: what pays for it,
# where a run is kept, and the confidence of intervals that are worked out later.
NOT_IN_DIGEST = {
    **{name: {"allotment"} for name in ("question", "top", "choose", "batch", "stream", "flows", "commute")},
    **{name: {"allotment", "geometry", "code_property"} for name in ("tree", "census", "detail")},
    "synth": {"allotment", "confidence"},
    "relations": {"allotment", "confidence"},
    "search": {"allotment", "confidence"},
    "train": {"allotment", "checkpoint"},
    "loads": {"allotment"},
    "hidden": {"allotment"},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A town for what spends nothing, with allotments to choose from."""
    return town(tmp_path_factory.mktemp("plans"), schema_text=WIDE)


@pytest.fixture(scope="module")
def offers(here):
    """The offer of every ask."""
    return {name: ask.offer(here) for name, ask in ASKS.items()}


# --- price -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASKS)
def test_the_charge_is_within_the_price(name, offers):
    price, plan = ASKS[name].price, offers[name].plan
    charge, part = plan.charge, plan.allotment
    assert charge.delta <= Fraction(price.get("delta", 0))
    if "rho" in price:
        assert charge.amount <= part.price(ZCDP(price["rho"])).amount
    elif "epsilon" in price:
        paid = Fraction(price["epsilon"])
        assert charge.amount <= (paid if part.kind == "plan" else part.price(Pure(paid)).amount)
    assert charge.within(part.cap)
    assert charge.amount > 0


@pytest.mark.parametrize("name", ASKS)
def test_what_the_ledger_charges_is_what_the_plan_says(name, offers):
    plan = offers[name].plan
    how = {"delta": plan.delta} if plan.allotment.kind == "plan" else {}
    priced = plan.allotment.price(plan.cost, *how.values())
    assert (priced.amount, priced.delta) == (plan.charge.amount, plan.charge.delta)


@pytest.mark.parametrize("kind", READ)
def test_a_price_may_be_an_accuracy(kind, here):
    ask = next(ask for ask in ASKS.values() if ask.kind == kind)
    price = {name: value for name, value in ask.price.items() if name not in ("epsilon", "rho", "delta")}
    counted = {"question": {"outputs": COUNTED}, "batch": {"pay": {"outputs": COUNTED}}}  # a mean has none beforehand
    counted["train"] = {"multiplier": None}  # else it fixes the price
    question = ask.begin(here, **{**ask.fields, **counted.get(kind, {})})
    most = 0.1 if kind == "train" else 10  # of a gradient no longer than 1; else of counts
    offer = getattr(question, ask.verb)(within=most, **price)
    assert offer.plan.charge.amount > 0
    halves = [one.half_width for one in offer.expected if one.half_width is not None]
    halves += [one.half_width for _, part in offer.explained.parts for one in part.errors if one.half_width is not None]
    assert halves
    assert max(halves) <= most


# --- digest ----------------------------------------------------------------------------------------------------------

DIGESTS = """
import json, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from asks import ASKS, town
here = town(Path({folder!r}), schema_text={schema!r})
print(json.dumps({{name: ask.offer(here).plan.digest for name, ask in ASKS.items() if name not in {skipped!r}}}))
"""


def test_a_digest_is_the_same_in_another_process_and_folder(offers, tmp_path):
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    skipped = ["train at a price"]  # it takes long, and is digested as the other one is
    script = DIGESTS.format(tests=str(HERE.parent), folder=str(tmp_path), schema=WIDE, skipped=skipped)
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    assert found == {name: offer.plan.digest for name, offer in offers.items() if name not in skipped}


# Where a kind is described: the parameters are the fields of its ask.
DESCRIBED = {
    "tree": "tree",
    "detail": "detail",
    "census": "census",
    "flows": "mobility",
    "commute": "commute",
    "synth": "synthesize",
    "train": "train",
}
PRICES = {"epsilon", "rho", "share", "within"}
UNUSED = {
    "top": {"delta"},
    "train": {"copies", "confidence"},
    "search": {"checkpoint"},
}  # keys to discover, pictures to augment, a price to name: not with these
BY_ROWS = {"sizes", "largest", "cumulative"}  # groups are counted by size where a unit is a row


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The same town where every row is a unit of its own."""
    return town(tmp_path_factory.mktemp("rows"), schema_text=WIDE.replace(PERSON, ""))


@pytest.mark.parametrize("kind", READ)
def test_there_is_a_change_for_every_field(kind, here):
    """A field that is added to a kind of ask needs a line in tests/changes.py."""
    mine = {name: ask for name, ask in ASKS.items() if ask.kind == kind}
    changed = {field for name in mine for field in CHANGES.get(name, ())}
    ask = next(iter(mine.values()))
    fields = set(inspect.signature(ask.begin).parameters) - {"here", "fields", "how", "parts", "budget"}
    if kind in DESCRIBED:
        fields |= set(inspect.signature(getattr(here.curator, DESCRIBED[kind])).parameters) - {"settings"}
    if kind == "train":
        fields |= set(inspect.signature(Recipe).parameters)
    known = (fields | ask.plan_names(here)) - UNUSED.get(kind, set())
    assert known - changed - PRICES == set()
    assert PRICES & changed or kind == "train"  # the price of a run that says all follows from it


@pytest.mark.parametrize(("name", "field"), [(name, field) for name in CHANGES for field in CHANGES[name]])
def test_a_digest_sees_every_field(name, field, here, rows, offers):
    change = CHANGES[name][field]
    before, after = change if isinstance(change, tuple) else ({}, change)
    place = rows if field in BY_ROWS and name == "tree" else here
    first = ASKS[name].offer(place, **before) if before else offers[name]
    second = ASKS[name].offer(place, **{**before, **after})
    assert (first.plan.digest == second.plan.digest) == (field in NOT_IN_DIGEST.get(name, ()))


SCHEMAS = {
    "name": ('name = "town"', 'name = "city"'),
    "groups": ("groups = 2", "groups = 3"),
    "rows": ("rows = 2", "rows = 3"),
    "unit": (PERSON, ""),
    "neighbours": ('neighbours = "add-remove"', 'neighbours = "replace"'),
    "bounds": ("upper = 99", "upper = 98"),
    "values": ('values = ["f", "m"]', 'values = ["f", "m", "x"]'),
}


@pytest.mark.parametrize("change", SCHEMAS)
def test_a_digest_sees_what_is_declared(change, offers, tmp_path):
    other = town(tmp_path, schema_text=WIDE.replace(*SCHEMAS[change]))
    seen = 0
    for name, ask in ASKS.items():
        if ask.dataset == "town" and name not in ("train at a price", "search"):  # which take long to price
            with contextlib.suppress(InputError):  # not for streams and models, say
                assert ask.offer(other).plan.digest != offers[name].plan.digest, name
                seen += 1
    assert seen >= 8


# --- plain values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASKS)
def test_what_is_recorded_of_an_ask_is_json(name, offers):
    plan = offers[name].plan
    assert json.loads(canonical(plan.query)) == json.loads(json.dumps(plan.query))


@pytest.mark.parametrize("name", ASKS)
def test_an_ask_goes_to_json_and_back_and_plans_the_same(name, here, offers):
    sample = ASKS[name]
    question = sample.begin(here, **sample.fields)
    price = {word: value for word, value in sample.price.items() if word in (*PRICES, "allotment")}
    terms = {word: value for word, value in sample.price.items() if word not in price}
    if sample.verb == "search":
        ask = question.ask.search(terms.pop("settings")).with_terms(terms)
    else:
        ask = getattr(question, "ask", None) or QuestionAsk(question.query)
        ask = ask.with_terms(terms)
    sent = json.loads(json.dumps(ask.to_dict()))
    declared = question.desk.declared
    again = type(ask).from_dict(sent, declared)
    plan = Draft.of(question.desk, again).plan(**price).plan
    assert plan.digest == offers[name].plan.digest
    known = json.loads(json.dumps(again.to_dict()))  # numbers may be written in another way, once
    third = type(ask).from_dict(known, declared)
    assert json.loads(json.dumps(third.to_dict())) == known


@pytest.mark.parametrize("name", [name for name, ask in ASKS.items() if len(ask.fields.get("outputs", ())) > 1])
def test_the_order_of_outputs_decides_nothing(name, here, offers):
    outputs = ASKS[name].fields["outputs"]
    other = ASKS[name].offer(here, outputs=dict(reversed(outputs.items())))
    assert (other.plan.digest != offers[name].plan.digest) == (name in ORDER_IN_DIGEST)


# --- error -----------------------------------------------------------------------------------------------------------

OUTPUTS = {
    "question": ("n", "persons", "pay", "mean_age"),
    "question of quantiles": ("m", "n"),
    "question of unknown groups": ("n",),
    "top": ("county", "count"),
    "choose": ("option",),
    "batch": ("n", "pay"),
    "stream": ("n",),
    "tree": ("all", "state", "county"),
    "detail": ("total alone", "total with sex", "a cell of sex by age"),
    "census": ("people: county", "homes: state", "members: all", "sizes: county"),
    "flows": ("cells", "origins", "destinations", "zones", "windows"),
    "commute": ("cells", "origins", "destinations"),
    "commute by urns": ("sizes",),
    "synth": ("one-way", "two-way"),
    "relations": ("one-way count of parents", "two-way count of child rows"),
    "train": ("sex",),
    "train at a price": ("sex",),
    "search": ("sex",),
    "loads": ("mw",),
    "hidden": ("value",),
}


@pytest.mark.parametrize("name", ASKS)
def test_the_error_of_every_output_is_stated_beforehand(name, offers):
    lines = [line for line in offers[name].explain().splitlines() if "+-" in line or "at most" in line]
    missing = {output for output in OUTPUTS[name] if not any(output in line for line in lines)}
    assert missing == NO_ERROR_STATED.get(name, set())


# --- planted bugs: the laws have teeth -------------------------------------------------------------------------------


def test_a_digest_that_leaves_a_field_out_is_caught(here, rows, offers):
    """A plan digested by its schema alone."""
    seen = property(lambda plan: canonical(plan.schema.to_dict()))
    with mock.patch.object(TopPlan, "digest", seen), pytest.raises(AssertionError):
        test_a_digest_sees_every_field("top", "k", here, rows, offers)


def test_a_charge_beyond_the_price_is_caught(offers):
    """Twice what was offered."""
    whole = property(lambda plan: plan.allotment.price(Pure(6)))
    with mock.patch.object(TopPlan, "charge", whole), pytest.raises(AssertionError):
        test_the_charge_is_within_the_price("top", offers)
