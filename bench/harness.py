"""What every benchmark shares: figures with targets, CPU time, peers in environments of their own."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parent / ".bench"


class Report:
    """Figures of one benchmark: a table for people, or one JSON object a line with --json."""

    def __init__(self, bench: str, *, as_json: bool) -> None:
        self.bench = bench
        self.as_json = as_json
        self.missed = 0

    def figure(self, case: str, metric: str, value: float, unit: str, *, at_least=None, at_most=None) -> None:
        """Record one figure; `at_least` or `at_most` is its target."""
        target, holds = None, None
        if at_least is not None:
            target, holds = f">= {at_least:g}", value >= at_least
        elif at_most is not None:
            target, holds = f"<= {at_most:g}", value <= at_most
        self.missed += holds is False
        if self.as_json:
            row = {"bench": self.bench, "case": case, "metric": metric, "value": value}
            print(json.dumps({**row, "unit": unit, "target": target, "holds": holds}), flush=True)
        else:
            verdict = "" if holds is None else f"  (target {target}: {'holds' if holds else 'MISSED'})"
            print(f"{case:<44} {metric:<26} {value:>12.5g} {unit}{verdict}", flush=True)

    def note(self, text: str) -> None:
        """Say something that is not a figure, to people only."""
        print(text, file=sys.stderr, flush=True)


def arguments(description: str, **others: dict) -> argparse.Namespace:
    """The options every benchmark takes, and `others` (name=dict of what argparse wants to know)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; ends within 50 seconds")
    parser.add_argument("--json", action="store_true", help="one JSON object per figure")
    parser.add_argument("--data", type=Path, help="folder with the benchmark data sets")
    parser.add_argument("--no-peers", action="store_true", help="do not install or run other libraries")
    for name, how in others.items():
        parser.add_argument(f"--{name}", **how)
    return parser.parse_args()


def cpu_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least CPU time `work` took in `repeats` runs, after one to warm up."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def peak_megabytes() -> float:
    """The most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child_cpu_seconds(code: str, python: str = sys.executable) -> float:
    """CPU time of a fresh Python process that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peer(name: str, requirements: list[str], script: str, *arguments: str, report: Report) -> dict | None:
    """Run bench/peers/`script` in an environment that holds only the peer; its last line is JSON. None if it fails."""
    home = ENVIRONMENTS / name
    python = home / "bin" / "python"
    wanted = "\n".join(requirements)
    stamp = home / "requirements.txt"
    try:
        if not stamp.exists() or stamp.read_text() != wanted:
            report.note(f"installing {name} into .bench/{name} ...")
            venv.create(home, clear=True, with_pip=True)
            subprocess.run(
                [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements],
                check=True,
                stderr=subprocess.DEVNULL,
            )
            stamp.write_text(wanted)
        run = subprocess.run(
            [python, HERE / "peers" / script, *arguments], check=True, capture_output=True, text=True, timeout=900
        )
        return json.loads(run.stdout.strip().splitlines()[-1])
    except (subprocess.SubprocessError, OSError, ValueError, IndexError) as problem:
        report.note(f"{name} did not run: {type(problem).__name__}")
        return None
