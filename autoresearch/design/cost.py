"""How long a plan takes: trials by phase, seconds a trial, seconds in all.

The costs are of one thread of a 2-core CPU machine and the `tiny` model, imports included. A batch
costs, for T tokens an answer,

    T x rollouts x (sample x draws + learn x trained share x (epochs + forward passes / 3))
"""

import math
import os

from autoresearch.study.plan import Phase, Plan
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.train import TrainConfig
from swarm.train.eval_sets import answers_of_sets

#: Imports, loading the model, opening the run folder.
START_SECONDS = 8.0
#: Sampling one token of one rollout, in a batch.
SAMPLE_SECONDS = 8e-5
#: Forward and backward of one token of one rollout; a forward pass alone costs a third of it.
LEARN_SECONDS = 1e-4
FORWARD_SHARE = 1 / 3
#: Rollouts that dynamic sampling draws, in batches; between 1 and 1 + `data.resample_rounds`.
RESAMPLE_DRAWS = 2.0
#: Tokens of an answer where its length is free, as a share of the budget, and of a short one.
FREE_SHARE, SHORT_TOKENS = 0.5, 8
#: How many times a larger model costs what `tiny` does: the ratio of parameters, 135 M to 0.8 M.
LARGE_MODEL = 150.0
#: Starting Ray, writing the report.
STUDY_SECONDS = 20.0
#: The machine that profiles are promised on.
REFERENCE_CORES = 2


def trial_seconds(config: TrainConfig) -> float:
    """Seconds of one trial on one thread, imports included."""
    batch, algorithm = config.batch, config.algorithm
    tokens = max(SHORT_TOKENS, FREE_SHARE * config.sampling.max_tokens)
    tokens = min(tokens, config.sampling.max_tokens)
    trained = batch.rollouts * _trained_share(config)
    passes = batch.epochs + FORWARD_SHARE * forward_passes(algorithm)
    learn = LEARN_SECONDS * tokens * trained * passes
    draws = RESAMPLE_DRAWS if config.data.group_filter == "resample" else 1.0
    sample = SAMPLE_SECONDS * tokens * batch.rollouts * draws if algorithm.samples else 0.0
    evaluate = SAMPLE_SECONDS * tokens * answers_of_sets(config) * _evaluations(config)
    warm = LEARN_SECONDS * tokens * config.warmup.rows * config.warmup.steps
    scale = 1.0 if config.model.ref == "tiny" else LARGE_MODEL
    return START_SECONDS + scale * (config.steps * (learn + sample) + evaluate + warm)


def evaluation_share(config: TrainConfig) -> float:
    """The share of a trial's seconds that its evaluations take."""
    nothing = config.evaluation.model_copy(update={"sets": (), "prompts": 0})
    without = config.model_copy(update={"evaluation": nothing})
    return 1 - trial_seconds(without) / trial_seconds(config)


def _evaluations(config: TrainConfig) -> int:
    """Before the first step, every so many, and after the last."""
    return 1 + math.ceil(config.steps / config.evaluation.every)


def forward_passes(algorithm: AlgorithmSettings) -> int:
    """Passes over a batch without a gradient, before its first update: the reference (KL, pairs),
    the anchor (`batch_start`), the old values, and the values of states that were cut off."""
    values = algorithm.baseline == "value"
    return sum(
        (
            algorithm.kl_coef > 0 or algorithm.objective == "preference",
            algorithm.anchor == "batch_start",
            values,
            values and algorithm.value.truncation == "bootstrap",
        )
    )


def _trained_share(config: TrainConfig) -> float:
    """The share of rollouts that are trained on: preferences take two of a group."""
    pairs = config.algorithm.objective == "preference"
    return 2 / config.batch.group_size if pairs else 1.0


def trial_counts(plan: Plan) -> dict[Phase, int]:
    """Trials by phase; confirmation counts up to the last look."""
    tasks = len(plan.tasks)
    tuning = plan.tuning.candidates * len(plan.seeds.tuning) * len(plan.arms) if plan.tuning else 0
    return {
        "pilot": len(plan.seeds.pilot) * tasks,
        "tuning": tuning * tasks,
        "confirm": plan.decision.looks[-1] * len(plan.arms) * tasks,
    }


def study_seconds(plan: Plan, cores: int) -> float:
    """Wall-clock seconds of a study whose trials run `cores` at a time.

    Phases follow each other, and so do tuning candidates; within a wave the cores are shared.
    """
    by_arm = {arm.id: _arm_seconds(plan, arm.id) for arm in plan.arms}
    counts = trial_counts(plan)
    pilot = _wave(counts["pilot"], by_arm[plan.arms[0].id], cores)
    mean = math.fsum(by_arm.values()) / len(by_arm)
    tuning = 0.0
    if plan.tuning:
        candidates = plan.tuning.candidates
        tuning = candidates * _wave(counts["tuning"] // candidates, mean, cores)
    return STUDY_SECONDS + pilot + tuning + _wave(counts["confirm"], mean, cores)


def longest_trial(plan: Plan) -> float:
    """Seconds of the plan's slowest arm and task."""
    return max(
        trial_seconds(plan.train_config(arm.id, task, 0, {}))
        for arm in plan.arms
        for task in plan.tasks
    )


def machine_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _arm_seconds(plan: Plan, arm: str) -> float:
    """Mean seconds of one trial of an arm over the plan's tasks."""
    each = [trial_seconds(plan.train_config(arm, task, 0, {})) for task in plan.tasks]
    return math.fsum(each) / len(each)


def _wave(count: int, seconds: float, cores: int) -> float:
    return math.ceil(count / max(1, cores)) * seconds
