"""Ratios per commit: kept in a file, drawn, and a ratio that became worse by more than a fifth is named.

    python bench/history.py                     run the quick form of every area with ratios, on the commit checked out
    python bench/history.py --from figures.jsonl what `--json` of benchmarks printed already

A ratio compares two things measured in one run, so it says more of the code than of the machine. Absolute times are not
kept. Each figure is compared with the median of up to three commits before it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from discreet.show import Bar, Picture, Series, series
from harness import HERE, arguments

PAGES = HERE.parent / "docs" / "benchmarks"
AREAS = ("noise", "accounting", "groupby", "local", "hierarchy", "learn_speed")
WORSE = 0.2
"""By how much a ratio may become worse before it is named."""
_BEFORE = 3  # commits that a figure is compared with
_BEGIN, _END = "<!-- history -->", "<!-- end of history -->"


@dataclass(frozen=True)
class Ratio:
    """One ratio of one commit; `less` says whether less is better."""

    commit: str
    date: str
    bench: str
    case: str
    metric: str
    value: float
    less: bool

    @property
    def name(self) -> tuple[str, str, str]:
        """What it is a ratio of, whatever the commit."""
        return self.bench, self.case, self.metric


@dataclass(frozen=True)
class Regression:
    """A ratio that became worse: what it was, what it is, and by how much."""

    ratio: Ratio
    before: float

    @property
    def by(self) -> float:
        """The part by which it is worse: 0.25 is a quarter."""
        change = self.ratio.value / self.before
        return change - 1 if self.ratio.less else 1 / change - 1


def ratios(lines: Iterable[str], commit: str, date: str) -> list[Ratio]:
    """The ratios among figures as `--json` prints them of which it is known whether less or more is better."""
    found = []
    for figure in (json.loads(line) for line in lines if line.startswith("{")):
        less = _less(figure["metric"], figure["target"] or "")
        if figure["unit"] == "x" and less is not None and figure["value"] > 0:
            value = float(f"{figure['value']:.4g}")
            found.append(Ratio(commit, date, figure["bench"], figure["case"], figure["metric"].strip(), value, less))
    return found


def _less(metric: str, target: str) -> bool | None:
    """Whether less is better: as the target says, or what the ratio is taken to; None if neither tells."""
    if target:
        return target.startswith("<")
    return {"discreet": False, "exact": False, "plain": True}.get(metric.rpartition(" / ")[2])


def regressions(history: Sequence[Ratio]) -> list[Regression]:
    """Ratios of the last commit that are worse than before by more than a fifth, the worst first."""
    if not history:
        return []
    last = history[-1].commit
    found = []
    for ratio in (one for one in history if one.commit == last):
        earlier = [one.value for one in history if one.name == ratio.name and one.commit != last][-_BEFORE:]
        if earlier:
            found.append(Regression(ratio, statistics.median(earlier)))
    return sorted((one for one in found if one.by > WORSE), key=lambda one: -one.by)


def drawn(history: Sequence[Ratio]) -> Picture:
    """A line for each benchmark: how many times better its ratios are than when they were first recorded."""
    commits = list(dict.fromkeys(one.commit for one in history))
    first: dict[tuple[str, str, str], Ratio] = {}
    for one in history:
        first.setdefault(one.name, one)
    lines = []
    for bench in dict.fromkeys(one.bench for one in history):
        changes = {
            commit: [_change(one, first[one.name]) for one in history if (one.bench, one.commit) == (bench, commit)]
            for commit in commits
        }
        means = [statistics.geometric_mean(found) if found else None for found in changes.values()]
        lines.append(Series(bench, tuple(None if mean is None else Bar("", mean, None, None) for mean in means)))
    return series("How many times better than at first, geometric mean of all ratios of a benchmark", commits, lines)


def _change(ratio: Ratio, first: Ratio) -> float:
    return first.value / ratio.value if ratio.less else ratio.value / first.value


def section(history: Sequence[Ratio]) -> str:
    """What stands on the index of benchmarks: the last commit, and what became worse with it."""
    if not history:
        return "Nothing is recorded yet."
    last = history[-1]
    commits = list(dict.fromkeys(one.commit for one in history))
    number = sum(one.commit == last.commit for one in history)
    told = f"{number} ratios at {last.commit} ({last.date}); {len(commits)} commits are recorded."
    worse = regressions(history)
    if len(commits) == 1:
        return f"{told} There is nothing to compare them with yet."
    if not worse:
        return f"{told} None is worse than before by more than {WORSE:.0%}."
    rows = [
        f"| {' | '.join(one.ratio.name)} | {one.before:.4g} | {one.ratio.value:.4g} | {one.by:.0%} |" for one in worse
    ]
    head = ["| benchmark | case | ratio | before | now | worse by |", "|---|---|---|---|---|---|"]
    return "\n".join([told, "", f"**Worse by more than {WORSE:.0%}:**", "", *head, *rows])


def written(page: str, history: Sequence[Ratio]) -> str:
    """A page with its part about the history made anew."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{section(history)}\n{_END}{after}"


def read(path: Path) -> list[Ratio]:
    """The history so far."""
    if not path.exists():
        return []
    return [Ratio(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    options = {
        "from": {"type": Path, "dest": "figures", "help": "figures that were printed by --json, instead of running"},
        "commit": {"help": "the commit that they are of; the one checked out unless said"},
        "areas": {"default": ",".join(AREAS), "help": "benchmarks to run"},
    }
    asked = arguments(__doc__.splitlines()[0], **options)
    commit, date = _git("log", "-1", "--format=%h %cs", *([asked.commit] if asked.commit else [])).split()
    if asked.figures is not None:
        lines = asked.figures.read_text(encoding="utf-8").splitlines()
    else:
        lines = [line for area in asked.areas.split(",") for line in _run(area)]
    found = ratios(lines, commit, date)
    history = [one for one in read(PAGES / "history.jsonl") if one.commit != commit] + found
    text = "".join(json.dumps(asdict(one)) + "\n" for one in history)
    (PAGES / "history.jsonl").write_text(text, encoding="utf-8")
    drawn(history).save(PAGES / "history.svg")
    index = PAGES / "index.md"
    index.write_text(written(index.read_text(encoding="utf-8"), history), encoding="utf-8")
    print(section(history))


def _run(area: str) -> list[str]:
    print(f"{area} ...", file=sys.stderr, flush=True)
    line = [sys.executable, HERE / f"{area}.py", "--quick", "--json"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
