"""A report states the privacy of its release in words."""

from __future__ import annotations

from report_desk import SCHEMA, table

import discreet
from discreet import Budget
from discreet.core.packing import pack


def test_gaussian_releases_state_their_privacy(tmp_path):
    curator = discreet.open(
        table(500), SCHEMA, ledger=tmp_path / "b.db", budget=Budget(epsilon=1, delta="1e-6"), who="ann", create=True
    )
    made = curator.synthesize("independent", columns=["age", "sex"]).plan(share=1).release()
    report = made.report(copies=2)
    assert "of zero-concentrated privacy, which is epsilon = " in report.privacy
    assert "but for a chance of 1e-6" in report.privacy
    assert pack(made.measured[0].values)  # still what the books hold
