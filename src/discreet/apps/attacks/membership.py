"""Was this person in the data? Asked of a model or of rows made without a budget, and of the same with an epsilon."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.apps.attacks.people import even, normal
from discreet.errors import InputError, MissingExtraError
from discreet.risk.membership import Membership, judge_membership
from discreet.show import Line, Picture, roc

__all__ = ["Exposure", "attack_model", "attack_rows", "roc_picture"]

FEATURES, HIDDEN, PLAIN_STEPS = 40, 128, 400
DELTA = 1e-5


@dataclass(frozen=True, slots=True)
class Exposure:
    """The attack without a budget and with one, and what the target was good for."""

    target: str
    plain: Membership
    private: Membership
    epsilon: float
    delta: float
    use_plain: float
    use_private: float
    use: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "target": self.target,
            "plain": self.plain.to_dict(),
            "private": self.private.to_dict(),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "most": self.plain.at_most(self.epsilon, self.delta),
            self.use: {"plain": self.use_plain, "private": self.use_private},
        }

    def explain(self) -> str:
        """In words."""
        most = self.plain.at_most(self.epsilon, self.delta)
        return (
            f"{self.target} made without a budget ({self.use} {self.use_plain:.1%}). {self.plain}\n"
            f"The same with epsilon = {self.epsilon:g} ({self.use} {self.use_private:.1%}). {self.private} "
            f"No attack has an advantage of more than {most:.1%} there."
        )


def attack_model(people: int = 500, epsilon: float = 1.0) -> Exposure:
    """Train a small network on `people`, plainly and by DP-SGD, and tell members by their loss."""
    try:
        import jax
        import jax.numpy as jnp

        from discreet.learn.objective import cross_entropy
        from discreet.learn.recipe import Recipe
        from discreet.learn.trainer import train
    except ImportError:
        raise MissingExtraError("learn", "jax") from None
    _check(people, epsilon)
    x, y = _examples(2 * people)
    fresh_x, fresh_y = _examples(2000)
    start = {
        "in": jnp.asarray(normal(FEATURES, HIDDEN) / FEATURES**0.5, jnp.float32),
        "mid": jnp.zeros(HIDDEN),
        "out": jnp.asarray(normal(HIDDEN, 2) / HIDDEN**0.5, jnp.float32),
    }

    def apply(params: Any, inputs: Any) -> Any:
        return jax.nn.relu(inputs @ params["in"] + params["mid"]) @ params["out"]

    mean_loss = jax.jit(jax.grad(lambda params, a, b: cross_entropy(apply(params, a), b).mean()))
    plain = start
    for _ in range(PLAIN_STEPS):
        slope = mean_loss(plain, x[:people], y[:people])
        plain = jax.tree.map(lambda value, change: value - 1.0 * change, plain, slope)
    lot = min(people, max(people // 5, 50))
    recipe = Recipe.within(
        epsilon, min(DELTA, 0.1 / people), examples=people, lot=lot, steps=60, bound=1.0, rate=0.5, momentum=0.5
    )
    private = train(apply, cross_entropy, start, (x[:people], y[:people]), recipe).params

    def judge(params: Any) -> tuple[Membership, float]:
        losses = np.asarray(cross_entropy(apply(params, x), y), dtype=np.float64)
        right = np.asarray(apply(params, fresh_x)).argmax(axis=1) == fresh_y
        return judge_membership(-losses[:people], -losses[people:]), float(right.mean())

    (known, use), (hidden, private_use) = judge(plain), judge(private)
    delta = min(DELTA, 0.1 / people)
    return Exposure("A network", known, hidden, float(epsilon), delta, use, private_use, "accuracy")


def _examples(many: int) -> tuple[Any, Any]:
    """Features of which ten matter, and labels that are wrong for one person in five: something to learn by heart."""
    x = normal(many, FEATURES).astype(np.float32)
    label = x[:, :10].sum(axis=1) > 0
    return x, (label ^ (even(many) < 0.2)).astype(np.int32)


def attack_rows(people: int = 500, epsilon: float = 1.0) -> Exposure:
    """Make synthetic rows of `people`, by copying at random and under a budget, and tell members by the nearest row."""
    import pyarrow as pa

    from discreet.curator import open_curator
    from discreet.data.column import Integer
    from discreet.data.schema import Schema
    from discreet.ledger.budget import Budget
    from discreet.ledger.ledger import Ledger

    _check(people, epsilon)
    columns, values = 12, 6
    lean = np.concatenate([_rows(people, columns, values), _rows(people, columns, values)])
    members, others = lean[:people], lean[people:]
    copied = members[(even(people) * people).astype(int)]
    names = [f"c{place}" for place in range(columns)]
    schema = Schema("people", {name: Integer(0, values - 1, nullable=False) for name in names})
    table = pa.table({name: members[:, place] for place, name in enumerate(names)})
    with tempfile.TemporaryDirectory() as folder:
        curator = open_curator(table, schema, ledger=Ledger.temporary(folder), budget=Budget(epsilon))
        made = curator.synthesize(rows=people).plan(epsilon=epsilon).release().to_arrow()
    rows = np.stack([made[name].to_numpy() for name in names], axis=1)

    def judge(shown: Any) -> tuple[Membership, float]:
        near = -_nearest(members, shown).astype(float), -_nearest(others, shown).astype(float)
        tables = [np.histogram2d(part[:, 0], part[:, 1], bins=values)[0] / len(part) for part in (shown, members)]
        return judge_membership(*near), float(1 - np.abs(tables[0] - tables[1]).sum() / 2)

    (known, use), (hidden, private_use) = judge(copied), judge(rows)
    name = "agreement on pairs of columns"
    return Exposure("Synthetic rows", known, hidden, float(epsilon), 0.0, use, private_use, name)


def _rows(many: int, columns: int, values: int) -> Any:
    """Columns that each lean on the one before."""
    found = np.zeros((many, columns), dtype=np.int64)
    before = even(many)
    for column in range(columns):
        before = np.clip(0.6 * before + 0.4 * even(many), 0, 1 - 1e-9)
        found[:, column] = before * values
    return found


def _nearest(people: Any, rows: Any) -> Any:
    """In how many columns each person differs from the row that is nearest."""
    return np.array([(rows != person).sum(axis=1).min() for person in people])


def _check(people: int, epsilon: float) -> None:
    if isinstance(people, bool) or not isinstance(people, int) or not 50 <= people <= 20_000:
        raise InputError("people", people, "a whole number from 50 to 20,000")
    if not 0 < epsilon < 100:
        raise InputError("epsilon", epsilon, "more than zero and below 100")


def roc_picture(found: Exposure) -> Picture:
    """Members named against others accused, with the line no attack crosses under the stated epsilon."""
    curves = [
        Line(kind, ((0.0, 0.0), *zip(one.accused, one.caught, strict=True), (1.0, 1.0)))
        for kind, one in (("without a budget", found.plain), (f"epsilon = {found.epsilon:g}", found.private))
    ]
    edge = np.exp(found.epsilon)
    most = [
        (at, float(max(at, min(1.0, edge * at + found.delta, 1 - (1 - found.delta - at) / edge))))
        for at in np.linspace(0, 1, 41).tolist()
    ]
    curves.append(Line("most that epsilon allows", tuple(most)))
    names = ("others falsely accused", "members named")
    return roc(f"Who was in the data? {found.target}", curves, names=names)
