"""What every plan of a run shares: a file of something else is refused first, and no file outlives its run."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from dataclasses import replace

from train_people import FIXED

from discreet.errors import InputError, RunError
from discreet.learn.run_plan import checkpoint_path


@pytest.fixture
def plan(curator, tmp_path):
    return curator.train(target="rich", examples=400, **FIXED).plan(delta=1e-7, checkpoint=tmp_path / "run").plan


def begin(plan, stop=None):
    """A run that is in its file, and is then stopped."""
    with plan.kept(answered=False):
        plan.resume().keep()
        assert plan.begun()
        if stop is not None:
            raise stop


def test_the_file_is_destroyed_when_the_run_is_over(plan):
    begin(plan)
    assert not plan.checkpoint.exists()


def test_the_file_is_destroyed_when_the_run_has_failed(plan):
    with pytest.raises(RunError):
        begin(plan, RunError("failed", release="a"))
    assert not plan.checkpoint.exists()


def test_the_file_stays_when_the_run_was_stopped(plan):
    with pytest.raises(KeyboardInterrupt):
        begin(plan, KeyboardInterrupt())
    assert plan.begun()


def test_a_file_of_another_plan_is_refused_first_and_left_alone(plan):
    plan.resume().keep()
    other = replace(plan, delta=plan.delta / 2)
    reached = []
    with pytest.raises(InputError, match="same plan"), other.kept(answered=False):
        reached.append(True)
    assert not reached
    other.clear()
    assert plan.begun()
    with other.kept(answered=True):  # nothing is run where there is an answer
        pass
    assert plan.begun()


def test_a_file_is_in_a_folder_that_exists(tmp_path):
    assert checkpoint_path(None) is None
    assert checkpoint_path(str(tmp_path / "run")) == tmp_path / "run"
    for path in (tmp_path, tmp_path / "absent" / "run", 5):
        with pytest.raises(InputError) as caught:
            checkpoint_path(path)
        assert caught.value.field == "checkpoint"


def test_a_run_that_a_server_keeps_tells_nothing_and_is_the_same_plan(curator, tmp_path):
    settings = {**FIXED, "report_loss": 8}
    bare = curator.train(target="rich", examples=400, **settings).plan(delta=1e-7).plan
    kept = bare.stored_in(tmp_path / "run")
    assert not kept.watched
    assert kept.digest == bare.digest
    assert not kept.resume().told
    begun = replace(kept, told=True)  # one that tells is another plan: its losses may have been seen
    assert begun.watched
    assert begun.digest != bare.digest
