"""Plans and data for tests of the door: small, and told when to fail."""

from __future__ import annotations

import json
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.core.loss import Loss, Pure
from discreet.core.unit import Protected, Unit
from discreet.core.version import DataVersion
from discreet.core.wire import canonical

CANARY = "canary-7f3a-jane-doe"


def run_plan(plan, data, bits):
    """What a plan publishes of data, by way of a record, as at the door."""
    return plan.publish(json.loads(canonical(plan.measure(data, bits))))


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
    kind: str = "job"
    version: int = 1

    def measure(self, data, bits):
        noise = int.from_bytes(bits.read(8).tobytes(), "big")
        return {"count": len(data) + noise}

    def publish(self, measured):
        return measured


class Broken(Job):
    """Fails, and puts private values wherever an exception can carry them."""

    problem: type[BaseException] = ValueError

    def measure(self, data, bits):
        secret = data[0]
        try:
            raise KeyError(secret)
        except KeyError as error:
            problem = self.problem(f"bad row {secret}")
            problem.add_note(secret)
            raise problem from error


def held_in_memory(ledger, release, result, **told):
    """A planted bug, for `Ledger.measurement`: what was measured is handed on before it is on record."""
    return replace(ledger.find(release), measurement=result)


def unmeasured(find):
    """A planted bug, for `Ledger.find`: a measurement on record is not seen, so that it is made again."""
    return lambda ledger, release: (known := find(ledger, release)) and replace(known, measurement=None)


def left(ledger):
    return ledger.remaining("visits").amount


def leaks(error, text, own):
    """Whether `text` can be reached from an exception: message, notes, chain, or the variables of any frame."""
    waiting, seen = [error], set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if text in "".join(traceback.format_exception(each)) or text in repr(each):
            return True
        for frame, _ in traceback.walk_tb(each.__traceback__):
            if frame.f_code.co_filename != own and any(text in repr(value) for value in frame.f_locals.values()):
                return True
        waiting += [each.__cause__, each.__context__]
    return False


class Quiet(Data):
    def __repr__(self):
        return "Quiet()"


class Dated(Data):
    """Data that says which version it is."""

    at = "monday"

    def version(self, secret):
        return DataVersion("declared", self.at)
