"""Compiled programs are kept for their owner alone, and hold nothing of data, secrets or weights."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("jax")
import jax

from discreet.learn import programs
from discreet.learn.programs import keep_programs


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A state folder, and JAX as it is where nobody has said where programs are kept."""
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}
    jax.config.update("jax_compilation_cache_dir", None)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    yield tmp_path / "state"
    for name, value in before.items():
        jax.config.update(name, value)


def test_programs_lie_in_a_folder_of_their_owner(fresh):
    folder = keep_programs()
    assert folder.parent == fresh / "programs"
    assert jax.config.jax_compilation_cache_dir == str(folder)
    for one in (folder, folder.parent, fresh):
        assert one.stat().st_mode & 0o077 == 0
    assert keep_programs() is None  # it is chosen now
    assert jax.config.jax_compilation_cache_dir == str(folder)


def test_a_folder_that_the_program_chose_stays(fresh, tmp_path):
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "chosen"))
    assert keep_programs() is None
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "chosen")
    assert not fresh.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no modes there")
@pytest.mark.parametrize("which", ["", "programs", "programs/machine"])
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_may_write_to_is_not_used(fresh, monkeypatch, which, mode):
    monkeypatch.setattr(programs, "_machine", lambda: "machine")
    (fresh / "programs" / "machine").mkdir(parents=True)
    for one in (fresh, fresh / "programs", fresh / "programs" / "machine"):
        one.chmod(0o700)
    (fresh / which).chmod(mode)
    assert keep_programs() is None
    assert jax.config.jax_compilation_cache_dir is None


def test_where_there_is_no_folder_nothing_is_kept_and_nothing_fails(fresh):
    fresh.write_text("a file in its place")
    assert keep_programs() is None
    assert jax.config.jax_compilation_cache_dir is None


def test_what_was_not_used_for_longest_goes_first(fresh):
    folder = fresh / "programs" / "another"
    folder.mkdir(parents=True)
    for one in (fresh, folder.parent, folder):
        one.chmod(0o700)
    for number in range(10):
        (folder / f"{number}-cache").write_bytes(b"x" * 100)
        os.utime(folder / f"{number}-cache", (1000 + number, 1000))
    assert keep_programs(most=1000) is not None  # no more than is allowed
    assert len(list(folder.iterdir())) == 10
    jax.config.update("jax_compilation_cache_dir", None)
    assert keep_programs(most=999) is not None
    assert sorted(path.name for path in folder.iterdir()) == [f"{number}-cache" for number in range(6, 10)]


RUN = """
    import json, os, sys
    import jax, jax.numpy as jnp, numpy as np
    from discreet.learn import programs
    programs._WORTH = 0.0
    folder = programs.keep_programs()
    from discreet.learn.objective import cross_entropy
    from discreet.learn.recipe import Recipe
    from discreet.learn.trainer import train
    hits = []
    jax.monitoring.register_event_listener(lambda event, **_: hits.append(event))
    draw = np.random.default_rng(int(sys.argv[1]))
    x, y = draw.normal(size=(int(sys.argv[2]), 5)).astype(np.float32), draw.integers(0, 3, int(sys.argv[2]))
    apply = lambda w, x: jnp.tanh(x @ w["a"]) @ w["b"]
    shapes = {"a": (5, 4), "b": (4, 3)}
    weights = {name: jnp.asarray(draw.normal(size=shape), jnp.float32) for name, shape in shapes.items()}
    for noise in ("exact", "device"):
        recipe = Recipe.within(2, "1e-5", examples=200, lot=20, steps=3, rate=0.5, bound=1.0, noise=noise)
        train(apply, cross_entropy, weights, (x, y), recipe)
    names = sorted(path.name for path in folder.iterdir() if path.name.endswith("-cache"))
    found, made = (sum(event.endswith(end) for event in hits) for end in ("/cache_hits", "/cache_misses"))
    print(json.dumps([names, found, made]))
"""


def run(state, seed, rows=200):
    """The programs there are after two runs in a new process, and how many it found and did not find."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    environment["DISCREET_STATE"] = str(state)
    command = [sys.executable, "-c", textwrap.dedent(RUN), str(seed), str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def test_programs_hold_neither_data_nor_secrets_nor_weights(tmp_path):
    """A program is named by all that is in it: other data, another secret and other weights make no other program.

    What is part of one makes another: the number of rows, which is said to be.
    """
    first, _, made = run(tmp_path, 1)
    assert len(first) == made > 0
    again, found, made = run(tmp_path, 2)
    assert (again, made) == (first, 0)
    assert found >= len(first)
    larger, _, made = run(tmp_path, 2, rows=201)
    assert made > 0
    assert set(larger) > set(first)
