"""SQL that names its privacy itself, as Google's does: WITH DIFFERENTIAL_PRIVACY OPTIONS (...), and bounds in a call.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = patient)
           county, AVG(cost, contribution_bounds_per_row => (0, 500)) FROM visits GROUP BY county
    SELECT WITH ANONYMIZATION OPTIONS (epsilon = 1) county, ANON_AVG(cost CLAMPED BETWEEN 0 AND 500) FROM visits ...

The parser knows none of it. It is read here, token by token, and what is left is plain SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.data.schema import Schema
from discreet.data.text import LONGEST
from discreet.errors import InputError
from discreet.query.aggregate.sums import PERSON_BOUNDS

__all__ = ["PrivateStatement", "read_private"]

_WORDS = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")
_OPTIONS = ("epsilon", "delta", "privacy_unit_column", "max_groups_contributed", "max_rows_contributed")
_OLDER = {"kappa": "max_groups_contributed"}
_GROUPS = ("group_selection_strategy = PUBLIC_GROUPS", "group_selection_strategy = LAPLACE_THRESHOLD")
_BOUNDS = ("CONTRIBUTION_BOUNDS_PER_ROW", "CONTRIBUTION_BOUNDS_PER_GROUP")
_ANON = "ANON_"
_DIGITS = 18
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class PrivateStatement:
    """A statement as plain SQL, and what it says of its price and of the limits on a person."""

    text: str
    price: dict[str, Number] = field(default_factory=dict)
    """Epsilon and delta, where they are stated."""
    limits: dict[str, int] = field(default_factory=dict)
    """In how many groups a person counts, as how many rows in each and over all groups, where it is stated."""


def read_private(text: str, schema: Schema, dialect: str) -> PrivateStatement:
    """A statement without what Google's SQL says of privacy in it, which is read; others are as they were."""
    import sqlglot
    from sqlglot import errors

    capital = text.upper()
    if len(text) > LONGEST or not any(word in capital for word in (*_WORDS, _ANON, " CLAMPED ", *_BOUNDS)):
        return PrivateStatement(text)
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except errors.SqlglotError:
        return PrivateStatement(text)  # the parser says what is wrong with it
    reader = _Reader(text, tokens, persons=schema.unit.column is not None)
    reader.clause()
    reader.calls()
    return PrivateStatement(reader.plain(), reader.price(), reader.limits(schema))


class _Reader:
    def __init__(self, text: str, tokens: Sequence[Any], persons: bool) -> None:
        self.text = text
        self.persons = persons
        self.tokens = tokens
        self.edits: list[tuple[int, int, str]] = []
        """What stands from here to there, and what is to stand there instead."""
        self.options: dict[str, str] = {}
        self.most: list[int] = []
        """As how many rows a person counts at most, by the bounds of counts."""
        self.words = [str(token.text).upper() for token in tokens]
        self.kinds = [str(token.token_type.name) for token in tokens]
        self.closings = self._closings()

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def kind(self, place: int) -> str:
        return self.kinds[place] if 0 <= place < len(self.kinds) else ""

    def _closings(self) -> dict[int, int]:
        """The bracket that ends what each one begins, found in one pass."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for place, kind in enumerate(self.kinds):
            if kind == "L_PAREN":
                opened.append(place)
                if len(opened) > _DEEPEST:  # what is inside is looked at once for each bracket around it
                    raise InputError("sql", self.text, f"brackets nested at most {_DEEPEST} deep")
            elif kind == "R_PAREN" and opened:
                found[opened.pop()] = place
        return found

    def closing(self, opening: int) -> int:
        """The bracket that ends what one begins."""
        if opening not in self.closings:
            raise InputError("sql", self.text, "valid SQL: a bracket is not closed")
        return self.closings[opening]

    def between(self, first: int, last: int) -> str:
        """The text of tokens, both ends included."""
        return self.text[self.tokens[first].start : self.tokens[last].end + 1] if first <= last else ""

    def clause(self) -> None:
        """WITH DIFFERENTIAL_PRIVACY OPTIONS (...) behind the first SELECT."""
        depth = 0
        for place in range(len(self.tokens)):
            depth += (self.kind(place) == "L_PAREN") - (self.kind(place) == "R_PAREN")
            if self.kind(place) == "SELECT" and self.word(place + 1) == "WITH" and self.word(place + 2) in _WORDS:
                if depth or self.edits:
                    allowed = f"WITH {self.word(place + 2)} once, in the outermost SELECT"
                    raise InputError("sql", self.text, allowed)
                last = place + 2
                if self.word(place + 3) == "OPTIONS" and self.kind(place + 4) == "L_PAREN":
                    last = self.closing(place + 4)
                    self.read_options(place + 5, last)
                self.blank(place + 1, last)

    def blank(self, first: int, last: int) -> None:
        self.edits.append((self.tokens[first].start, self.tokens[last].end + 1, ""))

    def read_options(self, first: int, last: int) -> None:
        for part in self.parts(first, last):
            given = " ".join(str(self.tokens[place].text) for place in part)
            if given.lower() in (way.lower() for way in _GROUPS):
                continue  # the schema says which groups are public, and others are found above a threshold
            name = self.word(part[0]).lower() if part else ""
            name = _OLDER.get(name, name)
            if len(part) < 3 or self.kind(part[1]) != "EQ" or name not in _OPTIONS:
                hint = "Public groups are those that are declared; undeclared ones are discovered, with a delta."
                raise InputError("sql", given, "an option with its value", hint, among=_OPTIONS)
            if name in self.options:
                raise InputError("sql", given, f"{name} said once")
            self.options[name] = self.between(part[2], part[-1])
            if name == "privacy_unit_column":
                self.options[name] = str(self.tokens[part[-1]].text)  # without the table before it, and its quotes

    def parts(self, first: int, last: int) -> list[list[int]]:
        """Tokens between commas, up to `last`."""
        found: list[list[int]] = [[]]
        depth = 0
        for place in range(first, last):
            depth += (self.kind(place) == "L_PAREN") - (self.kind(place) == "R_PAREN")
            if self.kind(place) == "COMMA" and depth == 0:
                found.append([])
            else:
                found[-1].append(place)
        return found if found != [[]] else []

    def calls(self) -> None:
        """ANON_SUM(x CLAMPED BETWEEN 0 AND 9) and SUM(x, contribution_bounds_per_group => (0, 9))."""
        for place in range(1, len(self.tokens)):
            if self.kind(place) != "L_PAREN" or self.kind(place - 1) in ("COMMA", "L_PAREN"):
                continue
            name = self.word(place - 1)
            if name.startswith(_ANON):
                start = self.tokens[place - 1].start
                self.edits.append((start, start + len(_ANON), ""))
            self.call(name.removeprefix(_ANON), place, self.closing(place))

    def call(self, name: str, first: int, last: int) -> None:
        parts = self.parts(first + 1, last)
        for place, part in enumerate(parts):
            for index, token in enumerate(part):
                if self.word(token) == "CLAMPED" and self.word(token + 1) == "BETWEEN":
                    ends = part[index + 2 :]
                    middle = next((one for one in ends[1:-1] if self.kind(one) == "AND"), None)
                    if middle is None:
                        raise InputError("sql", self.between(token, part[-1]), "CLAMPED BETWEEN 0 AND 500")
                    self.bound(name, first, part[:index], (ends[0], middle - 1), (middle + 1, part[-1]))
                    self.blank(token, part[-1])
            if place and len(part) > 1 and self.word(part[0]) in _BOUNDS and self.kind(part[1]) == "FARROW":
                self.arrow(name, first, parts[0], part)

    def arrow(self, name: str, first: int, argument: list[int], part: list[int]) -> None:
        ends = self.parts(part[2] + 1, part[-1]) if len(part) > 3 else []
        if len(ends) != 2 or not all(ends):
            raise InputError("sql", self.between(part[0], part[-1]), "bounds in brackets: => (0, 500)")
        whose = "" if name == "SUM" and self.word(part[0]) == _BOUNDS[0] else name  # of rows, as it says
        self.bound(whose, first, argument, (ends[0][0], ends[0][-1]), (ends[1][0], ends[1][-1]))
        self.blank(part[0] - 1, part[-1])  # with the comma before it

    def bound(self, name: str, first: int, argument: list[int], low: tuple[int, int], high: tuple[int, int]) -> None:
        """Values moved into bounds before they are used; for a count, as how many rows a person counts."""
        least, most = self.between(*low), self.between(*high)
        if name == "COUNT":
            ends = [as_written(end, "sql") if _plain(end) and len(end) <= _DIGITS else None for end in (least, most)]
            if ends[0] != 0 or ends[1] is None or ends[1].denominator != 1 or ends[1] < 1:
                raise InputError("sql", f"{least}, {most}", "bounds of a count from 0 to a whole number")
            self.most.append(int(ends[1]))
            return
        if not argument or not least or not most:
            raise InputError("sql", self.between(first - 1, first), "bounds that follow what they bound")
        after, before = self.tokens[first].end + 1, self.tokens[argument[-1]].end + 1
        # Bounds of a sum are of a person's sum in a group, and not of a row.
        self.edits.append((after, after, f"{PERSON_BOUNDS}(" if name == "SUM" and self.persons else "CLIP("))
        self.edits.append((before, before, f", {least}, {most})"))

    def plain(self) -> str:
        """The statement after all edits."""
        text = self.text
        for start, end, instead in sorted(self.edits, key=lambda edit: edit[:2], reverse=True):
            text = text[:start] + instead + text[end:]
        return text

    def price(self) -> dict[str, Number]:
        """Epsilon and delta, as they are written."""
        return {name: as_written(self.options[name], "sql") for name in ("epsilon", "delta") if name in self.options}

    def limits(self, schema: Schema) -> dict[str, int]:
        """The limits on a person that are stated, if the unit is the schema's."""
        unit = self.options.get("privacy_unit_column")
        if unit is not None and unit != schema.unit.column:
            hint = "Who is protected is stated in the schema, once, and not by a question."
            allowed = schema.unit.column or "left out: rows are protected"
            raise InputError("privacy_unit_column", unit, allowed, hint)
        found = {}
        for name, option in (("groups", "max_groups_contributed"), ("rows_total", "max_rows_contributed")):
            if option in self.options:
                given = self.options[option]
                if not given.isdecimal() or len(given) > _DIGITS or int(given) < 1:
                    raise InputError(option, given, f"a whole number from 1 on, of at most {_DIGITS} digits")
                found[name] = int(given)
        if self.most:
            found["rows"] = max(self.most)
        return found


def _plain(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()
