"""How long a plan takes: trials by phase, seconds a trial, seconds in all.

The costs are of one thread of a 2-core CPU machine and the `tiny` model, imports included.
"""

import math
import os

from autoresearch.study.plan import Phase, Plan
from swarm.config import TrainConfig

#: Imports, loading the model, opening the run folder.
START_SECONDS = 8.0
#: Sampling one token of one rollout, in a batch.
SAMPLE_SECONDS = 8e-5
#: Forward and backward of one token of one rollout; a reference pass costs a third of it.
LEARN_SECONDS = 1e-4
REFERENCE_SHARE = 1 / 3
#: Tokens of an answer where its length is free, as a share of the budget, and of a short one.
FREE_SHARE, SHORT_TOKENS = 0.5, 8
#: Cost of a bigger model against `tiny`, as its parameters (135 M against 0.8 M).
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
    reference = REFERENCE_SHARE if algorithm.kl_coef else 0.0
    learn = LEARN_SECONDS * tokens * batch.rollouts * (batch.epochs + reference)
    sample = SAMPLE_SECONDS * tokens * batch.rollouts
    evaluations = 1 + math.ceil(config.steps / config.evaluation.every)
    evaluate = SAMPLE_SECONDS * tokens * config.evaluation.prompts * evaluations
    warm = LEARN_SECONDS * tokens * config.warmup.rows * config.warmup.steps
    scale = 1.0 if config.model.ref == "tiny" else LARGE_MODEL
    return START_SECONDS + scale * (config.steps * (learn + sample) + evaluate + warm)


def trials(plan: Plan) -> dict[Phase, int]:
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
    counts = trials(plan)
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
