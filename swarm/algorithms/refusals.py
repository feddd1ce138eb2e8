"""Combinations of settings that cannot be run, refused before anything starts.

Each message names a field by its path in the config and says what would be possible.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarm.algorithms.settings import AlgorithmSettings
    from swarm.config import TrainConfig

#: Corrections that multiply by the ratio to the sampler.
REWEIGHTING = ("tis", "icepop", "decoupled")


def refuse_algorithm(settings: "AlgorithmSettings") -> None:
    """Raise ValueError with every objection to these settings in themselves."""
    _refuse(*_ranges(settings), *_advantages(settings), *_corrections(settings), *_unused(settings))


def refuse_run(config: "TrainConfig") -> None:
    """Raise ValueError with every objection to the algorithm within its run."""
    _refuse(*_groups(config), *_pairs(config), *_staleness(config), *_demonstrations(config))


def _refuse(*objections: str) -> None:
    if objections:
        raise ValueError("; ".join(objections))


def _ranges(settings: "AlgorithmSettings") -> Iterator[str]:
    low, high = settings.clip_low, settings.clip_high
    if (low is None) != (high is None):
        yield ("algorithm.clip_low and clip_high are given together or both left null")
    elif settings.objective == "truncated" and low is None:
        yield (
            "algorithm.objective 'truncated' bounds its weight by algorithm.clip_low and "
            "clip_high: set both"
        )


def _advantages(settings: "AlgorithmSettings") -> Iterator[str]:
    scale, baseline = settings.scale, settings.baseline
    per_token = baseline == "value" or (settings.kl_in_reward and baseline in ("none", "batch"))
    if scale in ("group_std", "group_mean") and per_token:
        yield (
            f"algorithm.scale {scale!r} cannot be had with kl_placement "
            f"{settings.kl_placement!r} and baseline {baseline!r}: its returns are per token; use "
            "'batch_std' or 'none'"
        )
    elif scale == "group_mean" and (baseline != "group" or settings.kl_in_reward):
        yield (
            "algorithm.scale 'group_mean' divides what the group's mean is subtracted from, for "
            "rewards that are not negative: set algorithm.baseline 'group' and no KL in the reward"
        )


def _corrections(settings: "AlgorithmSettings") -> Iterator[str]:
    correction = settings.correction
    kind, field = correction.kind, "algorithm.correction"
    if kind == "none":
        if correction.low is not None or correction.high is not None:
            yield f"{field}.low and high need an {field}.kind"
        return
    low, high = correction.bounds
    if kind == "dppo":
        if settings.anchor != "sampler":
            yield f"{field}.kind 'dppo' bounds the move from the sampler: set algorithm.anchor so"
        if not (0 < low <= 1 and high <= 1):
            yield f"{field}.low {low} and high {high} bound a probability: both lie in (0, 1]"
        return
    if kind in REWEIGHTING and settings.anchor == "sampler":
        yield (
            f"{field}.kind {kind!r} multiplies by the ratio to the sampler, which is in the loss "
            "already with algorithm.anchor 'sampler'; set algorithm.anchor 'batch_start'"
        )
    if not low <= 1 <= high:
        yield f"{field}.low {low} and high {high} must enclose 1, where the two agree"


def _unused(settings: "AlgorithmSettings") -> Iterator[str]:
    """What an objective without a policy gradient would silently leave out."""
    if settings.objective not in ("likelihood", "preference"):
        return
    left_out = {
        "clip_low": settings.clip_low is not None,
        "correction.kind": settings.correction.kind != "none",
        "anchor": settings.anchor != "sampler",
        "ratio": settings.ratio != "token",
        "baseline": settings.baseline != "none",
        "scale": settings.scale != "none",
        "kl_coef": settings.kl_coef > 0,
        "log_ratio_coef": settings.log_ratio_coef > 0,
        "overlong_buffer": settings.overlong_buffer > 0,
        "entropy_coef": settings.entropy_coef != 0 and settings.objective == "preference",
    }
    for name in (name for name, is_set in left_out.items() if is_set):
        yield f"algorithm.{name} has no place in algorithm.objective {settings.objective!r}"


def _groups(config: "TrainConfig") -> Iterator[str]:
    if config.batch.group_size > 1:
        return
    algorithm, group_filter = config.algorithm, config.data.group_filter
    needing = {
        f"algorithm.baseline {algorithm.baseline!r}": algorithm.baseline
        in ("group", "leave_one_out"),
        f"algorithm.scale {algorithm.scale!r}": algorithm.scale in ("group_std", "group_mean"),
        f"algorithm.objective {algorithm.objective!r}": algorithm.objective == "preference",
        f"data.group_filter {group_filter!r}": group_filter != "none",
        f"data.order {config.data.order!r}": config.data.order == "by_signal",
    }
    for what in (what for what, needs in needing.items() if needs):
        yield f"{what} needs batch.group_size of 2 or more"


def _pairs(config: "TrainConfig") -> Iterator[str]:
    if config.algorithm.objective == "preference" and config.data.group_filter == "none":
        yield (
            "data.group_filter 'none' keeps groups of equal rewards, in which algorithm.objective "
            "'preference' finds no pair: set it to 'mixed_rewards' or 'resample'"
        )


def _staleness(config: "TrainConfig") -> Iterator[str]:
    algorithm = config.algorithm
    if not config.max_staleness or not algorithm.samples or algorithm.objective == "preference":
        return
    if algorithm.clip_high is None and algorithm.correction.kind == "none":
        yield (
            "max_staleness above 0 needs a bounded ratio: set algorithm.clip_low and clip_high, "
            "or algorithm.correction.kind"
        )
    elif algorithm.anchor == "batch_start" and algorithm.correction.kind == "none":
        yield (
            "max_staleness above 0 with algorithm.anchor 'batch_start' leaves the gap to the "
            "sampler uncorrected: set algorithm.correction.kind"
        )


def _demonstrations(config: "TrainConfig") -> Iterator[str]:
    if config.algorithm.samples:
        return
    if config.max_staleness:
        yield "max_staleness above 0 needs rollouts: algorithm.objective 'likelihood' draws none"
    if config.data.order == "by_signal":
        yield "data.order 'by_signal' needs rollouts: algorithm.objective 'likelihood' draws none"
    if config.data.group_filter != "none":
        yield (
            f"data.group_filter {config.data.group_filter!r} needs rollouts: "
            "algorithm.objective 'likelihood' draws none"
        )
