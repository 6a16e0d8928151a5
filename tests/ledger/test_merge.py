"""Two ledgers become one: nothing is lost or counted twice, and at no moment can both be spent from."""

import os
import subprocess
import sys

import pytest

from discreet.core.loss import ZCDP, Pure
from discreet.core.plan import Cover
from discreet.core.unit import Unit
from discreet.errors import BudgetError, CapError, InputError, LedgerError
from discreet.ledger import merge
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.caps import Caps
from discreet.ledger.guard import Guard
from discreet.ledger.ledger import Ledger
from discreet.ledger.merge import merge_ledgers
from servers import fresh_schema


def spend(ledger, dataset, release, loss=1, digest="d", **more):
    loss = Pure(loss) if isinstance(loss, (int, str)) else loss
    return ledger.spend(dataset, loss, release=release, who="ann", digest=digest, **more)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    return tmp_path / "into.db" if request.param == "sqlite" else fresh_schema()


@pytest.fixture
def into(place):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=5), who="ann")
    spend(ledger, "visits", "v1")
    ledger.answer("v1", "1", who="ann")
    return ledger


@pytest.fixture
def other(tmp_path):
    ledger = Ledger.open(tmp_path / "other.db", create=True)
    ledger.create("births", Budget(epsilon=3), who="bob")
    spend(ledger, "births", "b1", 2)
    ledger.measurement("b1", "[4]", who="bob", kind="question", version=1)
    ledger.answer("b1", '{"n": 4}', who="bob", kind="question", version=1)
    return ledger


def test_other_datasets_come_with_their_budgets_charges_and_answers(into, other):
    times = [record.time for record in other.records("births")]
    done = merge_ledgers(into, other, who="ann", why="one agency")
    assert done.datasets == ("births",)
    assert into.datasets() == ("visits", "births")
    assert into.find("b1").answer == '{"n": 4}'
    assert into.find("b1").kind == "question"
    assert into.remaining("births").amount == 1
    assert into.remaining("visits").amount == 4
    assert [record.time for record in into.records("births")] == times
    assert into.verify().ok
    spend(into, "births", "b2")
    with pytest.raises(BudgetError):
        spend(into, "births", "b3")
    into.declare("births", Budget(epsilon=3), who="ann")  # as the schema says


def test_the_other_one_is_closed_and_can_be_read(into, other):
    merge_ledgers(into, other, who="ann", why="one agency")
    with pytest.raises(LedgerError, match="moved to another ledger"):
        spend(other, "births", "b2")
    assert other.find("b1").answer == '{"n": 4}'


def test_charges_of_one_dataset_are_added_up(into, other):
    other.create("visits", Budget(epsilon=100), who="bob")
    spend(other, "visits", "o1", 3)
    done = merge_ledgers(into, other, who="ann", why="one agency")
    assert done.shared == ("visits",)
    assert into.account("visits").budget == Budget(epsilon=5)
    assert into.remaining("visits").amount == 1
    with pytest.raises(BudgetError):
        spend(into, "visits", "v2", 2)
    assert into.verify().ok


def test_caps_of_the_ledger_that_goes_on_stay_and_those_of_other_datasets_come_along(into, other):
    other.create("visits", Budget(epsilon=5), who="bob")
    Caps(other).set("visits", "ann", epsilon=4, who="bob")
    Caps(other).set("births", "ann", epsilon="0.5", who="bob")
    Caps(into).set("visits", "ann", epsilon=2, who="carla")
    merge_ledgers(into, other, who="ann", why="one agency")
    assert [cap.amount for cap in Caps(into).listed("visits")] == [2]
    spend(into, "visits", "v2")
    with pytest.raises(CapError):
        spend(into, "visits", "v3")
    with pytest.raises(CapError):
        spend(into, "births", "b2")
    assert into.verify().ok


def refused(into, other, words):
    heads = into.head(), other.head()
    with pytest.raises(InputError, match=words):
        merge_ledgers(into, other, who="ann", why="one agency")
    assert (into.head(), other.head()) == heads
    assert other.discrepancy() is None


def test_what_both_spent_must_fit_the_budget_that_goes_on(into, other):
    other.create("visits", Budget(epsilon=100), who="bob")
    spend(other, "visits", "o1", "4.5")
    refused(into, other, "on both together.*discreet ledger raise")
    into.raise_budget("visits", Budget(epsilon=6), who="ann", why="both")
    merge_ledgers(into, other, who="ann", why="one agency")
    assert into.verify().ok


def test_without_the_comparison_verify_names_the_charge(into, other, monkeypatch):
    """The planted bug: charges of one dataset added up whatever they come to."""
    other.create("visits", Budget(epsilon=100), who="bob")
    spend(other, "visits", "o1", 5)
    monkeypatch.setattr(merge, "_check_shared", lambda *_: None)
    merge_ledgers(into, other, who="ann", why="one agency")
    (problem,) = into.verify().problems
    assert "exceeds allotment" in problem


def test_pure_charges_of_both_fit_by_their_plain_sum(tmp_path):
    ledgers = [Ledger.open(tmp_path / f"{name}.db", create=True) for name in "ab"]
    for name, ledger in zip("ab", ledgers, strict=True):
        ledger.create("visits", Budget(epsilon=3, delta="1e-6"), who="ann")
        for number in range(3):
            spend(ledger, "visits", f"{name}{number}", "1/2")
    merge_ledgers(*ledgers, who="ann", why="one agency")
    assert ledgers[0].pure_left("visits") == 0
    assert ledgers[0].verify().ok


def test_one_release_that_is_not_pure_ends_the_plain_sum(tmp_path):
    ledgers = [Ledger.open(tmp_path / f"{name}.db", create=True) for name in "ab"]
    for name, ledger in zip("ab", ledgers, strict=True):
        ledger.create("visits", Budget(epsilon=3, delta="1e-6"), who="ann")
        spend(ledger, "visits", f"{name}0", "1/2")
        spend(ledger, "visits", f"{name}1", "1/2" if name == "a" else ZCDP("1/100"))
    refused(*ledgers, "on both together")


OTHERS = {
    "unit": (lambda b: b.create("visits", Budget(epsilon=9), unit=Unit("person"), who="bob"), "do not add up"),
    "closed": (
        lambda b: (b.create("visits", Budget(epsilon=9), who="b"), b.close_budget("visits", who="b", why="done")),
        "open on both",
    ),
    "spelling": (lambda b: b.create("Visits", Budget(epsilon=9), who="bob"), "spelt as on the other"),
    "release": (lambda b: spend(b, "births", "v1", "1/2"), "one of the ledgers only"),
    "allotment": (
        lambda b: (
            b.create("visits", Budget(epsilon=9, allotments=[Allotment("maps", "pure", epsilon=9)]), who="bob"),
            spend(b, "visits", "m1", allotment="maps"),
        ),
        "counts the same way",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_would_not_be_sound_is_refused_in_words(into, other, case):
    begin, words = OTHERS[case]
    begin(other)
    refused(into, other, words)


def test_a_copy_of_itself_is_refused(into):
    with pytest.raises(InputError, match="another ledger"):
        merge_ledgers(into, into, who="ann", why="one agency")


def test_what_is_open_ends(into, other):
    spend(other, "births", "b2", "1/2")
    done = merge_ledgers(into, other, who="ann", why="one agency")
    assert done.closed == ("b2",)
    assert into.find("b2").failure == merge.MERGED
    assert into.verify().ok


def test_what_the_other_ledger_acknowledged_says_nothing_of_this_one(into, other, tmp_path):
    """A note that records were lost ends what was open before it: there, not here."""
    spend(into, "visits", "open")
    for path in tmp_path.glob("state/guards/*.head"):
        if other.head().hash in path.read_text():
            path.unlink()
    other.acknowledge(who="bob", why="guard lost", write_off="nothing")
    merge_ledgers(into, other, who="ann", why="one agency")
    assert into.find("open").failure is None
    assert into.verify().ok


def test_streams_of_the_other_ledger_go_no_further(into, other):
    """What was paid there covers no step here: of its records some may be missing, and its memory is gone."""
    spend(other, "births", "s/1", "1/2", digest=Cover.digest("job", 1))
    other.answer("s/1", "1", who="bob")
    merge_ledgers(into, other, who="ann", why="one agency")
    step = {"digest": Cover.digest("job", 2), "cover": Cover("job", 2, "s/1")}
    with pytest.raises(InputError, match="merged into this one"):
        spend(into, "births", "s/2", 0, **step)


MOMENTS = {
    "before the other ledger is closed": (merge, "_carry_over"),
    "when it is closed": (Guard, "close"),
    "before the guard follows": (Guard, "follow"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_merge_that_was_stopped_goes_on(into, other, moment, monkeypatch):
    where, name = MOMENTS[moment]
    real = getattr(where, name)

    def stopped(*arguments, **more):
        if name == "close":
            real(*arguments, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(where, name, stopped)
    with pytest.raises(KeyboardInterrupt):
        merge_ledgers(into, other, who="ann", why="one agency")
    monkeypatch.undo()
    if moment != "before the other ledger is closed":
        with pytest.raises(LedgerError, match="moved to another"):
            spend(other, "births", "b2")
    merge_ledgers(into, other, who="ann", why="one agency")
    assert into.remaining("births").amount == 1
    assert into.verify().ok
    with pytest.raises(LedgerError, match="moved to another"):
        spend(other, "births", "b2")


def test_a_merge_that_closes_nothing_would_be_seen(into, other, monkeypatch):
    """The planted bug: both can be spent from."""
    monkeypatch.setattr(Guard, "close", lambda *_: None)
    merge_ledgers(into, other, who="ann", why="one agency")
    spend(into, "births", "here", 1)
    spend(other, "births", "there", 1)


@pytest.mark.parametrize("moment", ["merge.write", "Guard.close", "Guard.follow"])
def test_killed_in_the_middle_nothing_is_lost_or_doubled(tmp_path, moment, other):
    into = Ledger.open(tmp_path / "into.db", create=True)
    into.create("visits", Budget(epsilon=5), who="ann")
    other.close()
    places = [str(tmp_path / "into.db"), str(tmp_path / "other.db")]
    killed = (
        "import os, signal\nfrom discreet.ledger import Ledger, merge\nfrom discreet.ledger.guard import Guard\n"
        f"ledgers = [Ledger.open(place) for place in {places!r}]\n"
        f"{moment} = lambda *a, **b: os.kill(os.getpid(), signal.SIGKILL)\n"
        "merge.merge_ledgers(*ledgers, who='ann', why='one agency')\n"
    )
    done = subprocess.run([sys.executable, "-c", killed], env=os.environ, timeout=120, check=False)
    assert done.returncode == -9
    merge_ledgers(into, other, who="ann", why="one agency")
    assert into.remaining("births").amount == 1
    assert into.verify().ok
    with pytest.raises(LedgerError, match="moved to another"):
        spend(other, "births", "b2")
