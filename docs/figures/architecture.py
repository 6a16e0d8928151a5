"""The figure of "The rooms": the walk of one question, from the command line to the answer."""

from __future__ import annotations

from dataclasses import dataclass

from drawing import box, label, picture, polyline, write

WIDTH, HEIGHT, STEP, TOP = 776, 722, 48, 78
LEFT, RIGHT, FILES = 60, 452, 464


@dataclass(frozen=True, slots=True)
class Stage:
    """One step: what happens, the value that goes on from it, and the files it happens in."""

    verb: str
    what: str
    files: tuple[str, str]


STAGES = (
    Stage("type", "discreet ask visits.csv count --by sex ...", ("apps/cli/ask.py", "apps/cli/options.py")),
    Stage("describe", "words become a Query in a QuestionAsk", ("curator/question.py", "query/notation.py")),
    Stage("check", "against the schema: every error is here", ("query/question_ask.py", "query/question.py")),
    Stage("price", "a Plan: measures, noise, cost, errors", ("query/price.py", "query/plan.py")),
    Stage("offer", "explain() is shown, a person confirms", ("curator/desk.py", "curator/offer.py")),
    Stage("spend", "unit and limits compared, charge durable", ("ledger/door.py", "ledger/ledger.py")),
    Stage("open", "the engine connects to the table", ("data/source.py", "data/pool.py")),
    Stage("measure", "whole numbers, bounded; exact noise", ("query/compile.py", "mechanisms/laplace.py")),
    Stage("record", "the noisy numbers, durable", ("ledger/chain.py", "ledger/sqlite.py")),
    Stage("publish", "values and intervals; recorded", ("query/estimate.py", "query/notes.py")),
    Stage("read", "the Release that the record holds", ("query/release.py", "core/release.py")),
    Stage("show", "a table, --json, CSV, a picture", ("apps/cli/output.py", "")),
)
DOOR, PRIVATE, READ = (5, 9), (6, 7), 10


def files() -> list[str]:
    """Every file that the picture names."""
    return [name for stage in STAGES for name in stage.files if name]


def _top(step: int) -> float:
    return TOP + STEP * step


def _around(steps: tuple[int, int], spare: float) -> tuple[float, float, float, float]:
    first, last = steps
    return LEFT - spare, _top(first) - spare / 2, RIGHT + spare, _top(last) + 34 + spare / 2


class Walk:
    """Twelve boxes under each other: inside the door, and inside of that where private rows are read."""

    def drawn(self) -> list[str]:
        """All parts, in the order they are drawn."""
        out = [
            box(_around(DOOR, 12), "line-b", "ground"),
            box(_around(PRIVATE, 6), "line-a", "band"),
            label("what happens", (LEFT, TOP - 16), "quiet"),
            label("main files", (FILES + 12, TOP - 16), "quiet"),
        ]
        for step, stage in enumerate(STAGES):
            y = _top(step)
            out += [
                box((LEFT, y, RIGHT, y + 34), "line-quiet", "ground", solid=True),
                label(str(step + 1), (LEFT + 24, y + 22), "quiet", "end"),
                label(stage.verb, (LEFT + 34, y + 22), "a"),
                label(stage.what, (LEFT + 100, y + 22), "ink"),
                label(", ".join(filter(None, stage.files)), (FILES + 12, y + 22), "quiet"),
            ]
            if step:
                x = (LEFT + RIGHT) / 2
                out.append(polyline([(x, y - 14), (x, y - 1)], "line-quiet", arrow=True, solid=True))
        start, end = _top(DOOR[0]) + 17, _top(READ) + 17
        out += [
            polyline([(LEFT, start), (28, start), (28, end), (LEFT - 1, end)], "line-c", arrow=True),
            *_legend(),
        ]
        return out


def _legend() -> list[str]:
    y = _top(len(STAGES)) + 12
    rows = (
        ("line-b", "the door, ledger/door.py: spend, open, measure, record, publish"),
        ("line-a", "private rows are read here and nowhere else, in the engine"),
        ("line-c", "the same release id again: the stored answer, free"),
    )
    out = []
    for place, (kind, words) in enumerate(rows):
        at = y + 18 * place
        out += [polyline([(LEFT, at), (LEFT + 30, at)], kind), label(words, (LEFT + 40, at + 4), "ink")]
    return out


def walk() -> str:
    """The walk of one question."""
    told = "; ".join(f"{step + 1} {stage.verb}: {stage.what}" for step, stage in enumerate(STAGES))
    told += ". Steps 6 to 10 are inside the door; private rows are read in steps 7 and 8 only."
    return picture("One question, from the command line to the answer", told, [Walk()], width=WIDTH, height=HEIGHT)


def figures() -> dict[str, str]:
    """All of the page's figures."""
    return {"architecture": walk()}


if __name__ == "__main__":
    write(figures)
