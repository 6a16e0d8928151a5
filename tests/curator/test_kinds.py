"""The table of kinds: every ask and reader it names is there, and what was recorded finds its kind again."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import pytest

from discreet import count
from discreet.curator import kinds
from discreet.curator.kinds import KINDS, Kind, kind_of, read_release
from discreet.errors import InputError, MissingExtraError
from discreet.ledger.door import Answer
from discreet.query.ask import Ask
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import QuestionAsk
from small_desk import open_desk

READABLE = [kind for kind in KINDS.values() if not kind.needs[1] or find_spec(kind.needs[1]) is not None]


@pytest.mark.parametrize("kind", READABLE, ids=lambda kind: kind.name)
def test_what_the_table_names_is_there(kind):
    ask = kind.ask()
    assert issubclass(ask, Ask)
    assert ask.kind == kind.name or kind.name == "top"  # the most common values are a question, too
    assert callable(kinds._named(kind.reader))


def test_marks_of_old_records_belong_to_one_kind_each():
    marks = [mark for kind in KINDS.values() for mark in kind.marks]
    assert len(set(marks)) == len(marks)
    for kind in KINDS.values():
        assert kind_of({kind.marks[0]: {}}) is kind
        assert kind_of({}, kind.name) is kind
    assert kind_of({"outputs": {}}, "tree") is KINDS["tree"]  # what is recorded is believed before marks
    assert kind_of({"nothing": 1}) is None
    assert kind_of(None) is None
    assert kind_of({}, "of a later version") is None


@pytest.fixture
def desk(tmp_path):
    desk = open_desk(tmp_path)
    ask = QuestionAsk(Query().agg(n=count()))
    desk.offer(ask, None, Price.read(epsilon=1), None).release(release="first")
    return desk


def test_a_release_is_read_by_its_id_dataset_and_kind(desk):
    assert read_release(desk.ledger, "first").outputs == ("n",)
    assert read_release(desk.ledger, "first", dataset="people", kind="question").outputs == ("n",)
    for asked in ({"dataset": "others"}, {"kind": "tree"}, {"part": "nothing"}):
        with pytest.raises(InputError):
            read_release(desk.ledger, "first", **asked)
    with pytest.raises(InputError, match="Did you mean `first`"):
        read_release(desk.ledger, "frist")


def test_a_later_form_and_a_missing_library_are_said():
    kind = Kind("question", "table", "no.such:reader", "no.such:Ask", ("outputs",), needs=("extra", "no_such_library"))
    answer = Answer.__new__(Answer)
    object.__setattr__(answer, "version", 1)
    object.__setattr__(answer, "release", "r")
    with pytest.raises(MissingExtraError, match="extra"):
        kind.read(answer, "", "")
    with pytest.raises(InputError, match="later version"):
        replace(kind, version=0).read(answer, "", "")
