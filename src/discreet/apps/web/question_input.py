"""A question as the form has it: rows of outputs and keys, or SQL, and a price said in one of several ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from discreet.apps.server.requests import ReleaseRequest
from discreet.apps.server.responses import malformed
from discreet.apps.web.form import Form
from discreet.apps.web.ways import WAYS, price_sent
from discreet.errors import MISSING, InputError
from discreet.query.function import listed_functions
from discreet.query.limit_choice import USUAL, limit_query
from discreet.query.question import Query

__all__ = ["LIMITS", "SIZES", "TABS", "Key", "Output", "QuestionInput"]

TABS = ("form", "sql", "limits")
"""Ways to ask: by a form, in SQL, or for help in choosing limits on each person."""
SIZES = ("100", "1000", "10000")
"""Numbers of rows that a group may be said to have, where the error of a mean is to be within something."""
LIMITS = {
    "groups": "groups each counts in",
    "rows": "rows each counts as in a group",
    "rows_total": "rows each counts with in all",
}
"""Limits on a person that a question may set, in words for `each`."""
_ROWS = 8  # outputs and keys that the form has room for


@dataclass(frozen=True, slots=True)
class Output:
    """One row of the form: what to compute, of which column; for a quantile, which; and what it is called."""

    of: str = ""
    column: str = ""
    share: str = ""
    name: str = ""

    def text(self) -> str:
        """The way the command line and the API write it."""
        function = listed_functions().get(self.of)
        if function is None:
            return f"{self.of}({self.column})"
        written = function.written(self.column if function.column == "required" else "", self.share)
        return f"{self.name}={written}" if self.name else written


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the form: a column to group by, and its bins."""

    column: str = ""
    bins: str = ""

    def text(self) -> str:
        """The way the command line and the API write it."""
        if self.bins == "?":
            return f"{self.column}?"
        return f"{self.column}/{self.bins}" if self.bins else self.column


@dataclass(frozen=True, slots=True)
class QuestionInput:
    """What someone filled in; texts as they typed them."""

    tab: str = "form"
    outputs: tuple[Output, ...] = ()
    keys: tuple[Key, ...] = ()
    count_by: str = ""
    most: str = ""
    groups: str = ""
    listing: bool = False
    where: str = ""
    sql: str = ""
    dialect: str = ""
    way: str = "epsilon"
    amounts: Mapping[str, str] = field(default_factory=dict)
    confidence: str = "0.95"
    delta: str = ""
    allotment: str = ""
    limits: Mapping[str, str] = field(default_factory=dict)
    at_rows: str = ""
    """How many rows a group is taken to have at least, where a mean is to be within something."""
    spare: str = ""
    """Where an empty row is asked for: "of" among the measures, "by" among the keys."""

    @classmethod
    def read(cls, form: Form) -> QuestionInput:
        """The question of a form."""
        go = form.text("go")
        outputs = tuple(
            Output(*(form.text(f"{part}{place}") for part in ("of", "column", "q", "name")))
            for place in range(_ROWS)
            if form.text(f"of{place}") and go != f"drop-of{place}"
        )
        keys = tuple(
            Key(form.text(f"by{place}"), form.text(f"bins{place}"))
            for place in range(_ROWS)
            if form.text(f"by{place}") and go != f"drop-by{place}"
        )
        return cls(
            tab=form.text("tab") if form.text("tab") in TABS else "form",
            outputs=outputs,
            keys=keys,
            count_by=form.text("count_by"),
            most=form.text("most"),
            groups=form.get("groups", "").strip(),
            listing=bool(form.text("listing")),
            where=form.text("where"),
            sql=form.get("sql", ""),
            dialect=form.text("dialect"),
            way=form.text("way") if form.text("way") in WAYS else "epsilon",
            amounts={way: form.text(way) for way in WAYS},
            confidence=form.text("confidence") or "0.95",
            delta=form.text("delta"),
            allotment=form.text("allotment"),
            limits={name: text for name in LIMITS if (text := form.text(f"limit_{name}"))},
            at_rows=form.text("at_rows") if form.text("at_rows") in SIZES else "",
            spare=go.removeprefix("add-") if go in ("add-of", "add-by") else "",
        )

    def request(self, release: str | None = None, why: str = "") -> ReleaseRequest:
        """The same as a program would send it; `InputError` for what no program may."""
        amount = self.amounts.get(self.way, "")
        if not amount:
            raise InputError(self.way, MISSING, "a number: the price, in the way you chose")
        known = listed_functions()
        for output in self.outputs if self.tab == "form" else ():
            if output.of not in known:
                raise InputError("output", output.of, among=known)
            if known[output.of].column == "required" and not output.column:
                raise InputError("output", output.of, "given with a column", "Choose its column.")
        if self.tab == "sql" and not self.sql.strip():
            raise InputError("sql", MISSING, "a statement: SELECT ... FROM ...")
        question = self._question()
        price: dict[str, Any] = {
            **price_sent(self.way, amount),
            "confidence": self.confidence,
            "delta": self.delta or None,
        }
        if self.way == "within" and self.at_rows:
            price["at_rows"] = int(self.at_rows)
        limits = None if self.tab == "limits" else self.limits or None
        more = {"limits": limits, "allotment": self.allotment or None, "release": release, "why": why}
        try:
            return ReleaseRequest.model_validate({**question, **price, **more})
        except ValidationError as problem:
            raise malformed(problem.errors())[0] from None

    def _question(self) -> dict[str, Any]:
        """What is asked, without its price."""
        match self.tab:
            case "sql":
                return {"sql": self.sql, **({"dialect": self.dialect} if self.dialect else {})}
            case "limits":
                most = int(self.most) if self.most.isdecimal() and len(self.most) < 10 else self.most or USUAL
                asked = Query().where(self.where) if self.where else Query()
                return {"query": limit_query(asked, self.count_by or None, most).to_dict()}  # type: ignore[arg-type]
        return {
            "outputs": None if self.listing else [one.text() for one in self.outputs] or ["count"],
            "by": [one.text() for one in self.keys] or None,
            "groups": [line for line in self.groups.splitlines() if line.strip()] or None,
            "listing": self.listing,
            "where": self.where or None,
        }

    def fields(self) -> list[tuple[str, str]]:
        """Names and texts from which `read` makes the same question again."""
        pairs = [("tab", self.tab), ("way", self.way), ("confidence", self.confidence)]
        pairs += [
            ("count_by", self.count_by),
            ("most", self.most),
            ("groups", self.groups),
            ("listing", "1" if self.listing else ""),
            ("where", self.where),
            ("sql", self.sql),
            ("dialect", self.dialect),
            ("delta", self.delta),
            ("allotment", self.allotment),
            ("at_rows", self.at_rows),
        ]
        for place, output in enumerate(self.outputs):
            pairs += [(f"of{place}", output.of), (f"column{place}", output.column), (f"q{place}", output.share)]
            pairs.append((f"name{place}", output.name))
        for place, key in enumerate(self.keys):
            pairs += [(f"by{place}", key.column), (f"bins{place}", key.bins)]
        pairs += [(f"limit_{name}", text) for name, text in self.limits.items()]
        pairs.append((self.way, self.amounts.get(self.way, "")))
        return [(name, text) for name, text in pairs if text]

    def priced(self, amounts: Mapping[str, str]) -> QuestionInput:
        """The same with the other ways of saying the price filled in."""
        return replace(self, amounts={**amounts, self.way: self.amounts.get(self.way, "")})

    def with_price(self, way: str, amount: str) -> QuestionInput:
        """The same at another price."""
        return replace(self, way=way, amounts={way: amount})

    @property
    def output_rows(self) -> list[Output]:
        """What was filled in; an empty row where there is nothing else, or where one is asked for."""
        return [*self.outputs, *([Output()] if self.spare == "of" or not self.outputs else [])][:_ROWS]

    @property
    def key_rows(self) -> list[Key]:
        """The same of keys."""
        return [*self.keys, *([Key()] if self.spare == "by" or not self.keys else [])][:_ROWS]

    @property
    def room(self) -> dict[str, bool]:
        """Whether there is room for another measure, and for another key."""
        return {"of": len(self.output_rows) < _ROWS, "by": len(self.key_rows) < _ROWS}

    @property
    def aside(self) -> list[tuple[str, str]]:
        """What was filled in on the other tabs: it is kept, and not shown on this one."""
        asked = ("of", "column", "q", "name", "by", "bins", "groups", "listing")
        hidden = {
            "form": ("sql", "dialect", "count_by", "most"),
            "sql": (*asked, "where", "count_by", "most"),
            "limits": (*asked, "sql", "dialect", "limit_groups", "limit_rows", "limit_rows_total"),
        }[self.tab]
        return [(name, text) for name, text in self.fields() if name.rstrip("0123456789") in hidden]
