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

from discreet.errors import InputError, MissingExtraError, Phrase, kind_of
from discreet.power.grid import Grid, Reals
from discreet.power.loads import as_load
from discreet.power.matpower import assemble_grid

__all__ = ["ac_cost", "grid_of_net", "load_powers", "read_net"]

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
    return [as_load(power) * as_load(factor) for power, factor in zip(table["p_mw"], table["scaling"], strict=True)]


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
