"""Budgets and their allotments: opened, raised, lowered, divided, closed, each on the ledger with a reason."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.app import status_of
from discreet.apps.server.private_file import write_private
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.apps.web.burns import all_burns
from discreet.apps.web.custodian.section import Change, Section
from discreet.apps.web.form import Form
from discreet.core.exact import Number, as_written
from discreet.curator.budget_text import amount_of, budget_toml, exact_text, with_budget
from discreet.curator.setup import read_setup
from discreet.errors import MISSING, DiscreetError, InputError, MissingError
from discreet.ledger.account import Account
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.decision import Decision, change_of, decide_change, decide_closing, decide_opening
from discreet.ledger.ledger import Ledger
from discreet.ledger.person_total import person_total

__all__ = ["add_pages", "budget_in"]

_DONE = {
    "open": "is open",
    "raise": "is raised",
    "lower": "is lowered",
    "divide": "is divided anew",
    "close": "is closed",
    "write": "is written into its schema",
}
_BLANK = 2
"""How many allotments can be added at once."""


def add_pages(section: Section) -> None:
    """/custodian/budgets"""
    service = section.service

    def address(dataset: str, way: str = "") -> str:
        return f"/custodian/budgets/{quote(dataset, safe='')}" + (f"/{way}" if way else "")

    def agree(
        request: Request, caller: Caller, form: Form, decision: Decision, heading: str, yes: str, **more: Any
    ) -> Response | None:
        """The page that shows a decision; None once it is made."""
        kept = {name: text for name, text in form.items() if name not in ("why", "seen", "agreed")}
        told = decision.promise if decision.changes else (decision.heading, *decision.promise)
        more |= {"reasoned": decision.reasoned, "amounts": decision.changes}
        change = Change(heading, told, yes, "/custodian/budgets", kept, **more)
        if not change.agreed(form):
            return section.ask(request, "budgets", caller, form, change)
        decision.make(who=caller.name, why=form.text("why"))
        return None

    @section.pages.get("/custodian/budgets")
    def budgets(request: Request, caller: Caller = section.owner) -> Response:
        shown = [_shown(ledger, dataset, service) for dataset, ledger in _known(service).items()]
        declared = [name for name, curator in service.curators.items() if name not in _known(service)]
        waiting = [(name, service.curators[name].ledger.account(name)) for name in declared]
        return section.show(request, "budgets", "budgets", caller, shown=shown, waiting=waiting)

    @section.pages.get("/custodian/budgets/{dataset}")
    def change(request: Request, dataset: str, did: str = "", caller: Caller = section.owner) -> Response:
        return form_of(request, dataset, caller, did=did)

    def form_of(
        request: Request,
        dataset: str,
        caller: Caller,
        status: int = 200,
        problem: DiscreetError | None = None,
        form: Form | None = None,
        did: str = "",
    ) -> Response:
        ledger = _ledger(service, dataset)
        account = ledger.account(dataset)
        message = f"The budget of {dataset} {_DONE[did]}, and that is on record." if did in _DONE else ""
        return section.show(
            request,
            "budgets",
            "budget",
            caller,
            status,
            name=dataset,
            account=account,
            rows=[_row(number, one, form) for number, one in enumerate(ledger.standing(dataset))],
            blank=range(_BLANK),
            typed=form or Form([]),
            currency="rho" if account.budget.rho is not None else "epsilon",
            whole=exact_text(account.budget.rho or account.budget.epsilon or Fraction(0)),
            toml=budget_toml(account.budget),
            file=_behind(service, dataset, account.budget),
            burns=all_burns(service, dataset),
            problem=problem,
            did=message,
            filed=dataset in service.schemas,
        )

    @section.pages.post("/custodian/budgets/{dataset}")
    def changed(request: Request, dataset: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        ledger = _ledger(service, dataset)
        account = ledger.account(dataset)
        try:
            budget = budget_in(form, account.budget)
            way = change_of(account, budget)
            decision = decide_change(ledger, dataset, budget, way)
        except InputError as problem:
            return form_of(request, dataset, caller, status_of(problem), problem, form)
        verb = {"raise": "Raise", "lower": "Lower", "divide": "Divide"}[way]
        asked = agree(request, caller, form, decision, f"{verb} the budget of {dataset}", f"Yes, {verb.lower()} it")
        return asked or RedirectResponse(f"{address(dataset)}?did={way}", 303)

    @section.pages.post("/custodian/budgets/{dataset}/open")
    def opened(request: Request, dataset: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        curator = service.curator(dataset, caller)
        budget = curator.ledger.account(dataset).budget
        decision = decide_opening(curator.ledger, dataset, budget, curator.declared.unit)
        asked = agree(request, caller, form, decision, f"Open the budget of {dataset}", "Yes, open it")
        return asked or RedirectResponse(f"{address(dataset)}?did=open", 303)

    @section.pages.post("/custodian/budgets/{dataset}/schema")
    def copied(request: Request, dataset: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        """Write the budget on record into the schema's file, which a server reads when it starts."""
        budget = _ledger(service, dataset).account(dataset).budget
        path = service.schemas.get(dataset)
        try:
            if path is None:
                raise InputError("schema", MISSING, "a file that this server read when it started")
            text, new = _rewritten(path, dataset, budget)
            lines = (
                f"Replaces [budget] in {path} by what stands below. The rest of the file stays as it is.",
                *budget_toml(budget).splitlines(),
            )
            change = Change(
                f"Write the budget into the schema of {dataset}", lines, "Yes, write it", address(dataset), {}
            )
            if not change.agreed(form):
                return section.ask(request, "budgets", caller, form, change)
            _replace(path, text, new)
        except InputError as problem:
            return form_of(request, dataset, caller, status_of(problem), problem)
        service.trail.add(caller.name, "schema", dataset, "budget written into the schema")
        return RedirectResponse(f"{address(dataset)}?did=write", 303)

    @section.pages.post("/custodian/budgets/{dataset}/close")
    def closed(request: Request, dataset: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        decision = decide_closing(_ledger(service, dataset), dataset)
        heading = f"Close the budget of {dataset}"
        asked = agree(request, caller, form, decision, heading, "Yes, close it for good", grave=True)
        return asked or RedirectResponse(f"{address(dataset)}?did=close", 303)

    @section.pages.get("/custodian/total")
    def total(request: Request, delta: str = "1e-6", caller: Caller = section.owner) -> Response:
        problem, found, status = None, None, 200
        try:
            found = person_total(service.ledgers, delta=delta)
        except DiscreetError as wrong:
            problem, status = wrong, status_of(wrong)
        claims = (
            None
            if found is None
            else [
                ("Added up", found.basic),
                ("Added up as zCDP", found.zcdp),
                ("If no question depended on an answer", found.fixed),
                ("All that the budgets allow", found.promised),
            ]
        )
        values = {"delta": delta, "problem": problem, "found": found, "claims": claims}
        return section.show(request, "budgets", "total", caller, status, **values)


def _behind(service: Service, dataset: str, budget: Budget) -> str:
    """The schema's file, where that declares another budget than the one on record; else nothing."""
    path = service.schemas.get(dataset)
    try:
        declared = None if path is None else read_setup(path).budget
    except DiscreetError:  # the server said so when it started, or will
        return ""
    return str(path) if path is not None and declared != budget else ""


def _rewritten(path: Path, dataset: str, budget: Budget) -> tuple[str, str]:
    """The text of a schema's file, and the same with a budget."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError("schema", str(path), "a file that can be read") from None
    if read_setup(path).schema.name != dataset:
        raise InputError("schema", str(path), f"the one that declares {dataset}", "Nothing was written.")
    return text, with_budget(text, budget)


def _replace(path: Path, old: str, new: str) -> None:
    """Put a text in the place of another; who may read the file stays as it was."""
    path = path.resolve()  # a link stays one
    try:
        mode = path.stat().st_mode & 0o777
        if path.read_text(encoding="utf-8") != old:
            raise InputError("schema", str(path), "as it was when this was shown", "Nothing was written.")
        write_private(path, new, new=False)
        path.chmod(mode)
    except OSError:
        hint = "Nothing was written. Copy the budget below into it."
        raise InputError("schema", str(path), "a file that this server may write", hint) from None


def _known(service: Service) -> dict[str, Ledger]:
    """The datasets with a budget on record, and the ledger of each."""
    return {dataset: ledger for ledger in service.ledgers for dataset in ledger.datasets()}


def _ledger(service: Service, dataset: str) -> Ledger:
    known = _known(service)
    if dataset not in known:
        raise MissingError("dataset", dataset, "a dataset whose budget is open", among=known)
    return known[dataset]


def _shown(ledger: Ledger, dataset: str, service: Service) -> dict[str, Any]:
    account: Account = ledger.account(dataset)
    return {
        "name": dataset,
        "account": account,
        "standing": ledger.standing(dataset),
        "served": dataset in service.curators,
        "releases": sum(1 for record in ledger.records(dataset) if record.kind == "charge"),
    }


def _row(number: int, standing: Any, form: Form | None) -> dict[str, Any]:
    """An allotment in the form: what it is given, as typed or as it is."""
    part = standing.allotment
    typed = form or Form([])
    return {
        "standing": standing,
        "part": part,
        "amount": typed.get(f"amount{number}", amount_of(part)),
        "delta": typed.get(f"delta{number}", exact_text(part.delta)),
        "gone": f"gone{number}" in typed,
        "used": bool(standing.spent.amount or standing.spent.delta),
    }


def budget_in(form: Form, old: Budget) -> Budget:
    """The budget that a form describes, where one was `old`: amounts for its allotments, and new ones.

    The whole grows and shrinks with its parts; what was never allotted stays as it was, and is taken from first.
    """
    currency = "rho" if old.rho is not None else "epsilon"
    parts = []
    for number, part in enumerate(old.allotments):
        if f"gone{number}" in form:
            continue
        amount, delta = form.text(f"amount{number}"), form.text(f"delta{number}") or "0"
        same = amount == amount_of(part) and delta == exact_text(part.delta)
        parts.append(part if same else _allotment(part.name, part.kind, currency, amount, delta))
    for number in range(_BLANK):
        name = form.text(f"new_name{number}")
        if name:
            kind = "zcdp" if currency == "rho" else form.text(f"new_kind{number}") or "pure"
            delta = form.text(f"new_delta{number}") or "0"
            parts.append(_allotment(name, kind, currency, form.text(f"new_amount{number}"), delta))
    if not parts:
        raise InputError("allotments", 0, "at least one", "Nothing was changed.")
    amounts = [part.cap.amount if part.epsilon is None else part.epsilon for part in parts]
    before = [part.cap.amount if part.epsilon is None else part.epsilon for part in old.allotments]
    whole = _whole((old.rho if currency == "rho" else old.epsilon) or Fraction(0), before, amounts)
    missed = _whole(old.delta, [part.delta for part in old.allotments], [part.delta for part in parts])
    named: dict[str, Number] = {currency: whole}
    return Budget(**named, delta=missed, allotments=parts)


def _whole(old: Fraction, before: list[Fraction], after: list[Fraction]) -> Fraction:
    less = sum(before, Fraction(0)) - sum(after, Fraction(0))
    return old - less if less > 0 else max(old, sum(after, Fraction(0)))


def _allotment(name: str, kind: Any, currency: str, amount: str, delta: str) -> Allotment:
    where = f"budget.allotments.{name}"
    named: dict[str, Number] = {currency: as_written(amount, f"{where}.{currency}")}
    try:
        return Allotment(name, kind, **named, delta=as_written(delta, f"{where}.delta"))
    except InputError as problem:
        raise problem.about(f"{where}.{problem.field.removeprefix('allotment.')}") from None
