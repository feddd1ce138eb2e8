"""The recipe that both trainers run, as swarm's config and as TRL's arguments."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.dataflow.prompts import batch_problems
from swarm.tasks import Problem, Task

#: Batches of a run: the cap after which a run that is still below the threshold is censored.
STEPS = 80

#: Batches between two held-out evaluations.
EVERY = 4

RECIPE: Mapping[str, JsonValue] = MappingProxyType(
    {
        "model.ref": "tiny",
        "task.ref": "reverse",
        "batch.rollouts": 256,
        "batch.group_size": 8,
        "sampling.max_tokens": 16,
        "policy.rank": 8,
        "policy.alpha": 16.0,
        "optim.lr": 1e-3,
        "evaluation.prompts": 512,
        "device": "cpu",
    }
)

#: What makes TRL fast here without changing the maths: the best of `benchmarks.trl_options`.
TRL_BEST: Mapping[str, Any] = MappingProxyType(
    {
        "bf16": False,
        "gradient_checkpointing": False,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": False,
    }
)

#: TRL's aggregation that equals ours over one optimizer batch.
_LOSS_TYPE = {"token_mean": "dapo"}
_SCALE_REWARDS = {"none": "none", "group_std": "group", "batch_std": "batch"}


def config_for(seed: int, steps: int = STEPS) -> TrainConfig:
    """The run of one seed: no checkpoints, an evaluation every `EVERY` batches."""
    return TrainConfig().with_values(
        {
            **RECIPE,
            "seed": seed,
            "steps": steps,
            "evaluation.every": EVERY,
            "checkpoint_every": steps,
        }
    )


def grpo_arguments(
    config: TrainConfig, folder: Path, options: Mapping[str, Any] = TRL_BEST
) -> dict[str, Any]:
    """The arguments of `trl.GRPOConfig` that run `config`, with `options` on top.

    Raises ValueError for a config whose maths TRL's arguments do not express.
    """
    algorithm, optim, batch = config.algorithm, config.optim, config.batch
    unlike = [
        name
        for name, fits in {
            "algorithm.objective": algorithm.objective == "clip",
            "algorithm.baseline": algorithm.baseline == "group",
            "algorithm.aggregation": algorithm.aggregation in _LOSS_TYPE,
            "algorithm.scale": algorithm.scale in _SCALE_REWARDS,
            "algorithm.ratio": algorithm.ratio == "token",
            "algorithm.kl_coef": algorithm.kl_coef == 0,
            "algorithm.entropy_coef": algorithm.entropy_coef == 0,
            "batch.updates": batch.updates == 1,
            "max_staleness": config.max_staleness == 0,
            "policy.kind": config.policy.kind == "lora",
        }.items()
        if not fits
    ]
    if unlike:
        raise ValueError(f"not the same in TRL: {', '.join(unlike)}")
    return {
        "output_dir": str(folder),
        "seed": config.seed,
        "max_steps": config.steps,
        "per_device_train_batch_size": batch.rollouts,
        "gradient_accumulation_steps": 1,
        "steps_per_generation": 1,
        "num_iterations": 1,
        "num_generations": batch.group_size,
        "max_completion_length": config.sampling.max_tokens,
        "temperature": config.sampling.temperature,
        "top_p": 1.0,
        "top_k": 0,
        "beta": 0.0,
        "loss_type": _LOSS_TYPE[algorithm.aggregation],
        "scale_rewards": _SCALE_REWARDS[algorithm.scale],
        "epsilon": algorithm.clip_low,
        "epsilon_high": algorithm.clip_high,
        "mask_truncated_completions": False,
        "shuffle_dataset": False,
        "optim": "adamw_torch_fused",
        "learning_rate": optim.lr,
        "adam_beta1": optim.beta1,
        "adam_beta2": optim.beta2,
        "adam_epsilon": optim.eps,
        "weight_decay": optim.weight_decay,
        "max_grad_norm": optim.grad_clip,
        "lr_scheduler_type": optim.schedule,
        "warmup_steps": optim.warmup_steps,
        "use_cpu": True,
        "save_strategy": "no",
        "logging_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        **options,
    }


def prompts_in_order(config: TrainConfig, task: Task) -> list[Problem]:
    """The problems of a run, batch by batch: what TRL's unshuffled dataset holds."""
    return [
        problem
        for step in range(config.steps)
        for problem in batch_problems(
            task,
            config.data,
            seed=config.seed,
            step=step,
            steps=config.steps,
            count=config.batch.prompts,
        )
    ]
