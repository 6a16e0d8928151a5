"""An identical question is told from a new one, and only as long as the data is not known to have changed."""

import json
import os

import pyarrow.csv

from discreet.curator import Curator
from discreet.data.source import source_of
from discreet.errors import LedgerError
from discreet.query.aggregate import count
from small_desk import SCHEMA, TABLE, open_desk


def asked(desk, **price):
    return Curator(desk).table().group_by("county").agg(n=count()).plan(**price)


def test_the_same_question_at_the_same_price_has_its_answer_already(tmp_path):
    offer = asked(open_desk(tmp_path, version="2024-02"), epsilon=1)
    assert offer.answered is None
    assert "You have this answer already" not in str(offer)
    offer.release(release="first")
    offer.release(release="second")
    assert offer.answered.release == "second"  # the latest
    assert "You have this answer already (free): release 'second'" in str(offer)
    assert offer.to_dict()["answered"]["release"] == "second"
    json.dumps(offer.to_dict())
    again = offer.release(release=offer.answered.release)
    assert again.replayed


def test_another_price_or_another_question_is_a_new_one(tmp_path):
    desk = open_desk(tmp_path)
    asked(desk, epsilon=1).release(release="first")
    assert asked(desk, epsilon=2).answered is None
    assert Curator(desk).table().agg(n=count()).plan(epsilon=1).answered is None


def test_an_answer_about_data_that_has_changed_is_not_this_answer(tmp_path):
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(TABLE, path)
    desk = open_desk(tmp_path, SCHEMA, path)
    assert desk.source.kind == source_of(path).kind
    asked(desk, epsilon=1).release(release="first")
    assert asked(desk, epsilon=1).answered.same_data
    assert "is not known" not in str(asked(desk, epsilon=1))
    os.utime(path, (1, 1))
    assert asked(desk, epsilon=1).answered is None


def test_where_no_version_is_known_the_doubt_is_said(tmp_path):
    desk = open_desk(tmp_path)  # a table in memory has none
    asked(desk, epsilon=1).release(release="first")
    assert asked(desk, epsilon=1).answered.same_data is None
    assert "not known whether the data has changed since" in str(asked(desk, epsilon=1))


def test_a_release_without_an_answer_is_none(tmp_path):
    desk = open_desk(tmp_path)
    offer = asked(desk, epsilon=1)
    desk.ledger.spend("people", offer.plan.cost, release="lost", who="ann", digest=offer.plan.digest)
    assert offer.answered is None


def test_a_ledger_that_cannot_be_shown_keeps_no_price_from_being_named(tmp_path, monkeypatch):
    offer = asked(open_desk(tmp_path), epsilon=1)

    def refused(*given):
        raise LedgerError("another copy")

    monkeypatch.setattr(type(offer.desk.ledger), "answered", refused)
    assert offer.answered is None
    assert "Cost: epsilon = 1" in str(offer)
