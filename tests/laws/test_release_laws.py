"""What holds of every release, whatever its kind: charged once, drawn once, on record, published again for free.

One town where every ask (tests/asks.py) was released; the laws of what is planned are in test_job_laws.py.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("jax")
pytest.importorskip("clarabel")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")
pytest.importorskip("jinja2")

from asks import ASKS, identity, town
from discreet.constraints.hidden import PrivateValues
from discreet.curator.kinds import KINDS, kind_of
from discreet.data.source import Source
from discreet.errors import DiscreetError, InputError, RunError
from discreet.ledger.door import publish
from discreet.ledger.ledger import Ledger
from discreet.noise.replay import Replay
from discreet.power.loads import Loads
from discreet.synth.release import SyntheticRelease
from jobs import held_in_memory, unmeasured
from surfaces import READ, SURFACES, comparable, curator_of, surfaces


class Reads:
    """Bits that are counted, and that end after so many readings; the same every time, so that a run takes as many."""

    def __init__(self, most: int | None = None) -> None:
        self.count, self._most, self._bits = 0, most, Replay(b"reads")

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
    for one in (Source, Loads, PrivateValues):
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
    "detail": {"confidence": 0.5},
    "flows": {"confidence": 0.5},
    "tree": {"method": "topdown", "confidence": 0.5},
    "census": {"method": "topdown", "confidence": 0.5},
    "synth": {"rows": 7},
    "relations": {"rows": 7},
    "loads": {"beta": 0.5, "confidence": 0.5},
    "hidden": {"beta": 0.5, "confidence": 0.5},
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
    curator = curator_of(here, ask.dataset)
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
    _, here, made = released
    ask = ASKS[name]
    known = here.ledger.find(identity(name) if ask.steps == 1 else f"{identity(name)}/1")
    form = made[name].offer.plan.version if ask.steps == 1 else KINDS[ask.kind].version
    assert (known.kind, known.version) == (ask.kind, form)
    assert 1 <= known.version <= KINDS[ask.kind].version
    assert kind_of({}, known.kind) is KINDS[ask.kind]


def test_after_all_this_the_ledger_verifies(released):
    assert released[1].ledger.verify().problems == ()


# --- planted bugs: the laws have teeth -------------------------------------------------------------------------------


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
