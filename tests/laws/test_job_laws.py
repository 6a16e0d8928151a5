"""What holds of every job there is, whatever its kind: one table of asks (tests/asks.py), one set of laws.

Where a kind breaks a law today it stands in a table of what is not yet so; a law that begins to hold fails the test
until its line is taken out.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("jax")
pytest.importorskip("clarabel")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")
pytest.importorskip("jinja2")

from asks import ASKS, COUNTED, SCHEMA, identity, town
from changes import CHANGES
from discreet.core.loss import ZCDP, Pure
from discreet.core.wire import canonical
from discreet.curator import Draft
from discreet.curator.kinds import KINDS, kind_of
from discreet.data.source import Source
from discreet.errors import DiscreetError, InputError, RunError
from discreet.learn.recipe import Recipe
from discreet.ledger.door import publish
from discreet.ledger.ledger import Ledger
from discreet.noise.bits import SystemBits
from discreet.power.loads import Loads
from discreet.power.schema import GridSchema
from discreet.query.question_ask import QuestionAsk
from discreet.query.top import TopPlan
from discreet.synth.release import SyntheticRelease
from jobs import held_in_memory, unmeasured
from surfaces import READ, SURFACES, comparable, grid_curator, surfaces

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
PERSON = 'column = "person"\ngroups = 2\nrows = 2\n'
WIDE = SCHEMA.replace("epsilon = 1000.0\ndelta = 0.02\n", "epsilon = 2000.0\ndelta = 0.04\n" + SPARE)

# --- what is not yet so ----------------------------------------------------------------------------------------------

# Asks whose digest depends on the order in which outputs are named.
ORDER_IN_DIGEST = {"question"}

# Outputs of which nobody says before they are paid for how far off they may be.
NO_ERROR_STATED = {"train": {"sex"}, "train at a price": {"sex"}, "search": {"sex"}}

# Fields of an ask that its digest does not see. None of them decides the law of what is released: what pays for it,
# where a run is kept, and the confidence of intervals that are worked out later.
NOT_IN_DIGEST = {
    **{name: {"allotment"} for name in ("question", "top", "batch", "stream", "tree", "flows", "commute")},
    "synth": {"allotment", "confidence"},
    "search": {"allotment", "confidence"},
    "train": {"allotment", "checkpoint"},
    "loads": {"allotment"},
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
DESCRIBED = {"tree": "tree", "flows": "mobility", "commute": "commute", "synth": "synthesize", "train": "train"}
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
    declared = GridSchema.of("loads", 1, here.grid) if sample.kind == "loads" else here.curator.schema
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
    "batch": ("n", "pay"),
    "stream": ("n",),
    "tree": ("all", "state", "county"),
    "flows": ("cells", "origins", "destinations", "zones", "windows"),
    "commute": ("cells", "origins", "destinations"),
    "commute by urns": ("sizes",),
    "synth": ("one-way", "two-way"),
    "train": ("sex",),
    "train at a price": ("sex",),
    "search": ("sex",),
    "loads": ("mw",),
}


@pytest.mark.parametrize("name", ASKS)
def test_the_error_of_every_output_is_stated_beforehand(name, offers):
    lines = [line for line in offers[name].explain().splitlines() if "+-" in line or "at most" in line]
    missing = {output for output in OUTPUTS[name] if not any(output in line for line in lines)}
    assert missing == NO_ERROR_STATED.get(name, set())


# --- release ---------------------------------------------------------------------------------------------------------


class Reads:
    """Random bits that are counted, and that end after so many readings."""

    def __init__(self, most: int | None = None) -> None:
        self.count, self._most, self._bits = 0, most, SystemBits()

    def read(self, count):
        if self.count == self._most:
            raise OSError("no more bits")
        self.count += 1
        return self._bits.read(count)


@dataclasses.dataclass(frozen=True)
class Made:
    """What was offered, the values that came of it, and how often random bits were read for them."""

    offer: Any
    values: Any
    reads: int


RUN = [name for name in ASKS if name != "train at a price"]  # which runs as the other one does


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A town where every ask was released."""
    folder = tmp_path_factory.mktemp("released")
    here = town(folder)
    made = {}
    for name in RUN:
        offer, bits = ASKS[name].offer(here), Reads()
        with drawing(bits):
            made[name] = Made(offer, ASKS[name].values(ASKS[name].release(here, identity(name), offer)), bits.count)
    return folder, here, made


def charges(here):
    standing = [one for dataset in here.ledger.datasets() for one in here.ledger.standing(dataset)]
    return {(one.dataset, one.allotment.name): one.spent for one in standing}


def drawing(bits):
    """Inside, jobs draw these bits."""
    return mock.patch("discreet.ledger.door.SystemBits", return_value=bits)


@pytest.mark.parametrize("name", RUN)
def test_a_release_is_charged_what_was_stated(name, released):
    _, here, made = released
    ask, plan = ASKS[name], made[name].offer.plan
    paid = here.ledger.find(identity(name) if ask.steps == 1 else f"{identity(name)}/1").charged
    assert (paid.charge.amount, paid.charge.delta) == (plan.charge.amount, plan.charge.delta)
    assert paid.mechanism == plan.mechanism


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # loads have no version
@pytest.mark.parametrize("name", RUN)
def test_released_twice_is_charged_and_drawn_once(name, released):
    _, here, made = released
    head, bits = here.ledger.head(), Reads(0)
    with drawing(bits):
        again = ASKS[name].release(here, identity(name), made[name].offer)
    assert comparable(ASKS[name].values(again)) == comparable(made[name].values)
    assert (here.ledger.head(), bits.count) == (head, 0)


def test_a_release_is_read_again_where_the_table_says(released):
    folder, here, made = released
    with surfaces(here, folder / "books.db") as read:
        for name in RUN:
            found = tuple(read.way(surface, name, comparable(made[name].values)) for surface in SURFACES)
            assert found == READ[ASKS[name].kind], name


@pytest.mark.parametrize("name", RUN)
def test_a_failure_in_the_middle_keeps_the_charge_and_is_told_again(name, released):
    _, here, made = released
    ask, failing, before = ASKS[name], f"{identity(name)}-failing", charges(here)
    offer = made[name].offer
    bits = Reads(made[name].reads // 2 if ask.steps == 1 else 0)
    with drawing(bits), pytest.raises(RunError, match="stays spent"):
        ask.release(here, failing, offer)
    after, place = charges(here), (offer.plan.dataset, offer.plan.allotment.name)
    assert after[place].amount == before[place].amount + offer.plan.charge.amount
    assert {one: after[one] for one in after if one != place} == {one: before[one] for one in before if one != place}
    with pytest.raises(RunError, match="has no answer"):
        ask.release(here, failing, offer)
    assert charges(here) == after


class UnpublishedError(Exception):
    """What a broken way of publishing raises."""


def unpublished(plan):
    """Inside, plans of this class measure, and fail when they publish."""
    return mock.patch.object(type(plan), "publish", side_effect=UnpublishedError("no room"))


def unread():
    """Inside, no data can be opened."""
    stack = contextlib.ExitStack()
    for one in (Source, Loads):
        stack.enter_context(mock.patch.object(one, "open", side_effect=AssertionError("data was opened")))
    return stack


def job_of(ask, here, release, offer):
    """The plan of a release (a stream's first step) and its id."""
    return (offer.plan, release) if ask.steps == 1 else (offer.start(release)._step(1), f"{release}/1")


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # loads have no version
@pytest.mark.parametrize("name", RUN)
def test_what_was_measured_outlives_a_failure_to_publish(name, released):
    check_that_a_draw_is_kept(name, released, f"{identity(name)}-unpublished")


def check_that_a_draw_is_kept(name, released, failing):
    """Published later it reads no data and draws nothing, and is what it would have been."""
    _, here, made = released
    ask, offer = ASKS[name], made[name].offer
    plan, first = job_of(ask, here, failing, offer)
    with unpublished(plan), pytest.raises(RunError, match="Nothing is lost"):
        ask.release(here, failing, offer)
    before, spent = here.ledger.find(first), charges(here)
    assert before.open
    assert (before.kind, before.version) == (plan.kind, plan.version)
    with unread(), unpublished(plan), pytest.raises(RunError, match="Nothing is lost"):
        ask.release(here, failing, offer)
    bits = Reads(0)
    with unread(), drawing(bits):
        answer = publish(plan, here.ledger, first, who="ann")
        again = here.ledger.find(first)
        assert publish(plan, here.ledger, first, who="ann").result == answer.result
    assert (again.measurement, bits.count) == (before.measurement, 0)
    assert answer.result == plan.publish(json.loads(before.measurement)) == json.loads(again.answer)
    assert charges(here) == spent
    if ask.steps == 1:
        values = ASKS[name].values(here.curator.release(first) if ask.dataset == "town" else offer._read(answer))
        assert comparable(ASKS[name].values(ask.release(here, failing, offer))) == comparable(values)


# Another way to publish what was measured; of the others there is one way.
HOW = {
    **{name: {"confidence": 0.5} for name in ("question", "question of unknown groups", "top", "batch", "stream")},
    "flows": {"confidence": 0.5},
    "tree": {"method": "topdown", "confidence": 0.5},
    "synth": {"rows": 7},
    "loads": {"beta": 0.5, "confidence": 0.5},
}


@pytest.mark.parametrize("name", RUN)
def test_what_was_measured_is_published_again_in_another_way_for_free(name, released):
    _, here, made = released
    offer, bits, head = made[name].offer, Reads(0), here.ledger.head()
    steps, ways = range(1, ASKS[name].steps + 1), HOW.get(name, {})

    def again(**how):
        if len(steps) == 1:
            return offer.publish(identity(name), **how)
        return [offer.publish(f"{identity(name)}/{step}", **how) for step in steps]

    with unread(), drawing(bits):
        same, other = again(), again(**ways)
        with pytest.raises(InputError, match="otherwise"):
            again(otherwise=1)
    assert comparable(ASKS[name].values(same)) == comparable(made[name].values)
    assert (comparable(ASKS[name].values(other)) == comparable(made[name].values)) == (name not in HOW)
    assert (here.ledger.head(), bits.count) == (head, 0)


@pytest.mark.parametrize("name", RUN)
def test_what_was_measured_is_published_again_by_its_id_alone(name, released):
    """From its record: no offer, no data, no noise; and the client has the same from a server."""
    folder, here, made = released
    ask, bits, head = ASKS[name], Reads(0), here.ledger.head()
    curator = here.curator if ask.dataset == "town" else grid_curator(here)
    ids = [identity(name)] if ask.steps == 1 else [f"{identity(name)}/{step}" for step in range(1, ask.steps + 1)]
    how = HOW.get(name, {})

    def again(publish, **ways):
        found = [publish(one, **ways) for one in ids]
        return comparable(ask.values(found[0] if ask.steps == 1 else found))

    def by_offer(one, **ways):
        return made[name].offer.publish(one, **ways)

    with unread(), drawing(bits):
        assert again(curator.publish) == comparable(made[name].values)
        assert again(curator.publish, **how) == again(by_offer, **how)
        with pytest.raises(InputError, match="otherwise"):
            again(curator.publish, otherwise=1)
        with surfaces(here, folder / "books.db") as read:
            there = replace(read, dataset=ask.dataset).there()
            assert again(there.publish, **how) == again(by_offer, **how)
    assert (here.ledger.head(), bits.count) == (head, 0)


def test_a_release_whose_publication_failed_is_published_by_its_id_alone(released):
    _, here, made = released
    offer = made["top"].offer
    with unpublished(offer.plan), pytest.raises(RunError, match="Nothing is lost"):
        offer.release(release="top-by-id")
    assert here.ledger.find("top-by-id").open
    values = here.curator.publish("top-by-id").columns
    assert here.curator.release("top-by-id").columns == values


@pytest.mark.parametrize("name", RUN)
def test_every_record_says_its_kind_and_version(name, released):
    _, here, _ = released
    ask = ASKS[name]
    known = here.ledger.find(identity(name) if ask.steps == 1 else f"{identity(name)}/1")
    assert (known.kind, known.version) == (ask.kind, KINDS[ask.kind].version)
    assert kind_of({}, known.kind) is KINDS[ask.kind]


def test_after_all_this_the_ledger_verifies(released):
    assert released[1].ledger.verify().problems == ()


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


def test_a_release_that_is_drawn_anew_is_caught(released):
    """The stored answer is not looked for."""
    with mock.patch.object(Ledger, "find", return_value=None), pytest.raises((AssertionError, DiscreetError)):
        test_released_twice_is_charged_and_drawn_once("question", released)


def test_a_door_that_publishes_before_it_records_is_caught(released):
    """What was measured is then gone with a failure to publish."""
    with mock.patch.object(Ledger, "measurement", held_in_memory), pytest.raises((AssertionError, RunError)):
        check_that_a_draw_is_kept("top", released, "rushed")


def test_a_door_that_measures_again_is_caught(released):
    """One that does not look for a measurement on record draws a second time under one charge."""
    with mock.patch.object(Ledger, "find", unmeasured(Ledger.find)), pytest.raises((AssertionError, DiscreetError)):
        check_that_a_draw_is_kept("batch", released, "forgotten")


def test_values_that_are_read_otherwise_are_caught(released):
    """Rows that are not those that were made."""
    folder, here, made = released
    whole = SyntheticRelease.tables

    def turned(rows: SyntheticRelease) -> Any:
        table = whole(rows)["rows"]
        return {"rows": replace(table, columns={name: values[::-1] for name, values in table.columns.items()})}

    other = mock.patch.object(SyntheticRelease, "tables", turned)
    with surfaces(here, folder / "books.db") as read, other, pytest.raises(AssertionError):
        read.way("curator", "synth", comparable(made["synth"].values))
