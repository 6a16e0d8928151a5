"""Plans and data for tests of the door: small, and told when to fail."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from discreet.core.loss import Loss, Pure
from discreet.core.unit import Protected, Unit
from discreet.core.version import DataVersion

CANARY = "canary-7f3a-jane-doe"


@dataclass
class Data:
    """Private rows that count how often they were opened."""

    rows: Any = (CANARY, 1, 2, 3)
    opened: int = 0

    def version(self, key):
        return DataVersion.declare("as it is")

    @contextmanager
    def open(self):
        self.opened += 1
        yield self.rows


@dataclass(frozen=True)
class Job:
    """A count with eight random bytes as noise, so that no two runs agree."""

    cost: Loss = field(default_factory=lambda: Pure(1))
    digest: str = "sha256:1"
    dataset: str = "visits"
    unit: Protected = field(default_factory=Unit)
    mechanism: str = "random bytes"
    query: dict = field(default_factory=lambda: {"count": "*"})

    def run(self, data, bits):
        noise = int.from_bytes(bits.read(8).tobytes(), "big")
        return {"count": len(data) + noise}


class Broken(Job):
    """Fails, and puts private values wherever an exception can carry them."""

    problem: type[BaseException] = ValueError

    def run(self, data, bits):
        secret = data[0]
        try:
            raise KeyError(secret)
        except KeyError as error:
            problem = self.problem(f"bad row {secret}")
            problem.add_note(secret)
            raise problem from error
