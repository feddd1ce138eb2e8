"""Factors of the data: how many rollouts, how they are drawn, which prompts, which reward."""

from autoresearch.catalogue.factor import CatalogueFactor, Requirement
from autoresearch.catalogue.objective import CLIP_EXISTS

GROUPS = Requirement(
    "PB402",
    "a group of one has no spread: its rewards are all equal",
    lambda config: config.batch.group_size > 1,
    {"batch.group_size": 8},
)

FACTORS = (
    CatalogueFactor(
        name="group_size",
        title="group size at fixed rollouts",
        sets=("batch.group_size",),
        levels=(2, 8, 16),
        two=(8, 2),
        bounds=(1, 1024),
        aliases="""
            group size, groupsize, size of the group, num generations, number of generations,
            generations per prompt, samples per prompt, rollouts per prompt, completions per prompt,
            responses per prompt, answers per prompt, groups of, larger groups, larger group,
            bigger groups, bigger group, smaller groups, smaller group, group sizes, sizes of
            groups,
            number of rollouts per prompt, number of samples per prompt, samples per question,
            number of completions per prompt, number of responses per prompt, rollouts per example,
            rollouts per question, rollouts per problem, samples per problem, answers per question,
            completions per question, responses per question, generations per question,
            samples per group, rollouts per group, completions per group, samples a prompt,
            rollouts a prompt, completions a prompt, attempts per prompt, attempts per problem,
            per prompt, per question, per problem, groups of size, rollouts for each prompt, samples
            for each prompt
        """,
        symbols=("g", "k", "n"),
        units=("generations", "samples", "completions", "responses", "answers"),
        expected="At equal rollouts groups of 2 come close to 16; hard prompts want larger groups.",
        source="arXiv:2510.00977",
        traps=(
            "Rollouts per batch stay fixed, so larger groups mean fewer prompts.",
            "A group of one has no group baseline.",
        ),
    ),
    CatalogueFactor(
        name="batch_size",
        title="rollouts per batch",
        sets=("batch.rollouts",),
        levels=(64, 128, 256),
        two=(128, 64),
        bounds=(1, 65_536),
        aliases="""
            batch size, batchsize, rollout batch size, rollouts per batch, rollouts per step,
            number of rollouts, train batch size, large batches, larger batches,
            bigger batches, small batches, smaller batches, bigger batch, larger batch,
            smaller batch, batch sizes, rollouts a step, rollouts a batch,
            rollouts in each batch, rollouts each step, samples per step, samples per batch,
            completions per step, completions per batch, generations per step,
            generations per batch, responses per step, responses per batch, answers per step,
            answers per batch, episodes per step, episodes per batch, trajectories per step,
            trajectories per batch, samples a step, completions a step, global batch size,
            batch of, batches of
        """,
        symbols=("bs", "batch"),
        units=("rollouts", "episodes"),
        expected="Larger batches cut gradient noise with falling returns.",
        source="arXiv:1812.06162",
        traps=(
            "Steps are equal, so arms differ in samples and in cost; read curves by tokens too.",
            "A larger batch wants a larger learning rate.",
        ),
    ),
    CatalogueFactor(
        name="temperature",
        title="rollout temperature",
        sets=("sampling.temperature",),
        levels=(0.7, 1.0, 1.2),
        two=(1.0, 0.7),
        bounds=(0.05, 4.0),
        aliases="""
            temperature, rollout temperature, sampling temperature, generation temperature,
            decoding temperature, temperatures, temp, sampling temp, rollout temp,
            training temperature, temperature of the rollouts, temperature of rollouts,
            temperature of sampling
        """,
        everyday="temperature, temp",
        symbols=("t", "temp"),
        expected="Too low loses exploration, too high wastes samples; about 1 is best.",
        source="arXiv:2505.22312",
        traps=("Evaluation stays at temperature 1 in every arm.",),
    ),
    CatalogueFactor(
        name="max_length",
        title="generation budget",
        sets=("sampling.max_tokens",),
        levels=(12, 20, 32),
        two=(32, 12),
        bounds=(1, 32_768),
        aliases="""
            max length, maximum length, max tokens, max new tokens, max completion length,
            max response length, generation length, generation budget, token budget, context length,
            length budget, answer length budget, response length budget, response budget,
            answer budget, length limit, token limit, context, context window, truncation,
            tokens per answer, tokens per completion, tokens per response, tokens per rollout,
            tokens an answer, max answer length, max answer tokens, completion length limit,
            response length limit, answer length limit, completion budget, output length limit,
            maximum completion length, maximum response length, maximum tokens, token budgets
        """,
        everyday="truncation, context",
        units=("tokens",),
        expected="A tight budget truncates right answers and teaches brevity.",
        source="arXiv:2503.14476",
        null_when="no answer reaches the smaller budget",
        traps=("Truncated answers score 0: watch completions/truncated_frac.",),
        probe=(32, 4),
        task="chain",
    ),
    CatalogueFactor(
        name="staleness",
        title="staleness of rollouts",
        sets=("max_staleness",),
        levels=(0, 1, 4),
        two=(0, 4),
        bounds=(0, 64),
        aliases="""
            staleness, max staleness, stale, stale rollouts, off policy, off policyness,
            off policy lag, policy lag, lag, async, asynchronous, async rl, asynchronous rl,
            asynchronous training, async training, off policy steps, steps off policy, versions old,
            steps old, updates old, versions behind, steps behind, updates behind, policy versions,
            off policy level, async level, asynchrony, rollout lag, lagged rollouts,
            stale data, stale samples, stale batches, stale batch
        """,
        words={
            0: """
                synchronous, sync, synchronous rl, sync rl, synchronous training, on policy,
                fully on policy, fully synchronous, strictly on policy, fresh rollouts, fresh data
            """
        },
        everyday="lag, async, stale, staleness",
        units=("steps", "versions", "updates"),
        expected="Graceful at first, then collapse; clipped ratios widen the safe range.",
        source="arXiv:2410.18252",
        traps=("On one machine staleness costs quality and buys no time.",),
        requires=(CLIP_EXISTS,),
    ),
    CatalogueFactor(
        name="difficulty_filter",
        title="dropping groups without signal",
        sets=("data.group_filter",),
        levels=("none", "mixed_rewards", "resample"),
        aliases="""
            difficulty filter, difficulty filtering, filtering by difficulty, group filter,
            group filtering, zero variance filtering, zero variance groups, zero std groups,
            zero advantage groups, dropping zero variance, dropping easy prompts, filtering prompts,
            filtering out prompts, prompt filtering, online filtering,
            filtering out zero variance groups, group filters, filter groups, filtering groups,
            prompts that are always right, uninformative groups, uninformative prompts,
            groups without signal, groups with no signal, zero signal groups, all correct groups,
            all wrong groups, groups with equal rewards, groups with identical rewards
        """,
        words={
            "none": """
                no filter, without filtering, no filtering, without a filter, no group filter,
                keep all groups, keeping all groups, keep every group, keeping zero variance groups,
                keep zero variance groups
            """,
            "mixed_rewards": """
                mixed rewards, drop zero variance groups, dropping zero variance groups,
                drop zero std groups, dropping zero std groups, drop zero advantage groups,
                dropping zero advantage groups, skip zero variance groups,
                skipping zero variance groups, discard zero variance groups,
                discarding zero variance groups, remove zero variance groups,
                drop uninformative groups, drop groups without signal,
                dropping groups without signal, drop groups with equal rewards,
                drop all correct groups, dropping all correct groups
            """,
            "resample": """
                dynamic sampling, resampling groups, resample groups,
                resampling zero variance groups, resample zero variance groups, resample them,
                resampling them, refill the batch, refilling the batch, replace them,
                replacing zero variance groups, oversample, oversampling, resampling
            """,
        },
        expected="Faster per trained token; the asymptote is about the same.",
        source="arXiv:2504.03380, arXiv:2503.14476",
        null_when="every group holds right and wrong answers",
        traps=(
            "mixed_rewards replaces no dropped group: the arm trains on fewer, not on others.",
            "resample (dynamic sampling) replaces them and samples more: compare by tokens too.",
        ),
        requires=(GROUPS,),
    ),
    CatalogueFactor(
        name="curriculum",
        title="order of prompts",
        sets=("data.order",),
        levels=("uniform", "easy_first", "by_signal"),
        aliases="""
            curriculum, curriculum learning, prompt order, data order, order of the prompts,
            order of prompts,
            ordering prompts, adaptive difficulty, prompt ordering,
            ordering of prompts, ordering of the prompts, order of the data, data ordering,
            difficulty curriculum, curricula, prompt curriculum, sampling of prompts
        """,
        words={
            "uniform": """
                uniform order, random order, shuffled, no curriculum, without a curriculum,
                without curriculum, uniform sampling, random sampling, shuffled prompts,
                shuffled data, uniformly sampled, shuffling, random prompts, iid prompts,
                shuffled order, mixed order
            """,
            "easy_first": """
                easy first, easy to hard, easy prompts first, easy to hard order, easy to hard
                curriculum, easy examples first,
                easiest first, easy problems first, easy questions first, easy prompts first,
                sorted by difficulty, easier first, from easy to hard
            """,
            "by_signal": """
                by signal, by difficulty, difficulty sampler, difficulty sampling, by learnability,
                sampling by learnability, learnability sampling, learnability, by variance,
                sampling by difficulty, medium difficulty first, medium difficulty,
                intermediate difficulty, difficulty aware sampling, by pass rate,
                sampling by pass rate, adaptive curriculum
            """,
        },
        hints={"uniform": "random, uniform"},
        everyday="curriculum",
        expected="Faster start; the asymptote is about the same.",
        source="arXiv:2504.03380",
        null_when="all prompts are of one level",
    ),
    CatalogueFactor(
        name="reward_shaping",
        title="training reward",
        sets=("task.reward",),
        levels=("exact", "partial"),
        aliases="""
            reward shaping, reward design, reward function, reward type
        """,
        words={
            "exact": """
                exact match reward, exact match, exact reward, binary reward, sparse reward,
                no reward shaping, no shaping, sparse 0 1 reward, outcome reward,
                exact match only, all or nothing, correctness only, correctness reward,
                accuracy reward
            """,
            "partial": """
                partial credit, partial reward, shaped reward, dense reward, partial credits,
                graded reward, edit distance reward, similarity reward
            """,
            "format": "format reward, format only reward, format only, format bonus",
            "proxy": """
                proxy, proxy reward, reward hacking, reward hacked, hack the reward,
                hackable reward, exploitable reward, reward model overoptimization, goodhart
            """,
        },
        hints={
            "exact": "exact, sparse, binary",
            "partial": "partial, shaped, dense",
            "format": "format",
        },
        everyday="proxy",
        expected="Partial credit helps where exact answers are rare; a proxy can rise alone.",
        source="arXiv:2506.10947, arXiv:2210.10760",
        null_when="never between two different rewards",
        traps=("Judge by eval/acc: the training reward of two arms is not on one scale.",),
    ),
)
