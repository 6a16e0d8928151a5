"""Everything discreet raises on purpose, in one tree.

    DiscreetError
    ├── InputError (ValueError)      a parameter is not allowed; nothing was read, nothing was spent
    │   ├── MissingError             a dataset, a release or a job of the name given is not there
    │   ├── SourceError              the data cannot be reached for now; nothing was spent
    │   └── ConfigError              a configuration file has problems, each of which the message names
    ├── LossError (ValueError)       a privacy loss cannot be stated in the form asked for
    ├── ExhaustedError               an interactive mechanism has given all the answers it was paid for
    ├── BudgetError                  the ledger refuses: more was asked than is left; nothing was spent
    │   └── CapError                 more was asked than a caller may spend for now; nothing was spent
    ├── RunError                     a run failed after its cost was recorded; the cost stays spent
    ├── LedgerError                  the ledger cannot be trusted or reached (restored from a copy, damaged, busy)
    │   ├── MissingLedgerError       there is no ledger there; the message is the command that makes one
    │   └── GuardError               what watches the ledger is there and cannot be read
    ├── BusyError                    the server has too much to do; ask again later; nothing was spent
    ├── SignInError                  a page is for people who are signed in
    ├── IdentityError                who someone is could not be verified; nobody was signed in
    ├── FormError                    what was sent is no form of these pages; nothing was spent
    └── MissingExtraError (ImportError)  an optional library is needed; the message is the pip command

A message says what is allowed, what was given and what to do next: "`epsilon` must be more than zero; got -1." It never
holds a cell of private data.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

__all__ = [
    "BudgetError",
    "BusyError",
    "CapError",
    "ConfigError",
    "DiscreetError",
    "ExhaustedError",
    "FormError",
    "GuardError",
    "IdentityError",
    "InputError",
    "LedgerError",
    "LossError",
    "MissingError",
    "MissingExtraError",
    "MissingLedgerError",
    "RunError",
    "SignInError",
    "SourceError",
]


class DiscreetError(Exception):
    """The root: catch this to catch everything discreet raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, is the same error: made from what it holds, not from arguments."""
        return _copied, (type(self), self.args, dict(self.__dict__))


def _copied(kind: type[DiscreetError], args: tuple[Any, ...], state: dict[str, Any]) -> DiscreetError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(DiscreetError, ValueError):
    """A parameter is not allowed. Raised before anything is read or spent.

    >>> print(InputError("epsilon", -1, "more than zero"))
    `epsilon` must be more than zero; got -1.
    >>> print(InputError("column", "pey", among=["age", "pay"], hint="Nothing was spent."))
    `column` must be one of age, pay; got 'pey'. Did you mean `pay`? Nothing was spent.

    `allowed` completes "must be"; `among` lists the names to choose from, after `allowed` if there is one; `at`
    says where in a longer text it is.
    """

    def __init__(
        self,
        field: str,
        got: object,
        allowed: str = "",
        hint: str = "",
        *,
        among: Iterable[object] | None = None,
        at: str = "",
    ) -> None:
        if among is not None:
            names = [str(name) for name in among if name != ""]  # what has no name cannot be named
            allowed = _listed(allowed, names)
            hint = _suggested(got, names, hint)
        self.field = field
        self.got = got
        self.allowed = allowed
        self.hint = hint
        super().__init__(f"{_sentence(f'`{field}`{at}', got, allowed)} {hint}".rstrip())

    @classmethod
    def unknown(cls, field: str, among: Iterable[object], hint: str = "") -> Self:
        """For a field that does not exist, where others do: `dataset.nmae` beside `dataset.name`.

        >>> print(InputError.unknown("dataset.nmae", ["name", "version"]))
        `dataset.nmae` is not known here. Did you mean `name`? Known: name, version.
        """
        names = [str(name) for name in among]
        meant = _suggested(field.rpartition(".")[2], names, "")
        known = f"Known: {_few(names)}." if names else ""
        error = cls(field, GIVEN, f"one of {_few(names)}" if names else "left out", f"{meant} {hint}".strip())
        error.args = (" ".join(part for part in (f"`{field}` is not known here.", meant, known, hint) if part),)
        return error

    @classmethod
    def refused(cls, field: str, got: object, sentence: str, hint: str = "") -> Self:
        """For the few cases that "must be" does not fit: the sentence follows the field and what was given.

        >>> print(InputError.refused("release", "pay-2026", "has no rows to compare"))
        `release` 'pay-2026' has no rows to compare.
        """
        error = cls(field, got, sentence, hint)
        error.args = (f"`{field}` {_brief(got)} {sentence}. {hint}".rstrip(),)
        return error

    def about(self, field: str) -> Self:
        """The same error about a field of another name: what a person wrote, rather than what it became."""
        error = type(self)(field, self.got, self.allowed, self.hint)
        error.args = (f"`{field}`" + str(self).removeprefix(f"`{self.field}`"),)
        return error


class MissingError(InputError):
    """A dataset, a release or a job of the name given is not there."""


class SourceError(InputError):
    """The data cannot be reached for now: a database, a cluster or an object store does not answer. Nothing was spent.

    Nothing is wrong with the question: the same one is answered when the data is there again.
    """


class ConfigError(InputError):
    """A configuration file has problems: all of them, so that they are mended in one go. Nothing was started.

    >>> print(ConfigError.of("server.toml", ["`server.port` must be a whole number from 1 to 65535; got 0."]))
    `server.toml` has 1 problem. Nothing was started.
    - `server.port` must be a whole number from 1 to 65535; got 0.
    """

    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str, problems: Iterable[str]) -> Self:
        """For a file and everything that is wrong with it."""
        said = tuple(problems)
        many = f"{len(said)} problem{'' if len(said) == 1 else 's'}"
        error = cls(path, Phrase(many), "a file without problems")
        error.problems = said
        error.args = ("\n".join((f"`{path}` has {many}. Nothing was started.", *(f"- {one}" for one in said))),)
        return error


class LossError(DiscreetError, ValueError):
    """A privacy loss has no finite statement in the form asked for (Gaussian noise is not pure, say)."""


class ExhaustedError(DiscreetError):
    """An interactive mechanism has given every answer its price covers."""


class BudgetError(DiscreetError):
    """More was asked than the allotment has left. Nothing was spent and no data was read."""

    def __init__(self, text: str, *, asked: object, left: object, allotment: str) -> None:
        self.asked = asked
        self.left = left
        self.allotment = allotment
        super().__init__(text)


class CapError(BudgetError):
    """More was asked than a caller may spend for now: a custodian's cap, not the budget. Nothing was spent."""

    def __init__(self, text: str, *, asked: object, left: object, allotment: str, frees: str = "") -> None:
        self.frees = frees
        super().__init__(text, asked=asked, left=left, allotment=allotment)


class RunError(DiscreetError):
    """A run failed after its cost was recorded; the cost stays spent.

    The message never says what went wrong inside: that may depend on private values. No exception is chained to it.
    """

    def __init__(self, text: str, *, release: str) -> None:
        self.release = release
        super().__init__(text)


class LedgerError(DiscreetError):
    """The ledger cannot be trusted or reached: restored from an old copy, damaged, of another version, or busy."""


class MissingLedgerError(LedgerError):
    """There is no ledger at this path or address. None is made silently: that would begin a budget anew."""


class GuardError(LedgerError):
    """What watches the ledger is there and cannot be read, so nobody can tell whether the ledger is the last one."""


class BusyError(DiscreetError):
    """The server has too much to do: ask later, or less often. Nothing was spent."""


class SignInError(DiscreetError):
    """A page for people who are signed in was requested by someone who is not."""


class IdentityError(DiscreetError):
    """Who someone is could not be verified by the issuer that was to say so. Nobody was signed in."""


class FormError(DiscreetError):
    """The body of a request is no form, or too large to be one of these pages. Nothing was spent."""


class MissingExtraError(DiscreetError, ImportError):
    """An optional library is not installed; the message names the exact pip command."""

    def __init__(self, extra: str, library: str) -> None:
        self.extra = extra
        self.library = library
        super().__init__(f"{library} is needed here and is not installed. Run: pip install 'discreet[{extra}]'")


class Phrase(str):
    """What was given, in words instead of as a value: a message shows it without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


MISSING = Phrase("nothing")
"""What was given where nothing was."""

GIVEN = Phrase("a value")
"""What was given where any value is one too many."""


def kind_of(value: object) -> Phrase:
    """What a value is, without its content: "a list", "a DataFrame"."""
    name = type(value).__name__
    return Phrase(_KINDS.get(name) or f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}")


_KINDS = {"str": "text", "int": "a whole number", "float": "a number", "dict": "a dictionary", "NoneType": "nothing"}


def nearest(name: object, names: Iterable[str]) -> str | None:
    """The one of some names that a misspelt name most likely means."""
    from difflib import get_close_matches  # only where something is wrong already

    folded = {known.casefold(): known for known in names}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6) if isinstance(name, str) else []
    return folded[close[0]] if close else None


def _suggested(got: object, names: list[str], hint: str) -> str:
    close = None if isinstance(got, Phrase) else nearest(got, names)
    return f"Did you mean `{close}`? {hint}".rstrip() if close is not None else hint


_MOST_NAMES = 12
_LONG = 100  # nobody types a list of so many: it may be a column


def _few(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _listed(allowed: str, names: list[str]) -> str:
    if allowed:
        return f"{allowed}: {_few(names) or 'there is none'}"
    return f"one of {_few(names)}" if len(names) > 1 else names[0] if names else "left out: there is none"


def _sentence(field: str, got: object, allowed: str) -> str:
    missing = got is None or got is MISSING
    if missing and not allowed.startswith("given"):
        return f"{field} is missing: it must be {allowed}."
    given = "" if missing or got is GIVEN else f"; got {_brief(got)}"
    return f"{field} must be {allowed}{given}."


_TABULAR = ("__array__", "__dataframe__", "__arrow_c_array__", "__arrow_c_stream__")
"""What says that an object holds values of rows: a column in place of its name, say. Its content is nobody's to see."""


def _holds_rows(value: object) -> bool:
    kind = type(value)
    if any(hasattr(kind, name) for name in _TABULAR):
        return getattr(value, "ndim", 1) != 0  # a single number of numpy is a number
    return isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > _LONG


def _brief(value: object) -> str:
    if _holds_rows(value):
        return kind_of(value)
    try:
        text = _plain(value)
    except Exception:  # an integer too long to be written out, or an object that cannot say what it is
        text = f"a number of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def _plain(value: object) -> str:
    if type(value) is list and len(value) <= _MOST_NAMES:  # as it stands in a file
        return f"[{', '.join(_plain(each) for each in value)}]"
    if isinstance(value, Fraction | Decimal):
        return str(value)
    number: Any = value
    return repr(number.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value)
