"""Names that configs of TRL, verl, OpenRLHF, prime-rl and Tinker give to settings, and their
values, said in the catalogue's words.

A value of None has no counterpart here: it is refused by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Key:
    """One setting of another trainer: what it is called here, and its values, if they are named.
    `absent` says why there is no such setting here."""

    words: str = ""
    values: Mapping[str, str | None] = field(default_factory=dict)
    absent: str = ""


_OFF_ON = "false off no none 0", "true on yes 1"


def _switch(off: str | None, on: str | None) -> dict[str, str | None]:
    return {
        **dict.fromkeys(_OFF_ON[0].split(), off),
        **dict.fromkeys(_OFF_ON[1].split(), on),
    }


_AGGREGATION = Key(
    "loss aggregation",
    {
        "grpo": "sequence mean",
        "dr_grpo": "fixed length",
        "dapo": "token mean",
        "bnpo": None,
        "token-mean": "token mean",
        "seq-mean-token-mean": "sequence mean",
        "seq-mean-token-sum": None,
        "seq-mean-token-sum-norm": "fixed length",
        "cispo": None,
        "sapo": None,
        "luspo": None,
        "vespo": None,
    },
)
_ESTIMATOR = Key(
    "rl algorithm",
    {
        "grpo": "grpo",
        "gae": "ppo",
        "rloo": "rloo",
        "reinforce_plus_plus": "reinforce++",
        "reinforce": "reinforce++",
        "reinforce_baseline": None,
        "reinforce_plus_plus_baseline": None,
        "group_norm": "grpo",
        "dr_grpo": "dr grpo",
        "remax": None,
        "opo": None,
        "gpg": None,
        "grpo_passk": None,
    },
)
_NO_KL: Mapping[str, str | None] = dict.fromkeys(["k1", "kl", "abs", "full"])
_KL = Key("kl coefficient")
_CLIP = Key("clip range")
_HIGH = Key("clip higher")
_GROUP = Key("group size")
_EPOCHS = Key("updates per batch")
_LENGTH = Key("max tokens")
_ENTROPY = Key("entropy coefficient")
_FILTER = Key("group filtering", _switch("no filter", "dynamic sampling"))
_RANK, _ALPHA, _RATE = Key("lora rank"), Key("lora alpha"), Key("learning rate")
_LAG = Key("staleness")
_TRUNCATED = Key(absent="rollouts are drawn from the policy itself, without truncation")
_LOW = Key("algorithm.clip_low")
_PROMPTS = Key(
    absent="it counts prompts; here a batch is counted in rollouts, prompts times group size: say "
    "'rollouts per batch 128 vs 256'"
)
_MINI = Key(absent="it is a size; here minibatches are counted: say 'minibatches 1 vs 4'")
_OVERLONG = Key(
    absent="the penalty is set by algorithm.overlong_buffer, the share of the budget that it "
    "covers: say 'algorithm.overlong_buffer 0 vs 0.2'"
)
_REFERENCE = Key(absent="the reference stays where the run begins")
_VALUE = "it belongs to PPO's value head"
_MICRO = Key(absent="micro-batches change no result here; the batch is batch.rollouts")

KEYS: Mapping[str, Key] = {
    # TRL
    "scale_rewards": Key(
        "advantage std",
        {**_switch("no std", "group level std"), "group": "group level std", "batch": "batch std"},
    ),
    "loss_type": _AGGREGATION,
    "num_generations": _GROUP,
    "num_iterations": _EPOCHS,
    "epsilon_high": _HIGH,
    "epsilon_low": _LOW,
    "importance_sampling_level": Key(
        "algorithm.ratio", {"token": "token", "sequence": "sequence", "sequence_token": None}
    ),
    "mask_truncated_completions": Key(
        absent="truncated answers are trained on; algorithm.overlong_buffer penalises them"
    ),
    "max_completion_length": _LENGTH,
    "max_prompt_length": Key(absent="prompts are never cut; a longer one is refused by its row"),
    "num_train_epochs": Key(absent="a run is measured in steps: say 'for N steps'"),
    "max_steps": Key("steps="),
    "per_device_train_batch_size": _MICRO,
    "gradient_accumulation_steps": _MICRO,
    "lr_scheduler_type": Key(
        "lr schedule",
        {
            "constant": "constant schedule",
            "linear": "linear schedule",
            "cosine": "cosine schedule",
            "constant_with_warmup": None,
            "polynomial": None,
            "cosine_with_restarts": None,
            "cosine_with_min_lr": None,
            "inverse_sqrt": None,
        },
    ),
    "warmup_ratio": Key(absent="warm-up is in steps: say 'lr warmup of N steps'"),
    "max_grad_norm": Key("max grad norm"),
    **dict.fromkeys(
        ["adam_epsilon", "adamw_epsilon", "optimizer_epsilon", "adamw_eps", "optimizer_eps"],
        Key("optim.eps"),
    ),
    "adam_eps": Key("optim.eps"),
    "sft_lr": Key("warmup.lr"),
    "sft_learning_rate": Key("warmup.lr"),
    "adam_beta1": Key("adam beta1"),
    "adam_beta2": Key("adam beta2"),
    "ref_model_sync_steps": _REFERENCE,
    "ref_model_mixup_alpha": _REFERENCE,
    "sync_ref_model": _REFERENCE,
    "steps_per_generation": Key(absent="say how many updates a batch feeds: 'minibatches 1 vs 4'"),
    "generation_batch_size": _PROMPTS,
    "delta": Key(absent="there is no second clip: ask about the clip range"),
    "dual_clip": Key(absent="there is no second clip: ask about the clip range"),
    "dual_clip_c": Key(absent="there is no second clip: ask about the clip range"),
    "use_bias_correction_kl": Key("kl estimator", _switch("k3", None)),
    "vllm_importance_sampling_correction": Key(
        "off policy correction", _switch("no correction", "tis")
    ),
    "top_entropy_quantile": Key(absent="all trained tokens count; ask about the entropy bonus"),
    "reward_weights": Key(absent="combine rewards in one of your own: --reward file.py:function"),
    "lora_dropout": Key(absent="adapters have no dropout: ask about rank or alpha"),
    "lora_target_modules": Key("lora targets", {"all-linear": "all linear"}),
    "min_p": _TRUNCATED,
    "repetition_penalty": _TRUNCATED,
    "eval_temperature": Key("evaluation temperature"),
    "num_warmup_steps": Key("lr warmup steps"),
    "warmup_steps": Key("lr warmup steps"),
    "save_steps": Key(absent="checkpoints change nothing that is learned"),
    "use_vllm": Key(absent="rollouts are sampled by the trainer's own engine"),
    "lora_r": _RANK,
    # verl
    "rollout.n": _GROUP,
    "kl_loss_coef": _KL,
    "kl_coef": _KL,
    "kl_ctrl.kl_coef": _KL,
    "use_kl_loss": Key("kl coefficient", _switch("0", "0.001")),
    "use_kl_in_reward": Key("kl placement", _switch("kl in the loss", "kl in the reward")),
    "kl_penalty": Key("kl estimator", {"k2": "k2", "mse": "k2", "low_var_kl": "k3", **_NO_KL}),
    "kl_loss_type": Key(
        "kl estimator",
        {
            "k2": "k2",
            "mse": "k2",
            "k3": "k3",
            "low_var_kl": "k3",
            **_NO_KL,
        },
    ),
    "kl_estimator": Key("kl estimator", {"k2": "k2", "k3": "k3", **_NO_KL}),
    "clip_ratio": _CLIP,
    "cliprange": _CLIP,
    "clip_ratio_high": _HIGH,
    "clip_ratio_low": _LOW,
    "clip_ratio_c": Key(absent="there is no dual clip: ask about the clip range"),
    "loss_agg_mode": _AGGREGATION,
    "adv_estimator": _ESTIMATOR,
    "norm_adv_by_std_in_grpo": Key("advantage std", _switch("no std", "group level std")),
    "entropy_coeff": _ENTROPY,
    "ppo_epochs": _EPOCHS,
    "ppo_mini_batch_size": _MINI,
    "mini_batch_size": _MINI,
    "minibatch_size": _MINI,
    "mini_batch": _MINI,
    "minibatch": _MINI,
    "ppo_micro_batch_size": _MICRO,
    "ppo_micro_batch_size_per_gpu": _MICRO,
    "train_batch_size": _PROMPTS,
    "gen_batch_size": _PROMPTS,
    "prompts_per_batch": _PROMPTS,
    "value.gamma": Key("algorithm.value.gamma"),
    "gamma": Key("algorithm.value.gamma"),
    "lam": Key("algorithm.value.lam"),
    "lambd": Key("algorithm.value.lam"),
    "lambda": Key("algorithm.value.lam"),
    "gae_lambda": Key("algorithm.value.lam"),
    **dict.fromkeys(
        ["value_loss_coef", "vf_loss_coef", "value_coef", "critic_coef"],
        Key(absent=f"{_VALUE}, which has its own optimizer: algorithm.value.head_lr"),
    ),
    "gradient_accumulation": _MICRO,
    "grad_accumulation": _MICRO,
    "accumulation_steps": _MICRO,
    "micro_batch_size": _MICRO,
    "micro_batch": _MICRO,
    "vf_coef": Key(absent=f"{_VALUE}, which has its own optimizer: algorithm.value.head_lr"),
    "cliprange_value": Key("algorithm.value.clip"),
    "value_clip": Key("algorithm.value.clip"),
    **dict.fromkeys(
        [
            "critic_learning_rate",
            "critic_lr",
            "value_lr",
            "value_head_lr",
            "head_lr",
            "value_head_learning_rate",
            "value_learning_rate",
            "head_learning_rate",
        ],
        Key("algorithm.value.head_lr"),
    ),
    "whiten_rewards": Key(absent="rewards are not whitened, advantages may be: 'batch std'"),
    "overlong_buffer.len": _OVERLONG,
    "overlong_buffer.enable": _OVERLONG,
    "overlong_buffer.penalty_factor": Key("algorithm.overlong_factor"),
    "overlong_buffer_len": _OVERLONG,
    "overlong_buffer": Key("algorithm.overlong_buffer"),
    **dict.fromkeys(
        [
            "tis_imp_ratio_cap",
            "tis_threshold",
            "tis_cap",
            "tis_clip",
            "rollout_is_threshold",
            "vllm_importance_sampling_cap",
            "truncated_importance_sampling_cap",
            "is_cap",
        ],
        Key("with TIS algorithm.correction.high"),
    ),
    "max_response_length": _LENGTH,
    "filter_groups": _FILTER,
    "filter_groups.enable": _FILTER,
    # OpenRLHF
    "n_samples_per_prompt": _GROUP,
    "init_kl_coef": _KL,
    "eps_clip": _CLIP,
    "eps_clip_low_high": Key(absent="ask about 'clip higher', or set algorithm.clip_low"),
    "advantage_estimator": _ESTIMATOR,
    "rollout_batch_size": _PROMPTS,
    "generate_max_len": _LENGTH,
    "use_kl_estimator_k3": Key("kl estimator", _switch(None, "k3")),
    "actor_learning_rate": _RATE,
    "dynamic_filtering": _FILTER,
    # prime-rl, Tinker
    "max_async_level": _LAG,
    "max_off_policy_level": _LAG,
    "off_policy_level": _LAG,
    "staleness_threshold": _LAG,
    "max_policy_lag": _LAG,
    "async_level": _LAG,
    "max_steps_off_policy": _LAG,
    "max_off_policy_steps": _LAG,
    "rollouts_per_example": _GROUP,
    "group_size": _GROUP,
    "groups_per_batch": _PROMPTS,
    "seq_len": Key(absent="it counts prompt and answer; say how long answers are: 'max tokens 64'"),
    "rollouts_per_prompt": _GROUP,
    "kl_penalty_coef": _KL,
    "lora_rank": _RANK,
    "lora_alpha": _ALPHA,
    "learning_rate": _RATE,
    "weight_decay": Key("weight decay"),
    "optim.wd": Key("weight decay"),
    "optim.learning_rate": _RATE,
    "optim.betas1": Key("adam beta1"),
    "max_norm": Key("max grad norm"),
    "max_tokens": _LENGTH,
    "entropy_coef": _ENTROPY,
    "beta": _KL,
    "top_p": _TRUNCATED,
    "top_k": _TRUNCATED,
}
