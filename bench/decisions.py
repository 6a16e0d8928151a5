"""A fund dealt by published counts: what noise and method do to blocks by size and group, and what is said of it.

    python bench/decisions.py [--quick] [--json] [--data FOLDER] [--draws 5]

Blocks of Rhode Island (2010) if --data has them, else a generated country. Every release is one at the default shares,
with people by race. *Said* is what `release.decide` tells without the truth; all else is compared with it. The public
label of a block is whether most of its people are white: here taken from the same census. *The earlier cut* is that of
a published measurement: no block groups, people white or not, equal shares of the price.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.noise.replay import Replay
from discreet.trees.intervals.typical import remeasure
from discreet.trees.methods import method_named
from discreet.trees.release import TreeRelease
from discreet.trees.rules import Rules
from harness import Report, arguments
from hierarchy_accuracy import generated, questions, ri, tree_of

FUND = 1e6
LIMIT = 100


def country(folder: Path | None):
    """A tree, people by race, and what it is called."""
    real = folder is not None and (folder / "census-blocks-ri-2010").is_dir()
    tree, leaves = ri(folder) if real else generated(Path())
    half = leaves.shape[1] // 2
    return tree, leaves[:, :half] + leaves[:, half:], "Rhode Island" if real else "generated"


def earlier_cut(tree, race):
    """The same leaves without block groups, and people who are white or not."""
    columns, under = {}, np.arange(tree.leaves)
    for level in range(tree.depth - 1, 0, -1):
        if tree.names[level] != "group":
            columns = {tree.names[level]: [tree.codes[level][region] for region in under], **columns}
        under = tree.parents[level][under]
    return tree_of(columns, np.stack([race[:, 0], race[:, 1:].sum(axis=1)], axis=1))


def released(tree, race, epsilon, method, draw, how="auto"):
    """A release of made or public counts: noise of a public key, for measuring only."""
    asked = questions(tree, race.shape[1], epsilon, how, race.mean())
    measured = remeasure(asked, race, Replay(f"decisions {draw} {epsilon}".encode()))
    head = dict.fromkeys(("id", "dataset", "cost", "remaining", "mechanism", "digest"), "")
    by = (("race", tuple(range(race.shape[1]))),)
    found = method_named(method)(measured, Rules())
    return TreeRelease(
        **head, confidence=0.95, by=by, cumulative=False, method=method, measured=measured, _published=found
    )


def dealt(allotted, true, minority):
    """What truly becomes of a fund: to empty blocks, to blocks of 100 and more, to the minority's; and in all."""
    got, due = np.array(allotted) / np.sum(allotted), true / true.sum()
    large = true >= LIMIT
    return {
        "to empty blocks": got[true == 0].sum(),
        "blocks of 100 and more": got[large].sum() / due[large].sum() - 1,
        "not white": got[minority].sum() / due[minority].sum() - 1,
        "misallocated": np.abs(got - due).sum() / 2,
    }


def foreseen(release, label, **repair):
    """The same as `decide` tells it, without the truth."""
    sized, grouped = (release.decide(fund=FUND, by=by, **repair) for by in ("size", label))
    empty = next((one.got for one in sized.groups if one.group == "empty"), 0.0)
    large = [one for one in sized.groups if one.group in ("100 to 999", "1,000 and more")]
    group = next(one for one in grouped.groups if one.group == "not white")
    return {
        "to empty blocks": empty,
        "blocks of 100 and more": sum(one.got for one in large) / sum(one.due for one in large) - 1,
        "not white": group.shift,
        "misallocated": grouped.misallocated,
    }, group


def main() -> None:
    """Run, print, and fail if a target is missed."""
    given = arguments(__doc__ or "", draws={"type": int, "default": 5, "help": "releases of each kind"})
    report, draws = Report("decisions", as_json=given.json), 1 if given.quick else given.draws
    tree, race, place = country(given.data)
    true, white = race.sum(axis=1), race[:, 0]
    minority = 2 * (true - white) > true
    label = {code: "not white" if one else "other" for code, one in zip(tree.codes[-1], minority.tolist(), strict=True)}
    for epsilon in (Fraction(1, 10), Fraction(1)):
        for method in ("bayes", "topdown"):
            releases = [released(tree, race, epsilon, method, draw) for draw in range(draws)]
            case = f"{place}, epsilon {float(epsilon):g}, {method}"
            ways = {"": {}, ", groups": {"by": label, "repair": "groups"}}
            if method == "bayes":
                ways |= {f", blend {part}": {"blend": part} for part in (0.5, 1.0)}
            for name, how in ways.items():
                found = [dealt(one.decide(fund=FUND, **how).columns["allotted"], true, minority) for one in releases]
                for metric in found[0]:
                    report.figure(f"{case}{name}", metric, 100 * float(np.mean([one[metric] for one in found])), "%")
            said = [foreseen(one, label) for one in releases]
            for metric in said[0][0]:
                report.figure(f"{case}, said", metric, 100 * float(np.mean([one[metric] for one, _ in said])), "%")
            truths = [dealt(one.estimate.totals[-1], true, minority)["not white"] for one in releases]
            held = [group.lower <= truth <= group.upper for (_, group), truth in zip(said, truths, strict=True)]
            report.figure(f"{case}, said", "interval holds", 100 * float(np.mean(held)), "%")
            wrong = [((one.estimate.totals[-1] >= LIMIT) != (true >= LIMIT)).sum() for one in releases]
            told = [one.decide(threshold=LIMIT).wrong for one in releases]
            report.figure(case, f"wrong side of {LIMIT}", float(np.mean(wrong)), "blocks")
            report.figure(f"{case}, said", f"wrong side of {LIMIT}", float(np.mean(told)), "blocks")
    tree, cells = earlier_cut(tree, race)
    true, minority = cells.sum(axis=1), 2 * cells[:, 1] > cells.sum(axis=1)
    for method in ("bayes", "topdown"):
        releases = [released(tree, cells, Fraction(1, 10), method, draw, "equal") for draw in range(draws)]
        found = [dealt(one.estimate.totals[-1], true, minority) for one in releases]
        for metric in found[0]:
            mean = 100 * float(np.mean([one[metric] for one in found]))
            report.figure(f"{place}, epsilon 0.1, {method}, the earlier cut", metric, mean, "%")
    raise SystemExit(1 if report.missed else 0)


if __name__ == "__main__":
    main()
