"""A question on made-up neighbouring tables, through the real curator, door and engine: is one unit charged in full?

The schema and the question are the user's; no row of theirs is read. For every pair of neighbours the integers that
each mechanism is handed are compared (`discreet.audit.seam`): what they tell apart must be within what is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from discreet.accounting.words import percent
from discreet.audit.seam import BrokenLawError, Step, Tape, captured, spent
from discreet.audit.tables import Chance, Tables, make_tables, neighbours
from discreet.core.loss import Composed
from discreet.core.release import plural
from discreet.curator import Curator, LocalDesk, Offer
from discreet.data.column import Category, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError, Phrase, RunError
from discreet.ledger.budget import Budget
from discreet.ledger.door import release
from discreet.ledger.ledger import Ledger
from discreet.show import Table, element
from discreet.show import page as shell

__all__ = ["HEAD", "Sensitivity", "Witness", "audit_question", "page", "summary", "usual_questions"]

Ask = Callable[[Curator], Offer[Any]]
HEAD = ("question", "pairs", "used of the charge", "would catch, too small by", "outcome")

_GROUPS = 100  # values of a column that is grouped by
_EACH = 6  # neighbours of one table
_SHOWN = 6  # numbers and rows of a witness


@dataclass(frozen=True)
class Witness:
    """Two made-up tables that are told apart by more than is charged, and by what."""

    question: str
    problem: str
    rows: tuple[dict[str, Any], ...]
    change: str
    moves: tuple[tuple[int, int], ...] = ()

    def sentence(self) -> str:
        """The pair, what came out on either side, and what that means, in words."""
        moved = "; ".join(f"{a} and {b}" for a, b in self.moves[:_SHOWN])
        seen = f" Before noise, the numbers on either side were {moved}." if self.moves else ""
        rows = "\n".join(f"  {row}" for row in self.rows[:_SHOWN])
        more = f"\n  and {len(self.rows) - _SHOWN} rows more" if len(self.rows) > _SHOWN else ""
        return (
            f"{self.question}: {self.problem}. One table has {len(self.rows)} rows, the other is the same "
            f"{self.change}.{seen} The first table (made up):\n{rows}{more}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        rows = [{name: None if value is None else str(value) for name, value in row.items()} for row in self.rows]
        moves = [list(move) for move in self.moves]
        return {"question": self.question, "problem": self.problem, "change": self.change, "moves": moves, "rows": rows}


@dataclass(frozen=True)
class Sensitivity:
    """What pairs of made-up neighbours said of a question, or of many."""

    pairs: int
    used: float
    """The largest share of the charge that any pair was told apart by."""
    witness: Witness | None = None

    @property
    def violated(self) -> bool:
        """Whether some pair was told apart by more than is charged."""
        return self.witness is not None

    def sentence(self) -> str:
        """The outcome in words."""
        if self.witness is not None:
            return f"After {self.pairs:,} pairs a fault was found. {self.witness.sentence()}"
        reach = (
            "A sensitivity that is too small here would have shown."
            if self.used > 1 - 1e-9
            else f"One too small by less than {percent(1 - self.used, direction='up')} could have been missed."
        )
        return (
            f"On {self.pairs:,} pairs of made-up neighbouring tables no mechanism was handed numbers further apart "
            f"than is charged; the worst pair used {percent(self.used, 3, 'down')} of the charge. {reach} "
            "Other tables may still show a fault. No private row was read."
        )

    def row(self, question: str) -> list[str]:
        """The outcome under `HEAD`."""
        used, left = percent(self.used, 3, "down"), percent(max(0.0, 1 - self.used), direction="up")
        caught = "-" if self.violated else "anything" if self.used > 1 - 1e-9 else f"more than {left}"
        return [question, f"{self.pairs:,}", used, caught, "VIOLATED" if self.violated else "no violation"]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "violated": self.violated,
            "pairs": self.pairs,
            "used_of_charge": self.used,
            "would_catch_too_small_by": None if self.violated else max(0.0, 1 - self.used),
            "witness": None if self.witness is None else self.witness.to_dict(),
            "words": self.sentence(),
        }


def audit_question(
    schema: Schema,
    ask: Ask,
    *,
    pairs: int = 120,
    seed: int = 1,
    words: str = "The question",
    budget: Budget | None = None,
) -> Sensitivity:
    """Try a question on so many pairs of made-up neighbours. `ask` plans it with a curator; nothing else is opened."""
    if isinstance(pairs, bool) or not isinstance(pairs, int) or pairs < 1:
        raise InputError("pairs", pairs, "a whole number, 1 or more")
    chance, tried, used = Chance(f"tables {seed}"), 0, 0.0
    with TemporaryDirectory(prefix="discreet-audit-", ignore_cleanup_errors=True) as folder:
        bench = _Bench(schema, ask, Ledger.temporary(folder), budget or Budget(10**6))
        while tried < pairs:
            whole = make_tables(chance, schema)
            name = f"{seed} {tried}"
            first = bench.run(whole, name)
            for turn, (other, change) in enumerate(neighbours(chance, whole)):
                if turn == _EACH or tried == pairs:
                    break
                tried += 1
                try:
                    second = bench.run(other, name, first)
                    share = bench.share(first, second)
                except BrokenLawError as problem:
                    return Sensitivity(tried, used, Witness(words, str(problem), whole.rows, change))
                used = max(used, share)
                if share > 1:
                    told = f"told apart by {share:.4g} times what is charged"
                    return Sensitivity(tried, used, Witness(words, told, whole.rows, change, _moved(first, second)))
    return Sensitivity(tried, used)


def summary(every: Mapping[str, Sensitivity]) -> str:
    """All questions in a few sentences, the faults first."""
    faults = [one.sentence() for one in every.values() if one.violated]
    fine = [one for one in every.values() if not one.violated]
    if faults or not fine:
        return "\n".join(faults)
    pairs, least = sum(one.pairs for one in fine), min(one.used for one in fine)
    too_small = "too small" if least > 1 - 1e-9 else f"too small by more than {percent(1 - least, direction='up')}"
    used = "all" if least > 1 - 1e-9 else f"at least {percent(least, 3, 'down')}"
    return (
        f"Tried {plural(len(fine), 'question')} on {pairs:,} pairs of made-up neighbouring tables: no mechanism was "
        f"handed numbers further apart than is charged. For every question some pair used {used} of the charge, so a "
        f"sensitivity that is {too_small} would have shown. Other tables may still show a fault. "
        "No private row was read."
    )


def page(every: Mapping[str, Sensitivity], title: str) -> str:
    """The same as a page that needs nothing else."""
    wrong = [one for one in every.values() if one.violated]
    said = element("p", {"class": "alert" if wrong else "fine"}, summary(every).partition("\n")[0])
    rows = [one.row(question) for question, one in every.items()]
    shown = [element("pre", None, one.sentence()) for one in wrong]
    return shell(title, [element("h1", None, title), said, Table.of(HEAD, rows, numbers=(1, 2)), *shown])


def usual_questions(schema: Schema) -> list[str]:
    """Questions that a schema lends itself to: all rows, rows by listed columns, sums and means of bounded numbers."""
    table, made = quote_name(schema.name), [f"SELECT count(*) AS n FROM {quote_name(schema.name)}"]
    for name, column in schema.columns.items():
        if name == schema.unit.column:
            continue
        match column:
            case Category() if len(column.values) <= _GROUPS:
                made.append(f"SELECT {quote_name(name)}, count(*) AS n FROM {table} GROUP BY {quote_name(name)}")
            case Integer() | Real():
                made += [f"SELECT {f}({quote_name(name)}) AS v FROM {table}" for f in ("sum", "avg")]
    return made


def quote_name(name: str) -> str:
    """A name as SQL writes it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def _moved(first: list[Step], second: list[Step]) -> tuple[tuple[int, int], ...]:
    return tuple(
        (a, b)
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one.values, other.values, strict=True)
        if a != b
    )


class _Bench:
    """Runs a question on one made-up table after another, all through one ledger."""

    def __init__(self, schema: Schema, ask: Ask, ledger: Ledger, budget: Budget) -> None:
        self._schema, self._ask, self._ledger, self._budget = schema, ask, ledger, budget
        self._plan: Any = None

    def run(self, tables: Tables, name: str, heard: list[Step] | None = None) -> list[Step]:
        """What mechanisms are handed; a run that fails on one side alone is a fault of its own."""
        desk = LocalDesk.open(
            source_of(tables.arrow()),
            self._schema,
            ledger=self._ledger,
            budget=self._budget,
            joins={name: source_of(table) for name, table in tables.beside().items()},
            who="audit",
        )
        offer = self._ask(Curator(desk))
        plan: Any = offer.plan
        if getattr(plan, "selection", None) is not None or hasattr(plan, "found"):
            hint = "`discreet audit self` attacks such questions by many runs."
            raise InputError("question", Phrase("groups that are discovered"), "one whose groups are declared", hint)
        self._plan = plan
        bits = Tape(name)
        try:
            with captured(bits, heard) as steps:
                release(
                    plan,
                    desk.data_with(plan.columns),
                    self._ledger,
                    who="audit",
                    allotment=plan.allotment.name,
                    bits=bits,
                    warn=False,
                )
        except RunError:
            if heard is None:
                raise
            raise BrokenLawError("the run fails with one unit more or less") from None
        return steps

    def share(self, first: list[Step], second: list[Step]) -> float:
        """What two runs are told apart by, as a share of what is charged, from above."""
        allotment = self._plan.allotment
        seen = allotment.price(Composed([spent(*pair) for pair in zip(first, second, strict=True)]))
        charged = allotment.price(self._plan.cost)
        share = float(seen.amount / charged.amount)
        return share if seen.within(charged) == (share <= 1) else 1.0 if seen.within(charged) else 1 + 1e-9
