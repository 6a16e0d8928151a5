"""The custodian's section of the pages: datasets, budgets, tokens, surveys, the ledger, the registry."""

from __future__ import annotations

from discreet.apps.web.custodian.section import routes

__all__ = ["routes"]
