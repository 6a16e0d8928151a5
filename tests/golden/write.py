"""Write a ledger with a release of every kind, and beside it what there is to read in each, by the version at hand.

    PYTHONPATH=src python tests/golden/write.py

writes `kinds_X_Y.sql` (the ledger) and `kinds_X_Y.json` (the values) for version X.Y. The pair of a version that was
released stays as it is, for the point is that it was written by that version. As long as X.Y is in the making, a change
that is meant (another digest, other values) removes its pair and writes it anew. For an older one, name its source:

    git worktree add /tmp/older COMMIT
    PYTHONPATH=/tmp/older/src python tests/golden/write.py

A form of records that came while X.Y was in the making has a pair of its own, under the name that is given, such as
`kinds_0_2_measured`: what was drawn in a record before the answer, both with their kind and version. So have kinds that
came meanwhile: names of asks after the name of the pair write these alone.

`tests/laws/test_golden_ledgers.py` reads every such pair again on every surface.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import discreet  # noqa: E402
from asks import ASKS, WITH_CODE, identity, town  # noqa: E402


def written(folder: Path, names: list[str]) -> tuple[str, dict[str, Any]]:
    """The ledger as SQL, and every release on it, of the asks of these names, as values."""
    here = town(folder)
    asks = {name: {**ASKS, **WITH_CODE}[name] for name in names}
    values = {name: ask.values(ask.release(here, identity(name))) for name, ask in asks.items()}
    releases = {}
    for name, ask in asks.items():
        for step in range(1, ask.steps + 1):
            known = here.ledger.find(identity(name) if ask.steps == 1 else f"{identity(name)}/{step}")
            if known is None or known.answer is None:
                raise SystemExit(f"{name} has no answer")
            paid = known.charged
            releases[paid.release] = {
                "ask": name,
                "dataset": paid.dataset,
                "allotment": paid.allotment,
                "amount": str(paid.charge.amount),
                "delta": str(paid.charge.delta),
                "digest": paid.digest,
                "mechanism": paid.mechanism,
            }
    checked = here.ledger.verify()
    if checked.problems:
        raise SystemExit(str(checked.problems))
    here.ledger.close()
    with closing(sqlite3.connect(folder / "books.db")) as connection:
        script = "\n".join(connection.iterdump()) + "\n"
    facts = {"version": discreet.__version__, "records": checked.records, "releases": releases, "values": values}
    return script, facts


def _by_release(facts: dict[str, Any]) -> str:
    """JSON with a line for each release and for the values of each."""
    parts = []
    for name, value in facts.items():
        lines = json.dumps(value)
        if isinstance(value, dict):
            listed = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in value.items()]
            lines = "{\n" + ",\n".join(listed) + "\n}"
        parts.append(f"{json.dumps(name)}: {lines}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the pair of this version, or of the name given, unless it is there."""
    name = sys.argv[1] if len(sys.argv) > 1 else "kinds_" + "_".join(discreet.__version__.split(".")[:2])
    if (HERE / f"{name}.sql").exists():
        raise SystemExit(f"{name}.sql is there; remove it and {name}.json to write them anew")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCREET_STATE"] = os.environ["XDG_STATE_HOME"] = folder
        script, facts = written(Path(folder), sys.argv[2:] or list(ASKS))
    (HERE / f"{name}.sql").write_text(script, encoding="utf-8")
    (HERE / f"{name}.json").write_text(_by_release(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
