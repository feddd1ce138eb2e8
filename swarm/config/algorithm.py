"""`AlgorithmSettings`: advantages, loss and corrections, as one frozen part of a config, and the
combinations of them that are refused."""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from swarm.algorithms import PRESETS
from swarm.config.base import STORED, Settings, refuse

CorrectionKind = Literal[
    "none", "tis", "icepop", "token_mask", "sequence_mask", "decoupled", "dppo"
]

#: Corrections that multiply by the ratio to the sampler.
REWEIGHTING = ("tis", "icepop", "decoupled")

#: The bounds of a correction that gives none itself; sources in `swarm.learn.corrections`.
BOUNDS: Mapping[CorrectionKind, tuple[float, float]] = MappingProxyType(
    {
        "tis": (0.0, 2.0),
        "icepop": (0.5, 5.0),
        "token_mask": (0.5, 2.0),
        "sequence_mask": (0.99, 1.01),
        "decoupled": (0.0, 5.0),
        "dppo": (0.2, 0.2),
    }
)


class CorrectionSettings(Settings):
    """What is done about tokens on which sampler and learner disagree; see
    `swarm.learn.corrections`. `low` and `high` bound a ratio to the sampler, for `dppo` the fall
    and rise of a probability. Null means the kind's own (`BOUNDS`)."""

    kind: CorrectionKind = "none"
    low: float | None = Field(default=None, ge=0)
    high: float | None = Field(default=None, gt=0)

    @property
    def bounds(self) -> tuple[float, float]:
        """(low, high) in force. Raises KeyError for kind `none`."""
        low, high = BOUNDS[self.kind]
        return low if self.low is None else self.low, high if self.high is None else self.high


class ValueSettings(Settings):
    """The value head of `baseline: value`: its estimates, its loss and its optimizer."""

    gamma: float = Field(default=1.0, gt=0, le=1, description="discount a trained token")
    lam: float = Field(default=0.95, ge=0, le=1, description="lambda of GAE")
    clip: float | None = Field(default=0.2, gt=0, description="range of V around its old value")
    head_lr: float = Field(default=1e-3, gt=0, description="constant learning rate of the head")
    truncation: Literal["terminal", "bootstrap"] = Field(
        default="terminal",
        description="what follows an answer that its budget ended: nothing, or V of that state",
    )


class AlgorithmSettings(Settings):
    """Advantages and loss. `name` fills what is left out from its preset.

    Advantage: the reward, less the overlong penalty (`overlong_factor` times the share of the last
    `overlong_buffer` of `sampling.max_tokens` that the answer uses), less `baseline`, over `scale`.
    A `value` baseline is GAE over a learned value head, which `batch_std` whitens.
    With `returns: episode` that is one number an episode. With `token` each trained token has its
    own return to go, of the reward on the last token and, with `kl_placement: reward`, a penalty on
    each; baseline and scale are then taken over all tokens of the batch. A baseline over a group is
    one of episodes, a `value` one of tokens; left out, `returns` is the preset's where the baseline
    allows it.

    Loss per token by `objective` (`swarm.learn.loss`), reduced by `aggregation`; rho is pi over the
    sampler or over the policy at the start of the batch (`anchor`), of each token or the geometric
    mean of its sequence (`ratio`). `correction` deals with the rest of the gap to the sampler;
    `log_ratio_coef` adds (log rho)^2.
    kl_coef * KL is added and entropy_coef * entropy subtracted under the same weights. `kl` names
    the divergence whose gradient is followed: `reverse` is KL(pi || ref), `forward` KL(ref || pi).
    `kl_placement: reward` subtracts k1 from each token's reward instead.
    """

    name: str = "default"
    objective: Literal["clip", "truncated", "likelihood", "preference"] = "clip"
    baseline: Literal["none", "group", "leave_one_out", "batch", "value"] = "group"
    scale: Literal["none", "group_std", "batch_std", "group_mean"] = "none"
    returns: Literal["episode", "token"] = "episode"
    aggregation: Literal["token_mean", "sequence_mean", "fixed_length"] = "token_mean"
    ratio: Literal["token", "sequence"] = "token"
    anchor: Literal["sampler", "batch_start"] = "sampler"
    clip_low: float | None = Field(default=0.2, gt=0, le=1)
    clip_high: float | None = Field(default=0.2, gt=0)
    correction: CorrectionSettings = CorrectionSettings()
    log_ratio_coef: float = Field(default=0.0, ge=0)
    kl_coef: float = Field(default=0.0, ge=0)
    kl: Literal["reverse", "forward"] = "reverse"
    kl_placement: Literal["loss", "reward"] = "loss"
    entropy_coef: float = 0.0
    overlong_buffer: float = Field(default=0.0, ge=0, le=1)
    overlong_factor: float = Field(default=1.0, ge=0)
    value: ValueSettings = ValueSettings()
    beta: float = Field(default=0.1, gt=0, description="of the preference objective")

    @property
    def samples(self) -> bool:
        """Whether a batch is drawn from the policy; demonstrations are not."""
        return self.objective != "likelihood"

    @property
    def needs_sequences(self) -> bool:
        """Whether a token's loss depends on its whole sequence."""
        return self.ratio == "sequence" or self.correction.kind == "sequence_mask"

    @property
    def kl_in_reward(self) -> bool:
        return self.kl_coef > 0 and self.kl_placement == "reward"

    @property
    def kl_in_loss(self) -> bool:
        return self.kl_coef > 0 and self.kl_placement == "loss"

    def implied(self) -> Mapping[str, Any]:
        return {
            **super().implied(),
            "returns": returns_before(vars(self)),
        }

    def bounds_on_the_sampler(self) -> Iterator[tuple[str, str, float]]:
        """Each bound on a ratio of the learner to the sampler: its path, whether it holds a
        `token` or a `sequence`, and the log of the nearer end, a distance from log 1."""
        objective = self.objective in ("clip", "truncated")
        if objective and self.anchor == "sampler" and self.clip_low and self.clip_high:
            least = -math.log1p(-self.clip_low) if self.clip_low < 1 else math.inf
            yield (
                "algorithm.clip_low and clip_high",
                self.ratio,
                min(least, math.log1p(self.clip_high)),
            )
        if self.correction.kind in ("none", "dppo"):
            return
        low, high = self.correction.bounds
        level = "sequence" if self.correction.kind == "sequence_mask" else "token"
        least = -math.log(low) if low else math.inf
        yield f"algorithm.correction {self.correction.kind!r}", level, min(least, math.log(high))

    @model_validator(mode="after")
    def _possible(self, info: ValidationInfo) -> Self:
        refuse(*_ranges(self), *_advantages(self), *_corrections(self), *_unused(self))
        if info.context != STORED:  # older versions ran it
            refuse(*_spreads(self))
        return self

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, Mapping):
            return data
        name = data.get("name", "default")
        if not isinstance(name, str) or name not in PRESETS:
            raise ValueError(f"unknown algorithm {name!r}; known: {', '.join(PRESETS)}")
        filled = merged(_without_bounds_of_another(PRESETS[name], data.get("correction")), data)
        if "returns" in data:
            return filled
        if info.context == STORED:
            return filled | {"returns": returns_before(filled)}
        own = filled.get("returns", "episode")
        return filled | {"returns": returns_for(filled.get("baseline"), own)}


def returns_before(settings: Mapping[str, object]) -> str:
    """What `returns` was before it was a setting: then a coefficient of 0 switched it. `settings`
    are those of an algorithm, or of its preset and what was set over it."""
    baseline, placement, coefficient = (
        settings.get(name, AlgorithmSettings.model_fields[name].default)
        for name in ("baseline", "kl_placement", "kl_coef")
    )
    in_reward = placement == "reward" and coefficient != 0
    by_token = baseline == "value" or (in_reward and baseline in ("none", "batch"))
    return "token" if by_token else "episode"


def returns_for(baseline: object, preferred: object) -> object:
    """`preferred`, or the one kind of `returns` that the baseline can have."""
    if baseline in ("group", "leave_one_out"):
        return "episode"
    return "token" if baseline == "value" else preferred


def _without_bounds_of_another(preset: Mapping[str, object], given: object) -> Mapping[str, object]:
    """The preset without its correction's bounds where another kind of correction is given."""
    own = preset.get("correction")
    if not isinstance(own, Mapping) or not isinstance(given, Mapping):
        return preset
    if given.get("kind", own["kind"]) == own["kind"]:
        return preset
    return {**preset, "correction": {"kind": own["kind"]}}


def merged(preset: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """`given` over `preset`, part by part: a given `correction.low` leaves the preset's kind."""
    filled = dict(preset)
    for key, value in given.items():
        below = filled.get(key)
        inner = isinstance(below, Mapping) and isinstance(value, Mapping)
        filled[key] = merged(below, value) if inner else value  # type: ignore[arg-type]
    return filled


def _ranges(settings: AlgorithmSettings) -> Iterator[str]:
    low, high = settings.clip_low, settings.clip_high
    if (low is None) != (high is None):
        yield ("algorithm.clip_low and clip_high are given together or both left null")
    elif settings.objective == "truncated" and low is None:
        yield (
            "algorithm.objective 'truncated' bounds its weight by algorithm.clip_low and "
            "clip_high: set both"
        )


def _advantages(settings: AlgorithmSettings) -> Iterator[str]:
    scale, baseline, returns = settings.scale, settings.baseline, settings.returns
    possible = returns_for(baseline, returns)
    if returns != possible:
        of = "episodes" if possible == "episode" else "tokens"
        yield (
            f"algorithm.returns {returns!r} cannot be had with algorithm.baseline {baseline!r}, "
            f"which is one of {of}: set algorithm.returns {possible!r}"
        )
    elif scale in ("group_std", "group_mean") and returns == "token":
        yield (
            f"algorithm.scale {scale!r} cannot be had with algorithm.returns 'token' and baseline "
            f"{baseline!r}: a group has a return for each token; use 'batch_std' or 'none'"
        )
    elif scale == "group_mean" and (baseline != "group" or settings.kl_in_reward):
        yield (
            "algorithm.scale 'group_mean' divides what the group's mean is subtracted from, for "
            "rewards that are not negative: set algorithm.baseline 'group' and no KL in the reward"
        )


def _spreads(settings: AlgorithmSettings) -> Iterator[str]:
    """A std is one about a mean. What that mean was not taken from, divided by it, has no bound:
    the std of nearly equal rewards is next to nothing, and they are not."""
    centred = {
        "group_std": ("group", "leave_one_out"),
        "batch_std": ("batch", "group", "leave_one_out", "value"),
    }.get(settings.scale)
    if centred is not None and settings.baseline not in centred:
        yield (
            f"algorithm.scale {settings.scale!r} divides what is centred by the spread about its "
            f"mean, and algorithm.baseline {settings.baseline!r} does not centre it: set "
            f"algorithm.scale 'none', or algorithm.baseline {centred[0]!r}"
        )


def _corrections(settings: AlgorithmSettings) -> Iterator[str]:
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


def _unused(settings: AlgorithmSettings) -> Iterator[str]:
    """Settings that an objective without a policy gradient would silently ignore."""
    if settings.objective not in ("likelihood", "preference"):
        return
    left_out = {
        "clip_low": settings.clip_low is not None,
        "correction.kind": settings.correction.kind != "none",
        "anchor": settings.anchor != "sampler",
        "ratio": settings.ratio != "token",
        "baseline": settings.baseline != "none",
        "scale": settings.scale != "none",
        "returns": settings.returns != "episode",
        "kl_coef": settings.kl_coef > 0,
        "log_ratio_coef": settings.log_ratio_coef > 0,
        "overlong_buffer": settings.overlong_buffer > 0,
        "entropy_coef": settings.entropy_coef != 0 and settings.objective == "preference",
    }
    for name in (name for name, is_set in left_out.items() if is_set):
        yield f"algorithm.{name} has no place in algorithm.objective {settings.objective!r}"
