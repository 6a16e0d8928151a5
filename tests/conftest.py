"""Options of the whole suite."""

import atexit
import functools
import gc
import os
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, version

import pytest
import typer.main
from hypothesis import HealthCheck, settings

from browser import browser, guest  # noqa: F401 - fixtures for every room
from servers import place  # noqa: F401 - a fixture for every room: each test runs once for each ledger store

# A program of JAX is compiled here to be run a few times: making it fast takes longer than running it.
QUICK = ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]
PLAIN = "--xla_cpu_use_fusion_emitters=false"  # fused loops written the older way compile in a third of the time


def _older_loops() -> bool:
    """Whether the installed XLA still has that flag: one that it does not know ends the process."""
    try:
        return tuple(map(int, version("jaxlib").split(".")[:2])) == (0, 10)
    except PackageNotFoundError:
        return False


flags = [os.environ.get("XLA_FLAGS", ""), *QUICK, *([PLAIN] if _older_loops() else [])]
os.environ["XLA_FLAGS"] = " ".join(flags).lstrip()

# What one test compiled, no other compiles again, nor does a process that it starts. Each worker keeps its own, as JAX
# would read what another is still writing.
COMPILED = tempfile.mkdtemp(prefix="jax")
atexit.register(shutil.rmtree, COMPILED, ignore_errors=True)
os.environ["JAX_COMPILATION_CACHE_DIR"] = COMPILED
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

# The tree of commands is made once, not for each command line that a test runs.
typer.main.get_command = functools.cache(typer.main.get_command)

# No example has a deadline: how long one takes says how busy the machine is.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


def pytest_collection_finish():
    """What was loaded for all tests stays: it need not be looked through for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """For .ci/again.py: whether all tests were run, however many failed."""
    if not hasattr(session.config, "workerinput") and hasattr(session.config, "cache"):
        session.config.cache.set("discreet/exit", int(exitstatus))


def pytest_unconfigure():
    gc.unfreeze()


def pytest_addoption(parser):
    parser.addoption("--large", action="store_true", help="also run the larger statistical tier")


@pytest.hookimpl(optionalhook=True)  # there may be no xdist
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") != "loadfile":
        return None
    from order import Shared

    config.option.loadscopereorder = False  # `rank` has said it
    return Shared(config, log)


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        from order import rank

        items.sort(key=lambda item: rank(item.nodeid))
    if config.getoption("--large"):
        return
    skip = pytest.mark.skip(reason="larger tier: run with --large")
    for item in items:
        if "large" in item.keywords:
            item.add_marker(skip)
