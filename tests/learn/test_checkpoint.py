"""The file of a run: written whole or not at all, refused where it is of something else, destroyed."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import stat

import numpy as np
from train_steps import few, small

from discreet.errors import InputError
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.run import identity_of, resume


def test_a_checkpoint_is_private_whole_and_comes_back_bit_for_bit(tmp_path):
    losses, params, recipe = small(report_loss=1.0)
    place = Checkpoint(tmp_path / "run")
    run = resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place, every=1)
    done = run.go(few())
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    back = resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place)
    assert back.state.step == 4
    assert back.secret == run.secret
    assert back.heard == done.losses
    assert np.array_equal(back.go(few()).params["w"], done.params["w"])
    place.destroy()
    assert list(tmp_path.iterdir()) == []
    place.destroy()  # nothing there: nothing to do


def test_a_save_that_was_killed_half_way_leaves_the_last_one_whole(tmp_path, monkeypatch):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    run = resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place, every=1)

    def killed(*_):
        raise KeyboardInterrupt  # after the new file was written, before it took the old one's place

    kept = []
    whole = Checkpoint.save

    def save(self, state, *rest):
        if state.step == 2:
            monkeypatch.setattr("pathlib.Path.replace", killed)
        whole(self, state, *rest)
        kept.append(state.step)

    monkeypatch.setattr(Checkpoint, "save", save)
    with pytest.raises(KeyboardInterrupt):
        run.go(few())
    monkeypatch.undo()
    assert kept == [0, 1]
    assert len(list(tmp_path.iterdir())) == 2
    again = resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place)
    assert (again.state.step, again.secret) == (1, run.secret)
    place.destroy()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("part", ["recipe", "model", "code", "backend"])
def test_a_checkpoint_of_something_else_is_refused(tmp_path, part):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    identity = identity_of(recipe, "m")
    resume(losses, params, recipe, identity, checkpoint=place).go(few())
    with pytest.raises(InputError, match=f"the same {part}.*charged anew"):
        resume(losses, params, recipe, identity | {part: "other"}, checkpoint=place)


@pytest.mark.parametrize("broken", [b"", b"nonsense", b"PK\x05\x06" + bytes(18)])
def test_a_broken_checkpoint_is_refused_without_being_quoted(tmp_path, broken):
    losses, params, recipe = small()
    (tmp_path / "run").write_bytes(broken)
    with pytest.raises(InputError, match="an undamaged file that a run wrote"):
        resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=Checkpoint(tmp_path / "run"))


def test_a_checkpoint_of_another_shape_is_refused(tmp_path):
    losses, params, recipe = small()
    place = Checkpoint(tmp_path / "run")
    resume(losses, params, recipe, identity_of(recipe, "m"), checkpoint=place).go(few())
    wide = {"w": np.zeros((3, 5), np.float32)}
    with pytest.raises(InputError, match="of the same shape"):
        resume(losses, wide, recipe, identity_of(recipe, "m"), checkpoint=place)


def test_only_what_a_save_left_beside_the_file_is_destroyed(tmp_path):
    mine = [tmp_path / "run[1]", tmp_path / ".run[1].77"]
    others = [tmp_path / name for name in (".run1.77", ".run[1].b.77", ".run[1].77b", ".run[1]")]
    for path in mine + others:
        path.write_bytes(b"secret")
    Checkpoint(str(mine[0])).destroy()
    assert sorted(tmp_path.iterdir()) == sorted(others)
