"""Everything discreet raises on purpose, in one tree.

    DiscreetError
    ├── InputError (ValueError)      a parameter is not allowed; nothing was read, nothing was spent
    ├── LossError (ValueError)       a privacy loss cannot be stated in the form asked for
    ├── ExhaustedError               an interactive mechanism has given all the answers it was paid for
    ├── BudgetError                  the ledger refuses: more was asked than is left; nothing was spent
    ├── RunError                     a run failed after its cost was recorded; the cost stays spent
    ├── LedgerError                  the ledger cannot be trusted or reached (restored from a copy, damaged, busy)
    │   ├── MissingLedgerError       there is no ledger at the place named; the message is the command that makes one
    │   └── GuardError               what watches the ledger is there and cannot be read
    └── MissingExtraError (ImportError)  an optional library is needed; the message is the pip command

A message says what was asked, what is allowed and what to do next. It never holds a cell of private data.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "DiscreetError",
    "ExhaustedError",
    "GuardError",
    "InputError",
    "LedgerError",
    "LossError",
    "MissingExtraError",
    "MissingLedgerError",
    "RunError",
]


class DiscreetError(Exception):
    """The root: catch this to catch everything discreet raises on purpose."""


class InputError(DiscreetError, ValueError):
    """A parameter is not allowed. Raised before anything is read or spent."""

    def __init__(self, field: str, got: object, allowed: str, hint: str = "") -> None:
        self.field = field
        self.got = got
        self.allowed = allowed
        self.hint = hint
        text = f"{field} = {_brief(got)} is not allowed: {allowed}."
        super().__init__(f"{text} {hint}".rstrip())


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
    """There is no ledger at the place named. None is made silently: that would begin a budget anew."""


class GuardError(LedgerError):
    """What watches the ledger is there and cannot be read, so nobody can tell whether the ledger is the last one."""


class MissingExtraError(DiscreetError, ImportError):
    """An optional library is not installed; the message names the exact pip command."""

    def __init__(self, extra: str, library: str) -> None:
        self.extra = extra
        self.library = library
        super().__init__(f"{library} is needed here and is not installed. Run: pip install 'discreet[{extra}]'")


def _brief(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # an integer too long to be written out, or an object that cannot say what it is
        text = f"a number of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
