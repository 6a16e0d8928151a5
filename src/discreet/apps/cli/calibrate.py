"""`discreet calibrate`: noise for a budget, the budget for an accuracy, and what an epsilon means."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

import typer

from discreet.accounting import (
    advantage,
    approx,
    compose,
    epsilon_within,
    gaussian_sigma,
    group,
    noise_multiplier,
    parallel,
    percent,
    posterior,
    pure,
    readable,
    rho_within,
    textbook_composition,
    textbook_sigma,
    zcdp,
)
from discreet.accounting.convert import basic
from discreet.apps.cli.output import AsJson, say, show_json, show_table
from discreet.core.exact import as_written
from discreet.core.loss import ZCDP, Approx, Loss, Pure, Repeated
from discreet.core.sensitivity import Sensitivity
from discreet.errors import MISSING, InputError, Phrase
from discreet.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip
from discreet.query.choose_plan import rows_needed

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Noise for a budget, the budget for an accuracy, what an epsilon means.")

Epsilon = Annotated[str | None, typer.Option(help="Privacy loss, such as 0.5.")]
Delta = Annotated[str | None, typer.Option(help="Chance of failure, such as 1e-6.")]
Rho = Annotated[str | None, typer.Option(help="zCDP privacy loss, such as 0.01.")]
Each = Annotated[int, typer.Option("--sensitivity", help="How far one unit moves one output (whole steps).")]
Moved = Annotated[int, typer.Option("--moved", help="How many outputs one unit can move.")]
Outputs = Annotated[int, typer.Option(help="How many outputs must hold at once.")]
Confidence = Annotated[float, typer.Option(help="Between 0 and 1.")]


@app.command("noise")
def noise(
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    each: Each = 1,
    moved: Moved = 1,
    outputs: Outputs = 1,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """The noise a budget buys: --epsilon alone, --epsilon with --delta, or --rho."""
    one_unit = Sensitivity(each, moved)
    mechanism: Laplace | Gaussian
    if (epsilon is None) == (rho is None):
        raise InputError("price", Phrase("both") if epsilon else MISSING, "exactly one of --epsilon and --rho")
    if rho is not None:
        if delta is not None:
            raise InputError("--delta", delta, "left out unless --epsilon is given")
        mechanism, price = Gaussian.for_rho(rho, one_unit), f"rho = {rho}"
    elif delta is not None and epsilon is not None:
        mechanism = Gaussian(gaussian_sigma(epsilon, delta, one_unit))
        price = f"epsilon = {epsilon}, delta = {delta}"
    else:
        mechanism, price = Laplace.for_epsilon(str(epsilon), one_unit), f"epsilon = {epsilon}"
    name, field = ("Laplace", "scale") if isinstance(mechanism, Laplace) else ("Gaussian", "sigma")
    width = getattr(mechanism, field)
    error = mechanism.error(confidence, outputs)
    classic = None if epsilon is None or delta is None else textbook_sigma(epsilon, delta, one_unit)
    off = mechanism.expected_l1(outputs) if isinstance(mechanism, Laplace) else None
    if as_json:
        row = {"mechanism": name.lower(), field: float(width), "exact": str(width), "variance": mechanism.variance}
        row |= {} if off is None else {"expected_l1": off}
        row |= {} if classic is None else {"classic_sigma": classic}
        show_json({**row, "confidence": confidence, "outputs": outputs, "error": error, "price": price})
        return
    say(f"{price}: discrete {name} noise, {field} {readable(width)}.")
    if classic is not None:
        than = "more than is needed" if classic >= float(width) else "too little for this price"
        say(f"The textbook's sigma, sqrt(2 ln(1.25/delta))/epsilon times the L2 sensitivity, is {classic:.4g}: {than}.")
    if off is not None:
        together = "The answer is" if outputs == 1 else f"All {outputs:,} answers together are"
        say(f"{together} off by {off:,.6g} on average.")
    together = "The answer stays" if outputs == 1 else f"All {outputs:,} answers stay"
    say(f"{together} within +-{error:,} with probability {percent(confidence)}.")


@app.command("budget")
def budget(
    within: Annotated[str, typer.Option(help="The half-width to reach, in steps.")],
    each: Each = 1,
    moved: Moved = 1,
    outputs: Outputs = 1,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """The cheapest budget for an accuracy, counted as pure epsilon and as zCDP."""
    one_unit = Sensitivity(each, moved)
    epsilon = epsilon_within(within, confidence, outputs, one_unit)
    rho = rho_within(within, confidence, outputs, one_unit)
    if as_json:
        show_json({"epsilon": float(epsilon), "rho": float(rho), "exact": {"epsilon": str(epsilon), "rho": str(rho)}})
        return
    rows = [["Laplace", f"epsilon = {readable(epsilon)}"], ["Gaussian", f"rho = {readable(rho)}"]]
    several = "" if outputs == 1 else f", all {outputs:,} at once"
    show_table(f"Within +-{within} with probability {percent(confidence)}{several}", ["noise", "costs"], rows)


@app.command("choose")
def choose(
    epsilon: Annotated[str, typer.Option(help="Privacy loss of the choice.")],
    options: Annotated[int | None, typer.Option(help="How many options there are; not with --scores.")] = None,
    scores: Annotated[str | None, typer.Option(help="Known scores, to show the probabilities: 2.1,3.9,0.")] = None,
    moved: Annotated[str, typer.Option("--sensitivity", help="How far one unit moves a score.")] = "1",
    monotone: Annotated[bool, typer.Option("--monotone", help="A unit moves all scores the same way.")] = False,
    method: Annotated[str, typer.Option(help="exponential or permute-and-flip.")] = "exponential",
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """How far behind the best option a private choice may be, how many rows make that small, and the probabilities."""
    known = [as_written(part.strip(), "--scores") for part in (scores or "").split(",") if part.strip()]
    if (options is None) == (not known):
        raise InputError("--options", Phrase("both" if known else "none"), "given, or --scores instead")
    if options is not None and options < 1:
        raise InputError("--options", options, "a whole number, 1 or more")
    many, each = options or len(known), as_written(moved, "--sensitivity")
    if each <= 0:
        raise InputError("--sensitivity", moved, "more than zero")
    kinds: dict[str, type[Exponential | PermuteAndFlip]]
    kinds = {"exponential": Exponential, "permute-and-flip": PermuteAndFlip}
    if method not in kinds:
        raise InputError("--method", method, among=kinds)
    step = Fraction(1, math.lcm(each.denominator, *(score.denominator for score in known)))
    choice = kinds[method](epsilon, sensitivity=int(each / step), monotone=monotone)
    behind = choice.error(confidence, many) * step
    chances = choice.probabilities([int(score / step) for score in known]) if known else []
    needed = {share: rows_needed(behind, Fraction(share) * each) for share in ("0.1", "0.01")}
    if as_json:
        row = {"options": many, "behind": float(behind), "confidence": confidence, "rows_needed": needed}
        show_json({"method": method, **row, **({"chances": chances} if known else {})})
        return
    if known:
        rows = [[readable(score), f"{chance:.3f}"] for score, chance in zip(known, chances, strict=True)]
        show_table(f"epsilon = {epsilon}, {method}", ["score", "chance"], rows, numbers=2)
    say(f"The choice is at most {readable(behind)} behind the best with probability {percent(confidence)}.")
    sizes = " and ".join(
        f"{percent(float(share))} of it from {rows:,} {'row' if rows == 1 else 'rows'} on"
        for share, rows in needed.items()
    )
    say(f"If each row adds up to {moved} to the best score, that is at most {sizes}.")


@app.command("odds")
def odds(
    epsilon: Annotated[str, typer.Option(help="Privacy loss.")],
    delta: Delta = None,
    prior: Annotated[
        list[str] | None, typer.Option(help="What someone would believe without your data: 0.02, 2%; again for more.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What an epsilon means: how far your data can change a belief about you, and how well anyone can guess."""
    # Of a pure epsilon the best guess at 50:50 is the belief it leads to, which keeps a logarithm exact.
    guess = posterior("0.5", epsilon).high if delta is None else (1 + advantage(Approx(epsilon, delta))) / 2
    # With a delta, beliefs have no bound that always holds; the best guess still has one.
    beliefs = (
        [posterior(_share(belief), epsilon) for belief in (prior or ["0.001", "0.02", "0.1", "0.5"])]
        if delta is None
        else []
    )
    if as_json:
        moves = [{"prior": float(b.prior), "low": float(b.low), "high": float(b.high)} for b in beliefs]
        show_json({"posteriors": moves, "best_guess": float(guess), "sentences": [b.sentence() for b in beliefs]})
        return
    if beliefs:
        rows = [[percent(b.prior), percent(b.low, 3, "down"), percent(b.high, 3, "up")] for b in beliefs]
        show_table(
            f"epsilon = {epsilon}",
            ["believed without your data", "at least with it", "at most with it"],
            rows,
            numbers=3,
        )
        say(beliefs[0].sentence())
    say(
        "Someone at 50:50 on whether you are in the data, who without your data would guess right half the time, "
        f"is right at most {percent(guess, 3, 'up')} of the time with it."
    )


@app.command("convert")
def convert(
    delta: Annotated[str, typer.Option(help="Chance of failure.")],
    epsilon: Epsilon = None,
    rho: Rho = None,
    as_json: AsJson = False,
) -> None:
    """Convert between pure epsilon, zCDP and (epsilon, delta)."""
    if (epsilon is None) == (rho is None):
        raise InputError("price", Phrase("both") if epsilon else MISSING, "exactly one of --epsilon and --rho")
    loss = Pure(str(epsilon)) if epsilon is not None else ZCDP(str(rho))
    concentrated, claim = zcdp(loss), approx(loss, delta)
    if as_json:
        show_json({"rho": float(concentrated.rho), "epsilon": float(claim.epsilon), "delta": float(claim.delta)})
        return
    say(f"rho = {readable(concentrated.rho)}; epsilon = {readable(claim.epsilon)} at delta = {readable(claim.delta)}")


@app.command("compose")
def compose_prices(
    epsilon: Annotated[list[str] | None, typer.Option(help="Price of a release; again for each.")] = None,
    rho: Annotated[list[str] | None, typer.Option(help="Price of a release as zCDP; again for each.")] = None,
    times: Annotated[int, typer.Option(help="How often each of them is made.")] = 1,
    delta: Annotated[str | None, typer.Option(help="Chance of failure of all together, such as 1e-6.")] = None,
    as_json: AsJson = False,
) -> None:
    """What several releases cost together: about the same people, and about disjoint parts of them."""
    prices: list[Loss] = [*map(Pure, epsilon or ()), *map(ZCDP, rho or ())]
    if not prices:
        raise InputError("price", MISSING, "--epsilon or --rho, once for each release")
    if rho and delta is None:
        raise InputError("--delta", MISSING, "given with --rho, which has no pure epsilon")
    if times < 1:
        raise InputError("--times", times, "a whole number, 1 or more")
    together = compose([Repeated(price, times) for price in prices])
    found: list[tuple[str, Fraction | float, str]] = [] if rho else [("added up", pure(together).epsilon, "0")]
    if delta is not None:
        if epsilon and not rho and len({*epsilon}) == 1:
            formula = textbook_composition(epsilon[0], times * len(epsilon), delta)
            found.append(("the textbook's advanced composition", formula, delta))
        found.append(("added up as zCDP", approx(ZCDP(zcdp(together).rho), delta, tight=False).epsilon, delta))
        found.append(("the least that is proven", approx(together, delta).epsilon, delta))
    apart = parallel(prices)
    worst = approx(apart, delta).epsilon if rho and delta else pure(apart).epsilon
    if as_json:
        ways = [
            {"way": way, "epsilon": float(cost), "delta": float(as_written(missed, "delta"))}
            for way, cost, missed in found
        ]
        show_json({"releases": times * len(prices), "same_people": ways, "disjoint": float(worst)})
        return
    rows = [[way, readable(cost), missed] for way, cost, missed in found]
    many = f"{times * len(prices):,} releases about the same people"
    show_table(many, ["counted", "epsilon", "delta"], rows, numbers=2)
    at = f" at delta = {delta}" if rho else ""
    say(f"About disjoint parts of the people, who are added or removed: the largest, epsilon = {readable(worst)}{at}.")


@app.command("group")
def group_price(
    people: Annotated[int, typer.Option(help="How many people together, such as a household.")],
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    as_json: AsJson = False,
) -> None:
    """What is promised to several people together by what is promised to each of them."""
    if (epsilon is None) == (rho is None):
        raise InputError("price", Phrase("both") if epsilon else MISSING, "exactly one of --epsilon and --rho")
    if people < 1:
        raise InputError("--people", people, "a whole number, 1 or more")
    if rho is not None:
        if delta is not None:
            raise InputError("--delta", delta, "left out unless --epsilon is given")
        concentrated = zcdp(group(ZCDP(rho), people))
        found, price = {"rho": concentrated.rho}, f"rho = {rho}"
        told = f"rho = {readable(concentrated.rho)}"
    else:
        claim = basic(group(Approx(str(epsilon), delta or 0), people))
        found = {"epsilon": claim.epsilon, "delta": claim.delta}
        price = f"epsilon = {epsilon}" + ("" if delta is None else f", delta = {delta}")
        told = f"epsilon = {readable(claim.epsilon)}"
        told += f", delta = {readable(claim.delta, 7)}" if claim.delta else ""
    if as_json:
        show_json({"people": people, **{name: float(value) for name, value in found.items()}})
        return
    say(f"What costs {price} for each person costs {told} for {people:,} together.")


@app.command("training")
def training(
    epsilon: Annotated[str, typer.Option(help="Privacy loss of the whole run.")],
    delta: Annotated[str, typer.Option(help="Chance of failure.")],
    rate: Annotated[str, typer.Option(help="Chance that an example is in a batch.")],
    steps: Annotated[int, typer.Option(help="Number of steps.")],
    as_json: AsJson = False,
) -> None:
    """The noise multiplier for DP-SGD with Poisson-sampled batches."""
    multiplier: Fraction = noise_multiplier(epsilon, delta, rate, steps)
    if as_json:
        show_json({"noise_multiplier": float(multiplier), "exact": str(multiplier)})
        return
    say(f"noise multiplier {readable(multiplier)} for epsilon = {epsilon}, delta = {delta} over {steps:,} steps")


def _share(written: str) -> str | Fraction:
    """A belief as it is written, 2% too."""
    part = written.strip()
    if not part.endswith("%"):
        return part
    share = as_written(part[:-1].strip(), "--prior") / 100
    if not 0 <= share <= 1:
        raise InputError("--prior", written, "between 0% and 100%")
    return share
