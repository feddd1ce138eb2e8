"""The parts of a `TrainConfig` besides the algorithm: model, policy, task, batch, optimizer, …"""

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from swarm.config.base import JsonValue, Settings, added


def _most(largest: int, why: str) -> AfterValidator:
    """A validator that refuses a number above `largest`, saying why there is a bound."""

    def check(value: int) -> int:
        if value > largest:
            raise ValueError(f"{value} is above {largest}, {why}")
        return value

    return AfterValidator(check)


#: An answer's tokens, at most: 2^20 is the longest context of the models that are served today.
Tokens = Annotated[int, Field(ge=1), _most(2**20, "the longest context of any model")]

#: Rows that are in memory at once, at most: 2^20 of them at 1 kB each (ids, masks,
#: log-probabilities, advantages of some 50 tokens) are 1 GB.
Rows = Annotated[int, Field(ge=1), _most(2**20, "which is a gigabyte of rows of fifty tokens")]

#: Held-out prompts, at most: at 2^16 the 95 % interval of an accuracy is +- 0.98 / 2^8, 0.4 points.
Prompts = Annotated[
    int, Field(ge=1), _most(2**16, "at which an accuracy is known to 0.4 points already")
]

#: Steps in all, at most: at a tenth of a second each they take twelve days.
Steps = Annotated[int, _most(10**7, "which is twelve days at a tenth of a second a step")]

#: Passes over one batch, at most: beyond this its answers are of another policy altogether.
Passes = Annotated[int, Field(ge=1), _most(1024, "passes over one batch of answers")]

#: vLLM serves an adapter of any rank up to its `max_lora_rank`, which can be 1, 8, 16, 32, 64, 128,
#: 256, 320 or 512.
LARGEST_RANK = 512

#: Seconds that a call of the user's own functions may take where `task.time_limit` is not set. A
#: judge asked over a network needs a minute for a group; what takes five hangs.
TIME_LIMIT = 300.0

#: Settings that bound waits and leave what a run computes as it is: they are in no digest, and a
#: run may be resumed with others. A dump holds them where they are set, so that ids of earlier
#: versions stay.
BOUNDS = ("task.time_limit",)


class ModelSettings(Settings):
    """The base model: `tiny`, a cached name, a local path or a hub id."""

    ref: str = "tiny"
    dtype: Literal["float32", "bfloat16"] = "float32"


class PolicySettings(Settings):
    """What is trained: a LoRA adapter on a frozen base, or all weights. With `start` the run begins
    with the weights in that folder, which are then also the reference of a KL term; the optimizer
    begins anew."""

    kind: Literal["lora", "full"] = "lora"
    rank: int = Field(default=8, ge=1, le=LARGEST_RANK)
    alpha: float = Field(default=16.0, gt=0, description="the update is scaled by alpha / rank")
    targets: Literal["all", "attention", "mlp", "linear"] = Field(
        default="all",
        description="weights of the blocks; `linear`: all that can be adapted, if not all",
    )
    start: str = added(
        "", description="weights to start from: an adapter, a model's folder, or a run's"
    )
    start_digest: str = added(
        "", pattern=r"^([0-9a-f]{64})?$", description="sha256 of the weights of `start`"
    )

    @field_validator("rank", mode="before")
    @classmethod
    def _servable(cls, rank: Any) -> Any:
        if isinstance(rank, int) and rank > LARGEST_RANK:
            raise ValueError(f"{rank} is above {LARGEST_RANK}, the largest rank that vLLM serves")
        return rank


class Source(Settings):
    """One of the sources that a mixture draws prompts from, `weight` times as often as one of
    weight 1. One of weight 0 trains nothing, and is evaluated on. An empty `reward` is the one that
    `task.reward` names, or `own` of a `file.py:make`."""

    ref: str
    weight: float = Field(default=1.0, ge=0)
    reward: str = ""
    columns: Mapping[str, str] = Field(default_factory=dict)
    split: str = ""
    args: Mapping[str, JsonValue] = Field(default_factory=dict)


#: A source's name, which is part of dotted paths.
SourceName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]*$")]


class TaskSettings(Settings):
    """Which task, at which level, and which of its rewards trains the policy. `ref` is a built-in
    family, `mixture`, or the user's rows or `file.py:make`; see docs/own-tasks.md."""

    ref: str = "reverse"
    reward: str = Field(
        default="exact",
        description="a reward that the task names; of rows exact, number, choice, math, "
        "or file.py:function",
    )
    args: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="a family's levels (min, max), or make's arguments"
    )
    digest: str = Field(
        default="", pattern=r"^([0-9a-f]{64})?$", description="sha256 of the user's own files"
    )
    template: Mapping[str, JsonValue] = added(
        {},
        description="arguments of the model's chat template, such as enable_thinking",
    )
    columns: Mapping[str, str] = added(
        {}, description="where rows name things otherwise: prompt, answer, level -> their column"
    )
    split: str = added("", description="of a saved data set or a hub id; empty: `train`")
    sources: Mapping[SourceName, Source] = added(
        {}, description="a mixture: name -> source; `ref` is `mixture` then"
    )
    time_limit: float | None = added(
        None,
        gt=0,
        description=f"seconds a call of the user's functions may take; by default {TIME_LIMIT:g}",
    )

    @property
    def seconds(self) -> float:
        """The time limit in force."""
        return TIME_LIMIT if self.time_limit is None else self.time_limit

    @model_validator(mode="before")
    @classmethod
    def _own_code_brings_its_reward(cls, raw: Any) -> Any:
        if isinstance(raw, Mapping) and ".py:" in str(raw.get("ref")) and "reward" not in raw:
            return {**raw, "reward": "own"}
        return raw


class SamplingSettings(Settings):
    """How rollouts are drawn. Truncated sampling is absent: it would change the policy's law."""

    temperature: float = Field(default=1.0, gt=0, le=4)
    max_tokens: Tokens = 16


class BatchSettings(Settings):
    """How many rollouts feed one batch, and how many optimizer updates it feeds."""

    rollouts: Rows = Field(default=128, description="episodes per batch, over all prompts")
    group_size: int = Field(default=8, ge=1, description="episodes per prompt")
    epochs: Passes = Field(default=1, description="passes over a batch (mu in the GRPO paper)")
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
                f"rollouts {self.rollouts} is not a multiple of group_size {self.group_size}"
            )
        if self.prompts % self.minibatches:
            raise ValueError(
                f"{self.prompts} prompts do not split into {self.minibatches} minibatches"
            )
        return self


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
    """Which prompts are asked in which order, and which groups are trained on.

    `order`: `easy_first` opens the levels one by one, `by_signal` asks more of those whose rewards
    differ within their groups (`swarm.dataflow.difficulty`).
    `group_filter`: `mixed_rewards` drops groups whose rewards are all equal, `resample` also draws
    groups of other prompts in their place (dynamic sampling, arXiv:2503.14476), at most
    `resample_rounds` times a batch; after that the batch may stay short.
    """

    order: Literal["uniform", "easy_first", "by_signal"] = "uniform"
    group_filter: Literal["none", "mixed_rewards", "resample"] = "none"
    resample_rounds: int = Field(default=4, ge=1, le=64)


class WarmupSettings(Settings):
    """Supervised steps on the task's worked answers before the first rollout."""

    steps: Steps = Field(default=0, ge=0)
    rows: Rows = 32
    lr: float = Field(default=1e-3, gt=0)


#: The ref of an evaluation set that is the training task's own held-out prompts.
HELD_OUT_REF = "held-out"


class EvalSet(Settings):
    """Prompts that are only ever evaluated on: `k` answers to each of the first `prompts` of them,
    all where `prompts` is null (of a built-in family, which has no end, `evaluation.prompts`).

    `ref` is what `task.ref` may be but a mixture, and rows are held out whole; or `held-out`, the
    training task's own. At temperature 0 the likeliest token is taken. An empty `reward` is the one
    that `task.reward` names, where the set's task offers it.
    """

    ref: str
    name: str = Field(default="", description="in metrics; by default ref's")
    prompts: Prompts | None = None
    k: int = Field(default=1, ge=1, le=1024, description="answers to a prompt")
    temperature: float = Field(default=1.0, ge=0, le=4)
    reward: str = ""
    columns: Mapping[str, str] = Field(default_factory=dict)
    split: str = ""
    args: Mapping[str, JsonValue] = Field(default_factory=dict)
    digest: str = Field(
        default="", pattern=r"^([0-9a-f]{64})?$", description="sha256 of the user's own files"
    )

    @field_validator("name")
    @classmethod
    def _fits_metrics(cls, name: str) -> str:
        if not re.fullmatch(r"([a-z0-9][a-z0-9_-]*)?", name):
            raise ValueError(f"{name!r} is not of lower-case letters, digits, '-' and '_'")
        return name

    @property
    def title(self) -> str:
        """What metrics call it: its name, else that of its ref's file, folder or data set."""
        if self.name:
            return self.name
        file, colon, function = self.ref.rpartition(":")
        if file == "hf":
            named = "-".join(function.split("/")[1:]) or function
        else:
            named = PurePath(file if colon and file.endswith(".py") else self.ref).stem
        return re.sub(r"[^a-z0-9_-]+", "-", named.lower()).strip("-_") or "set"

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.k > 1 and not self.temperature:
            raise ValueError(
                f"k {self.k} at temperature 0 gives one answer {self.k} times: set another of both"
            )
        if self.ref == HELD_OUT_REF:
            for name in ("columns", "split", "args"):
                if getattr(self, name):
                    raise ValueError(
                        f"{name} is the training task's where ref is {HELD_OUT_REF}: leave it out, "
                        "or name the rows"
                    )
        return self


class EvalSettings(Settings):
    """Evaluation every so many steps, before the first and after the last. Without `sets` on
    held-out prompts of the task: one sampled answer per prompt at temperature 1, fixed seeds."""

    every: int = Field(default=10, ge=1)
    prompts: Prompts = 512
    sets: tuple[EvalSet, ...] = added((), description="instead of the task's held-out prompts")

    @field_validator("sets", mode="before")
    @classmethod
    def _is_a_list(cls, sets: Any) -> Any:
        if not isinstance(sets, list | tuple):
            raise ValueError("it is no list of sets: write [{ref: test.jsonl, k: 4}, …]")
        return sets

    @field_validator("sets")
    @classmethod
    def _told_apart(cls, sets: tuple[EvalSet, ...]) -> tuple[EvalSet, ...]:
        titles = [each.title for each in sets]
        for title in titles:
            if titles.count(title) > 1:
                raise ValueError(f"two sets are called {title}: give one another name")
        return sets
