"""The errors page: what each error means, what to do, and how commands and the server say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handbook.names import Source
from handbook.words import cell, fence, markdown, table

__all__ = ["WHAT_TO_DO", "Failure", "failure_pages", "failures"]

_UP = "../"

WHAT_TO_DO: Mapping[str, str] = {
    "DiscreetError": "Catch it to catch everything that is raised on purpose. It is never raised itself.",
    "InputError": "Read the message: it names the parameter (`field`), what was `got`, what is `allowed`, and often "
    "what to do (`hint`). Change the parameter and ask again; nothing was spent.",
    "MissingError": "Look at the name again: the message lists the datasets there are, or the path that lists "
    "releases. A job that still runs has no release yet.",
    "LossError": "Ask for another form: (epsilon, delta) or zCDP instead of pure epsilon, or another mechanism.",
    "ExhaustedError": "Buy another mechanism from the budget; this one has given what was paid for.",
    "BudgetError": "Ask for less: a smaller price, a wider `within`. Or read what was released before, which is free. "
    "`asked`, `left` and `allotment` say how much is missing. A budget is not enlarged to fit a question.",
    "CapError": "Wait until the moment that the message names (`frees`), or ask for less. A custodian can change the "
    "cap: `discreet token cap`. It is policy, and the budget has more left.",
    "RunError": "The cost stays spent. Ask again under the same release id (`release`): it is not charged twice. What "
    "went wrong is not said, since it may depend on the data; look at the engine and the table as their owner. Where "
    "only publishing failed it is said, and what was measured is on record: asked again it is published from there.",
    "LedgerError": "Stop, and find out why before anything is released: `discreet ledger verify` says what does not "
    "add up. A ledger restored from an old copy has forgotten what was spent. A busy one can be asked again.",
    "MissingLedgerError": "Look whether the path is the right one (`--ledger`, `DISCREET_LEDGER`). If there was "
    "never a ledger, make one: `discreet ledger create`. If there was, put it back from a backup.",
    "GuardError": "Make the guard readable again: its folder, its file, or the database that `DISCREET_ANCHOR` names. "
    "If it is lost, the custodian says what to write off: `discreet ledger acknowledge --write-off`.",
    "SourceError": "Nothing is wrong with the question: ask again under the same release id when the data is there. "
    "The custodian finds out why with `discreet doctor`.",
    "BusyError": "Wait as long as the message says, or a little, and ask again under the same release id.",
    "SignInError": "Sign in: the pages lead there by themselves, and back.",
    "IdentityError": "Sign in again. If it stays, ask the custodian: the message says what is wrong with the "
    "issuer's ID token, or that no rule of the server fits you.",
    "FormError": "Load the page again and send its own form.",
    "ConfigError": "Mend every line that the message lists; nothing was started.",
    "MissingExtraError": "Run the pip command that the message names.",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as people meet it."""

    name: str
    doc: str
    advice: str
    status: int
    code: int


def failures(source: Source) -> list[Failure]:
    """Every error of `discreet.errors`, with the status and exit code that the program really uses."""
    from discreet import errors
    from discreet.apps.cli import exit_code
    from discreet.apps.server.app import STATUS

    made = {
        "BudgetError": errors.BudgetError("", asked=0, left=0, allotment=""),
        "CapError": errors.CapError("", asked=0, left=0, allotment=""),
        "RunError": errors.RunError("", release=""),
        "MissingExtraError": errors.MissingExtraError("", ""),
    }
    found = []
    for one in source.names(source.modules[f"{source.package}.errors"]):
        kind = getattr(errors, one.name)
        problem = made.get(one.name)
        if problem is None:
            problem = kind("field", 0, "allowed") if issubclass(kind, errors.InputError) else kind("")
        advice = WHAT_TO_DO.get(one.name, "")
        found.append(Failure(one.name, one.doc, advice, STATUS.get(kind, 400), exit_code(problem)))
    return found


def failure_pages(found: list[Failure], source: Source) -> dict[str, str]:
    """The page, by its path."""
    whole = source.modules[f"{source.package}.errors"].doc
    parts = ["# Errors", markdown(whole, _UP)]
    rows = [[f"[`{one.name}`](#{one.name.lower()})", f"`{one.code}`", f"`{one.status}`"] for one in found]
    parts.append(table(["error", "exit code", "HTTP status"], rows))
    parts.append(
        "Over HTTP the body is a JSON object with `error` (the name above), `message`, and for an `InputError` also "
        "`field`, `allowed` and `hint`. On the command line the message goes to stderr; with `--json` as an object "
        "of `error` and `message`."
    )
    for one in found:
        parts += [f"## {one.name}", markdown(one.doc, _UP), f"**What to do.** {cell(one.advice, _UP)}"]
    parts += ["## Catching them", fence(_EXAMPLE, "python"), ""]
    return {"reference/errors.md": "\n\n".join(parts)}


_EXAMPLE = """\
from discreet.errors import BudgetError, InputError

try:
    answer = plan.release()
except BudgetError as refusal:
    print(refusal.left, "is left of", refusal.allotment)
except InputError as problem:
    print(problem.field, "must be", problem.allowed)
"""
