"""Names that configs of TRL, verl, OpenRLHF, prime-rl and Tinker give to settings, and their
values, said in the catalogue's words.

A value of None has no counterpart here: it is refused by name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from swarm.errors import Refusal


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
        "bnpo": "token mean",
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
_KL = Key("kl coefficient")
_CLIP = Key("clip range")
_HIGH = Key("clip higher")
_GROUP = Key("group size")
_EPOCHS = Key("updates per batch")
_LENGTH = Key("max tokens")
_ENTROPY = Key("entropy coefficient")
_RANK, _ALPHA, _RATE = Key("lora rank"), Key("lora alpha"), Key("learning rate")
_LAG = Key("staleness")
_TRUNCATED = Key(absent="rollouts are drawn from the policy itself, without truncation")
_LOW = Key(absent="set algorithm.clip_low with --factor or --set")
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
        },
    ),
    "warmup_ratio": Key(absent="warm-up is in steps: say 'lr warmup of N steps'"),
    "max_grad_norm": Key("max grad norm"),
    "adam_beta1": Key("adam beta1"),
    "adam_beta2": Key("adam beta2"),
    "ref_model_sync_steps": Key(absent="the reference stays where the run begins"),
    "sync_ref_model": Key(absent="the reference stays where the run begins"),
    "use_vllm": Key(absent="rollouts are sampled by the trainer's own engine"),
    "lora_r": _RANK,
    # verl
    "rollout.n": _GROUP,
    "kl_loss_coef": _KL,
    "kl_coef": _KL,
    "kl_ctrl.kl_coef": _KL,
    "use_kl_loss": Key("kl coefficient", _switch("no kl", "kl loss")),
    "use_kl_in_reward": Key("kl placement", _switch("kl in the loss", "kl in the reward")),
    "kl_loss_type": Key(
        "kl estimator",
        {
            "k2": "k2",
            "mse": "k2",
            "k3": "k3",
            "low_var_kl": "k3",
            "k1": None,
            "kl": None,
            "abs": None,
        },
    ),
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
    "ppo_mini_batch_size": Key(absent="say how many: 'minibatches 1 vs 4'"),
    "ppo_micro_batch_size": _MICRO,
    "ppo_micro_batch_size_per_gpu": _MICRO,
    "train_batch_size": Key("prompts per batch"),
    "max_response_length": _LENGTH,
    "filter_groups": Key("group filtering", _switch("no filter", "dynamic sampling")),
    # OpenRLHF
    "n_samples_per_prompt": _GROUP,
    "init_kl_coef": _KL,
    "eps_clip": _CLIP,
    "eps_clip_low_high": Key(absent="ask about 'clip higher', or set algorithm.clip_low"),
    "advantage_estimator": _ESTIMATOR,
    "rollout_batch_size": Key("prompts per batch"),
    "generate_max_len": _LENGTH,
    "use_kl_estimator_k3": Key("kl estimator", _switch("k2", "k3")),
    "actor_learning_rate": _RATE,
    "dynamic_filtering": Key("group filtering", _switch("no filter", "dynamic sampling")),
    # prime-rl, Tinker
    "max_async_level": _LAG,
    "async_level": _LAG,
    "max_steps_off_policy": _LAG,
    "max_off_policy_steps": _LAG,
    "rollouts_per_example": _GROUP,
    "group_size": _GROUP,
    "groups_per_batch": Key("prompts per batch"),
    "seq_len": _LENGTH,
    "lora_rank": _RANK,
    "lora_alpha": _ALPHA,
    "learning_rate": _RATE,
    "weight_decay": Key("weight decay"),
    "max_tokens": _LENGTH,
    "entropy_coef": _ENTROPY,
    "beta": _KL,
    "top_p": _TRUNCATED,
    "top_k": _TRUNCATED,
}

_SECTIONS = (
    "actor_rollout_ref actor rollout algorithm trainer data optim config args critic ref ppo grpo"
)
_PREFIX = rf"(?:--)?(?:(?:{_SECTIONS.replace(' ', '|')})\.)*"
_NAMES = "|".join(sorted(map(re.escape, KEYS), key=len, reverse=True))
_KEY = re.compile(rf"(?<![\w.]){_PREFIX}(?P<key>{_NAMES})(?![\w.])(?P<equals>\s*[=:])?")
#: Behind a key: more values than one.
_SEVERAL = re.compile(r"\b(?:vs|versus|or|against|than)\b|[,/]\s*[\d.]")
#: A value in a topic: a word, a number, a quoted name.
_VALUE = re.compile(r"""["']?(?P<value>[A-Za-z_][\w-]*|(?<![\w.])[01](?![\w.]))["']?""")


def in_own_words(topic: str) -> str:
    """The topic with the settings of other trainers in the catalogue's words. Raises Refusal for a
    setting or a value that has no counterpart."""
    keys = [m for m in _KEY.finditer(topic) if "_" in m["key"] or "." in m["key"] or m["equals"]]
    ends = [*(match.start() for match in keys[1:]), len(topic)]
    said, place = "", 0
    for match, end in zip(keys, ends[: len(keys)], strict=True):
        key = KEYS[match["key"]]
        if key.absent:
            raise Refusal("topic", f"{match['key']!r} is not a setting here", key.absent)
        behind = topic[match.end() : end]
        alone = len(keys) > 1 and match["equals"] and not _SEVERAL.search(behind)
        said += topic[place : match.start()] + f"{' with' if alone else ''} {key.words} "
        said += _values(match["key"], key, behind)
        place = end
    return said + topic[place:]


def _values(name: str, key: Key, text: str) -> str:
    """The text behind a key with its values in our words."""
    if not key.values:
        return text
    meanings: dict[str, str] = {}

    def meant(match: re.Match[str]) -> str:
        value = match["value"].lower()
        if value not in key.values:
            return match[0]
        meaning = key.values[value]
        if meaning is None:
            known = ", ".join(v for v, words in key.values.items() if words)
            raise Refusal("topic", f"{name}={match['value']} has no counterpart", f"known: {known}")
        if meanings.get(meaning, value) != value:
            raise Refusal(
                "topic",
                f"{name} {meanings[meaning]} and {value} are the same here ({meaning})",
                "compare others",
            )
        meanings[meaning] = value
        return meaning

    return _VALUE.sub(meant, text)
