"""Other libraries' synthetic rows, a run at a time, into a file that later runs of bench/synth.py print beside ours.

python bench/synth_peers.py --data FOLDER --out FILE [--tables a,b] [--epsilons 1] [--seeds 5] [--limit 600]
                            [--peers private-pgm:mst,...] [--json]

Each run is at the peer's defaults, in a process of its own, and is stopped after `--limit` seconds of CPU time. delta
is 1/n^2. A line of FILE is one run: what was asked, with which versions, what came out or why nothing did. What is in
FILE already is not run again, and a peer that was stopped once on a table is not tried there with another seed.
"""

from __future__ import annotations

import functools
import itertools
import json
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from harness import ENVIRONMENTS, PeerError, Report, arguments, environment, run_peer
from synth_tables import SOURCES, auc, errors, table, workload

LIMIT = 600
WAYS = (2, 3, 5)
# Where private-pgm's scripts are: its package on PyPI holds the inference, not the mechanisms.
SCRIPTS = ENVIRONMENTS / "private-pgm-scripts"
COMMITS = {
    "aim": "a92f2666f8b7daebfaaf48a5b40436d38f9dfa38",
    "mst": "102444311e3caf6eaf96978363ad7cbf13a19d57",
    "mechanism": "a1c74092973057bd297f2c15beef65a96bc9e0f1",
    "cdp2adp": "d2f62d8835f590b6e5b83fa13155c8ec0192bf02",
}
DPSYNTH = "dpsynth @ git+https://github.com/google/dpsynth.git@53ab10df9d041d023baa6dafef4c46cec24c01d8"
REQUIREMENTS = {
    "private-pgm": ["mbi==2.0.0", "jax==0.10.2", "matplotlib", "pandas", "networkx", "scipy"],
    "smartnoise": ["torch==2.13.0", "smartnoise-synth==1.0.8", "jax==0.10.2"],
    "dpsynth": [DPSYNTH],
}
PEERS = (
    ("private-pgm", "mst"),
    ("smartnoise", "mst"),
    ("dpsynth", "mst"),
    ("dpsynth", "swift"),
    ("private-pgm", "aim"),
    ("smartnoise", "aim"),
    ("dpsynth", "aim"),
)


def scripts() -> Path:
    """The folder with private-pgm's mechanisms, fetched at the commits that go with the pinned version of mbi."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    for name, commit in COMMITS.items():
        path = SCRIPTS / f"{name}.py"
        if not path.exists():
            address = f"https://raw.githubusercontent.com/ryan112358/mbi/{commit}/mechanisms/{name}.py"
            try:
                with urllib.request.urlopen(address, timeout=30) as reply:
                    path.write_bytes(reply.read())
            except OSError as problem:
                raise PeerError(f"not installed: {address} was not to be had ({problem})") from None
    return SCRIPTS


@functools.cache
def installed(library: str, report: Report) -> Path | str:
    """The Python of a peer's environment, or why there is none; tried once."""
    try:
        return environment(f"synth-{library}", REQUIREMENTS[library], report)
    except (PeerError, OSError) as problem:
        return str(problem)


def measured(
    report: Report, peer: tuple[str, str], name: str, epsilon: float, seed: int, *, folder, limit: int
) -> dict:
    """One run: what it took and how far its rows are off, or `failed` with the reason."""
    library, method = peer
    domain, codes = table(folder, name)
    job = {"epsilon": epsilon, "delta": 1 / len(codes) ** 2, "seed": seed}
    asked = {"peer": library, "method": method, "table": name, "rows": len(codes), **job, "limit": limit}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "job.npz"
        np.savez(path, codes=codes.astype(np.int32), sizes=domain.sizes, **job)
        try:
            python = installed(library, report)
            if isinstance(python, str):
                return {**asked, "failed": python}
            where = [str(scripts())] if library == "private-pgm" else []
            script = f"synth_{library.removeprefix('private-')}.py"
            found = run_peer(python, script, method, *where, str(path), seconds=limit, wall=6 * limit)
        except (PeerError, OSError) as problem:
            return {**asked, "failed": str(problem)}
        made, drawn = (np.load(found.pop(one)).astype(np.int64) if one in found else None for one in ("rows", "drawn"))
    found |= compared(folder, name, made)
    return {**asked, **found, **({} if drawn is None else {"drawn": compared(folder, name, drawn)})}


def compared(folder, name: str, made: np.ndarray) -> dict:
    """How far rows are off, in marginals of two, three and five columns, and what a classifier learns from them."""
    domain, codes = table(folder, name)
    off: dict[str, object] = {"made": len(made), "auc": auc(name, domain, codes, made)}
    for columns in WAYS:
        marginals = workload(domain, len(codes), columns)
        if marginals:
            off[f"max{columns}"], off[f"TV{columns}"] = errors(domain, codes, made, marginals)
    return off


def stored(path: Path) -> list[dict]:
    """The runs of a file, in the order they were made."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []


def known(runs: list[dict], peer: tuple[str, str], name: str, epsilon: float, seed: int) -> bool:
    """Whether a run is there already, or one that was stopped or could not be: a second would be, too."""
    return any(
        (run["peer"], run["method"]) == peer
        and (run["table"], run["epsilon"]) == (name, epsilon)
        and (run["seed"] == seed or "failed" in run)
        for run in runs
    )


def shown(report: Report, runs: list[dict], name: str, columns: int, epsilon: float) -> None:
    """The figures of a table and a workload, a peer and method at a time, as stored."""
    mine = [run for run in runs if (run["table"], run["epsilon"]) == (name, epsilon)]
    for peer in dict.fromkeys((run["peer"], run["method"]) for run in mine):
        some = [run for run in mine if (run["peer"], run["method"]) == peer]
        ended = [run for run in some if f"max{columns}" in run]
        reasons = "; ".join(dict.fromkeys(run["failed"] for run in some if "failed" in run))
        case = f"{name}, {columns}-way, epsilon {epsilon:g}, {peer[0]} {peer[1]}"
        if reasons:
            report.figure(case, "runs that ended", len(ended), f"of {len(some)}: {reasons}")
        if not ended:
            continue
        many = f"of {len(ended)} runs, {_versions(ended[0])}"
        report.figure(case, "max, mean", float(np.mean([run[f"max{columns}"] for run in ended])), many)
        report.figure(case, "max, worst", max(run[f"max{columns}"] for run in ended), many)
        report.figure(case, "TV", float(np.mean([run[f"TV{columns}"] for run in ended])), "of rows")
        scores = [run["auc"] for run in ended if run["auc"] is not None]
        if scores and columns == 2:
            report.figure(case, "AUC, trained on synthetic", float(np.mean(scores)), f"of {len(scores)} runs")
        drawn = [run["drawn"] for run in ended if f"max{columns}" in run.get("drawn", {})]
        if drawn:
            many = f"of {len(drawn)} runs, rows drawn one by one"
            report.figure(case, "max, mean, drawn", float(np.mean([one[f"max{columns}"] for one in drawn])), many)
            report.figure(case, "TV, drawn", float(np.mean([one[f"TV{columns}"] for one in drawn])), "of rows")
        report.figure(case, "time", float(np.mean([run["cpu"] for run in ended])), "CPU s")
        report.figure(case, "memory", max(run["megabytes"] for run in ended), "MB")


def _versions(run: dict) -> str:
    return ", ".join(f"{name} {number}" for name, number in run.get("versions", {}).items())


def collect(report: Report, path: Path, jobs: Iterator[tuple], *, folder, limit: int) -> list[dict]:
    """Make the runs that `path` does not hold yet, and write each down as it ends."""
    runs = stored(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for peer, name, epsilon, seed in jobs:
        if known(runs, peer, name, epsilon, seed):
            continue
        run = measured(report, peer, name, epsilon, seed, folder=folder, limit=limit)
        runs.append(run)
        with path.open("a") as file:
            print(json.dumps(run), file=file)
        outcome = run.get("failed") or f"max {run.get('max3', 0):.4f}, TV {run.get('TV3', 0):.4f}, {run['cpu']:.0f} s"
        report.note(f"{name}, epsilon {epsilon:g}, {' '.join(peer)}, seed {seed}: {outcome}")
    return runs


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        out={"type": Path, "default": ENVIRONMENTS / "synth-peers.jsonl"},
        tables={"default": ",".join(SOURCES)},
        epsilons={"default": "1"},
        seeds={"type": int, "default": 5},
        limit={"type": int, "default": LIMIT, "help": "CPU seconds after which a run is stopped"},
        peers={"default": ",".join(map(":".join, PEERS))},
    )
    report = Report("synth_peers", as_json=options.json)
    folder = options.data or (ENVIRONMENTS / "data" if (ENVIRONMENTS / "data" / "adult").exists() else None)
    names = options.tables.split(",") if folder is not None else ["made up"]
    peers = [tuple(one.split(":")) for one in options.peers.split(",")]
    epsilons = [float(one) for one in options.epsilons.split(",")]
    jobs = (
        (peer, name, epsilon, seed)
        for seed, epsilon, name, peer in itertools.product(range(options.seeds), epsilons, names, peers)
    )
    if options.quick or options.no_peers:  # what there is; runs take minutes each
        jobs = iter(())
    runs = collect(report, options.out, jobs, folder=folder, limit=options.limit)
    for name, columns, epsilon in itertools.product(names, WAYS, epsilons):
        shown(report, runs, name, columns, epsilon)


if __name__ == "__main__":
    main()
