"""Decisions: what a fund dealt by a release, or a limit, gets wrong, as a page. Free: it reads the release alone."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.limits import check_decided, check_simulated
from discreet.apps.server.tokens import Caller
from discreet.apps.web.cache import Cache
from discreet.apps.web.files import attached
from discreet.apps.web.frame import Frame
from discreet.apps.web.releases import kind_of
from discreet.core.decision import Decision
from discreet.core.exact import as_written
from discreet.core.release import Release
from discreet.curator.kinds import read_outcome
from discreet.curator.request import offer_at
from discreet.curator.title import title_of
from discreet.errors import InputError, Phrase
from discreet.ledger.outcome import Outcome
from discreet.ledger.quote import price_text
from discreet.show import Bar, Markup, bars
from discreet.trees.release import TreeRelease

__all__ = ["routes"]

_SHOWN = 50  # regions in a table; the file has them all
_BARS = 24  # groups in a picture
_WORDS = 20_000  # characters of groups or sizes
_BLENDS = (0, 0.25, 0.5, 0.75, 1)


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/releases/{identity}/decide"""
    pages = frame.router()
    service = frame.service
    anyone: Any = Depends(frame.caller)
    read: Cache[Any] = Cache(4)

    def known(dataset: str, identity: str, caller: Caller, part: str) -> tuple[Any, Outcome]:
        books = service.curator(dataset, caller).ledger
        outcome = service.stored(dataset, identity)
        if outcome is None:
            raise HTTPException(404, "There is no release of this id.")
        whole = read.get(f"{dataset}/{identity}", lambda: read_outcome(books, outcome))
        if isinstance(whole, TreeRelease):
            return whole, outcome
        tables: dict[str, Any] = {} if kind_of(outcome) == "census" else whole.tables()
        release = tables.get(part) or next(iter(tables.values()), None)
        if not isinstance(release, Release) or not release.outputs:
            raise HTTPException(404, "Nothing is decided by a release of this kind.")
        return release, outcome

    def decision(release: Any, asked: _Asked, caller: Caller, repair: str | None = None) -> Decision:
        check_decided(release)
        with service.plans.turn(caller.name):
            found: Decision = release.decide(**asked.how(release, repair))
            return found

    def simulated(dataset: str, outcome: Outcome, release: Any, asked: _Asked, caller: Caller) -> Decision:
        """The same at another price, on the published numbers or on others, before that is paid."""
        desk = service.curator(dataset, caller).local
        allotment = outcome.charged.allotment
        if caller.allotment not in (None, allotment):
            raise InputError("price", allotment, f"one of {caller.allotment!r}, which this token plans for")
        with service.plans.turn(caller.name):
            way = desk.ledger.account(dataset).budget.allotment(allotment).currency
            offer = offer_at(desk, outcome, way, as_written(asked.price, way))
            check_simulated(offer.plan, None)
            sizes = asked.pairs("sizes") or _published(release, asked.output)
            how = {name: value for name, value in asked.how(release, None).items() if name != "cells"}
            return offer.decide({name: _size(size) for name, size in sizes.items()}, **how)

    @pages.get("/d/{dataset}/releases/{identity:path}/decide.csv")
    def file(request: Request, dataset: str, identity: str, caller: Caller = anyone) -> Response:
        """What is decided of each region, all of them."""
        asked = _Asked.of(request)
        release, _ = known(dataset, identity, caller, asked.part)
        found = decision(release, asked, caller, "groups" if request.query_params.get("repair") else None)
        return attached(found.to_csv(), f"{dataset}-decision", "csv")

    @pages.get("/d/{dataset}/releases/{identity:path}/decide")
    def page(request: Request, dataset: str, identity: str, caller: Caller = anyone) -> Response:
        asked = _Asked.of(request)
        release, outcome = known(dataset, identity, caller, asked.part)
        found = repaired = before = None
        problem = price_problem = ""
        try:
            if asked.amount:
                found = decision(release, asked, caller)
                if asked.grouped and asked.what == "fund":
                    repaired = decision(release, asked, caller, "groups")
        except InputError as error:
            problem = str(error.about(_FIELDS.get(error.field, error.field)))
        try:
            if found is not None and asked.price:
                before = simulated(dataset, outcome, release, asked, caller)
        except InputError as error:
            price_problem = str(error.about("price" if error.field in ("epsilon", "rho") else error.field))
        budget = service.curators[dataset].ledger.account(dataset).budget.allotment(outcome.charged.allotment)
        tree = release if isinstance(release, TreeRelease) else None
        return frame.page(
            request,
            "decide.html",
            caller,
            422 if problem or price_problem else 200,
            identity=identity,
            title=title_of(outcome.charged.query) or "Release",
            asked=asked,
            tree=tree,
            outputs=() if tree is not None else release.outputs,
            groups=[] if tree is not None and not asked.wider(tree) else _group_names(release, asked),
            blends=_BLENDS,
            query=request.url.query,
            found=found,
            repaired=repaired,
            before=before,
            picture=None if found is None else _picture(found, repaired),
            effects=() if found is None else _effects(found, repaired),
            rows=() if found is None else _rows(found),
            more=0 if found is None else len(found) - _SHOWN,
            problem=problem,
            price_problem=price_problem,
            cost=price_text(budget, outcome.charged.charge),
            currency=budget.currency,
            words=_WORDS,
        )

    return pages


_FIELDS = {"fund": "amount", "threshold": "amount"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the form of the page sends."""

    what: str = "fund"
    amount: str = ""
    by: str = ""
    groups: str = ""
    level: str = ""
    output: str = ""
    blend: str = ""
    part: str = ""
    price: str = ""
    sizes: str = ""

    @classmethod
    def of(cls, request: Request) -> _Asked:
        sent = request.query_params
        asked = cls(**{name: sent.get(name, "").strip()[: _WORDS + 1] for name in cls.__slots__ if name in sent})
        if asked.what not in ("fund", "threshold"):
            raise HTTPException(422, "A fund or a threshold is decided by.")
        return asked

    @property
    def grouped(self) -> bool:
        """Whether it is told by public groups, which can be given their due."""
        return bool(self.groups) or self.by not in ("", "size")

    def wider(self, tree: TreeRelease) -> list[str]:
        """The levels that those of the level decided by lie in."""
        level = self.level if self.level in tree.levels else tree.levels[-1]
        return list(tree.levels[1 : tree.levels.index(level)])

    def how(self, release: Any, repair: str | None) -> dict[str, Any]:
        """The same as `decide` takes it; `InputError` where it is no number."""
        amount = float(as_written(self.amount, "amount"))
        how: dict[str, Any] = {self.what: amount, "by": self.pairs("groups") or self.by or None, "repair": repair}
        if isinstance(release, TreeRelease):
            how |= {"level": self.level or None}
            how |= {"blend": float(as_written(self.blend, "blend"))} if self.blend and self.what == "fund" else {}
        elif self.output:
            how["output"] = self.output
        return how

    def pairs(self, field: str) -> dict[str, str]:
        """Lines of a name and a value, `Kent,south`, as a dictionary."""
        text = getattr(self, field)
        if len(text) > _WORDS:
            raise InputError(field, Phrase("a longer text"), f"at most {_WORDS:,} characters; a command takes files")
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
        if any(len(row) != 2 for row in rows):
            raise InputError(field, Phrase("other lines"), "lines of a region, a comma and one value: Kent,south")
        return {name.strip(): value.strip() for name, value in rows}


def _size(value: Any) -> float:
    return max(float(as_written(value, "sizes")), 0.0)


def _published(release: Any, output: str) -> dict[str, Any]:
    """The published numbers by region, which are public: what another price is tried out on."""
    if isinstance(release, TreeRelease):
        return dict(zip(release.tree.codes[-1], release.estimate.totals[-1].tolist(), strict=True))
    found = release.decide(threshold=0.0, **({"output": output} if output else {}))
    regions, published, *_ = found.columns.values()
    return dict(zip(regions, published, strict=True))


def _group_names(release: Any, asked: _Asked) -> list[str]:
    return asked.wider(release) if isinstance(release, TreeRelease) else list(release.keys)


def _picture(found: Decision, repaired: Decision | None) -> Markup | None:
    """Groups as published and, below, as repaired: what each gets more than its due, or the part on the wrong side."""
    if not found.groups:
        return None
    if repaired is None:
        return found.plot().figure(table=False)
    data = []
    for series, (words, one) in enumerate((("As published", found), ("Repaired", repaired))):
        known = [effect for effect in one.groups if effect.shift is not None][:_BARS]
        for place, effect in enumerate(known):
            head = words if not place else ""
            data.append(Bar(effect.group, effect.shift or 0.0, effect.lower, effect.upper, series, head))
    if not data:
        return None
    return bars("What each group gets above or below its due share", data, format=_percent, ticks=_percent).figure(
        table=False
    )


def _effects(found: Decision, repaired: Decision | None) -> list[list[str]]:
    """Rows of the table of groups."""
    other = {effect.group: effect for effect in repaired.groups} if repaired is not None else {}
    rows = []
    for effect in found.groups:
        row = [effect.group, f"{effect.regions:,.0f}"]
        if found.fund is None:
            row += [_short(effect.wrong or 0.0), _percent((effect.wrong or 0.0) / max(effect.regions, 1e-9))]
        else:
            row += [_percent(effect.got or 0.0), _percent(effect.due or 0.0), _shift(effect)]
            row += [_shift(other[effect.group])] if effect.group in other else []
        rows.append(row)
    return rows


def _shift(effect: Any) -> str:
    if effect.shift is None:
        return "nothing is due"
    ends = "" if effect.lower is None else f" ({effect.lower:+.1%} to {effect.upper:+.1%})"
    return f"{effect.shift:+.1%}{ends}"


def _rows(found: Decision) -> list[list[str]]:
    """The regions where most goes wrong, the worst first."""
    columns = list(found.columns.values())
    order = sorted(range(len(found)), key=lambda place: -columns[-1][place])[:_SHOWN]
    if found.fund is None:
        regions, published, above, wrong = columns
        return [
            [str(regions[at]), _short(published[at]), "yes" if above[at] else "no", _percent(wrong[at])] for at in order
        ]
    regions, published, allotted, low, high, off = columns
    rows = []
    for at in order:
        due = f"{_short(low[at])} to {_short(high[at])}"
        rows.append([str(regions[at]), _short(published[at]), _short(allotted[at]), due, _short(off[at])])
    return rows


def _short(value: float) -> str:
    """A number in four digits, and whole from a thousand on."""
    if not math.isfinite(value):
        return "not known"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _percent(value: float) -> str:
    return f"{value:.1%}"
