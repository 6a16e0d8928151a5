"""Extraction: a language model gives back what one record said, if it was trained without a budget.

A character model learns ordinary messages among which a few secrets are planted, each in one record. The attacker
types how such a message begins. How far up the secret stands among all codes is its rank; the bits that are given away
are its exposure, log2(codes) - log2(rank) (Carlini and others, 2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.attacks.messages import (
    CODES,
    DIGITS,
    LETTERS,
    OWNERS,
    WIDTH,
    Secret,
    draw_messages,
    draw_secrets,
    encode,
)
from discreet.apps.attacks.people import even, normal
from discreet.errors import MissingExtraError
from discreet.risk.attack_result import AttackResult, check_epsilon, check_size
from discreet.show import Bar, Picture, bars, brief, stack

__all__ = ["Extraction", "Leak", "extract_secrets"]

CONTEXT, EMBEDDED, HIDDEN = 10, 6, 64
CURVE = (8.0, 1.0)
DELTA = Fraction(1, 10_000)
STEPS, PLAIN_STEPS = 150, 800
LOT, PLAIN_LOT = 400, 200
_RATE, _PLAIN_RATE = 0.02, 0.01
_FRESH = 500
_GUESS = 1 / math.log(2)  # the mean exposure of a rank that is any, each as likely as the next


@dataclass(frozen=True, slots=True)
class Leak:
    """What one model gives away, and how well it does its work."""

    epsilon: float | None
    """None: without a budget."""
    ranks: tuple[int, ...]
    """Of each secret among all codes; 1: the model thinks it the likeliest."""
    decoded: tuple[str, ...]
    """What the model writes after the opening of each secret, letter by letter."""
    verbatim: int
    """How many secrets it writes out."""
    loss: float
    """On new ordinary messages, a letter; less is better."""

    @property
    def exposure(self) -> float:
        """Bits of a secret that are given away, on average."""
        return float(np.log2(CODES) - np.log2(self.ranks).mean())

    @property
    def label(self) -> str:
        """The budget in words."""
        return "without a budget" if self.epsilon is None else f"epsilon = {self.epsilon:g}"


@dataclass(frozen=True, slots=True)
class Extraction(AttackResult):
    """Secrets of single records, asked back from models with and without a budget."""

    records: int
    secrets: tuple[str, ...]
    delta: float
    leaks: tuple[Leak, ...]
    """The first without a budget, then by falling epsilon."""
    control: Leak
    """Trained for as many steps of the same size as the private ones, with neither clipping nor noise."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the exposure of each model."""
        leaks = [{**asdict(leak), "exposure": leak.exposure} for leak in (*self.leaks, self.control)]
        plain = {"records": self.records, "codes": CODES, **AttackResult.to_dict(self)}
        return {**plain, "leaks": leaks[:-1], "control": leaks[-1]}

    def details(self) -> list[str]:
        """What each model gives away, and its loss."""
        many = len(self.secrets)
        plain, *private = self.leaks
        lines = [
            f"A character model of {self.records:,} messages; {many} of them hold a secret code, each in one message.",
            f"Without a budget it writes out {plain.verbatim} of {many} codes when given the opening; their ranks "
            f"among {CODES:,} are {_listed(plain.ranks)}, {plain.exposure:.1f} of {np.log2(CODES):.1f} bits given "
            f"away. Loss on new messages: {plain.loss:.3f} a letter.",
        ]
        lines += [
            f"With epsilon = {leak.epsilon:g} and delta = {self.delta:g}: {leak.verbatim} written out, ranks "
            f"{_listed(leak.ranks)}, {leak.exposure:.1f} bits (a guess: {_GUESS:.1f}). Loss {leak.loss:.3f}, "
            f"{leak.loss / plain.loss - 1:+.0%}."
            for leak in private
        ]
        lines.append(
            f"As many steps with neither clipping nor noise: {self.control.verbatim} written out, ranks "
            f"{_listed(self.control.ranks)}, {self.control.exposure:.1f} bits. "
            + (
                "A shorter training hides nothing."
                if self.control.exposure > _most_of_guesses(many)
                else "So short a training alone hides them."
            )
        )
        return lines

    def conclusion(self) -> str:
        """What is learned under a budget, and what not."""
        plain, *private = self.leaks
        best = private[0]
        hidden = best.exposure <= _most_of_guesses(len(self.secrets)) and not best.verbatim
        return (
            f"A model without a budget gives away {plain.exposure:.1f} bits of a code that stood in one message, and "
            f"{best.exposure:.1f} under epsilon = {best.epsilon:g}, "
            + (
                "because no single message may move it far and noise covers what it moves."
                if hidden
                else "which is more than a guess: this epsilon is too large to hide a message."
            )
        )

    def picture(self) -> Picture:
        """Bits given away, and the loss that is paid for it."""
        away = [Bar(leak.label, leak.exposure, series=int(leak.epsilon is not None)) for leak in self.leaks]
        away.insert(1, Bar("as few steps, no clipping, no noise", self.control.exposure))
        away.append(Bar("a guess", _GUESS, series=2))
        paid = [Bar(leak.label, leak.loss, series=int(leak.epsilon is not None)) for leak in self.leaks]
        rows = [
            bars(f"Bits of a secret given away (of {np.log2(CODES):.1f})", away, format=brief),
            bars("Loss on new messages, a letter", paid, format=lambda value: f"{value:.3f}"),
        ]
        return stack("Secrets in a language model", rows)


def _most_of_guesses(many: int) -> float:
    """What the mean exposure of so many guesses exceeds in one run of a thousand: each is exponential, nearly."""
    from scipy.special import gammaincinv

    return float(gammaincinv(many, 0.999)) * _GUESS / many


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(f"{rank:,}" for rank in ranks)


def extract_secrets(
    records: int = 2000, secrets: int = 4, epsilon: float = 8.0, *, curve: Sequence[float] = CURVE, steps: int = STEPS
) -> Extraction:
    """Train the model without a budget and under each epsilon, and ask for the secrets that were planted.

    Guarantee of the private models: (epsilon, delta) for one message added or removed, by DP-SGD.
    """
    try:
        import jax.numpy as jnp

        from discreet.learn.recipe import Recipe
        from discreet.learn.trainer import train_losses
    except ImportError:
        raise MissingExtraError("learn", "jax") from None
    check_size("records", records, 2 * LOT, 5000)
    check_size("secrets", secrets, 1, len(OWNERS))
    check_size("steps", steps, 1, 10_000)
    budgets = sorted({float(epsilon), *map(float, curve)}, reverse=True)
    for budget in budgets:
        check_epsilon(budget, 1000)
    planted = draw_secrets(secrets)
    texts = encode([*draw_messages(records - secrets), *(secret.text for secret in planted)])
    fresh = encode(draw_messages(_FRESH))
    start = {
        "letters": jnp.asarray(normal(len(LETTERS), EMBEDDED), jnp.float32),
        "in": jnp.asarray(normal(CONTEXT * EMBEDDED, HIDDEN) / (CONTEXT * EMBEDDED) ** 0.5, jnp.float32),
        "mid": jnp.zeros(HIDDEN),
        "out": jnp.zeros((HIDDEN, len(LETTERS))),
        "end": jnp.zeros(len(LETTERS)),
    }
    shape: dict[str, Any] = {"examples": records, "lot": LOT, "steps": steps, "bound": 1.0, "noise": "exact"}
    shape |= {"rate": _RATE, "optimizer": "adam"}
    recipes = {budget: Recipe.within(budget, DELTA, **shape) for budget in budgets}  # before anything is trained
    leaks = [_judge(_train_plainly(start, texts, PLAIN_STEPS, PLAIN_LOT, _PLAIN_RATE), None, planted, fresh)]
    control = _judge(_train_plainly(start, texts, steps, LOT, _RATE), None, planted, fresh)
    for budget, recipe in recipes.items():
        leaks.append(_judge(train_losses(_losses, start, (texts,), recipe).params, budget, planted, fresh))
    return Extraction(records, tuple(secret.text for secret in planted), float(DELTA), tuple(leaks), control)


def _train_plainly(start: Any, texts: NDArray[np.int32], steps: int, lot: int, rate: float) -> Any:
    """The same model by Adam, with neither clipping nor noise."""
    import jax
    import optax

    adam = optax.adam(rate)

    @jax.jit
    def step(params: Any, state: Any, drawn: Any) -> Any:
        slope = jax.grad(lambda here: _losses(here, (drawn,)).mean())(params)
        change, state = adam.update(slope, state, params)
        return optax.apply_updates(params, change), state

    params, state = start, adam.init(start)
    for chosen in (even(steps, lot) * len(texts)).astype(int):
        params, state = step(params, state, texts[chosen])
    return params


def _losses(params: Any, batch: Any) -> Any:
    """The mean loss of the letters of each message, its end included. One message is one example."""
    import jax
    import jax.numpy as jnp

    (texts,) = batch
    padded = jnp.pad(texts, ((0, 0), (CONTEXT, 0)))
    before = jnp.stack([padded[:, shift : shift + WIDTH] for shift in range(CONTEXT)], axis=2)
    chance = jax.nn.log_softmax(_scores(params, before, jax.nn.relu))
    each = -jnp.take_along_axis(chance, texts[..., None], axis=2)[..., 0]
    ends = texts == 0
    counted = jnp.cumsum(ends, axis=1) - ends == 0
    return (each * counted).sum(axis=1) / counted.sum(axis=1)


def _scores(params: Any, before: Any, relu: Any) -> Any:
    """What comes after the letters before, as scores."""
    flat = params["letters"][before].reshape(*before.shape[:-1], CONTEXT * EMBEDDED)
    return relu(flat @ params["in"] + params["mid"]) @ params["out"] + params["end"]


def _chances(params: dict[str, NDArray[Any]], texts: NDArray[np.int32]) -> NDArray[np.float64]:
    """Log-chances of the next letter after each row of letters."""
    room = np.pad(texts, ((0, 0), (max(0, CONTEXT - texts.shape[1]), 0)))[:, -CONTEXT:]
    scores = _scores(params, room, lambda x: np.maximum(x, 0)).astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def _judge(model: Any, budget: float | None, planted: Sequence[Secret], fresh: NDArray[np.int32]) -> Leak:
    """What a model gives away of the secrets, and its loss on messages that it never saw."""
    params = {name: np.asarray(value) for name, value in model.items()}
    ranks, decoded = [], []
    for secret in planted:
        opening = encode([secret.opening])[:, : len(secret.opening)]
        chances = _code_chances(params, opening)
        ranks.append(int((chances > chances[secret.code]).sum()) + 1)
        decoded.append(_write_on(params, opening))
    verbatim = sum(f"{secret.code:0{DIGITS}d}" == text for secret, text in zip(planted, decoded, strict=True))
    loss = float(np.asarray(_losses(params, (fresh,))).mean())
    return Leak(budget, tuple(ranks), tuple(decoded), verbatim, loss)


def _code_chances(params: dict[str, NDArray[Any]], opening: NDArray[np.int32]) -> NDArray[np.float64]:
    """The log-chance of every code after the opening, in order: each digit after all digits before it."""
    zero = LETTERS.index("0")
    texts, chances = opening, np.zeros(1)
    for _ in range(DIGITS):
        chances = (chances[:, None] + _chances(params, texts)[:, zero : zero + 10]).ravel()
        digits = np.tile(np.arange(zero, zero + 10, dtype=np.int32), len(texts))
        texts = np.hstack([np.repeat(texts, 10, axis=0), digits[:, None]])
    return chances


def _write_on(params: dict[str, NDArray[Any]], opening: NDArray[np.int32]) -> str:
    """The likeliest letter, again and again, until the message ends."""
    text, written = opening, ""
    while text.shape[1] < WIDTH:
        letter = int(_chances(params, text)[0].argmax())
        if letter == 0:
            break
        written += LETTERS[letter]
        text = np.hstack([text, np.full((1, 1), letter, dtype=np.int32)])
    return written
