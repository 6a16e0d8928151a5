"""Which tests share a worker, and which begin first: two cores are busy to the end, and Spark starts once."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

# The longest, measured in CPU time: what is begun last should be short.
LONG = (
    "spark",
    "tests/laws/test_same_",
    "tests/laws/test_neighbour",
    "tests/laws/test_aggregate_laws.py",
    "tests/apps/test_story_browser.py",
    "tests/apps/survey/",
    "tests/test_tutorials.py",
    "tests/apps/server/test_settings.py",
    "tests/data/test_dialect.py",
    "tests/laws/",
    "tests/learn/",
    "tests/apps/",
    "tests/query/",
    "tests/synth/",
    "tests/mechanisms/",
    "tests/data/",
    "tests/trees/",
    "tests/flows/",
    "tests/power/",
    "docs/",
    "tests/",
    "src/",
)
ALONE = ("tests/laws/test_neighbour",)  # no two of their tests share anything


def rank(nodeid: str) -> int:
    """The place of a test: that of the first of `LONG` which its name holds or begins with."""
    if "spark" in nodeid.lower():
        return 0
    return next((place for place, name in enumerate(LONG) if nodeid.startswith(name)), len(LONG))


class Shared(LoadFileScheduling):
    """A worker takes a whole file, and with it what its tests set up; one worker takes all tests of Spark."""

    def _split_scope(self, nodeid: str) -> str:
        if rank(nodeid) == 0:
            return "spark"
        return nodeid if nodeid.startswith(ALONE) else super()._split_scope(nodeid)

    def _reschedule(self, node) -> None:
        """Not to a worker that has yet to collect: one in the place of another that crashed."""
        if node in self.registered_collections:
            super()._reschedule(node)
