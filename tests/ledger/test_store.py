"""Rows of a store: a record is given out only as it was written."""

import json

import pytest

from discreet.errors import LedgerError
from discreet.ledger.record import GENESIS, Record
from discreet.ledger.store import Row

RECORD = Record.after(GENESIS, kind="note", dataset="visits", who="ann", why="a remark", release="r1")
ROW = Row(1, "visits", "note", "r1", RECORD.body(), RECORD.hash)


def test_a_row_gives_back_the_record_and_the_hash_before_it():
    assert ROW.record() == RECORD
    assert ROW.previous() == GENESIS.hash


EDITED = json.dumps(json.loads(ROW.body) | {"why": "another"})


@pytest.mark.parametrize(
    "row",
    [
        ROW._replace(body=EDITED),
        ROW._replace(hash="0" * 64),
        ROW._replace(sequence=2),
        ROW._replace(dataset="births"),
        ROW._replace(kind="answer"),
        ROW._replace(release="r2"),
        ROW._replace(body="not JSON", hash=Record.hash_of("not JSON")),
        ROW._replace(body="{}", hash=Record.hash_of("{}")),
        ROW._replace(body="[1]", hash=Record.hash_of("[1]")),
    ],
)
def test_an_edited_row_is_refused_whatever_was_edited(row):
    for read in (row.record, row.previous):
        with pytest.raises(LedgerError, match=f"Record {row.sequence} of the ledger was changed"):
            read()
