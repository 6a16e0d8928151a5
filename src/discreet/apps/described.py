"""Plans and releases of long jobs as plain values: the same words on the command line and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.hierarchy.offer import TreeOffer
    from discreet.hierarchy.plan import TreePlan
    from discreet.hierarchy.released import TreeRelease
    from discreet.learn.offer import TrainOffer
    from discreet.learn.released import ModelRelease
    from discreet.synth.offer import SynthOffer
    from discreet.synth.plan import SynthPlan
    from discreet.synth.released import SyntheticRelease

__all__ = ["model_released", "synth_planned", "synth_released", "train_planned", "tree_planned", "tree_released"]


def tree_planned(offer: TreeOffer) -> dict[str, Any]:
    """The plan of a hierarchy."""
    plan = offer.plan
    return {
        **_priced(plan),
        "method": plan.method,
        "confidence": plan.confidence,
        "cells": plan.counted.cells,
        "levels": [
            {
                "level": e.level,
                "regions": e.regions,
                "share": e.share,
                "noise": e.noise,
                "cell": e.cell,
                "total": e.total,
            }
            for e in offer.expected
        ],
        "digest": plan.digest,
        "query": plan.query,
    }


def tree_released(answer: TreeRelease) -> dict[str, Any]:
    """A hierarchy, without its numbers."""
    return {
        **_paid(answer),
        "method": answer.method,
        "levels": dict(zip(answer.levels, answer.tree.sizes, strict=True)),
        "notes": list(answer.notes),
    }


def synth_planned(offer: SynthOffer) -> dict[str, Any]:
    """The plan of a synthetic table."""
    plan = offer.plan
    return {
        **_priced(plan),
        "method": plan.method,
        "why": offer.why,
        "rows": plan.rows,
        "columns": dict(zip(plan.domain.names, plan.domain.sizes, strict=True)),
        "marginals": len(plan.workload),
        "left_out": [[plan.domain.names[column] for column in one] for one in offer.left_out],
        "confidence": plan.confidence,
        "expected": {
            kind: {"marginals": scale.marginals, "noise": scale.noise, "half_width": scale.half_width}
            for kind, scale in offer.expected.items()
        },
        "digest": plan.digest,
        "query": plan.query,
    }


def synth_released(answer: SyntheticRelease) -> dict[str, Any]:
    """A synthetic table, without its rows."""
    return {
        **_paid(answer),
        "method": answer.method,
        "rows": len(answer),
        "columns": list(answer.columns),
        "notes": list(answer.notes),
    }


def train_planned(offer: TrainOffer) -> dict[str, Any]:
    """The plan of a training run."""
    plan = offer.plan
    return {
        "dataset": plan.dataset,
        "allotment": plan.allotment.name,
        "epsilon": float(plan.charge.amount),
        "exact_epsilon": str(plan.charge.amount),
        "delta": float(plan.charge.delta),
        "inputs": list(plan.encoding.labels),
        "classes": list(plan.encoding.classes),
        "recipe": plan.recipe.to_dict(),
        "count_epsilon": None if plan.count is None else float(plan.count),
        "warnings": list(offer.warnings),
        "digest": plan.digest,
    }


def model_released(answer: ModelRelease) -> dict[str, Any]:
    """A model, without its weights."""
    return {
        **_paid(answer),
        "weights": sum(int(one.size) for one in answer.weights),
        "losses": answer.losses,
        "notes": list(answer.notes),
        "card": answer.card().to_dict(),
    }


def _priced(plan: TreePlan | SynthPlan) -> dict[str, Any]:
    """What every plan of a job that is counted like questions says of its price."""
    return {
        "dataset": plan.dataset,
        "allotment": plan.allotment.name,
        "currency": plan.allotment.currency,
        "cost": float(plan.charge.amount),
        "exact_cost": str(plan.charge.amount),
    }


def _paid(answer: TreeRelease | SyntheticRelease | ModelRelease) -> dict[str, Any]:
    """What every release of a job says of itself."""
    told = {"id": answer.id, "dataset": answer.dataset, "data": answer.data}
    return {**told, "cost": answer.cost, "remaining": answer.remaining}
