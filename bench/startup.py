"""What it takes to start a command: CPU time and modules, beside an empty Python and the libraries it needs.

python bench/startup.py [--quick] [--json]

CPU time of a whole process, the least of several runs; what Python compiled for one is there for the next. Modules do
not depend on the machine: tests set a limit on them (tests/apps/cli/test_commands.py), never on time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from discreet.apps.demo.folder import lay_out
from harness import Report, arguments

COUNTED = """
import json, sys
from discreet.apps.cli import main
try:
    main(sys.argv[1:])
finally:
    loaded = list(sys.modules)
    print(json.dumps([len(loaded), sum(name.partition(".")[0] == "discreet" for name in loaded)]), file=sys.stderr)
"""
QUESTION = ("people.csv", "count", "mean(pay)", "--by", "sex", "--epsilon", "0.1")
COMMANDS = {
    ("--version",): 0.1,
    ("--help",): 0.25,
    ("ask", "--help"): None,
    ("plan", *QUESTION): 0.5,
    ("ask", *QUESTION[:-1], "0.001", "--yes"): None,
    ("ledger", "show"): None,
}
PLAIN = {"python": "pass", "numpy": "import numpy", "typer": "import typer"}


def spent(words: list[str], folder: Path, repeats: int) -> float:
    """The least CPU seconds of a process, after one to warm up."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    figures = []
    for _ in range(repeats + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(figures[1:])


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = Report("startup", as_json=options.json)
    repeats = 3 if options.quick else 11
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lay_out(folder)
        subprocess.run(
            [sys.executable, "-m", "discreet", "ledger", "create"], cwd=folder, check=True, capture_output=True
        )
        for name, code in PLAIN.items():
            report.figure(name, "CPU", spent(["-c", code], folder, repeats), "s")
        for words, most in COMMANDS.items():
            case = f"discreet {' '.join(words)}"
            report.figure(case, "CPU", spent(["-m", "discreet", *words], folder, repeats), "s", at_most=most)
            run = subprocess.run(
                [sys.executable, "-c", COUNTED, *words], cwd=folder, capture_output=True, text=True, check=True
            )
            modules, own = json.loads(run.stderr.splitlines()[-1])
            report.figure(case, "modules", modules, "")
            report.figure(case, "modules of discreet", own, "")
    sys.exit(1 if report.missed else 0)


if __name__ == "__main__":
    main()
