"""The same frozen batch through TRL's `GRPOTrainer` and through the learner: one gradient."""

from pathlib import Path

import numpy as np
import pytest
import torch
from support.models import VOCABULARY, llama
from support.scored_groups import credited_trees
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from benchmarks.agreement import agreement, our_gradient
from benchmarks.trl_replay import ReplayTrainer, Rollout, replay_trainer, trl_settings
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings
from swarm.learn.advantages import episode_advantages
from swarm.learn.learner import Learner, PerTreeArrays
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy
from swarm.records import Completion, Episode, Group, StopReason

POLICY = PolicySettings(rank=4)
OPTIM = OptimSettings(grad_clip=1e9)
GROUP_SIZE, MAX_TOKENS = 3, 12
NO_OVERLONG = {"overlong_buffer": 0.0}

CASES = {
    "default": {},
    "grpo": {"name": "grpo"},
    "grpo, reverse KL": {"name": "grpo", "kl": "reverse", "kl_coef": 0.3},
    "dr_grpo": {"name": "dr_grpo"},
    "dapo": {"name": "dapo", **NO_OVERLONG},
    "gspo": {"name": "gspo"},
    "gspo, wide": {"name": "gspo", "clip_low": 0.2, "clip_high": 0.3},
    "cispo": {"name": "cispo"},
    "cispo, low cap": {"name": "cispo", "clip_high": 0.1},
    "batch std": {"scale": "batch_std", "clip_low": 0.05, "clip_high": 0.4},
}


@pytest.fixture(scope="module")
def rollouts() -> list[Rollout]:
    """Three groups of ragged lengths; the last one's rewards are all equal."""
    rng = np.random.default_rng(0)
    found = []
    for group in range(3):
        prompt = tuple(rng.integers(2, VOCABULARY, 3 + 4 * group).tolist())
        for _ in range(GROUP_SIZE):
            length = int(rng.integers(1, MAX_TOKENS + 1))
            tokens = tuple(rng.integers(2, VOCABULARY, length).tolist())
            reward = 1.0 if group == 2 else float(rng.normal())
            found.append(Rollout(prompt, tokens, (0.0,) * length, reward))
    return found


def groups_of(rollouts: list[Rollout]) -> list[Group]:
    episodes = [
        Episode(Completion(r.completion, r.logprobs, StopReason.STOP), "", r.reward, False, 0)
        for r in rollouts
    ]
    return [
        Group(rollouts[i].prompt, "", "", tuple(episodes[i : i + GROUP_SIZE]))
        for i in range(0, len(rollouts), GROUP_SIZE)
    ]


def our_learner(algorithm: AlgorithmSettings, temperature: float) -> Learner:
    model = llama()
    policy = Policy(AdapterHost.wrap(model), POLICY, OPTIM, seed=0)
    rng = torch.Generator().manual_seed(1)
    for pair in policy.pairs.values():
        pair.b.data.normal_(0, 0.1, generator=rng)
    return Learner(model, policy, OPTIM, algorithm, temperature, 10)


def trl_trainer(folder: Path, temperature: float, **settings: object) -> ReplayTrainer:
    words = {"<pad>": 0, "<eos>": 1} | {f"w{i}": i for i in range(2, VOCABULARY)}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(words, unk_token="<pad>")),
        pad_token="<pad>",
        eos_token="<eos>",
    )
    plain = {"bf16": False, "gradient_checkpointing": False, "num_generations": GROUP_SIZE}
    return replay_trainer(
        llama(), tokenizer, POLICY, folder, temperature=temperature, **plain, **settings
    )


def off_policy(learner: Learner, rollouts: list[Rollout], spread: float) -> list[Rollout]:
    """The rollouts as a sampler near the policy would have drawn them."""
    trees = credited_trees(groups_of(rollouts), learner.algorithm, MAX_TOKENS, 1)[0]
    flat = np.concatenate(learner.logprobs(trees, learner.temperature))
    flat = flat + np.random.default_rng(1).normal(0, spread, len(flat)).astype(np.float32)
    parts = np.split(flat, np.cumsum([len(r.completion) for r in rollouts])[:-1])
    return [
        Rollout(r.prompt, r.completion, tuple(part.tolist()), r.reward)
        for r, part in zip(rollouts, parts, strict=True)
    ]


@pytest.mark.parametrize(("temperature", "micro_batches"), [(1.0, 1), (0.7, 3)])
@pytest.mark.parametrize("case", CASES)
def test_one_gradient(case, temperature, micro_batches, rollouts, tmp_path):
    algorithm = AlgorithmSettings.model_validate(CASES[case])
    learner = our_learner(algorithm, temperature)
    sampled = off_policy(learner, rollouts, spread=0.3)
    batch = credited_trees(groups_of(sampled), algorithm, MAX_TOKENS, 1)[0]
    reference = None
    if algorithm.kl_coef:
        rng = np.random.default_rng(2)
        reference = [
            lp + rng.normal(0, 0.2, len(lp)).astype(np.float32)
            for lp in learner.logprobs(batch, temperature)
        ]
    trainer = trl_trainer(
        tmp_path,
        temperature,
        per_device_train_batch_size=len(rollouts) // micro_batches,
        gradient_accumulation_steps=micro_batches,
        **trl_settings(algorithm, MAX_TOKENS),
    )
    trainer.copy_adapter(learner.policy.pairs)
    trainer.freeze(sampled)
    trainer.frozen["old_per_token_logps"] = trainer.frozen["sampling_per_token_logps"]
    if reference is not None:
        mask = trainer.frozen["completion_mask"].bool()
        flat = torch.as_tensor(np.concatenate(reference))
        trainer.frozen["ref_per_token_logps"] = torch.zeros(mask.shape).masked_scatter(mask, flat)
    trainer.start()
    trainer.accumulate()
    learner.reinforce(batch, PerTreeArrays(reference))
    found = agreement(our_gradient(learner.policy), trainer.gradient())
    assert found.cosine > 0.9999
    assert found.relative_error < 1e-4


@pytest.mark.parametrize("scale", ["none", "group_std", "batch_std"])
def test_one_set_of_advantages(scale, rollouts, tmp_path):
    algorithm = AlgorithmSettings(scale=scale)
    trainer = trl_trainer(
        tmp_path,
        1.0,
        per_device_train_batch_size=len(rollouts),
        **trl_settings(algorithm, MAX_TOKENS),
    )
    trainer.freeze(rollouts)
    rewards = [[e.reward for e in group.episodes] for group in groups_of(rollouts)]
    ours = np.concatenate([np.array(a, float) for a in episode_advantages(rewards, algorithm)])
    theirs = trainer.frozen["advantages"].numpy()
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_another_loss_is_told_apart(rollouts, tmp_path):
    """The comparison can fail: TRL's token mean is not our sequence mean."""
    algorithm = AlgorithmSettings(aggregation="sequence_mean")
    learner = our_learner(algorithm, 1.0)
    sampled = off_policy(learner, rollouts, spread=0.3)
    settings = trl_settings(AlgorithmSettings(), MAX_TOKENS)
    trainer = trl_trainer(tmp_path, 1.0, per_device_train_batch_size=len(rollouts), **settings)
    trainer.copy_adapter(learner.policy.pairs)
    trainer.freeze(sampled)
    trainer.frozen["old_per_token_logps"] = trainer.frozen["sampling_per_token_logps"]
    trainer.start()
    trainer.accumulate()
    learner.reinforce(credited_trees(groups_of(sampled), algorithm, MAX_TOKENS, 1)[0])
    assert agreement(our_gradient(learner.policy), trainer.gradient()).relative_error > 1e-2
