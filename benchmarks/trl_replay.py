"""TRL's `GRPOTrainer` on frozen rollouts: its own maths and its own steps, without generation.

TRL itself turns the rollouts into its padded batch and its advantages, through `rollout_func` and a
reward function, once. Then `update` runs what `Trainer` runs between two generations: shuffling and
splitting, forward and backward of every micro-batch (`training_step`), clipping, the optimizer and
the schedule. Data loading, logging, callbacks and saving are left out, in TRL's favour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase
from trl import GRPOConfig, GRPOTrainer

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import PolicySettings
from swarm.policy.lora import Pair

#: Learning rates never end within a measurement.
STEPS = 10_000

#: A Llama's layers by `policy.targets`.
_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
_MLP = ("gate_proj", "up_proj", "down_proj")
TARGETS = {"attention": _ATTENTION, "mlp": _MLP, "all": _ATTENTION + _MLP}


@dataclass(frozen=True)
class Rollout:
    """One sampled completion: token ids, log-probabilities under the sampler, and a reward."""

    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    logprobs: tuple[float, ...]
    reward: float


class ReplayTrainer(GRPOTrainer):  # type: ignore[misc]
    """A `GRPOTrainer` whose generation step hands out `frozen`, a batch that TRL made."""

    frozen: dict[str, Any]

    def freeze(self, rollouts: Sequence[Rollout]) -> None:
        """Let TRL make its batch of these rollouts; they come group by group."""
        self.rollout_func = lambda prompts, trainer: {
            "prompt_ids": [list(r.prompt) for r in rollouts],
            "completion_ids": [list(r.completion) for r in rollouts],
            "logprobs": [list(r.logprobs) for r in rollouts],
        }
        self.model.train()
        rows = [{"prompt": "", "score": r.reward} for r in rollouts]
        self.frozen = super()._generate_and_score_completions(rows)
        self._buffered_inputs = None

    def _generate_and_score_completions(self, inputs: object) -> dict[str, Any]:
        return dict(self.frozen)

    def start(self) -> None:
        """What `Trainer.train` does before its first step."""
        if self.args.gradient_checkpointing:
            self.model.gradient_checkpointing_enable(
                gradient_checkpointing_kwargs=self.args.gradient_checkpointing_kwargs
            )
        self.prepared, _ = self._prepare_for_training(STEPS, None, None)
        self.current_gradient_accumulation_steps = self.args.gradient_accumulation_steps

    def accumulate(self) -> None:
        """Forward and backward of all micro-batches of one optimizer step."""
        for index in range(self.args.gradient_accumulation_steps):
            last = index == self.args.gradient_accumulation_steps - 1
            self.accelerator.gradient_state._set_sync_gradients(last)
            self.training_step(self.prepared, [], None)

    def update(self) -> None:
        """One optimizer step on the frozen batch."""
        self.accumulate()
        self._clip_grad_norm(self.prepared)
        self.optimizer.step()
        self.lr_scheduler.step()
        self.prepared.zero_grad()

    def pairs(self) -> dict[str, tuple[nn.Parameter, nn.Parameter]]:
        """The adapter's (A, B) by the layer's path in the base model."""
        found = {}
        for path, module in self.model.named_modules():
            if hasattr(module, "lora_A"):
                name = path.removeprefix("base_model.model.")
                found[name] = (module.lora_A["default"].weight, module.lora_B["default"].weight)
        return found

    @torch.no_grad()
    def copy_adapter(self, pairs: Mapping[str, Pair]) -> None:
        """Start from another trainer's adapter. Raises KeyError where the layers differ."""
        own = self.pairs()
        if own.keys() != pairs.keys():
            raise KeyError(f"layers differ: {own.keys() ^ pairs.keys()}")
        for path, pair in pairs.items():
            own[path][0].copy_(pair.a)
            own[path][1].copy_(pair.b)

    def gradient(self) -> Tensor:
        """The accumulated gradient as one vector, layers in order of their path, A before B."""
        pairs = self.pairs()
        grads = [p.grad for path in sorted(pairs) for p in pairs[path]]
        return torch.cat([g.float().flatten() for g in grads if g is not None])


def replay_trainer(
    model: nn.Module | Path,
    tokenizer: PreTrainedTokenizerBase,
    policy: PolicySettings,
    folder: Path,
    **settings: Any,
) -> ReplayTrainer:
    """A trainer with a fresh adapter on `model`, or on the model in a folder as TRL loads it.
    `settings` are `GRPOConfig`'s; the rest of it stays as TRL sets it. It writes nothing."""
    lora = LoraConfig(
        r=policy.rank,
        lora_alpha=policy.alpha,
        target_modules=list(TARGETS[policy.targets]),
        lora_dropout=0.0,
        task_type="CAUSAL_LM",
    )
    quiet = {"report_to": "none", "save_strategy": "no", "use_cpu": True, "disable_tqdm": True}
    args = GRPOConfig(output_dir=str(folder), **quiet, **settings)
    return ReplayTrainer(
        model=str(model) if isinstance(model, Path) else model,
        reward_funcs=scores,
        args=args,
        train_dataset=Dataset.from_dict({"prompt": [""]}),
        processing_class=tokenizer,
        peft_config=lora,
    )


def scores(score: list[float], **_: object) -> list[float]:
    """The reward function: what the rollouts were given."""
    return score


def trl_settings(algorithm: AlgorithmSettings, max_tokens: int) -> dict[str, Any]:
    """The `GRPOConfig` fields that give the loss of an algorithm with a group baseline.

    Raises KeyError where TRL has none. `truncated` needs clip_low 1: TRL bounds only from above.
    """
    bound = algorithm.clip_high
    if algorithm.objective == "truncated":
        loss, bound = "cispo", 1 + (algorithm.clip_high or 0.0)
    else:
        loss = {"token_mean": "dapo", "sequence_mean": "grpo", "fixed_length": "dr_grpo"}[
            algorithm.aggregation
        ]
    return {
        "loss_type": loss,
        "epsilon": algorithm.clip_low,
        "epsilon_high": bound,
        "importance_sampling_level": algorithm.ratio,
        "scale_rewards": {"group_std": "group", "batch_std": "batch", "none": "none"}[
            algorithm.scale
        ],
        "beta": algorithm.kl_coef,
        "use_bias_correction_kl": algorithm.kl == "reverse",
        "max_completion_length": max_tokens,
    }
