"""Alarms of bounds on ratios: one that holds before anything is learned, one that never holds."""

from collections.abc import Iterator

from swarm.config.train import TrainConfig
from swarm.train.curves import WINDOW, Alarm, Curves

#: Share of tokens outside a bound before any update. Of these the loss says nothing, or less.
OUTSIDE = 0.01

_SPREAD = {"token": "mismatch/log_ratio_rms", "sequence": "mismatch/sequence_log_ratio_rms"}


def bound_below_mismatch(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """Tokens lie outside a bound on the ratio to the sampler in the first batch's first update,
    when the weights are those that sampled it: rounding alone puts them there."""
    shares = curves.values("mismatch/outside_frac")
    bounds = list(config.algorithm.bounds_on_the_sampler())
    if len(shares) != 1 or shares[0] <= OUTSIDE or not bounds:
        return
    where, level, bound = min(bounds, key=lambda each: each[2])
    spread = curves.now(_SPREAD[level])
    spreads = "" if spread is None else f", which spreads it by {spread:.2g}"
    cause = (
        f"{where} hold the log-ratio of a {level} to the sampler within {bound:.2g}, and rounding "
        f"alone{spreads} puts {shares[0]:.1%} of the tokens outside before any update: take "
        "algorithm.anchor 'batch_start', a wider range, or model.dtype float32"
    )
    yield Alarm("bound-below-mismatch", curves.step, shares[0], cause)


def clip_never_binds(curves: Curves, config: TrainConfig) -> Iterator[Alarm]:
    """A clip range had no effect in a recipe in which it could have. Bounds on weights (objective
    `truncated`) are a cap for the worst case: a run is healthy that never meets them."""
    algorithm, fractions = config.algorithm, curves.values("policy/clip_frac")
    moves = config.batch.updates > 1 or (config.max_staleness > 0 and algorithm.anchor == "sampler")
    could = moves and algorithm.objective == "clip" and algorithm.clip_high is not None
    if not could or len(fractions) < WINDOW or any(fractions):
        return
    if curves.values("optim/grad_norm") and curves.most("optim/grad_norm") <= 0:
        return  # nothing was learned: the range had nothing to hold
    cause = (
        "no ratio reached the clip range in the whole run: the updates are too small for the range "
        "to matter"
    )
    yield Alarm("clip-never-binds", curves.step, 0.0, cause)
