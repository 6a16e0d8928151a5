"""Other libraries beside this one: errors and time of questions, noise under attack, budgets after kill -9, installs.

    python bench/compare.py [--quick] [--json] [--no-peers] [--only install|answers|noise|spend]

Each library runs in an environment of its own under .bench/, made on first use. --quick leaves out Spark, and libraries
that take minutes to install.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from discreet import Allotment, Budget, Integer, Laplace, Schema, count, median, total
from discreet import open as open_curator
from discreet.audit import audit
from discreet.core.loss import Pure
from discreet.errors import BudgetError
from harness import ENVIRONMENTS, HERE, Report, arguments, peer

ROWS, KEYS, UPPER, EPSILON = 10_000, 10, 10_000, 1.0
# Environment, what pip installs, distribution and module; whether it answers questions; whether it is quick to install.
PEERS = {
    "OpenDP": ("opendp", ["opendp==0.16.*"], "opendp", "opendp.prelude", True, True),
    "diffprivlib": (
        "diffprivlib",
        ["diffprivlib==0.6.*", "scikit-learn<1.6", "numpy<2.1"],
        "diffprivlib",
        "diffprivlib",
        True,
        True,
    ),
    "SmartNoise SQL": ("smartnoise", ["smartnoise-sql==1.0.*", "pyarrow"], "smartnoise-sql", "snsql", True, True),
    "PipelineDP": ("pipelinedp", ["pipeline-dp==0.3.*", "pyarrow"], "pipeline-dp", "pipeline_dp", True, True),
    "Tumult Analytics": ("tumult", ["tmlt.analytics==0.21.*"], "tmlt.analytics", "tmlt.analytics", True, False),
    "dp-accounting": ("dp-accounting", ["dp-accounting"], "dp-accounting", "dp_accounting", False, True),
    "mbi": ("mbi", ["mbi==2.0.0"], "mbi", "mbi", False, False),
    "Opacus": ("opacus", ["torch==2.13.*", "opacus==1.6.*"], "opacus", "opacus", False, False),
    "JAX Privacy": ("jax-privacy", ["jax-privacy"], "jax-privacy", "jax_privacy", False, False),
    "TensorFlow Privacy": (
        "tensorflow-privacy",
        ["tensorflow-privacy"],
        "tensorflow-privacy",
        "tensorflow_privacy",
        False,
        False,
    ),
}


def install(report: Report, names: list[str]) -> None:
    """How large an environment is with one library in it, and the CPU time of importing it."""
    ours = ("discreet", [str(HERE.parent)], "discreet", "discreet.curator")
    for name, (home, requirements, distribution, module) in {
        "discreet": ours,
        **{n: PEERS[n][:4] for n in names},
    }.items():
        runs = [peer(home, requirements, "compare_install.py", distribution, module, report=report) for _ in range(3)]
        found = [run for run in runs if run is not None]
        if not found:
            continue
        case = f"{name} {found[0]['version']}"
        report.figure(case, "installed", found[0]["size"], f"MB in {found[0]['packages']} packages")
        report.figure(case, "import", min(run["cpu"] for run in found), "CPU s")


def job(trials: int) -> dict:
    """Rows with a group and a bounded whole number, of which every library makes the same questions."""
    chance = np.random.default_rng(11)
    values = np.clip(chance.lognormal(7, 0.8, ROWS).astype(int), 0, UPPER)
    groups = chance.integers(0, KEYS, ROWS)
    what = {"groups": groups.tolist(), "values": values.tolist(), "keys": KEYS, "upper": UPPER}
    return {**what, "epsilon": EPSILON, "trials": trials}


def ours(work: dict, folder: Path) -> dict:
    """Our own answers, the whole way: plan, charge on disk, count in DuckDB, noise, intervals, record."""
    import pyarrow

    table = pyarrow.table({"grp": work["groups"], "value": work["values"]})
    schema = Schema("t", {"grp": Integer(0, KEYS - 1, nullable=False), "value": Integer(0, UPPER, nullable=False)})
    budget = Budget(10**6, allotments=[Allotment("questions", "pure", epsilon=10**6)])
    curator = open_curator(table, schema, ledger=folder / "compare.db", budget=budget, who="bench", create=True)
    asked = {
        "count": curator.table().group_by("grp").agg(n=count()),
        "sum": curator.table().agg(n=total("value")),
        "median": curator.table().agg(n=median("value", interval=False)),
    }
    out = {}
    for name, question in asked.items():
        question.plan(epsilon=EPSILON).release()  # imports
        start = time.process_time()
        found = [question.plan(epsilon=EPSILON).release()["n"] for _ in range(work["trials"])]
        cpu = (time.process_time() - start) / work["trials"]
        out[name] = {"found": found if name == "count" else [one[0] for one in found], "cpu": cpu}
    return out


def answers(report: Report, names: list[str], trials: int) -> None:
    """Mean absolute errors and CPU time of a count by group, a sum and a median, each for epsilon 1."""
    work = job(trials)
    groups, values = np.array(work["groups"]), np.array(work["values"])
    truth = {"count": np.bincount(groups, minlength=KEYS), "sum": values.sum()}
    ordered = np.sort(values)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "job.json").write_text(json.dumps(work))
        found = {"discreet": ours(work, folder)}
        for name in names:
            home, requirements = PEERS[name][:2]
            got = peer(home, requirements, f"compare_{home}.py", "answers", str(folder / "job.json"), report=report)
            found |= {} if got is None else {name: got}
    for name, by_question in found.items():
        for question, got in by_question.items():
            if question == "median":
                low, high = (np.searchsorted(ordered, got["found"], side) for side in ("left", "right"))
                error, unit = np.maximum(np.maximum(low - ROWS / 2, ROWS / 2 - high), 0).mean(), "ranks"
            else:
                error, unit = np.abs(np.array(got["found"]) - truth[question]).mean(), ""
            report.figure(f"{question}: {name}", "mean error", float(error), unit)
            report.figure(f"{question}: {name}", "a question", 1000 * got["cpu"], "CPU ms")


def noise(report: Report, names: list[str], runs: int) -> None:
    """Laplace noise for epsilon 1 on 0 and on 1, given to our auditor: is the claim refuted?"""
    chance = np.random.default_rng()
    draws = {
        "discreet": {"without": Laplace(1).release([0] * runs), "with": Laplace(1).release([1] * runs)},
        "numpy, floats": {"without": chance.laplace(0, 1, runs), "with": 1.0 + chance.laplace(0, 1, runs)},
    }
    for name in names:
        home, requirements = PEERS[name][:2]
        if name == "SmartNoise SQL":  # OpenDP's
            continue
        got = peer(home, requirements, f"compare_{home}.py", "noise", str(runs), report=report)
        draws |= {} if got is None else {name: got}
    for name, got in draws.items():
        inside, outside = np.asarray(got["with"]), np.asarray(got["without"])
        finding = audit(
            (lambda runs, inside=inside: inside[:runs], lambda runs, outside=outside: outside[:runs]),
            Pure(1),
            runs=runs,
            confidence=0.999999,
        )
        wanted = {"at_least": 1} if name == "numpy, floats" else {"at_most": 0} if name == "discreet" else {}
        report.figure(
            f"noise of {name}", "refuted", float(finding.violated), f"(1: yes) {finding.event[:60]}", **wanted
        )
        report.figure(f"noise of {name}", "epsilon is at least", finding.found, f"of 1, {runs:,} runs a side")


def spend(report: Report, names: list[str]) -> None:
    """A budget of 1, questions of 1/4: how many are answered; then kill -9, and how many more by a second process."""
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, __file__, "--spend", str(Path(temporary) / "compare.db")]
        lives = {"discreet": _lives(command)}
    for name in names:
        home = PEERS[name][0]
        python = ENVIRONMENTS / home / "bin" / "python"
        if python.exists():
            lives[name] = _lives([str(python), str(HERE / "peers" / f"compare_{home}.py"), "spend"])
    for name, found in lives.items():
        if found is None:
            report.note(f"{name} did not run")
            continue
        first, second = found
        wanted = {"at_most": 4} if name == "discreet" else {}
        report.figure(f"budget: {name}", "answers, first process", first["given"], first["refusal"] or "no refusal")
        report.figure(f"budget: {name}", "answers, both processes", first["given"] + second["given"], "of 4", **wanted)


def _lives(command: list[str]) -> tuple[dict, dict] | None:
    found = []
    for killed in (["kill"], []):
        run = subprocess.run([*command, *killed], capture_output=True, text=True, check=False, timeout=600)
        lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
        if not lines:
            return None
        found.append(json.loads(lines[-1]))
    return found[0], found[1]


def spender(place: str, *killed: str) -> None:
    """Our side of `spend`, in a process of its own."""
    import pyarrow

    schema = Schema("t", {"value": Integer(0, 1, nullable=False)})
    table = pyarrow.table({"value": [1] * 10})
    curator = open_curator(table, schema, ledger=place, budget=Budget(1), who="bench", create=True)
    given, refusal = 0, ""
    try:
        while given < 12:
            curator.table().agg(n=count()).plan(epsilon="1/4").release()
            given += 1
    except BudgetError as problem:
        refusal = type(problem).__name__
    print(json.dumps({"given": given, "refusal": refusal}), flush=True)
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    only = {"choices": ["install", "answers", "noise", "spend"], "help": "one part of it"}
    options = arguments(__doc__.splitlines()[0], only=only)
    report = Report("compare", as_json=options.json)
    chosen = [name for name, how in PEERS.items() if not options.no_peers and (how[5] or not options.quick)]
    asked = [name for name in chosen if PEERS[name][4]]
    parts = {
        "answers": lambda: answers(report, asked, 10 if options.quick else 50),
        "noise": lambda: noise(report, asked, 20_000 if options.quick else 100_000),
        "spend": lambda: spend(report, asked),
        "install": lambda: install(report, chosen),
    }
    for name, part in parts.items():
        if options.only in (None, name):
            part()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--spend"]:
        spender(*sys.argv[2:])
    else:
        main()
