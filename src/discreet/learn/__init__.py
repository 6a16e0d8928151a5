"""Models with an epsilon: training on private data so that the weights may be published.

Asked for at a desk (`curator.train`): `TrainAsk`, `SearchAsk`, the `ModelRelease` that comes of them, its `Card`, and
`Model`, a function of one's own to train. On arrays and iterators, under a ledger or without one: `train` by a
`Recipe`, the price of a `Search`, losses (`cross_entropy`, `logistic`, `squared`, `absolute`), networks to start from
(`dense`, `convolutional`, `wide_residual`), `dropout` by each example's own key, a `Run` that survives crashes in its
`Checkpoint`, a `Curve` of accuracy and epsilon by epoch (`release_with_curve`), `NETS` for images with their recipes
(`Preset`, `preset_named`), `Images` out of files (`read_images`), a `Baseline` without privacy on public data
(`train_baseline`), `Canaries` that a `Watch` looks for in a run, and `lira`, an attack with shadow models, also with
all of them trained side by side (`lira_together`) or on losses of one's own (`score_first`, `score_each`).
`read_weights` and `write_weights` are for files. Clipped sums of gradients are in `discreet.learn.clip`, estimators in
scikit-learn's manner in `discreet.learn.estimators`. Names load on first use; all but the asks and the recipe need the
extra `learn`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.learn.ask import SearchAsk as SearchAsk
    from discreet.learn.ask import TrainAsk as TrainAsk
    from discreet.learn.baseline import Baseline as Baseline
    from discreet.learn.baseline import train_baseline as train_baseline
    from discreet.learn.canary import Canaries as Canaries
    from discreet.learn.canary import Watch as Watch
    from discreet.learn.canary import coins_for as coins_for
    from discreet.learn.canary import loss_scores as loss_scores
    from discreet.learn.card import Card as Card
    from discreet.learn.checkpoint import Checkpoint as Checkpoint
    from discreet.learn.curve import Curve as Curve
    from discreet.learn.curve import CurvePoint as CurvePoint
    from discreet.learn.image_files import Images as Images
    from discreet.learn.image_files import read_images as read_images
    from discreet.learn.likelihood_ratio import Lira as Lira
    from discreet.learn.likelihood_ratio import lira as lira
    from discreet.learn.likelihood_ratio import lira_together as lira_together
    from discreet.learn.model import Model as Model
    from discreet.learn.nets import Net as Net
    from discreet.learn.nets import convolutional as convolutional
    from discreet.learn.nets import dense as dense
    from discreet.learn.nets import flipped_and_shifted as flipped_and_shifted
    from discreet.learn.nets import wide_residual as wide_residual
    from discreet.learn.objective import absolute as absolute
    from discreet.learn.objective import cross_entropy as cross_entropy
    from discreet.learn.objective import logistic as logistic
    from discreet.learn.objective import squared as squared
    from discreet.learn.presets import NETS as NETS
    from discreet.learn.presets import Preset as Preset
    from discreet.learn.presets import preset_named as preset_named
    from discreet.learn.recipe import Recipe as Recipe
    from discreet.learn.release import ModelRelease as ModelRelease
    from discreet.learn.row_keys import dropout as dropout
    from discreet.learn.run import Run as Run
    from discreet.learn.run import fingerprint as fingerprint
    from discreet.learn.run import identity_of as identity_of
    from discreet.learn.run import resume as resume
    from discreet.learn.search import Search as Search
    from discreet.learn.shadow_scores import score_each as score_each
    from discreet.learn.shadow_scores import score_first as score_first
    from discreet.learn.table_curve import release_with_curve as release_with_curve
    from discreet.learn.trainer import Trained as Trained
    from discreet.learn.trainer import losses_of as losses_of
    from discreet.learn.trainer import train as train
    from discreet.learn.weights_file import read_weights as read_weights
    from discreet.learn.weights_file import write_weights as write_weights

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "ask": ("SearchAsk", "TrainAsk"),
        "canary": ("Canaries", "Watch", "coins_for", "loss_scores"),
        "card": ("Card",),
        "checkpoint": ("Checkpoint",),
        "baseline": ("Baseline", "train_baseline"),
        "curve": ("Curve", "CurvePoint"),
        "image_files": ("Images", "read_images"),
        "presets": ("NETS", "Preset", "preset_named"),
        "likelihood_ratio": ("Lira", "lira", "lira_together"),
        "row_keys": ("dropout",),
        "model": ("Model",),
        "nets": ("Net", "convolutional", "dense", "flipped_and_shifted", "wide_residual"),
        "objective": ("absolute", "cross_entropy", "logistic", "squared"),
        "recipe": ("Recipe",),
        "release": ("ModelRelease",),
        "run": ("Run", "fingerprint", "identity_of", "resume"),
        "search": ("Search",),
        "shadow_scores": ("score_each", "score_first"),
        "table_curve": ("release_with_curve",),
        "trainer": ("Trained", "losses_of", "train"),
        "weights_file": ("read_weights", "write_weights"),
    },
    extra="learn",
)
