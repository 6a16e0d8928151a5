"""Releases of long jobs as plain values: the same words on the command line and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.hierarchy.released import TreeRelease
    from discreet.learn.released import ModelRelease
    from discreet.synth.released import SyntheticRelease

__all__ = ["model_released", "synth_released", "tree_released"]


def tree_released(answer: TreeRelease) -> dict[str, Any]:
    """A hierarchy, without its numbers."""
    return {
        **_paid(answer),
        "method": answer.method,
        "levels": dict(zip(answer.levels, answer.tree.sizes, strict=True)),
        "notes": list(answer.notes),
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


def model_released(answer: ModelRelease) -> dict[str, Any]:
    """A model, without its weights."""
    return {
        **_paid(answer),
        "weights": sum(int(one.size) for one in answer.weights),
        "losses": answer.losses,
        "notes": list(answer.notes),
        "card": answer.card().to_dict(),
    }


def _paid(answer: TreeRelease | SyntheticRelease | ModelRelease) -> dict[str, Any]:
    """What every release of a job says of itself."""
    told = {"id": answer.id, "dataset": answer.dataset, "data": answer.data}
    return {**told, "cost": answer.cost, "remaining": answer.remaining}
