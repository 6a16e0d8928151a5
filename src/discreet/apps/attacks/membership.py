"""Was this person in the training set? Asked by LiRA of a network without a budget, and of the same by DP-SGD."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.exposure import FEW, Exposed, Exposure
from discreet.apps.attacks.people import even, normal
from discreet.errors import MissingExtraError
from discreet.learn.shadow_scores import FEWEST, Lira, score_each
from discreet.risk.attack_result import check_epsilon, check_size
from discreet.risk.membership import Membership, judge_membership

__all__ = ["LESS", "attack_fit", "attack_model", "judge_scores"]

FEATURES, HIDDEN, STEPS, PRIVATE_STEPS = 40, 128, 100, 60
DELTA = 1e-5
LESS = 1000
"""How many times less noise the control has: the same recipe, clipping and all, that hides nobody."""
_FRESH = 2000


def judge_scores(found: Lira) -> tuple[Membership, Membership | None]:
    """How well scores tell members from others; and how well a threshold on the loss alone does."""
    judged = [
        judge_membership(scores[found.members], scores[~found.members])
        for scores in (found.scores, None if found.losses is None else -found.losses)
        if scores is not None
    ]
    return judged[0], judged[1] if len(judged) > 1 else None


def exposed(label: str, epsilon: float | None, found: Lira, shadows: int, use: float | None = None) -> Exposed:
    """What LiRA found of a target, with a threshold on the loss beside it."""
    strong, weak = judge_scores(found)
    attack = f"LiRA with {shadows} shadow models"
    return Exposed(label, epsilon, strong, attack, weak, "a threshold on the loss", use)


def attack_model(people: int = 500, epsilon: float = 1.0, *, shadows: int = 16) -> Exposure:
    """Train a small network on halves of made-up people, plainly and by DP-SGD, and tell members by LiRA.

    Every model in turn is the one under attack, with the others as its shadows. Who is in a half was decided by a coin
    of their own; of those who are not, the gradient is zero, as if they were not there.

    Guarantee of the private models: (epsilon, delta) for one person added or removed, by DP-SGD.
    """
    try:
        import jax
        import jax.numpy as jnp
        from attrs import evolve

        from discreet.learn.likelihood_ratio import draw_halves, lira_together
        from discreet.learn.objective import cross_entropy
        from discreet.learn.recipe import Recipe
        from discreet.learn.trainer import train_losses
    except ImportError:
        raise MissingExtraError("learn", "jax") from None
    check_size("people", people, 50, 20_000)
    check_epsilon(epsilon, 100)
    check_size("shadows", shadows, FEWEST, 128)
    delta = min(DELTA, 0.1 / people)
    lot = min(people, max(people // 5, 50))
    # Half of twice as many people are in, so that lots and their rate are of all of them.
    shape: dict[str, Any] = {"examples": 2 * people, "lot": 2 * lot, "steps": PRIVATE_STEPS, "bound": 1.0}
    shape |= {"rate": 1.0, "momentum": 0.5}
    recipe = Recipe.within(epsilon, delta, **shape)
    kinds = (
        (f"DP-SGD, 1/{LESS} of the noise", None, evolve(recipe, multiplier=recipe.multiplier / LESS)),
        (f"DP-SGD, epsilon = {epsilon:g}", float(epsilon), recipe),
    )
    rows, fresh = _examples(2 * people), _examples(_FRESH)
    start = {
        "in": jnp.asarray(normal(FEATURES, HIDDEN) / FEATURES**0.5, jnp.float32),
        "mid": jnp.zeros(HIDDEN),
        "out": jnp.asarray(normal(HIDDEN, 2) / HIDDEN**0.5, jnp.float32),
    }

    def losses(params: Any, batch: Any) -> Any:
        x, y, *weights = batch
        each = cross_entropy(jax.nn.relu(x @ params["in"] + params["mid"]) @ params["out"], y)
        return each * weights[0] if weights else each

    def fit(batch: Any, weights: Any) -> Any:
        slope = jax.grad(lambda params: (losses(params, batch) * weights).sum() / weights.sum())

        def step(_: int, params: Any) -> Any:
            return jax.tree.map(lambda value, change: value - 1.0 * change, params, slope(params))

        return jax.lax.fori_loop(0, STEPS, step, start)

    def right(params: Any) -> float:
        """Two classes: what is right has a loss below that of a coin."""
        return float((np.asarray(losses(params, fresh)) < math.log(2)).mean())

    plain = lira_together(fit, losses, rows, shadows=shadows, each=True)
    weights = jnp.asarray(draw_halves(rows, FEWEST)[0], jnp.float32)
    targets = [exposed("no budget", None, plain, shadows, right(jax.jit(fit)(rows, weights)))]
    for label, budget, chosen in kinds:
        inside = draw_halves(rows, shadows)
        models = [train_losses(losses, start, (*rows, half.astype(np.float32)), chosen).params for half in inside]
        found = score_each(np.stack([np.asarray(losses(params, rows)) for params in models]), inside)
        targets.append(exposed(label, budget, found, shadows, float(np.mean([right(params) for params in models]))))
    why = (
        f"clipping and fewer steps alone leave {targets[1].found.at(FEW):.1%} (the same recipe with 1/{LESS} "
        "of the noise), and the noise covers what is left of any one person"
    )
    return Exposure("A network", tuple(targets), float(epsilon), delta, "accuracy", why)


def attack_fit(
    fit: Callable[..., Any],
    losses: Callable[..., Any],
    rows: Any,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    shadows: int = 16,
    together: bool = True,
    name: str = "Your model",
) -> Exposure:
    """LiRA on a model of one's own: `fit(rows, weights)` by JAX, or `fit(rows)` by anything where not `together`.

    `epsilon` and `delta` are what the model claims, or what it is compared with. Nothing is charged: the rows are made
    up, or the result is for the eyes of whoever has them.
    """
    try:
        from discreet.learn.likelihood_ratio import lira, lira_together
    except ImportError:
        raise MissingExtraError("learn", "jax") from None
    check_epsilon(epsilon)
    run: Callable[..., Lira] = lira_together if together else lira
    found = run(fit, losses, rows, shadows=shadows, each=True)
    return Exposure(name, (exposed("as given", None, found, shadows),), float(epsilon), float(delta), "", "")


def _examples(many: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Features of which ten matter, and labels that are wrong for one person in five: something to learn by heart."""
    x = normal(many, FEATURES).astype(np.float32)
    label = x[:, :10].sum(axis=1) > 0
    return x, (label ^ (even(many) < 0.2)).astype(np.int32)
