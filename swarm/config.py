"""`TrainConfig`: everything one training run depends on, and nothing else.

The one contract between the researcher and the trainer. Importing it needs pydantic alone.
Unknown keys are errors. Two runs with equal `TrainConfig.digest()` on one machine fingerprint
sample the same tokens and reach the same weights.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from swarm.algorithms import PRESETS

JsonValue = str | int | float | bool | None


class Settings(BaseModel):
    """A frozen part of the config in which an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class ModelSettings(Settings):
    """The base model: `tiny`, a cached name, a local path or a hub id."""

    ref: str = "tiny"
    dtype: Literal["float32", "bfloat16"] = "float32"


class PolicySettings(Settings):
    """What is trained: a LoRA adapter on a frozen base, or all weights."""

    kind: Literal["lora", "full"] = "lora"
    rank: int = Field(default=8, ge=1, le=512)
    alpha: float = Field(default=16.0, gt=0, description="the update is scaled by alpha / rank")
    targets: Literal["all", "attention", "mlp"] = "all"


class TaskSettings(Settings):
    """Which task, at which level, and which of its rewards trains the policy."""

    ref: str = "reverse"
    reward: str = Field(default="exact", description="a reward that the task names")
    args: Mapping[str, JsonValue] = Field(default_factory=dict, description="the task's own level")


class SamplingSettings(Settings):
    """How rollouts are drawn. Truncated sampling is absent: it would change the policy's law."""

    temperature: float = Field(default=1.0, gt=0, le=4)
    max_tokens: int = Field(default=16, ge=1)


class BatchSettings(Settings):
    """How many rollouts feed one batch, and how many optimizer updates it feeds."""

    rollouts: int = Field(default=128, ge=1, description="episodes per batch, over all prompts")
    group_size: int = Field(default=8, ge=1, description="episodes per prompt")
    epochs: int = Field(default=1, ge=1, description="passes over a batch (mu in the GRPO paper)")
    minibatches: int = Field(default=1, ge=1, description="optimizer updates per pass")

    @property
    def prompts(self) -> int:
        return self.rollouts // self.group_size

    @property
    def updates(self) -> int:
        """Optimizer updates per batch."""
        return self.epochs * self.minibatches

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.rollouts % self.group_size:
            raise ValueError(
                f"rollouts {self.rollouts} is no multiple of group_size {self.group_size}"
            )
        if self.prompts % self.minibatches:
            raise ValueError(
                f"{self.prompts} prompts do not split into {self.minibatches} minibatches"
            )
        return self


class AlgorithmSettings(Settings):
    """Advantages and loss. `name` fills what is left out from its preset.

    Advantage: `baseline` is subtracted from the reward, the result divided by `scale`.
    Loss per token: -min(rho A, clip(rho, 1 - clip_low, 1 + clip_high) A), reduced by
    `aggregation`, plus kl_coef * KL and minus entropy_coef * entropy under the same weights.
    `kl` names the divergence whose gradient is followed: `reverse` is KL(pi || ref), `forward`
    is KL(ref || pi). `kl_placement: reward` subtracts k1 from each token's reward instead.
    """

    name: str = "default"
    baseline: Literal["none", "group", "leave_one_out", "batch"] = "group"
    scale: Literal["none", "group_std", "batch_std"] = "none"
    aggregation: Literal["token_mean", "sequence_mean", "fixed_length"] = "token_mean"
    clip_low: float | None = Field(default=0.2, gt=0, le=1)
    clip_high: float | None = Field(default=0.2, gt=0)
    kl_coef: float = Field(default=0.0, ge=0)
    kl: Literal["reverse", "forward"] = "reverse"
    kl_placement: Literal["loss", "reward"] = "loss"
    entropy_coef: float = 0.0

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if (self.clip_low is None) != (self.clip_high is None):
            raise ValueError("clip_low and clip_high are given together or both left null")
        in_reward = self.kl_coef > 0 and self.kl_placement == "reward"
        if in_reward and self.scale == "group_std" and self.baseline in ("none", "batch"):
            raise ValueError(
                f"scale 'group_std' cannot be had with kl_placement 'reward' and baseline "
                f"{self.baseline!r}: its returns are per token; use 'batch_std' or 'none'"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        name = data.get("name", "default")
        if name not in PRESETS:
            raise ValueError(f"unknown algorithm {name!r}; known: {', '.join(PRESETS)}")
        return {**PRESETS[name], **data}


class OptimSettings(Settings):
    """AdamW and its schedule."""

    lr: float = Field(default=1e-3, gt=0)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.999, ge=0, lt=1)
    eps: float = Field(default=1e-8, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    grad_clip: float = Field(default=1.0, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warmup_steps: int = Field(default=0, ge=0)


class DataSettings(Settings):
    """Which prompts are asked in which order, and which groups are trained on."""

    order: Literal["uniform", "easy_first"] = "uniform"
    group_filter: Literal["none", "mixed_rewards"] = Field(
        default="none", description="mixed_rewards drops groups whose rewards are all equal"
    )


class WarmupSettings(Settings):
    """Supervised steps on the task's worked answers before the first rollout."""

    steps: int = Field(default=0, ge=0)
    rows: int = Field(default=32, ge=1)
    lr: float = Field(default=1e-3, gt=0)


class EvalSettings(Settings):
    """Held-out evaluation: one sampled answer per prompt at temperature 1, fixed seeds."""

    every: int = Field(default=10, ge=1)
    prompts: int = Field(default=512, ge=1)


class TrainConfig(Settings):
    """One training run."""

    model: ModelSettings = ModelSettings()
    policy: PolicySettings = PolicySettings()
    task: TaskSettings = TaskSettings()
    algorithm: AlgorithmSettings = AlgorithmSettings()
    sampling: SamplingSettings = SamplingSettings()
    batch: BatchSettings = BatchSettings()
    optim: OptimSettings = OptimSettings()
    data: DataSettings = DataSettings()
    warmup: WarmupSettings = WarmupSettings()
    evaluation: EvalSettings = EvalSettings()
    steps: int = Field(default=60, ge=1, description="batches; each feeds `batch.updates` updates")
    max_staleness: int = Field(default=0, ge=0, le=64)
    checkpoint_every: int = Field(default=20, ge=1)
    seed: int = Field(default=0, ge=0, lt=2**31)
    device: Literal["auto", "cpu", "cuda"] = "auto"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        group, algorithm = self.batch.group_size, self.algorithm
        if group == 1 and algorithm.baseline in ("group", "leave_one_out"):
            raise ValueError(
                f"algorithm.baseline {algorithm.baseline!r} needs batch.group_size of 2 or more"
            )
        if group == 1 and algorithm.scale == "group_std":
            raise ValueError("algorithm.scale 'group_std' needs batch.group_size of 2 or more")
        if group == 1 and self.data.group_filter == "mixed_rewards":
            raise ValueError(
                "data.group_filter 'mixed_rewards' needs batch.group_size of 2 or more"
            )
        if self.max_staleness and algorithm.clip_high is None:
            raise ValueError(
                "max_staleness above 0 needs a bounded ratio: set algorithm.clip_low and clip_high"
            )
        return self

    def digest(self) -> str:
        """The sha256 of the canonical JSON of this config."""
        return canonical_digest(self.model_dump(mode="json"))

    def with_values(self, values: Mapping[str, JsonValue]) -> "TrainConfig":
        """This config with dotted paths replaced, validated again.

        Setting `algorithm.name` fills the rest of `algorithm` from that preset, except for the
        other `algorithm.*` paths in `values`.
        """
        raw = self.model_dump(mode="json")
        if "algorithm.name" in values:
            raw["algorithm"] = {}
        for path, value in values.items():
            set_path(raw, path, value)
        return TrainConfig.model_validate(raw)


def set_path(tree: dict[str, Any], path: str, value: JsonValue) -> None:
    """Set `a.b.c` in a tree of dicts. Raises KeyError when a parent is no dict."""
    *parents, leaf = path.split(".")
    node = tree
    for name in parents:
        child = node.setdefault(name, {})
        if not isinstance(child, dict):
            raise KeyError(path)
        node = child
    node[leaf] = value


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: the form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_digest(value: object) -> str:
    """sha256 of `canonical_json(value)`, in hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
