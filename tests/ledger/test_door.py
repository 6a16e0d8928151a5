"""The door: spend, open, measure, record: one draw and one answer for one charge, nothing private."""

import threading
from collections import Counter
from contextlib import contextmanager, nullcontext

import pytest

from crowd import run_door, run_publish
from discreet.core.loss import GaussianNoise, Pure
from discreet.core.version import DataVersion
from discreet.errors import BudgetError, InputError, LossError, RunError, SourceError
from discreet.ledger.budget import Budget
from discreet.ledger.door import ATTEMPTS, release
from discreet.ledger.ledger import Ledger
from jobs import CANARY, Broken, Data, Dated, Job, Quiet, leaks, left


@pytest.fixture
def ledger(place):
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=100), who="ann")
    return ledger


def test_the_charge_is_durable_before_the_data_is_opened(ledger, place):
    class Watching(Data):
        def open(self):
            seen.append(Ledger.open(place, create=True).find("r1").charged.charge.amount)
            return super().open()

    seen = []
    answer = release(Job(), Watching(), ledger, who="ann", release="r1", why="report")
    assert seen == [1]
    assert answer.result == release(Job(), Watching(), ledger, who="bob", release="r1").result
    assert seen == [1]
    assert (answer.replayed, answer.charge.amount, answer.mechanism) == (False, 1, "random bytes")
    assert ledger.verify().ok


def test_the_answer_is_recorded_before_it_is_returned(ledger):
    answer = release(Job(), Data(), ledger, who="ann")
    assert ledger.find(answer.release).answer == f'{{"count":{answer.result["count"]}}}'
    assert len(answer.release) == 32


def test_refusals_open_nothing_and_spend_nothing(ledger):
    data = Data()
    with pytest.raises(BudgetError):
        release(Job(cost=Pure(101)), data, ledger, who="ann")
    with pytest.raises(LossError):
        release(Job(cost=GaussianNoise(1, 1)), data, ledger, who="ann")
    with pytest.raises(InputError, match="dataset"):
        release(Job(dataset="other"), data, ledger, who="ann")
    with pytest.raises(InputError, match="query"):
        release(Job(query={"x": object()}), data, ledger, who="ann")
    assert data.opened == 0
    assert left(ledger) == 100


def test_an_id_answers_one_question(ledger):
    release(Job(), Data(), ledger, who="ann", release="r1")
    for other in (Job(digest="sha256:2"), Job(dataset="other")):
        with pytest.raises(InputError, match="release"):
            release(other, Data(), ledger, who="ann", release="r1")
    assert left(ledger) == 99


@pytest.mark.parametrize("problem", [ValueError, MemoryError, BudgetError, KeyboardInterrupt, SystemExit])
def test_a_failure_carries_nothing_private(ledger, problem):
    class Failing(Broken):
        pass

    Failing.problem = problem if problem is not BudgetError else RuntimeError
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        release(Failing(), Quiet(), ledger, who="ann", release="r1")
    assert not leaks(caught.value, CANARY, __file__)
    assert caught.value.__context__ is None
    assert not any(CANARY in record.body() for record in ledger.records())
    assert left(ledger) == 99


def test_the_check_for_leaks_finds_one():
    with pytest.raises(ValueError, match="bad row") as caught:
        Broken().measure([CANARY], None)
    assert leaks(caught.value, CANARY, __file__)

    def usual():
        try:
            Broken().measure([CANARY], None)
        except ValueError:
            raise RuntimeError("clean words") from None  # hides the context and keeps it

    with pytest.raises(RuntimeError) as caught:
        usual()
    assert leaks(caught.value, CANARY, __file__)


def test_a_failed_run_stays_spent_says_so_and_stays_failed(ledger):
    with pytest.raises(RunError, match="stays spent") as caught:
        release(Broken(), Data(), ledger, who="ann", release="r1")
    assert caught.value.release == "r1"
    data = Data()
    with pytest.raises(RunError, match="stays spent"):
        release(Job(), data, ledger, who="ann", release="r1")
    assert data.opened == 0
    assert left(ledger) == 99
    assert ledger.find("r1").failure == "the run did not finish"
    assert ledger.verify().ok


def test_data_that_does_not_open_and_results_that_are_not_json_are_failures(ledger):
    class Closed(Quiet):
        def open(self):
            raise FileNotFoundError(CANARY)

    class Odd(Job):
        def measure(self, data, bits):
            return {"value": {CANARY}}

    for plan, data in ((Job(), Closed()), (Odd(), Quiet())):
        with pytest.raises(RunError) as caught:
            release(plan, data, ledger, who="ann")
        assert not leaks(caught.value, CANARY, __file__)


def test_an_answer_lost_in_a_crash_is_recovered_under_the_same_charge(ledger):
    class Crashing(Job):
        def measure(self, data, bits):
            raise KeyboardInterrupt

    for _ in range(ATTEMPTS - 1):
        with pytest.raises(KeyboardInterrupt):
            release(Crashing(), Data(), ledger, who="ann", release="r1")
    answer = release(Job(), Data(), ledger, who="ann", release="r1")
    assert not answer.replayed
    assert ledger.find("r1").notes == ATTEMPTS - 1
    assert left(ledger) == 99


def test_answers_are_not_lost_for_ever_under_one_charge(ledger):
    class Crashing(Job):
        def measure(self, data, bits):
            raise KeyboardInterrupt

    for _ in range(ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            release(Crashing(), Data(), ledger, who="ann", release="r1")
    data = Data()
    with pytest.raises(RunError, match="lost too often"):
        release(Job(), data, ledger, who="ann", release="r1")
    assert data.opened == 0
    assert ledger.find("r1").failure == "its answer was lost too often"


class Going(Job):
    """A run that is kept in a list: made again, it gives what it would have given."""

    watched, kept, crash = False, None, True

    def begun(self):
        return bool(self.kept)

    def measure(self, data, bits):
        if not self.begun():
            self.kept.append(super().measure(data, bits))
        if self.crash:
            raise KeyboardInterrupt
        return self.kept[0]


@pytest.mark.parametrize("seen", [False, True])
def test_a_run_that_repeats_itself_is_gone_on_with_as_often_as_it_takes(ledger, seen):
    plan = type("Repeating", (Going,), {"watched": seen, "kept": []})()
    for _ in range(ATTEMPTS + 2):
        with pytest.raises(KeyboardInterrupt):
            release(plan, Data(), ledger, who="ann", release="r1")
    type(plan).crash = False
    assert release(plan, Data(), ledger, who="ann", release="r1").result == plan.kept[0]
    assert ledger.find("r1").notes == 0
    assert left(ledger) == 99


def test_a_run_that_forgets_is_counted_and_one_that_was_watched_is_refused(ledger):
    forgetful = type("Forgetful", (Going,), {"begun": lambda self: False, "kept": []})()
    for _ in range(ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            release(forgetful, Data(), ledger, who="ann", release="r1")
    with pytest.raises(RunError, match="lost too often"):
        release(forgetful, Data(), ledger, who="ann", release="r1")

    data, watched = Data(), type("Watched", (Going,), {"watched": True, "kept": []})()
    with pytest.raises(KeyboardInterrupt):
        release(watched, data, ledger, who="ann", release="r2")
    first = watched.kept.pop()
    for _ in range(ATTEMPTS + 1):
        with pytest.raises(InputError, match="checkpoint"):
            release(watched, data, ledger, who="ann", release="r2")
    assert data.opened == 1
    assert ledger.find("r2").failure is None
    watched.kept.append(first)  # found again
    type(watched).crash = False
    assert release(watched, data, ledger, who="ann", release="r2").result == first


def test_what_was_drawn_is_published_though_the_data_is_another_version(ledger):
    """It reads no data. A run that goes on from where it stood does, and is refused."""
    drawn = type("Drawing", (Going,), {"kept": [], "drawn": lambda self: self.begun()})()
    going = type("Going", (Going,), {"kept": []})()
    data = Dated()
    for plan, name in ((drawn, "drawn"), (going, "going")):
        with pytest.raises(KeyboardInterrupt):
            release(plan, data, ledger, who="ann", release=name)
        type(plan).crash = False
    data.at = "tuesday"
    answer = release(drawn, data, ledger, who="ann", release="drawn")
    assert answer.result == drawn.kept[0]
    assert answer.data.value == "monday"
    assert ledger.find("drawn").notes == 0
    with pytest.raises(InputError, match="a new id"):
        release(going, data, ledger, who="ann", release="going")


def test_what_draws_once_and_has_not_drawn_is_made_from_the_data_of_now_and_says_so(ledger):
    plan = type("Drawing", (Going,), {"kept": [], "drawn": lambda self: self.begun()})()
    data = Dated()
    ledger.spend("visits", plan.cost, release="r1", who="ann", digest=plan.digest, data=data.version(b""))
    data.at, type(plan).crash = "tuesday", False
    answer = release(plan, data, ledger, who="ann", release="r1")
    assert answer.data.value == "tuesday"
    assert ledger.find("r1").notes == 1
    assert left(ledger) == 99
    assert ledger.verify().ok
    ledger.spend(
        "visits", plan.cost, release="r2", who="ann", digest=plan.digest, data=DataVersion("declared", "monday")
    )
    with pytest.raises(InputError, match="a new id"):
        release(Job(), data, ledger, who="ann", release="r2")


def test_a_plan_that_does_not_say_its_kind_is_refused_before_it_is_charged(ledger):
    for plan in (Job(kind=""), Job(version=0), Job(version=None)):
        with pytest.raises(InputError, match="kind"):
            release(plan, Data(), ledger, who="ann")
    assert left(ledger) == 100


def test_many_who_ask_for_one_release_get_one_answer(ledger):
    answers, start = [], threading.Barrier(8)
    data = Data()

    def ask():
        start.wait()
        answers.append(release(Job(), data, ledger, who="ann", release="r1"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer.result["count"] for answer in answers}) == 1
    assert Counter(answer.replayed for answer in answers) == {False: 1, True: 7}
    assert data.opened == 1
    assert left(ledger) == 99


def test_without_the_lock_two_runs_still_give_one_answer(ledger, monkeypatch):
    both = threading.Barrier(2, timeout=600)

    class Together(Job):
        def measure(self, data, bits):
            both.wait()
            return super().measure(data, bits)

    monkeypatch.setattr(Ledger, "running", lambda *_: nullcontext())
    answers = []
    ask = lambda: answers.append(release(Together(), Data(), ledger, who="ann", release="r1"))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers[0].result == answers[1].result
    assert ledger.find("r1").notes == 1  # the second run is on record
    assert left(ledger) == 99


def test_the_loser_returns_the_answer_of_the_winner(ledger):
    """Should the lock fail (a broken connection), the first recorded answer is still the only one anybody sees."""

    class Outdrawn(Job):
        def measure(self, data, bits):
            ledger.measurement("r0", '{"count":5}', who="the other")
            return super().measure(data, bits)

    answer = release(Outdrawn(), Data(), ledger, who="ann", release="r0")
    assert (answer.result, answer.replayed) == ({"count": 5}, True)

    class Overtaken(Job):
        def measure(self, data, bits):
            ledger.answer("r1", '{"count":7}', who="the other")
            return super().measure(data, bits)

    answer = release(Overtaken(), Data(), ledger, who="ann", release="r1")
    assert answer.result == {"count": 7}
    assert answer.replayed


def test_a_failure_recorded_by_another_wins_over_a_later_answer(ledger):
    class Overtaken(Job):
        def measure(self, data, bits):
            ledger.failed("r1", "the other broke", who="the other")
            return super().measure(data, bits)

    with pytest.raises(RunError):
        release(Overtaken(), Data(), ledger, who="ann", release="r1")


def test_killed_between_measuring_and_publishing_nothing_is_drawn_again(ledger, place):
    """More often than attempts are allowed: none of these is one."""
    seen = {run_publish(place, 7) for _ in range(ATTEMPTS + 1)}
    known, data = ledger.find("job-7"), Data()
    assert known.open
    answer = release(Job(), data, ledger, who="ann", release="job-7")
    assert seen == {str(answer.result["count"])}
    assert (data.opened, ledger.find("job-7").notes, left(ledger)) == (0, 0, 99)
    assert ledger.verify().ok


def test_killed_at_random_no_charge_is_lost_and_none_is_made_twice(ledger, place):
    jobs = 24
    seen, lives = run_door(place, jobs=jobs, kills=4)
    assert lives >= 2
    outcomes = {outcome.charged.release: outcome for outcome in ledger.releases()}
    assert left(ledger) == 100 - jobs
    assert len(outcomes) == jobs
    assert all(outcome.answer is not None for outcome in outcomes.values())
    for identity, count in seen:  # whatever anyone saw is what is on the books
        assert outcomes[identity].answer == f'{{"count":{count}}}'
    assert ledger.verify().ok


class Away(Data):
    """Data beyond a network: out of reach for the first `closed` looks, and cut off in the first `cut` runs."""

    def __init__(self, closed=0, cut=0):
        super().__init__()
        self.closed, self.cut = closed, cut

    def reach(self):
        if self.closed:
            self.closed -= 1
            raise SourceError("source", "a cluster", "there")

    @contextmanager
    def open(self):
        with super().open() as rows:
            yield rows
            if self.cut:
                self.cut -= 1
                raise SourceError("source", CANARY, "there")


def test_data_out_of_reach_costs_nothing(ledger):
    data = Away(closed=1)
    with pytest.raises(SourceError):
        release(Job(), data, ledger, who="ann", release="r1")
    assert (data.opened, left(ledger), ledger.find("r1")) == (0, 100, None)
    assert release(Job(), data, ledger, who="ann", release="r1").result["count"]
    assert (data.opened, left(ledger)) == (1, 99)


def test_data_that_goes_away_in_a_run_is_read_once_more_under_one_charge(ledger):
    data = Away(cut=1)
    answer = release(Job(), data, ledger, who="ann", release="r1")
    assert (data.opened, left(ledger), ledger.find("r1").notes) == (2, 99, 1)
    assert answer.result == release(Job(), data, ledger, who="ann", release="r1").result
    assert data.opened == 2
    assert ledger.verify().ok


def test_data_that_stays_away_leaves_the_release_open_and_is_read_no_more_often_than_after_crashes(ledger):
    data = Away(cut=100)
    said = []
    for _ in range(3):
        with pytest.raises((SourceError, RunError)) as caught:
            release(Job(), data, ledger, who="ann", release="r1")
        said.append(caught.value)
    assert "charged once" in str(said[0])
    assert CANARY not in "".join(map(str, said))
    assert isinstance(said[-1], RunError)
    assert (data.opened, left(ledger)) == (ATTEMPTS, 99)
    assert ledger.verify().ok


def test_data_that_goes_away_and_does_not_come_back_at_once_is_waited_for_by_nobody(ledger):
    data = Away(cut=1)
    data.reach = iter_reach(None, SourceError("source", "a cluster", "there"), None)
    with pytest.raises(SourceError, match="charged once"):
        release(Job(), data, ledger, who="ann", release="r1")
    assert (data.opened, left(ledger), ledger.find("r1").open) == (1, 99, True)
    assert release(Job(), data, ledger, who="ann", release="r1").result["count"]
    assert left(ledger) == 99


def iter_reach(*turns):
    """A `reach` that takes these turns."""
    coming = iter(turns)

    def reach():
        if (problem := next(coming, None)) is not None:
            raise problem

    return reach
