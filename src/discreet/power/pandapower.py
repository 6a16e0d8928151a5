"""pandapower nets: the grid behind one, and its AC optimal power flow where that converges."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.decimal_steps import as_decimal
from discreet.errors import InputError, MissingExtraError, Phrase, kind_of
from discreet.power.grid import Grid, Reals
from discreet.power.matpower import Case, assemble_grid

__all__ = ["ac_cost", "grid_of_net", "load_powers", "net_of_case", "public_net", "read_net"]

_PD, _GS = 2, 4
_STARTS = ("flat", "pf")  # where the solver may start; it often converges from one and not from the other


def read_net(path: str | Path) -> Any:
    """A net that pandapower saved as JSON."""
    pandapower, problem = _pandapower(), ""
    with _quiet():
        try:
            net = pandapower.from_json(str(path))
        except Exception as error:  # pandapower raises whatever it meets, and its words may quote the file
            problem = type(error).__name__
    if problem:
        allowed = "a net that pandapower saved: pandapower.to_json(net, path)"
        raise InputError("path", Path(path).name, f"{allowed} ({problem})")
    return net


def net_of_case(case: Case, declared: Sequence[int] | None) -> Any:
    """A net of a MATPOWER case, with loads at the declared buses or at every bus, for AC.

    Only what is public goes into it: of buses neither their loads nor the voltages that follow from them, of generators
    not what they give, of branches no flows.
    """
    _pandapower()
    rows, problem = case.connected.copy(), ""
    places = {int(number): place for place, number in enumerate(rows[:, 0])}
    loads = [places[number] for number in case.load_buses(declared)]
    rows[:, 0], rows[:, 2:4], rows[:, 7], rows[:, 8] = np.arange(len(rows)), 0.0, 1.0, 0.0
    rows[loads, 2] = 1.0  # converted to a load, whatever it draws
    gen, branch = np.zeros((len(case.gen), 21)), case.branch[:, :13].copy()
    gen[:, : case.gen.shape[1]] = case.gen[:, :21]
    gen[:, 1:3], gen[:, 5] = 0.0, 1.0
    on = np.array([int(bus) in places for bus in gen[:, 0]])
    linked = np.array([int(one) in places and int(other) in places for one, other in branch[:, :2]])
    gen, branch, costs = gen[on], branch[linked], case.gencost[: len(case.gen)][on]
    gen[:, 0] = [places[int(bus)] for bus in gen[:, 0]]
    branch[:, :2] = [[places[int(one)], places[int(other)]] for one, other in branch[:, :2]]
    matrices = {"baseMVA": case.base, "bus": rows, "gen": gen, "branch": branch, "gencost": costs, "version": "2"}
    with _quiet():
        from pandapower.converter.pypower.from_ppc import from_ppc

        try:
            net = from_ppc(matrices, f_hz=60)
        except Exception as error:  # pandapower raises whatever it meets
            problem = type(error).__name__
    if problem or len(net.load) != len(loads):
        hint = "Save it as a pandapower net (.json) instead."
        raise InputError(
            "grid", Phrase(f"one that fails ({problem or 'loads'})"), "a case pandapower can convert", hint
        )
    order = {int(bus): index for index, bus in net.load["bus"].items()}
    net.load = net.load.loc[[order[int(net.bus.index[place])] for place in loads]].reset_index(drop=True)
    return net


def public_net(net: Any, total: float) -> Any:
    """A copy of a net without what its loads draw, and generators that share `total` MW by what they can give.

    What generators gave, and results of earlier runs, follow from the loads: a solver that starts there would tell.
    """
    bare = copy.deepcopy(net)
    _loads(bare)
    for name in [name for name in bare if name.startswith("res_")]:
        bare[name] = bare[name].iloc[:0]
    bare.load["p_mw"], bare.load["q_mvar"], bare.load["scaling"] = 0.0, 0.0, 1.0
    if "max_p_mw" in bare.gen and len(bare.gen):
        most = bare.gen["max_p_mw"].fillna(0.0).clip(lower=0.0)
        if most.sum() > 0:
            bare.gen["p_mw"], bare.gen["scaling"] = most * min(1.0, total / most.sum()), 1.0
    return bare


def grid_of_net(net: Any) -> Grid:
    """The grid of a net, as pandapower's own optimal power flow sees it. What its loads draw is not read."""
    table = _loads(net)
    bare = copy.deepcopy(net)
    demand, case, numbers_of = _converted(bare, 0.0)
    marked, _, _ = _converted(bare, 1.0)
    numbers = [int(number) for number in case["bus"][:, 0]]
    loads = [int(numbers_of[bus]) for bus in table["bus"]]
    found = [numbers.index(bus) for bus in loads if bus in numbers]
    expected = np.bincount(np.array(found, dtype=np.int64), minlength=len(numbers))
    if len(found) < len(loads) or np.abs(marked - demand - expected).max() > 1e-6:
        raise InputError("net", Phrase("loads that are cut off"), "one connected net whose loads are in service")
    demand = demand + case["bus"][:, _GS].real
    names = [str(name) if name else f"load {index}" for index, name in zip(table.index, table["name"], strict=True)]
    if len(set(names)) < len(names):
        names = [f"load {index}" for index in table.index]
    matrices = (case["branch"].real, case["gen"].real, case["gencost"].real)
    return assemble_grid(float(case["baseMVA"]), numbers, demand, matrices, loads, names)


def load_powers(net: Any) -> list[Fraction]:
    """What the loads of a net draw, in MW, in the order of the grid's loads. Private.

    `p_mw` times `scaling`, as both are written: a product of floats would be off the decimal by some last digits.
    """
    table = _loads(net)
    return [
        as_decimal(power) * as_decimal(factor) for power, factor in zip(table["p_mw"], table["scaling"], strict=True)
    ]


def ac_cost(net: Any, loads: Sequence[float] | None = None, reactive: Sequence[float] | None = None) -> float | None:
    """The cost of the AC optimal power flow of a net, with other loads if given; None where it does not converge.

    Unless `reactive` power is given too (Mvar), it goes with active power: every load keeps its power factor, which is
    private. For whoever owns the data, to see what a release did: this is no part of a release.
    """
    pandapower = _pandapower()
    trial = copy.deepcopy(net)
    if loads is not None:
        table = _loads(trial)
        if len(loads) != len(table):
            raise InputError("loads", Phrase(f"{len(loads)} numbers"), f"one for each of the {len(table)} loads")
        after = np.asarray(loads, dtype=float)
        if reactive is None:
            before = table["p_mw"].to_numpy() * table["scaling"].to_numpy()
            factor = np.divide(after, before, out=np.ones_like(after), where=before != 0)
            trial.load.loc[table.index, "q_mvar"] = table["q_mvar"].to_numpy() * factor
            trial.load.loc[table.index, "p_mw"] = after / table["scaling"].to_numpy()
        else:
            trial.load.loc[table.index, "q_mvar"] = np.asarray(reactive, dtype=float)
            trial.load.loc[table.index, "p_mw"], trial.load.loc[table.index, "scaling"] = after, 1.0
    for start in _STARTS:
        with _quiet():
            try:
                pandapower.runopp(trial, init=start, numba=False, calculate_voltage_angles=True)
            except (pandapower.OPFNotConverged, pandapower.LoadflowNotConverged):
                continue
        if trial.OPF_converged:
            return float(trial.res_cost)
    return None


def _loads(net: Any) -> Any:
    """The rows of the loads that are in service."""
    if not all(hasattr(net, name) for name in ("bus", "load", "gen", "ext_grid", "poly_cost", "pwl_cost")):
        raise InputError("net", kind_of(net), "a pandapower net")
    table = net.load[net.load.in_service.astype(bool)]
    if "controllable" in table and table["controllable"].fillna(False).astype(bool).any():
        raise InputError("net.load.controllable", True, "false: loads are given, not chosen by the optimal power flow")
    return table


def _converted(net: Any, power: float) -> tuple[Reals, dict[str, Any], Any]:
    """What every bus draws if each load draws `power`, the matrices, and the number of each bus."""
    _pandapower()
    from pandapower.converter.pypower.to_ppc import to_ppc

    net.load["p_mw"], net.load["q_mvar"], net.load["scaling"] = power, 0.0, 1.0
    problem = ""
    with _quiet():
        try:
            case = to_ppc(net, init="flat", mode="opf")
        except Exception as error:  # pandapower raises whatever it meets
            problem = type(error).__name__
    if problem:
        hint = "Generators and external grids need limits on their power and costs."
        raise InputError(
            "net", Phrase(f"one that fails ({problem})"), "a net pandapower can make an optimal power flow of", hint
        )
    return case["bus"][:, _PD].real.copy(), case, net._pd2ppc_lookups["bus"]


def _pandapower() -> Any:
    try:
        with _quiet():
            import pandapower
    except ImportError:
        raise MissingExtraError("power", "pandapower") from None
    return pandapower


@contextmanager
def _quiet() -> Iterator[None]:
    """pandapower logs and warns about what is none of the caller's business: missing numba, changed bus limits."""
    logger = logging.getLogger("pandapower")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
