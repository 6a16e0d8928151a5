"""What `discreet audit self` attacks beyond mechanisms. To add a subject, add a module to `MODULES`."""

from discreet.audit import gate

__all__ = ["MODULES"]

MODULES = (
    *gate.MODULES,
    "discreet.apps.audits.questions",
    "discreet.apps.audits.learn",
    "discreet.apps.audits.estimators",
    "discreet.apps.audits.hierarchy",
    "discreet.apps.audits.synth",
    "discreet.apps.audits.local",
)
"""Each lists what is attacked in `subjects()`, and broken twins in `planted()`, either of which may be absent."""
