"""Hints of errors are followed: what each says to do is done, and accepted.

Every hint that the syntax of these rooms shows has a case in `hint_cases`, or a reason here why it has none.
"""

import re

import pytest

from hint_cases import CASES
from hint_statements import STATEMENTS
from hints import hints

ROOMS = ("query", "data", "curator", "apps/cli")
STATUS = re.compile(r"\s*(Nothing was (read or )?(spent|written|changed|overwritten)|No token was made)\.\s*")

# By how they begin: what is to be done lies outside of what a small test can do, or is nothing to be tried.
ADVICE = {
    "another engine, or another machine": [
        "Pass a DataFrame of that session instead",
        "Install it, or reach the cluster",
        "Check the address, the name of the table",
        "Let copies take more",
        "Write them as fewer and larger ones",
        "Nothing was read. Leave it out of the address and set it in the environment",
        "Set AZURE_STORAGE_ACCOUNT",
        "Keep one kind of file under an address",
        "Join them there on the person's id",
        "Another server, perhaps an earlier one of yours",
        "Give --certificate and --key",
        "Put a proxy with TLS in front",
        "Make one: discreet token create",
    ],
    "files to be written or named anew": [
        "Store it as a number, as text, or as a date",
        "Write the files again with one type",
        "Rename the file or folder",
        "Rename the files: the engine",
        "There were some when it was opened",
        "Keep one kind of file in a folder",
        "Convert the column in one of the tables",
        "Engines take them for one",
        "Change its [budget] in an editor",
    ],
    "said of what was stored by another version, or of another kind": [
        "Versions before 0.2 recorded answers only",
        "A later version of discreet recorded it",
        "Read it as what it is",
        "Estimators keep what they fitted",
        "Periods of a stream have ids of their own",
        "Publish it with the schema that it was paid with",
        "Plan the same again and publish it",
        "Only where that move failed",
        "There is nothing to move",
        "A run is taken up again under its id",
        "Leave --against out for the report",
        "Write the new parts into [budget.allotments]",
        "What is published already is decided by",
    ],
    "a reason, which names nothing to write": [
        "The unit of this schema is a row",
        "Each column of a subquery is written out",
        "Columns have several time zones",
        "Ask in several statements",
        "There are no windows over rows",
        "A number about the table itself is a question of its own",
        "Released numbers differ by their noise",
        "Declare its values, or ask for each level",
        "Use CAST(... AS ...) to have its parts of one type",
        "Otherwise it would be called by the end of its address",
        "Accuracy on private images would reveal something about them",
        "Accuracy on private rows would reveal something about them",
    ],
    "tried in the tests of their own files": [
        "Name the outputs yourself",
        "Save one first",
        "Nothing was saved. Remove questions",
        "A saved question is complete",
        "Read the stored answer with",
        "Name another file with --schema for this one",
        "Count the columns singly",
        "Use fewer groups",
        "Coarser values have a mode",
        "The column \0 is written",
        "What is computed of keys alone",
        "A share of all groups is",
        "Such as \0, or DATE_TRUNC",
        "A server with --config keeps them",
        "Group it by a column: a decision is",
        "Several keys are given one after the other",
        "The first line of \0 is taken for",
        "Write names of the columns above it",
    ],
    "tried where grids and statements with prices are tested": [
        "Use Grid.from_pandapower(net)",
        "Wrap them: Loads([...])",
        "Give other numbers, or another alpha",
        "The statement names it",
        "Say it once: in OPTIONS",
        "Leave out the table",
        "List the values: x IN",
    ],
}
BEGINNINGS = [text for texts in ADVICE.values() for text in texts]


def actionable(text):
    """A hint without what it says of the state of things."""
    return STATUS.sub("", text).strip()


def told(case, folder):
    """What is said where a case is refused, once its hint was followed in another folder."""
    first, second = folder / "refused", folder / "followed"
    first.mkdir(parents=True)
    second.mkdir()
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # which an InputError is
        case.refused(first)
    case.followed(second)
    return " ".join(str(refused.value).split())


def test_every_hint_is_followed_and_accepted(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)
    said, failed = [], []
    for room, cases in {**CASES, "sql": STATEMENTS}.items():
        for place, case in enumerate(cases):
            try:
                said.append(told(case, tmp_path / f"{room}-{place}"))
            except (Exception, pytest.fail.Exception) as problem:
                failed.append(f"{room} {place}: {problem}")
    assert not failed
    unseen = [
        str(hint)
        for hint in hints(*ROOMS)
        if (text := actionable(hint.text))
        and not text.startswith(tuple(BEGINNINGS))
        and not any(hint.pattern.search(message) for message in said)
    ]
    assert not unseen, "a hint without a case in hint_cases or hint_statements"


def test_no_reason_is_given_for_a_hint_that_is_gone():
    texts = [actionable(hint.text) for hint in hints(*ROOMS)]
    assert [beginning for beginning in BEGINNINGS if not any(text.startswith(beginning) for text in texts)] == []


def test_a_new_hint_would_be_found(tmp_path):
    source = tmp_path / "new.py"
    source.write_text(
        "_MORE = 'Use a spoon.'\n"
        "def made(x):\n"
        "    hint = f'Add {x} eggs.' if x else 'Boil it.'\n"
        "    if x > 3:\n"
        "        raise InputError('x', x, 'small', _MORE)\n"
        "    raise InputError('x', x, 'smaller', hint)\n"
    )
    assert {hint.text.replace("\0", "{}") for hint in hints(source)} == {"Use a spoon.", "Add {} eggs.", "Boil it."}
