"""For every field of an ask of `tests/asks.py` another value, to see what follows from a change of that field alone.

An entry is the change, or a pair: what is changed beforehand, so that the field has a say, and then the change.
"""

from __future__ import annotations

from typing import Any

from asks import PLACES, ZONES
from discreet import Allotment, Budget, Rules, bins, count, mean, median, total
from discreet.trees.split import Goal

Fields = dict[str, Any]
COUNTIES = {"A1": (2.0, 0.0), "A2": (2.0, 1.0), "B1": (3.0, 0.0), "B2": (3.0, 1.0)}
DIVIDED = Budget(epsilon=10, allotments=[Allotment(name, "pure", epsilon=5) for name in ("a", "b")])

PAYS = {"allotment": {"allotment": "spare"}, "confidence": {"confidence": 0.9}}
COUNTS = {"rho": {"rho": 3}, **PAYS}
MODEL = {
    "target": {"target": "works", "features": ["age", "sex"]},
    "features": {"features": ["age", "pay"]},
    "model": {"model": "mlp", "hidden": (3,)},
    "hidden": ({"model": "mlp", "hidden": (3,)}, {"hidden": (4,)}),
    "where": {"where": "age > 18"},
    "examples": {"examples": 70},
    "lot": {"lot": 30},
    "probability": ({"lot": None, "probability": "1/2"}, {"probability": "1/4"}),
    "steps": {"steps": 3},
    "epochs": ({"steps": None, "epochs": 3}, {"epochs": 4}),
    "bound": {"bound": 2.0},
    "rate": {"rate": 0.25},
    "noise": {"noise": "device"},
}
_SHAPE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
_COUNTY = {"type": "Feature", "id": "A1", "properties": {"code": "A2"}, "geometry": _SHAPE}
SHAPES: dict[str, Any] = {
    "geometry": {"geometry": _COUNTY},
    "code_property": ({"geometry": _COUNTY}, {"code_property": "code"}),
}
CHANGES: dict[str, dict[str, Fields | tuple[Fields, Fields]]] = {
    "question": {
        "where": {"where": "age >= 21"},
        "keys": {"keys": ("sex",)},
        "outputs": {"outputs": {"n": count(), "pay": total("pay", bounds=(0, 500))}},
        "noise": ({"rho": None, "epsilon": 4}, {"noise": "laplace"}),
        **COUNTS,
    },
    "question of quantiles": {"outputs": {"outputs": {"m": median("age", grid=50), "n": count()}}},
    "question of unknown groups": {"delta": {"delta": "0.002"}},
    "top": {
        "where": {"where": "age > 18"},
        "column": {"column": "sex"},
        "k": {"k": 3},
        "counts": {"counts": False},
        "epsilon": {"epsilon": 2},
        "noise": {"noise": "laplace"},
        **PAYS,
    },
    "batch": {
        "by_sex": {"by_sex": {"keys": ("works",), "outputs": {"n": count()}}},
        "pay": {"pay": {"outputs": {"pay": mean("age")}}},
        "weights": {"weights": {"by_sex": 3}},
        **COUNTS,
    },
    "stream": {
        "where": {"where": "age > 18"},
        "keys": {"keys": ()},
        "outputs": {"outputs": {"n": count("age")}},
        "period": {"period": bins("day", every="month")},
        "limit": {"limit": 1},
        **COUNTS,
    },
    "tree": {
        "levels": {"levels": {"county": 2}},
        "by": {"by": []},
        "column": ({"levels": {"a": 1, "b": 4}, "column": "home"}, {"column": "work"}),
        "geography": {"geography": ["A1", "A2", "B1"]},
        "where": {"where": "age > 18"},
        "sizes": ({"by": [], "sizes": "note", "largest": 3}, {"sizes": "person"}),
        "largest": ({"by": [], "sizes": "note", "largest": 3}, {"largest": 4}),
        "cumulative": ({"by": [], "sizes": "note", "largest": 3}, {"cumulative": False}),
        "rules": {"rules": Rules(upper={"state": 1000})},
        "expected": {"expected": 10**9},
        "covariate": {"covariate": {"A1": 10, "A2": 20, "B1": 5, "B2": 0}},
        "queries": {"queries": {"total": 1, "all": 1}},
        "measure": {"measure": "age"},
        "weight": {"weight": "age", "bounds": (1, 40)},
        "bounds": ({"measure": "age"}, {"bounds": (0, 40)}),
        "targets": {"targets": {"county": ["A1", "B1"], "place": ["x", "y"]}},
        "spine": (
            {
                "levels": ["part", "county"],
                "geography": {"part": ["p", "p", "p", "q"], "county": ["A1", "A2", "B1", "B2"]},
                "targets": {"county": ["A1", "A2"], "place": ["x", "x"]},
            },
            {"spine": "optimised"},
        ),
        "noise": ({"rho": None, "epsilon": 4}, {"noise": "laplace"}),
        "method": {"method": "topdown"},
        "goal": ({"split": "accurate"}, {"goal": Goal(of="totals")}),
        "split": {"split": "leaves"},
        **SHAPES,
        **COUNTS,
    },
    "detail": {
        "levels": {"levels": {"county": 2}},
        "groups": {"groups": {"workers": "works", "young": "age < 40"}},
        "details": {"details": {"sex": ["sex"]}},
        "overlap": {"overlap": 1},
        "column": ({"levels": {"a": 1, "b": 4}, "column": "home"}, {"column": "work"}),
        "geography": {"geography": ["A1", "A2", "B1"]},
        "where": {"where": "age > 18"},
        "thresholds": {"thresholds": {"sex": 5, "sex by age": 9}},
        "first": {"first": "0.2"},
        "shares": {"shares": {"county": 2}},
        **SHAPES,
        **COUNTS,
    },
    "census": {
        "levels": {"levels": {"county": 2}},
        "tables": {"tables": {"people": {"counts": "persons", "by": ["works"]}}},
        "household": {"household": "note"},
        "column": ({"levels": {"a": 1, "b": 4}, "column": "home", "household": "note"}, {"column": "work"}),
        "geography": {"geography": ["A1", "A2", "B1"]},
        "head": {"head": "age >= 60"},
        "most": {"most": 3},
        "covariate": {"covariate": {"A1": 10, "A2": 20, "B1": 5, "B2": 0}},
        "where": {"where": "age > 18"},
        "method": {"method": "topdown"},
        "split": {"split": "equal"},
        "noise": ({"rho": None, "epsilon": 4}, {"noise": "laplace"}),
        **SHAPES,
        **COUNTS,
    },
    "flows": {
        "origin": {"origin": "work", "destination": "home"},
        "destination": {"destination": "county", "zones": None},
        "window": {"window": None},
        "zones": {"zones": {**ZONES, "mill": "west"}},
        "where": {"where": "age > 18"},
        "shares": {"shares": {"cells": 50}},
        **COUNTS,
    },
    "commute": {
        "origin": {"origin": "work", "destination": "home"},
        "destination": ({"coordinates": {**PLACES, **COUNTIES}}, {"destination": "county"}),
        "coordinates": {"coordinates": {**PLACES, "wood": (0.0, 4.0)}},
        "degrees": {"degrees": True},
        "sizes": {"sizes": {"mill": 20, "port": 20, "wood": 24}},
        "clusters": {"clusters": 2},
        "near": ({"clusters": 2}, {"near": 1.5}),
        "farthest": {"farthest": 2.0},
        "where": {"where": "age > 18"},
        "rho": {"rho": 3},
        "allotment": {"allotment": "spare"},
    },
    "commute by urns": {
        "method": {"method": "modern"},
        "prior": {"prior": "pure"},
        "delta": ({"prior": "approximate", "delta": "1e-5"}, {"delta": "1e-4"}),
        "refusal": {"refusal": "1e-4"},
        "epsilon": {"epsilon": 3},
    },
    "synth": {
        "method": {"method": "independent"},
        "workload": {"workload": [("sex", "age")]},
        "columns": {"columns": ["sex", "county"]},
        "bins": {"bins": 5},
        "rows": {"rows": 25},
        "where": {"where": "age > 18"},
        "impossible": {"impossible": ["age > 90 and sex = 'm'"]},
        "differences": ({"columns": ["age", "pay"]}, {"differences": {"pay": "age"}}),
        "keys": {"keys": {"person": "P{:03d}"}},
        **COUNTS,
    },
    "train": {
        **MODEL,
        "multiplier": {"multiplier": 3},
        "momentum": {"momentum": 0.5},
        "optimizer": {"optimizer": "adam"},
        "schedule": {"schedule": "cosine"},
        "warmup": {"warmup": 1},
        "how": {"how": "vmap"},
        "microbatch": {"microbatch": 8},
        "ema": {"ema": 0.5},
        "report_loss": {"report_loss": 4.0},
        "operands": {"operands": "bfloat16"},
        "delta": {"delta": "0.0005"},
        "allotment": {"allotment": "others"},
        "checkpoint": {"checkpoint": "run.ckpt"},
    },
    "search": {
        "settings": {"settings": [{"rate": 0.5}, {"rate": 4.0}]},
        "epsilon": {"epsilon": 2},
        "delta": {"delta": "0.0005"},
        "allotment": {"allotment": "others"},
        "choice": {"choice": "0.2"},
        "held_out": {"held_out": "0.2"},
        "confidence": {"confidence": 0.9},
    },
    "loads": {
        "alpha": {"alpha": 2},
        "dataset": {"dataset": "others"},
        "epsilon": {"epsilon": 3},
        "beta": {"beta": 0.02},
        "cost": {"cost": 800},
        "step": {"step": "0.02"},
        "highest": {"highest": 90},
        "highest_price": {"highest_price": 70},
        "cost_share": {"cost_share": 0.5},
        "confidence": {"confidence": 0.9},
        "allotment": ({"dataset": "parts", "budget": DIVIDED, "allotment": "a"}, {"allotment": "b"}),
    },
}
