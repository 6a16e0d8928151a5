"""The gate: nothing is left out, findings add up, and a violation is one."""

from __future__ import annotations

import dataclasses

import pytest

from discreet.audit import gate as gates
from discreet.audit import subjects as mechanisms
from discreet.audit.gate import Subject, run_gate
from discreet.core.loss import Pure
from discreet.errors import InputError, MissingExtraError
from discreet.mechanisms import Laplace

pytestmark = pytest.mark.statistical


def test_the_gate_adds_up():
    heard = []
    found = run_gate([mechanisms.__name__], only="Laplace on 3", workers=1, on_finding=heard.append)
    assert found.passed
    assert len(heard) == len(found.findings) + len(found.planted)
    assert {one.name for one in found.planted} == {"Laplace on 3"}
    assert "no violation" in found.sentence()
    assert "planted bugs were caught" in found.sentence()
    assert found.to_dict()["passed"] is True
    weak = dataclasses.replace(found, planted=tuple(dataclasses.replace(one, violated=False) for one in found.planted))
    assert not weak.passed
    assert "too weak" in weak.sentence()
    broken = dataclasses.replace(
        found, findings=tuple(dataclasses.replace(one, violated=True) for one in found.findings)
    )
    assert not broken.passed
    assert "refuted: Laplace on 3" in broken.sentence()


class Missing:
    """A room whose libraries are not installed."""

    @staticmethod
    def subjects():
        raise MissingExtraError("learn", "jax")


class Broken:
    """A room with a bug that nobody planted."""

    @staticmethod
    def subjects():
        return [Subject("half", "mechanism", lambda: (Pure(1), [mechanisms.added_to(Laplace(1), 2)]), 5_000)]


def test_a_room_that_is_not_installed_is_named_and_a_real_bug_is_a_violation(monkeypatch):
    rooms = {"here.missing": Missing, "here.broken": Broken}
    monkeypatch.setattr(gates, "import_module", rooms.__getitem__)
    found = run_gate(list(rooms), workers=1)
    assert len(found.violations) == 1
    assert not found.passed
    assert found.skipped[0].startswith("missing:")
    assert "pip install" in found.skipped[0]


@pytest.mark.parametrize(
    ("field", "options"), [("tier", {"tier": 4}), ("only", {"only": "nonsense"}), ("alarm", {"alarm": 1e-20})]
)
def test_bad_input_is_named(field, options):
    with pytest.raises(InputError, match=field):
        run_gate([mechanisms.__name__], **options)
