"""A dataset's books as an entry for the OpenDP registry of deployments.

The registry (https://registry.opendp.org) asks each deployment for its flavour, unit and parameters of privacy, its
model, its accounting, its implementation and what is not protected. What the ledger knows is filled in; what only the
custodian knows says so.
"""

from __future__ import annotations

from importlib.metadata import version

from discreet.core.wire import Json
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger

__all__ = ["entry"]

_TELL = "To be filled in by the custodian."

_UNPROTECTED = (
    "Who asked what, when and at what cost; the schema, its bounds, categories and keys; the number and timing of "
    "releases; that a release failed; whether files or tables of the data were written between two releases. None of "
    "these is computed from private values by discreet; where a person chose them by looking at the data, that is not "
    "covered."
)

_COUNTED = {
    "pure": "epsilons are added (basic composition, valid as a privacy filter)",
    "zcdp": "rho and failure delta are added, each under a fixed cap (zCDP privacy filter, fully adaptive)",
    "plan": "jobs fixed in advance, each counted by its privacy loss distribution; their (epsilon, delta) are added",
}


def entry(ledger: Ledger, dataset: str) -> dict[str, Json]:
    """The entry of one dataset, in the order people read it."""
    account, standing = ledger.account(dataset), ledger.standing(dataset)
    outcomes = ledger.releases(dataset)
    mechanisms = sorted({outcome.charged.mechanism for outcome in outcomes if outcome.charged.mechanism})
    first = outcomes[0].charged.time[:10] if outcomes else None
    spent: list[Json] = [
        {
            "allotment": each.allotment.name,
            "counted_as": each.allotment.kind,
            each.allotment.currency: float(each.spent.amount),
            "delta": float(each.spent.delta),
            "cap": float(each.allotment.cap.amount),
            "cap_delta": float(each.allotment.cap.delta),
        }
        for each in standing
    ]
    return {
        "status": "Draft",
        "deployment": {
            "product": {
                "name": dataset,
                "data_curators": [_TELL],
                "intended_use": _TELL,
                "data_product_type": "Statistics",
                "description": _TELL,
                "publication_date": first,
            },
            "dp_flavor": {
                "name": _flavour(account.budget),
                "data_domain": _TELL,
                "unprotected_quantities": _UNPROTECTED,
            },
            "privacy_loss": {
                "privacy_unit": account.unit,
                "privacy_unit_description": account.unit,
                "privacy_parameters": _parameters(account.budget),
                "privacy_parameters_description": "The budget: an upper bound on everything ever released.",
                "spent_so_far": spent,
            },
            "model": {
                "model_name": "Central",
                "actors": "A trusted curator holds the data and runs discreet; readers of releases are not trusted.",
                "release_type": "Many releases",
                "releases_so_far": len(outcomes),
                "data_source_type": _TELL,
                "access_type": "Interactive",
            },
            "accounting": {
                "post_processing": "Whatever is computed from a release alone is free.",
                "composition": "; ".join(f"{part.name}: {_COUNTED[part.kind]}" for part in account.budget.allotments)
                + ". Across allotments (epsilon, delta) are added.",
            },
            "implementation": {
                "mechanisms": list(mechanisms),
                "library": f"discreet {version('discreet')}: exact integer noise from cryptographic randomness",
                "ledger_head": {"sequence": ledger.head().sequence, "hash": ledger.head().hash},
            },
        },
    }


def _flavour(budget: Budget) -> str:
    if budget.rho is not None:
        return "Approximate zero-concentrated DP" if budget.delta else "Zero-concentrated DP"
    return "Approximate DP" if budget.delta else "Pure DP"


def _parameters(budget: Budget) -> dict[str, Json]:
    named = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta or None}
    return {name: float(value) for name, value in named.items() if value is not None}
