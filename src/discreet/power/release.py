"""Released loads, read from the ledger: feasible, with intervals and a report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.constraints.hidden.numbers import HiddenNumbers
from discreet.core.exact import Number, as_written
from discreet.core.note import Note
from discreet.core.release import Release, number, percent
from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.blend import half_width
from discreet.mechanisms.record import noise_from

if TYPE_CHECKING:
    from discreet.show.picture import Picture

__all__ = ["HiddenLoads"]


@dataclass(frozen=True, slots=True, eq=False)
class HiddenLoads(HiddenNumbers):
    """Released loads: feasible, and as far as `report` says within beta of the reference cost.

    `table` has every load with an interval for the true one, `noisy` the loads before the repair: private as well, and
    unbiased, for whoever wants averages rather than a power flow.
    """

    output: ClassVar[str] = "mw"
    noise: Laplace | Gaussian | None = None
    """The law of the noise on steps; None at a single time, and in records of earlier versions."""

    @classmethod
    def sentences(cls, report: Mapping[str, Any]) -> list[str]:
        """What the repair made of the noisy loads."""
        return _repaired(report)

    @classmethod
    def more(cls, result: Mapping[str, Any]) -> dict[str, Any]:
        """The law of the noise, where the record holds it."""
        return {"noise": None if "noise" not in result else noise_from(result["noise"])}

    def tables(self) -> dict[str, Release]:
        """The released loads, those before the repair, and at several times the totals."""
        day = {} if self.noise is None else {"totals": self.totals()}
        return {**HiddenNumbers.tables(self), **day}

    def totals(self) -> Release:
        """What all loads draw together at each time, with intervals for the true sums.

        Guarantee
            Each interval holds the sum of the true loads, as they are clipped and rounded to steps, with at least the
            stated confidence: it is the sum of the noisy loads, which is unbiased, and the half-width of so many noises
            together. Proof: docs/proofs/power.md.
        """
        if self.noise is None:
            hint = "" if self.times == 1 else f'Publish it again for free: curator.publish("{self.id}").'
            raise InputError("release", self.id, "one at several times, whose record holds the law of its noise", hint)
        each = len(self.table) // self.times
        step = float(as_written(self.table.query.get("step_mw", "0.001"), "step"))
        sure = 1 - self.table.confidence
        half = float(half_width(self.noise, np.ones(1), np.array([float(each)]), sure)) * step
        sums, seen = ([sum(one[i : i + each]) for i in range(0, len(one), each)] for one in (self.loads, self.noisy))
        ends = [
            (min(max(there - half, 0.0), here), max(there + half, here)) for here, there in zip(sums, seen, strict=True)
        ]
        columns: dict[str, list[Any]] = {"time": self.clock, "mw": [round(one, 6) for one in sums]}
        columns["mw_lower"] = [math.floor(one * 1e6) / 1e6 for one, _ in ends]
        columns["mw_upper"] = [math.ceil(one * 1e6) / 1e6 for _, one in ends]
        return replace(self.table, columns=columns, keys=("time",))

    def plot(self) -> Picture:
        """The day: what all loads draw at each time with intervals, what it costs, and each load. At one time, bars."""
        from discreet.power.picture import draw_day

        return self.table.plot("mw") if self.times == 1 else draw_day(self)

    @property
    def loads(self) -> list[float]:
        """The released loads, MW; at several times one time after the other."""
        return self.table["mw"]

    @property
    def times(self) -> int:
        """At how many times loads were released."""
        return len(self.report.get("times", [None]))

    @property
    def clock(self) -> list[int | str]:
        """What the times are called: numbers from 1 unless they have names."""
        return [1] if self.times == 1 else self.table["time"][:: len(self.table) // self.times]

    @typed
    def at(self, time: int | str) -> list[float]:
        """The released loads of one time, MW: by its name, or by its number from 1."""
        if isinstance(time, str):
            if time not in self.clock:
                raise InputError("time", time, among=[str(one) for one in self.clock])
            time = self.clock.index(time) + 1
        if not 1 <= time <= self.times:
            raise InputError("time", time, f"a whole number from 1 to {self.times:,}, or the name of a time")
        each = len(self.table) // self.times
        return self.loads[(time - 1) * each : time * each]

    @typed
    def for_ac(self, net: Any, *, power_factor: Number = 0.95, beta: Number = 0.01) -> HiddenLoads:
        """The same loads moved until the AC optimal power flow of a net converges for them: `repair_ac`. Costs nothing.

        `net` is a pandapower net, of which what its loads draw is not read, or the path of the grid file. Intervals are
        widened where loads were moved out of them. The report says, as `ac`, how far they were moved and what AC costs.
        """
        from discreet.power.alternating import repair_ac
        from discreet.power.file import GridFile

        if isinstance(net, (str, Path)):
            net = GridFile.of(net).net()
        reports = self.report.get("times", [self.report])
        how = {"power_factor": power_factor, "beta": beta, "step": self.table.query.get("step_mw", "0.001")}
        found = [
            repair_ac(net, self.at(time), cost=report["reference"], **how) for time, report in enumerate(reports, 1)
        ]
        moved = [load for one in found for load in one.loads]
        told = {
            "power_factor": float(as_written(power_factor, "power_factor")),
            "converges": all(one.ac_cost is not None for one in found),
            "moved": [one.moved for one in found],
            "cost": [one.cost for one in found],
            "ac_cost": [one.ac_cost for one in found],
        }
        note = Note("repaired", _alternating(told), ("mw",))
        return self.moved_to(moved, (*self.table.notes, note), {**self.report, "ac": told})

    def __str__(self) -> str:
        first, *others = _repaired(self.report)
        when = f" at {self.times:,} times" if self.times > 1 else ""
        head = f"{len(self.table) // self.times} loads{when}, {first[:1].lower()}{first[1:]}"
        if "ac" in self.report:
            others.append(_alternating(self.report["ac"]))
        return "\n".join([head, *others, f"[{percent(self.table.confidence)} intervals; {self.about}]"])


def _alternating(told: Mapping[str, Any]) -> str:
    """What moving loads for AC came to, in sentences."""
    several = len(told["moved"]) > 1
    if not told["converges"]:
        when = " at every time" if several else ""
        return f"AC optimal power flow did not converge{when}: loads are feasible for DC only."
    furthest, at_most = max(told["moved"]), "at most " if several else ""
    way = "as they were" if not furthest else f"moved {at_most}{percent(round(furthest, 6))} of the way to their mean"
    cost = number(sum(told["ac_cost"]))
    return f"AC optimal power flow converges ({way}), at a power factor of {told['power_factor']:g}; its cost: {cost}."


def _repaired(report: Mapping[str, Any]) -> list[str]:
    """What the repair made of the noisy loads, in sentences."""
    found = {
        "window": "the nearest loads found with such a cost",
        "nearest": "feasible loads near the noisy ones; none with such a cost were found",
        "anchor": "loads moved toward a feasible point fixed beforehand; none nearer were found",
    }[report["way"]]
    several = "times" in report
    far = "" if report["gap"] is None else percent(round(report["gap"], 6))
    gap = (f", at any time at most {far} from it" if several else f", {far} from it") if far else ""
    near = "within beta" if report["within"] else "NOT within beta"
    over = " over all times" if several else ""
    return [
        f"Feasible in DC optimal power flow: {found}.",
        f"Original cost{over}: {number(report['reference'])}, {report['reference_is']}.",
        f"Cost of the released loads: {number(report['cost'])}{gap} ({near}).",
    ]
