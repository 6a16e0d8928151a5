"""Two hundred analysts on one ledger for an hour of compressed traffic, while workers die and the database restarts.

    python bench/agency.py [--quick] [--json] [--analysts N] [--actions N]     (--quick: 20 analysts, 6 actions each)

Real processes on loopback (tests/drill.py). What must be zero is zero, or the bench says MISSED.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction

from harness import HERE, Report, arguments

sys.path.insert(0, str(HERE.parent / "tests"))

from drill import PRICE, Drill
from serving import launcher


def main() -> int:
    """The drill, once."""
    number = {"type": int, "default": 0, "help": "instead of the usual number"}
    options = arguments(__doc__, analysts=number, actions=number)
    report = Report("agency", as_json=options.json)
    analysts = options.analysts or (20 if options.quick else 200)
    actions = options.actions or (6 if options.quick else 20)
    launcher()
    # Enough for most of what is asked, so that the budget runs out before the end.
    cap = Fraction(int(analysts * actions * Fraction(4, 10))) * PRICE
    drill = Drill(analysts, actions, cap)
    begun = time.monotonic()
    try:
        drill.run()
        case = f"{analysts} analysts, {actions} actions each"
        report.figure(case, "wall time", time.monotonic() - begun, "s")
        report.figure(case, "releases answered", len(drill.seen.answers), "")
        report.figure(case, "jobs accepted", len(drill.seen.jobs), "")
        report.figure(case, "refused by the budget", len(drill.seen.budget), "")
        for event, least in (("kill", 3), ("restart", 1), ("reload", 1), ("refresh", 1), ("rotate", 1)):
            report.figure(case, f"events: {event}", drill.events[event], "", at_least=least)
        for what, count in drill.findings().items():
            report.figure(case, what, count, "", at_most=0)
        report.note(str(dict(drill.seen.statuses)))
        for one in drill.seen.untrue[:5]:
            report.note(one[:500])
    finally:
        drill.close()
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
