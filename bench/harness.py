"""What every benchmark shares: figures with targets, CPU time, peers in environments of their own."""

from __future__ import annotations

import argparse
import json
import resource
import signal
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


def peak_megabytes(process: int | str = "self") -> float:
    """The most memory this process, or another one, has held so far.

    As Linux tells it of the program that runs: what `getrusage` tells a new process begins with its parent's.
    """
    status = Path(f"/proc/{process}/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child_cpu_seconds(code: str, python: str = sys.executable) -> float:
    """CPU time of a fresh Python process that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class PeerError(Exception):
    """A peer that could not be installed, was stopped, or failed: the reason, in a line."""


def environment(name: str, requirements: list[str], report: Report) -> Path:
    """The Python of an environment that holds only the peer; made where it is not there yet."""
    home = ENVIRONMENTS / name
    python = home / "bin" / "python"
    wanted = "\n".join(requirements)
    stamp = home / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        report.note(f"installing {name} into .bench/{name} ...")
        venv.create(home, clear=True, with_pip=True)
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements]
        run = subprocess.run(pip, capture_output=True, text=True)
        if run.returncode != 0:
            lines = [line.strip() for line in run.stderr.splitlines()]
            told = [line for line in lines if line.startswith("fatal")] or [line for line in lines if "ERROR" in line]
            raise PeerError(f"not installed: {(told or ['pip failed'])[0].removeprefix('ERROR: ')}")
        stamp.write_text(wanted)
    return python


def run_peer(python: Path, script: str, *arguments: str, seconds: int | None = None, wall: int = 900) -> dict:
    """Run bench/peers/`script`; its last line is JSON. It is stopped after `seconds` of CPU time, or `wall` seconds."""

    def limited() -> None:
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 30))

    command = [python, HERE / "peers" / script, *arguments]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=wall, preexec_fn=limited)
    except subprocess.TimeoutExpired:
        raise PeerError(f"stopped after {wall:,} s") from None
    if run.returncode == -signal.SIGXCPU:
        raise PeerError(f"stopped after {seconds:,} CPU s")
    if run.returncode != 0:
        told = run.stderr.strip().splitlines()[-1:] or [f"ended with {run.returncode}"]
        raise PeerError(f"failed: {told[0][:200]}")
    try:
        return json.loads(run.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise PeerError("printed no result") from None


def peer(name: str, requirements: list[str], script: str, *arguments: str, report: Report) -> dict | None:
    """Run bench/peers/`script` in an environment that holds only the peer; its last line is JSON. None if it fails."""
    try:
        return run_peer(environment(name, requirements, report), script, *arguments)
    except (PeerError, OSError) as problem:
        report.note(f"{name} did not run: {problem}")
        return None
