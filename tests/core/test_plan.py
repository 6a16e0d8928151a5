"""Plans: what the door asks of one, and digests of steps that a ledger can compute again."""

import pytest

from discreet.core.plan import Cover, Covered, Plan, Private, as_paid
from jobs import Data, Job


def test_a_job_of_the_tests_is_a_plan_and_its_data_private():
    assert isinstance(Job(), Plan)
    assert not isinstance(Job(), Covered)
    assert isinstance(Data(), Private)
    assert not isinstance(object(), Plan)


def test_the_digest_of_a_step_follows_from_the_job_and_the_number_alone():
    assert Cover.digest("job", 2) == Cover.digest("job", 2)
    assert len({Cover.digest(job, step) for job in ("a", "a 1", "b") for step in (1, 2, 11)}) == 9


def test_a_plan_that_may_be_a_later_step_says_what_covers_it():
    class Step(Job):
        covered_by = Cover("job", 2, "year/1")

    assert isinstance(Step(), Covered)


class Renewed:
    """A plan that was another before; `planned` says how often that one was asked for."""

    digest = "new"
    planned = 0

    @property
    def former(self):
        self.planned += 1
        return (Former(),)


class Former:
    digest = "old"


@pytest.mark.parametrize(("digest", "kind", "planned"), [("new", Renewed, 0), ("old", Former, 1), ("none", Renewed, 1)])
def test_what_was_planned_before_is_planned_only_if_the_digest_is_another(digest, kind, planned):
    plan = Renewed()
    assert isinstance(as_paid(plan, digest), kind)
    assert plan.planned == planned
