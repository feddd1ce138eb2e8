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
            divide by std, divide by the std, divide by the group std, sigma, difficulty bias,
            std scaling, std division, division by std, division by the std,
            division by the group std, scaling by std, scaling by the std, scale rewards,
            reward scaling, normalizing advantages, normalization of advantages,
            advantage normalisation, normalization by std, std normalisation
        """,
        words={
            "none": """
                no std, without std, without the std, centred only, mean only, no scaling,
                mean centering only, only mean centering, centered only, centering only,
                mean subtraction only, only subtracting the mean, raw advantages,
                unnormalized advantages, no advantage normalization, without normalization,
                no normalization, no std normalization
            """,
            "group_std": "group level std",
            "batch_std": """
                batch std, batch level std, batch standard deviation, global std,
                batch level normalization, batch normalization, batch whitening, std of the batch,
                std over the batch, batchwise std, global normalization
            """,
        },
        hints={
            "none": "centering, centring, centred, centered",
            "group_std": """
                group std, group standard deviation, std, per group, the group std,
                within the group, within each group
            """,
            "batch_std": "per batch, the batch std, over the batch, across the batch",
        },
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
            "group": """
                group mean, group baseline, group mean baseline, group average, mean of the group
            """,
            "leave_one_out": "leave one out, loo, loo baseline, leave one out baseline",
            "batch": "batch mean, batch baseline, batch mean baseline, mean of the batch",
            "value": "",
            "none": "no baseline, without baseline, without a baseline, without any baseline",
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
            which algorithm, best algorithm, policy gradient method, policy gradient algorithm,
            rl algorithms, rl method, rl methods, rl estimator, estimators, loss function
        """,
        words=dict.fromkeys(RL_PRESETS, ""),
        hints={
            **{name: name.replace("_", " ") for name in RL_PRESETS if name != "default"},
            "grpo": """
                grpo, group relative policy optimization, online grpo, vanilla grpo, plain grpo,
                standard grpo
            """,
            "dr_grpo": "dr grpo, drgrpo, grpo done right, doctor grpo",
            "dapo": "dapo",
            "gspo": "gspo, group sequence policy optimization",
            "cispo": "cispo",
            "dppo": "dppo",
            "rloo": "rloo, reinforce leave one out",
            "reinforce_pp": """
                reinforce++, reinforce pp, reinforce plus plus, rpp, reinforce plusplus
            """,
            "ppo": """
                ppo, proximal policy optimization, ppo clip, ppo with gae, gae ppo, ppo gae, gae
            """,
            "maxrl": "maxrl, max rl",
            "dpo": "dpo, online dpo, on policy dpo, direct preference optimization",
            "default": "default recipe, default algorithm, the default, the recipe",
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
            dividing by the response length, aggregation of the loss, loss averaging, averaging of
            the loss,
            token aggregation, reduction of the loss, length normalisation, normalization by length
        """,
        words={
            "token_mean": """
                token mean, token level loss, per token loss, token level mean, mean over tokens,
                token level, token level aggregation, token average, tokenwise mean,
                averaging over tokens, token level averaging, global token mean, token normalized
            """,
            "sequence_mean": """
                sequence mean, sequence level loss, sample level loss, per sequence loss,
                sequence level mean, sequence level aggregation, mean over sequences,
                sequence average, averaging per sequence, sample mean, mean per sequence,
                sequence level averaging, per sequence mean, sequence normalized,
                sample level mean, averaging over sequences
            """,
            "fixed_length": """
                fixed length, constant length, constant normalizer, fixed normalizer,
                fixed constant, constant divisor, fixed divisor, max length normalizer
            """,
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
