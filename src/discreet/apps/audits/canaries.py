"""A training audited from one run: made-up records are put in by coins, and the coins are guessed from the model.

Three ways: our own trainer, a training in a module of someone's own, or scores of a training that ran elsewhere.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.audit.claim import AnyClaim
from discreet.audit.custom import load_module
from discreet.audit.finding import Finding
from discreet.audit.one_run import coins, guess
from discreet.core.exact import Number
from discreet.errors import MISSING, InputError, Phrase, kind_of

__all__ = ["audit_module", "audit_scores", "audit_trainer"]

_HINT = "See the guide on auditing, 'A training that runs once'."
_COIN = {"1": True, "0": False, "true": True, "false": False}
_MOST = 20_000  # canaries of our own trainer: as many parameters, a million numbers for each 1,000


def audit_trainer(
    *,
    canaries: int = 1000,
    guesses: int | None = None,
    steps: int = 10,
    multiplier: Number = 6,
    confidence: float = 0.999,
    made: Number | None = None,
) -> Finding:
    """One run of our DP-SGD, where every canary pushes a number of its own as far as clipping lets it.

    `made` is the noise that is truly added, for tests with too little of it.
    """
    from discreet.learn import Recipe, train

    if canaries > _MOST:
        raise InputError("--canaries", canaries, f"at most {_MOST:,} for our own trainer")
    import jax.numpy as jnp

    promised = Recipe(
        examples=canaries, lot=canaries, steps=steps, bound=1, multiplier=multiplier, rate=1.0, noise="exact"
    )
    used = promised if made is None else Recipe(**{**_settings(promised), "multiplier": made})
    included = coins(canaries)
    rows = np.eye(canaries, dtype=np.float32)[included]
    start = jnp.zeros(canaries, dtype=jnp.float32)
    done = train(_apply, _loss, start, (rows, np.ones(len(rows), dtype=np.float32)), used)
    scores = np.asarray(done.params, dtype=np.float64)
    name = f"DP-SGD, {steps} steps, noise {multiplier} times the bound"
    return guess(scores, included, _settled(guesses, canaries)).finding(promised.cost, confidence=confidence, name=name)


def _settings(recipe: Any) -> dict[str, Any]:
    return {
        name: getattr(recipe, name) for name in ("examples", "lot", "steps", "bound", "multiplier", "rate", "noise")
    }


def _apply(params: Any, x: Any) -> Any:
    return x @ params


def _loss(outputs: Any, y: Any) -> Any:
    return -1000.0 * outputs * y  # far beyond the bound: the clipped gradient is a step of length one


def audit_module(
    module: str, *, canaries: int = 1000, guesses: int | None = None, confidence: float = 0.999
) -> Finding:
    """A training of one's own. The module defines
    claim       what the training promises, for one record more or less
    canaries    canaries(count): a list of made-up records
    train       train(records): trains once on one's own data and these records besides, and returns the model
    score       score(model, canaries): a number for each, higher the more the model seems to have seen it
    """
    loaded = load_module(module)
    named: dict[str, Any] = {name: getattr(loaded, name, None) for name in ("claim", "canaries", "train", "score")}
    for name, value in named.items():
        if value is None or (name != "claim" and not callable(value)):
            given = MISSING if value is None else kind_of(value)
            allowed = "defined in the module" if name == "claim" else "a function defined in the module"
            raise InputError(f"module.{name}", given, allowed, _HINT)
    records: Sequence[Any] = named["canaries"](canaries)
    if len(records) != canaries:
        raise InputError("module.canaries", Phrase(f"{len(records)} records"), f"as many as asked for, {canaries}")
    included = coins(canaries)
    model = named["train"](_chosen(records, included))
    run = guess(named["score"](model, records), included, _settled(guesses, canaries))
    title = str(getattr(loaded, "name", loaded.__name__.rpartition(".")[2]))
    return run.finding(named["claim"], confidence=confidence, name=title)


def _chosen(records: Any, included: Any) -> Any:
    if isinstance(records, np.ndarray):
        return records[included]
    return [record for record, there in zip(records, included.tolist(), strict=True) if there]


def audit_scores(path: Path, claim: AnyClaim, *, guesses: int | None = None, confidence: float = 0.999) -> Finding:
    """A training that ran elsewhere, from a CSV file: whether each canary was in, by a fair coin, and its score."""
    allowed = "a CSV file with the columns included (1 or 0) and score (a number)"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        included = np.array(
            [{"1": True, "0": False, "true": True, "false": False}[row["included"].lower()] for row in rows]
        )
        scores = np.array([float(row["score"]) for row in rows])
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, ValueError, AttributeError, TypeError):
        raise InputError("--scores", str(path), allowed) from None
    if not len(rows):
        raise InputError("--scores", str(path), f"{allowed}, one line for each canary")
    return guess(scores, included, _settled(guesses, len(rows))).finding(claim, confidence=confidence, name=path.stem)


def _settled(guesses: int | None, canaries: int) -> int:
    """How many coins are guessed, settled before anything is trained."""
    return max(1, canaries // 3) if guesses is None else guesses
