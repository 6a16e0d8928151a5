"""What each column is likely to be: a direct identifier, something an outsider may know, a secret, or neither.

A guess from three signs: what the column is called, how its values are written, and how many rows share one. It is a
first draft for the owner, who knows better; every guess says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.risk.records import CodedColumn, Records

__all__ = ["DIRECT", "OTHER", "QUASI", "SENSITIVE", "ColumnRole", "guess_roles"]

DIRECT, QUASI, SENSITIVE, OTHER = "direct identifier", "quasi-identifier", "sensitive", "other"

_LOOKED_AT = 2000  # values whose spelling is looked at
_MOST = 0.8  # of them: then a pattern is the column's
_UNIQUE = 0.9  # distinct values for each row with a value: then a column numbers the rows
_TOO_MANY = 12  # quasi-identifiers beyond which a guess says little

_PATTERNS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}"),
    "web addresses": re.compile(r"https?://\S+"),
    "network addresses": re.compile(r"(\d{1,3}\.){3}\d{1,3}|([0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}"),
    "identifiers of 32 hexadecimal digits": re.compile(
        r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}"
    ),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "bank account numbers": re.compile(r"[A-Z]{2}\d{2}([ ]?[A-Z0-9]{4}){3,7}[ ]?[A-Z0-9]{0,3}"),
    "card numbers": re.compile(r"(\d{4}[ -]?){3}\d{1,7}"),
    "telephone numbers": re.compile(r"(\+|00)\d[\d ()/.-]{6,}\d|\(?0?\d{2,5}\)?[ /-]\d{3,}[\d -]*"),
}
_NAMES = re.compile(r"[A-Z][\w'-]+([ ,]+([A-Z]\.?|[A-Z][\w'-]+|van|von|de|der|la|di|bin)){1,4}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")

# Words of a column's name, as in `patient_name` or `birthDate`.
_WORDS = {
    DIRECT: (
        *("name", "surname", "forename", "firstname", "lastname", "fullname", "email", "mail", "phone", "telephone"),
        *(
            "mobile",
            "ssn",
            "passport",
            "licence",
            "license",
            "iban",
            "account",
            "address",
            "street",
            "username",
            "login",
        ),
        *("nhs", "mrn", "uuid", "guid", "ip", "url", "photo", "fingerprint", "plate", "vin", "imei"),
    ),
    QUASI: (
        *(
            "age",
            "birth",
            "born",
            "dob",
            "birthday",
            "birthdate",
            "sex",
            "gender",
            "zip",
            "zipcode",
            "postcode",
            "postal",
        ),
        *(
            "city",
            "town",
            "county",
            "state",
            "region",
            "district",
            "ward",
            "place",
            "country",
            "nationality",
            "citizenship",
        ),
        *(
            "race",
            "ethnicity",
            "ethnic",
            "ethn",
            "hispanic",
            "language",
            "marital",
            "married",
            "relationship",
            "household",
            "children",
        ),
        *(
            "family",
            "education",
            "schooling",
            "degree",
            "school",
            "occupation",
            "job",
            "profession",
            "sector",
            "industry",
        ),
        *("employer", "workclass", "department", "height", "weight", "admission", "admitted", "discharge", "visit"),
        *("lat", "lon", "latitude", "longitude", "location", "home", "residence", "veteran", "hours"),
    ),
    SENSITIVE: (
        *("diagnosis", "disease", "illness", "condition", "dx", "icd", "hiv", "result", "treatment", "drug"),
        *("medication", "therapy", "symptom", "allergy", "disability", "pregnant", "pregnancy", "mental", "depression"),
        *(
            "income",
            "pay",
            "salary",
            "wage",
            "wages",
            "earnings",
            "wealth",
            "debt",
            "loan",
            "balance",
            "credit",
            "score",
        ),
        *("religion", "faith", "party", "vote", "political", "union", "orientation", "crime", "offence", "conviction"),
        *("grade", "rating", "cost", "charge", "gain", "loss", "overnight", "outcome", "death", "died"),
    ),
}
_ID = re.compile(r"(^|[_\W])(id|ids|nr|no|number|code|key|pseudonym|record)$")
_WHO = re.compile(
    r"(^|[_\W])(person|patient|customer|client|user|member|subject|respondent|participant|individual|employee|pupil|student)([_\W]?(id|nr|no|number|key|code))?$"
)
_FEW = 20  # different people at least, for a column to be taken for the person


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """A column, what it is taken for, and why. `distinct` values; `missing`, the part of rows without one."""

    name: str
    role: str
    why: str
    distinct: int
    missing: float
    constant: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def guess_roles(
    records: Records,
    *,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    person: str | None = None,
) -> tuple[ColumnRole, ...]:
    """The role of every column; those that were named are what they were named, the others are guessed.

    Where fewer than two columns look like quasi-identifiers, all that are not identifiers or secrets are taken for
    them, up to twelve: an outsider may know anything.
    """
    named = dict.fromkeys(quasi or (), (QUASI, "named by you"))
    named |= dict.fromkeys(sensitive or (), (SENSITIVE, "named by you"))
    named |= {} if person is None else {person: (DIRECT, "the person, named by you")}
    found = [_role(name, column, records.rows, named.get(name)) for name, column in records.columns.items()]
    if person is None and not any("--person" in one.why for one in found):
        found = [
            _repeated(one, records, found) if one.role == OTHER and one.name not in named else one for one in found
        ]
    asked = [role for role, names in ((QUASI, quasi), (SENSITIVE, sensitive)) if names is not None]
    found = [_demote(one, named) if one.role in asked else one for one in found]
    if quasi is not None:
        return tuple(found)
    if sum(one.role == QUASI for one in found) < 2:
        others = [one for one in found if one.role == OTHER and not one.constant]
        others = sorted(others, key=lambda one: -_bits(records[one.name]))[:_TOO_MANY]
        why = "nothing says that an outsider does not know it"
        found = [_changed(one, QUASI, why) if one in others else one for one in found]
    return tuple(found)


def _repeated(one: ColumnRole, records: Records, roles: list[ColumnRole]) -> ColumnRole:
    """The same column, or the one that identifies people, where rows look like several occasions of each of many.

    Its values number things of which most have several rows; another column of few values tells the rows of each
    apart (the occasion: a year, a visit), and a third one is the same in all rows of each (what does not change).
    """
    column = records[one.name]
    if one.constant or one.distinct < _FEW or 2 * one.distinct > records.rows or not _numbers_or_text(column):
        return one
    there = np.arange(records.rows) if column.values[-1] is not None else np.flatnonzero(column.codes < column.size - 1)
    whose = column.codes[there].astype(np.int64)
    sizes = np.bincount(whose)
    sizes = sizes[sizes > 0]
    if 2 * np.count_nonzero(sizes > 1) < len(sizes):
        return one
    occasions, settled = [], []
    for other in roles:
        if other.name == one.name or other.constant:
            continue
        codes = records[other.name].codes[there]
        pairs = len(np.unique(whose * records[other.name].size + codes))
        if pairs == len(there) and sizes.max() <= other.distinct < one.distinct:
            occasions.append(other)
        if pairs == len(sizes) and other.distinct < one.distinct:
            settled.append(other)
    if not occasions or not settled:
        return one
    occasion = min(occasions, key=lambda other: other.distinct).name
    why = f"several rows of each value, one for each {occasion}, and the same {settled[0].name} in all: see --person"
    return _changed(one, DIRECT, why)


def _numbers_or_text(column: CodedColumn) -> bool:
    return not column.ordered or all(_whole(value) for value in column.values if value is not None)


def _whole(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _demote(one: ColumnRole, named: dict[str, tuple[str, str]]) -> ColumnRole:
    return one if one.name in named else _changed(one, OTHER, "not among those you named")


def _changed(one: ColumnRole, role: str, why: str) -> ColumnRole:
    return ColumnRole(one.name, role, why, one.distinct, one.missing, one.constant)


def _role(name: str, column: CodedColumn, rows: int, named: tuple[str, str] | None) -> ColumnRole:
    there = np.bincount(column.codes, minlength=column.size) > 0
    values = [value for value, held in zip(column.values, there, strict=True) if held and value is not None]
    missing = float(np.mean(column.codes == column.size - 1)) if column.values[-1:] == (None,) else 0.0
    role, why = named or _guess(name, values, round(rows * (1 - missing)), column.ordered)
    constant = int(there.sum()) < 2
    if constant and named is None:
        role, why = OTHER, "the same for everybody"
    return ColumnRole(name, role, why, len(values), missing, constant)


def _guess(name: str, values: list[Any], rows: int, ordered: bool) -> tuple[str, str]:
    looked = [str(value) for value in values[:: max(len(values) // _LOOKED_AT, 1)] if not isinstance(value, bool)]
    unique = rows > 1 and len(values) >= _UNIQUE * rows
    text = not ordered
    if looked and text:
        for what, pattern in _PATTERNS.items():
            if _mostly(pattern, looked):
                return DIRECT, f"holds {what}"
    words = _words(name)
    whole = all(_whole(value) for value in values)
    if (word := next((word for word in words if word in _WORDS[DIRECT]), "")) and (text or whole):
        return DIRECT, f'called "{word}"'
    if unique and (whole or text) and _ID.search(_snake(name)):
        return DIRECT, "called a number or a key, and nearly every row has one of its own"
    if len(values) >= _FEW and (whole or text) and _WHO.search(_snake(name)):
        several = "" if unique else "; several rows have the same: see --person"
        return DIRECT, f"called a person's{several}"
    for word in words:
        for role in (QUASI, SENSITIVE):
            if word in _WORDS[role]:
                return role, f'called "{word}"'
    if unique and text and not _mostly(_TIME, looked):
        return DIRECT, "nearly every row has a text of its own"
    if unique and whole and rows >= _FEW and _consecutive(values):
        return DIRECT, "numbers the rows"
    if looked and text and len(values) > 20 and _mostly(_NAMES, looked):
        return DIRECT, "holds what look like names of people"
    if looked and _mostly(_TIME, looked):
        return QUASI, "points in time, which others may have seen"
    return OTHER, "nothing in its name or values says more"


def _mostly(pattern: re.Pattern[str], looked: list[str]) -> bool:
    return bool(looked) and sum(pattern.fullmatch(text) is not None for text in looked) >= _MOST * len(looked)


def _consecutive(values: list[Any]) -> bool:
    return bool(max(values) - min(values) < 1.5 * len(values))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _words(name: str) -> list[str]:
    """The words of a name, and pairs of them run together.

    >>> _words("birthDate"), _words("zip-code")
    (['birth', 'date', 'birthdate'], ['zip', 'code', 'zipcode'])
    """
    parts = [part for part in re.split(r"[^a-z0-9]+", _snake(name)) if part]
    return [*parts, *(a + b for a, b in pairwise(parts))]


def _bits(column: CodedColumn) -> float:
    """The entropy of a column: how much it tells about a row."""
    share = np.bincount(column.codes) / len(column.codes)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())
