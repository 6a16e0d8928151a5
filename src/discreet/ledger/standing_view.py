"""Where budgets stand, as parts of a page: pages of a server and notebooks show the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from discreet.accounting.words import readable
from discreet.ledger.account import Standing
from discreet.ledger.budget import Charge
from discreet.ledger.quote import price_text
from discreet.ledger.record import Record
from discreet.ledger.window import newest
from discreet.show import Markup, Table, cell, element, facts, meter

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["budget_meter", "ledger_cell", "standing_table"]

_COUNTED = {"pure": "pure epsilon", "zcdp": "rho, zero-concentrated", "plan": "epsilon and delta, whole plans"}
_LOW = 0.1  # a share below which little is left
_SHOWN = 20  # charges that a notebook lists
_LOOKED = 500  # records that they are looked for in


def budget_meter(standing: Standing, *, named: bool = False, several: bool = False) -> Markup:
    """What is left of an allotment, in words and as a bar; `named` says of which dataset, `several` which allotment."""
    part, left = standing.allotment, standing.left
    amount, cap = readable(left.amount, 3, "down"), readable(part.cap.amount, 3, "down")
    figure, after = amount, [f" of {cap} {part.currency} left"]
    if part.currency == "rho":
        figure = f"{readable(100 * left.amount / part.cap.amount, 3, 'down') if part.cap.amount else 0}%"
        after = [" left ", element("small", None, f"(rho {amount} of {cap})")]
    words = [element("b", None, standing.dataset), " "] if named else []
    words += [f"{part.name} " if several else "", element("b", {"class": "figure"}, figure), *after]
    words += [f", delta {readable(left.delta, 2, 'down')}"] if part.cap.delta else []
    rest = float(left.amount / part.cap.amount) if part.cap.amount else 0.0
    bar = meter(rest, f"{int(100 * rest)}% of the budget is left", low=rest < _LOW)
    return element("span", {"class": "budget"}, element("span", {"class": "words"}, *words), bar)


def standing_table(standing: Sequence[Standing], caption: str = "Allotments") -> Table:
    """Every allotment: how it is counted, its cap, what is spent and what is left."""
    head = ("Allotment", "Counted as", "Budget", "Spent", "Left")
    rows = [
        (
            one.allotment.name,
            _COUNTED[one.allotment.kind],
            _amount(one, one.allotment.cap, "down"),
            _amount(one, one.spent, "up"),
            _amount(one, one.left, "down"),
        )
        for one in standing
    ]
    return Table.of(head, rows, caption, numbers=range(2, len(head)))


def _amount(standing: Standing, charge: Charge, direction: Literal["up", "down"]) -> Markup:
    """An amount, and its delta in a line of its own where the allotment has one."""
    text = readable(charge.amount, direction=direction)
    delta = readable(charge.delta, 3, direction) if standing.allotment.cap.delta else ""
    below = [Markup("<br>"), element("small", None, f"delta {delta}")] if delta else []
    return element("span", None, text, *below)


def ledger_cell(ledger: Ledger) -> str:
    """A ledger in a notebook: where every dataset stands, and the last charges."""
    parts: list[Markup | Table] = []
    for dataset in ledger.datasets():
        standing = ledger.standing(dataset)
        meters = [budget_meter(one, several=len(standing) > 1) for one in standing]
        parts += [element("h3", None, dataset), element("p", {"class": "standing"}, *meters)]
    last: deque[Record] = deque((one for one in newest(ledger, limit=_LOOKED) if one.kind == "charge"), maxlen=_SHOWN)
    if last:
        heads = ("When", "Dataset", "Who", "Why", "Cost", "Release")
        caption = f"The last {len(last)} charges" if len(last) == _SHOWN else "Charges"
        parts.append(Table.of(heads, [_charge(ledger, one) for one in reversed(last)], caption, numbers=(4,)))
    else:
        parts.append(element("p", None, "Nothing was spent yet."))
    head = ledger.head()
    told = facts({"Kept at": ledger.kept_at, "Last record": f"{head.sequence}, {head.hash[:16]}"})
    return cell("Budgets and charges", *parts, told, kind="Ledger")


def _charge(ledger: Ledger, record: Record) -> tuple[str, ...]:
    allotment = ledger.account(record.dataset).budget.allotment(record.allotment)
    time = record.time[:19].replace("T", " ")
    return time, record.dataset, record.who, record.why, price_text(allotment, record.charge), record.release[:24]
