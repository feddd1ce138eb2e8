"""Factors of the advantage and of how token losses are reduced."""

from autoresearch.catalogue.factor import CatalogueFactor
from swarm.algorithms import NAMES

#: Presets that learn from rewards; SFT imitates.
RL_PRESETS = tuple(name for name in NAMES if name != "sft")

FACTORS = (
    CatalogueFactor(
        name="advantage_std",
        title="division of advantages by a standard deviation",
        sets=("algorithm.scale",),
        levels=("group_std", "none"),
        aliases="""
            std, standard deviation, group std, group standard deviation, advantage std, reward std,
            std normalization, advantage normalization, advantage scaling, advantage whitening,
            normalize advantages, normalizing the advantages, normalizing group advantages,
            normalizing rewards, reward normalization, whiten advantages, whitening advantages,
            whitening of advantages, whitening,
            dividing by std, dividing by the std, dividing by the group std, dividing by group std,
            divide by std, divide by the std, divide by the group std, sigma, difficulty bias
        """,
        words={
            "none": "no std, without std, without the std, centred only, mean only",
            "group_std": "group level std",
            "batch_std": "batch std, batch level std, batch standard deviation, global std",
        },
        hints={"none": "centering, centring, centred, centered"},
        expected=(
            "Dividing by the group std weights very easy and very hard prompts more; without it "
            "accuracy is about equal. Group mean with batch std is reported as the robust choice."
        ),
        source="arXiv:2503.20783, arXiv:2508.08221",
        null_when=(
            "every group has the same std: with binary rewards and groups of two, all groups that "
            "carry signal do, and AdamW undoes a common factor"
        ),
        traps=(
            "The division also rescales all advantages together; AdamW nearly undoes that, SGD "
            "would not.",
            "The contrast needs prompts of unequal difficulty: equal pass rates give equal stds.",
        ),
    ),
    CatalogueFactor(
        name="baseline",
        title="advantage baseline",
        sets=("algorithm.baseline",),
        levels=("group", "batch", "none"),
        aliases="baseline, advantage baseline, reward baseline, variance reduction",
        words={
            "group": "group mean, group baseline, group mean baseline",
            "leave_one_out": "leave one out, loo baseline, leave one out baseline",
            "batch": "batch mean, batch baseline, batch mean baseline",
            "value": "",
            "none": "no baseline, without baseline, without a baseline",
        },
        hints={"value": "value head, value baseline, value function, value model, critic"},
        everyday="baseline",
        expected="A baseline lowers gradient variance; a group's own mean is the tighter one.",
        source="arXiv:2402.14740",
        null_when=(
            "never bit for bit; leave_one_out is G/(G-1) times the group-centred advantage, a "
            "common factor that AdamW nearly undoes"
        ),
        traps=("group and leave_one_out need groups of two or more.",),
    ),
    CatalogueFactor(
        name="algorithm",
        title="RL algorithm",
        sets=("algorithm.name",),
        levels=("grpo", "dr_grpo", "rloo", "reinforce_pp"),
        two=("grpo", "rloo"),
        aliases="""
            estimator, advantage estimator, policy gradient estimator, rl algorithm,
            which algorithm, best algorithm, policy gradient method, policy gradient algorithm
        """,
        words=dict.fromkeys(RL_PRESETS, ""),
        hints={
            **{name: name.replace("_", " ") for name in RL_PRESETS if name != "default"},
            "grpo": "grpo, group relative policy optimization",
            "dr_grpo": "dr grpo, drgrpo, grpo done right",
            "dapo": "dapo",
            "gspo": "gspo, group sequence policy optimization",
            "cispo": "cispo",
            "dppo": "dppo",
            "rloo": "rloo, reinforce leave one out",
            "reinforce_pp": "reinforce++, reinforce pp, reinforce plus plus, rpp",
            "ppo": "ppo, proximal policy optimization",
            "maxrl": "maxrl, max rl",
            "dpo": "dpo, online dpo, direct preference optimization",
            "default": "default recipe, default algorithm",
        },
        expected="Near ties; normalising over the batch is reported as more stable.",
        source=(
            "arXiv:2402.03300, arXiv:2503.20783, arXiv:2402.14740, arXiv:2501.03262, "
            "arXiv:2503.14476, arXiv:2507.18071, arXiv:2506.13585, arXiv:1707.06347"
        ),
        null_when="never between two different presets",
        traps=(
            "The papers' presets differ in KL coefficient and placement too (GRPO 0.04, RLOO 0.05, "
            "REINFORCE++ 0.01, Dr.GRPO 0); fix algorithm.kl_coef to compare estimators alone.",
            "Each may want its own learning rate; tune with equal effort.",
            "DAPO draws more rollouts a batch than it trains on, and PPO and DPO take more passes: "
            "read curves by tokens and wall-clock too.",
            "Clip ranges act only after a batch's first update: GSPO, CISPO and DAPO's clip-higher "
            "need several updates per batch to differ in their ratios.",
        ),
    ),
    CatalogueFactor(
        name="loss_aggregation",
        title="loss aggregation",
        sets=("algorithm.aggregation",),
        levels=("sequence_mean", "token_mean", "fixed_length"),
        aliases="""
            loss aggregation, aggregation, loss reduction, loss normalization, length normalization,
            dividing by length, dividing by the length, dividing by response length,
            dividing by the response length
        """,
        words={
            "token_mean": "token mean, token level loss, per token loss, token level mean",
            "sequence_mean": """
                sequence mean, sequence level loss, sample level loss, per sequence loss,
                sequence level mean
            """,
            "fixed_length": "fixed length, constant length, constant normalizer",
        },
        expected=(
            "A mean inside each sequence rewards short right and long wrong answers; token means "
            "help base models, sequence means aligned ones."
        ),
        source="arXiv:2503.20783, arXiv:2508.08221",
        null_when="all answers of a batch have the same length",
        traps=("Needs a task on which the policy chooses how long it answers.",),
        task="chain",
    ),
)
