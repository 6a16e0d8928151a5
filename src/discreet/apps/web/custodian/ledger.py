"""The ledger for its custodian: every question in words, by whom, when and about what, and budgets over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from discreet.accounting.words import readable
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.apps.web.burns import WINDOW, all_burns, budget_of
from discreet.apps.web.custodian.ledger_backup import DONE, add_backups
from discreet.apps.web.custodian.section import Section
from discreet.apps.web.form import Form
from discreet.curator import KINDS, kind_of
from discreet.curator.title import title_of
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.ledger.conclusion import outcomes_of
from discreet.ledger.outcome import Outcome, acknowledges
from discreet.ledger.quote import price_text
from discreet.ledger.record import Record
from discreet.ledger.window import newest

__all__ = ["Entry", "add_pages", "entries_of"]

_PAGE = 50
_FILTERS = ("who", "dataset", "kind", "since", "until")
_BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Entry:
    """A question that was paid for, or a decision about a budget: one line of the list."""

    sequence: int
    time: str
    who: str
    dataset: str
    kind: str
    words: str
    why: str
    allotment: str = ""
    cost: str = ""
    state: str = ""
    address: str = ""
    """Of its page, where there is one."""


def add_pages(section: Section) -> None:
    """/custodian/ledger"""
    service = section.service

    def shown(request: Request, caller: Caller, status: int = 200, **more: object) -> Response:
        chosen = {name: request.query_params.get(name, "").strip() for name in _FILTERS}
        before = request.query_params.get("before", "")
        beginning = int(before) if before.isascii() and before.isdigit() and len(before) < 16 else None
        entries, earlier = entries_of(service, beginning)
        problem = None
        try:
            found = [entry for entry in entries if _fits(entry, chosen)]
        except InputError as wrong:
            found, problem, status = [], wrong, 422
        pages = max(1, -(-len(found) // _PAGE))
        number = _number(request.query_params.get("page", ""), pages)
        kinds = {entry.kind for entry in entries}
        kept = {name: value for name, value in chosen.items() if value}
        return section.show(
            request,
            "ledger",
            "ledger",
            caller,
            status,
            chosen=chosen,
            problem=problem,
            entries=found[(number - 1) * _PAGE : number * _PAGE],
            found=len(found),
            total=len(entries),
            number=number,
            pages=pages,
            address=lambda page: "?" + urlencode({**kept, "page": page}),
            earlier="?" + urlencode({**kept, "before": earlier}) if earlier else "",
            people=_pairs(sorted({entry.who for entry in entries})),
            named=_pairs(sorted({entry.dataset for entry in entries if entry.dataset})),
            kinds=[(name, _noun(name)) for name in (*KINDS, _BUDGET) if name in kinds],
            burns=all_burns(service, chosen["dataset"]),
            heads=[ledger.head() for ledger in service.ledgers],
            did=DONE if request.query_params.get("did") == "backup" else "",
            backed_up=None if service.state is None else service.trail.listed("ledger"),
            **{"results": None, **more},
        )

    @section.pages.get("/custodian/ledger")
    def ledger(request: Request, caller: Caller = section.owner) -> Response:
        return shown(request, caller)

    @section.pages.post("/custodian/ledger/verify")
    def verify(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        return shown(request, caller, results=[one.verify() for one in service.ledgers])

    add_backups(section)


def entries_of(service: Service, before: int | None = None) -> tuple[list[Entry], int]:
    """What somebody decided or asked, the newest first, by the last records of every ledger of a service, or those
    below a number; and the number below which there are earlier ones, zero where there are none.
    """
    found: list[Entry] = []
    earlier = 0
    for ledger in service.ledgers:
        accounts = {name: ledger.account(name).budget for name in ledger.datasets()}
        records = newest(ledger, limit=WINDOW, before=before)
        if len(records) >= WINDOW:
            earlier = max(earlier, records[0].sequence)
        charged = {record.release for record in records if record.kind == "charge"}
        for outcome in outcomes_of(record for record in records if record.release in charged):
            if before is not None and outcome.open:  # what came of it is among later records
                outcome = ledger.find(outcome.charged.release) or outcome
            dataset = outcome.charged.dataset
            found.append(_question(outcome, accounts.get(dataset), dataset in service.curators))
        opened: set[str] = set()
        for record in records:
            if record.kind in ("open", "close", "note") and not record.release:
                found.append(_decision(record, record.dataset in opened))
                opened.add(record.dataset)
    return sorted(found, key=lambda entry: (entry.time, entry.sequence), reverse=True), earlier


def _question(outcome: Outcome, budget: Budget | None, served: bool) -> Entry:
    paid = outcome.charged
    made = kind_of(paid.query, outcome.kind)
    kind = "" if made is None else made.name
    parts = () if budget is None else budget.allotments
    part = next((one for one in parts if one.name == paid.allotment), None)
    cost = readable(paid.charge.amount) if part is None else price_text(part, paid.charge)
    state = "answered" if outcome.answer is not None else "failed" if outcome.failure is not None else "no answer yet"
    words = title_of(paid.query, outcome.kind) or _noun(kind)
    if not paid.digest:
        words, state = "Written off, for records that were lost", "written off"
    address = f"/d/{quote(paid.dataset, safe='')}/releases/{quote(paid.release, safe='')}" if served else ""
    return Entry(
        paid.sequence, paid.time, paid.who, paid.dataset, kind, words, paid.why, paid.allotment, cost, state, address
    )


def _decision(record: Record, again: bool) -> Entry:
    if record.kind == "close":
        words = "Budget closed"
    elif record.kind == "note":
        words = "Ledger acknowledged" if acknowledges(record) else f"Ledger: {record.why}"
    else:
        words = f"Budget {'changed' if again else 'opened'}: {_amounts(record)}"
    why = "" if words.endswith(f": {record.why}") else record.why
    return Entry(record.sequence, record.time, record.who, record.dataset, _BUDGET, words, why)


def _amounts(record: Record) -> str:
    budget = budget_of(record)
    if budget is None:
        return "not readable"
    return "; ".join(f"{part.name} {price_text(part, part.cap, 'down')}" for part in budget.allotments)


def _noun(kind: str) -> str:
    return "Budget decision" if kind == _BUDGET else KINDS[kind].noun.capitalize() if kind in KINDS else "Other"


def _fits(entry: Entry, chosen: dict[str, str]) -> bool:
    """Whether an entry passes every filter that is set. Days are those of UTC, as the ledger writes time."""
    since, until = (_day(chosen[name], name) for name in ("since", "until"))
    day = entry.time[:10]
    return (
        all(not chosen[name] or getattr(entry, name) == chosen[name] for name in ("who", "dataset", "kind"))
        and (since is None or day >= since)
        and (until is None or day <= until)
    )


def _day(text: str, field: str) -> str | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError(field, text, "a day, such as 2026-05-03") from None


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


def _number(text: str, most: int) -> int:
    return min(max(int(text), 1), most) if text.isascii() and text.isdigit() and len(text) < 9 else 1
