"""Run again, alone, the few tests that failed beside others: what then passes twice is unsteady, and is named.

A browser or a killed server on two busy cores may be late, and a statistical test fails at its stated rate when nothing
is wrong. A test that is wrong fails again. More than a few failures, one that comes back, or a run that did not get to
its end, fail.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FEW = 3
TIMES = 2
FAILED = Path(".pytest_cache/v/cache/lastfailed")
ENDED = Path(".pytest_cache/v/discreet/exit")  # written by tests/conftest.py


def main() -> str | int:
    ended = ENDED.read_text() if ENDED.exists() else "nothing"
    if ended != "1":  # all tests were run, and some failed
        return f"The run of the tests did not get to its end: pytest said {ended}, not 1"
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if not 0 < len(failed) <= FEW:
        return f"{len(failed)} tests failed: at most {FEW} are run again"
    for _ in range(TIMES):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *failed]
        if code := subprocess.run(command).returncode:
            return code
    print(f"\nUNSTEADY: failed beside the other tests, passed {TIMES} times alone. Mend what makes them so:")
    print(*failed, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
