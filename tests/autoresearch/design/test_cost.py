"""What a plan costs."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.plans import plan_for

from autoresearch.design.cost import forward_passes, study_seconds, trial_counts, trial_seconds
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.train import TrainConfig
from swarm.learn.recipe import Recipe
from swarm.records import Completion, Episode, Group, StopReason

PLAN = plan_for()


def test_trials_by_phase() -> None:
    assert trial_counts(PLAN) == {"pilot": 3, "tuning": 6, "confirm": 10}
    untuned = PLAN.model_copy(update={"tuning": None})
    assert trial_counts(untuned) == {"pilot": 3, "tuning": 0, "confirm": 10}
    both = PLAN.model_copy(update={"tasks": ("reverse", "sort")})
    assert trial_counts(both) == {"pilot": 6, "tuning": 12, "confirm": 20}


@given(st.integers(1, 64))
def test_more_cores_never_take_longer(cores: int) -> None:
    assert study_seconds(PLAN, cores + 1) <= study_seconds(PLAN, cores)


@pytest.mark.parametrize(
    "path",
    ["steps", "batch.rollouts", "batch.epochs", "evaluation.prompts", "warmup.steps"],
)
def test_more_work_takes_longer(path: str) -> None:
    base = TrainConfig()
    more = base.with_values({path: 1024})
    assert trial_seconds(more) > trial_seconds(base)


@pytest.mark.parametrize(
    ("values", "passes"),
    [
        ({}, 0),
        ({"algorithm.kl_coef": 0.1}, 1),
        ({"algorithm.name": "ppo"}, 2),
        ({"algorithm.name": "ppo", "algorithm.value.truncation": "bootstrap"}, 3),
        ({"algorithm.name": "dpo"}, 1),
        ({"algorithm.correction.kind": "tis", "algorithm.anchor": "batch_start"}, 1),
    ],
)
def test_forward_passes_are_those_that_the_recipe_takes(
    values: dict[str, object], passes: int
) -> None:
    """Counted on the recipe itself, with a learner that computes nothing."""
    config = TrainConfig().with_values({"batch.rollouts": 8, "batch.group_size": 4, **values})
    assert forward_passes(config.algorithm) == passes
    learner = Counting(config.algorithm)
    recipe = Recipe(learner, config.batch, config.sampling.max_tokens)  # type: ignore[arg-type]
    recipe.reinforce([group(0.0, 1.0, 0.5, 0.25), group(1.0, 0.0, 0.0, 0.0)])
    assert learner.forwards == passes
    assert learner.updates == config.batch.updates


def group(*rewards: float) -> Group:
    answer = Completion((3, 4), (-1.0, -2.0), StopReason.LENGTH)
    return Group((1, 2), "", "", tuple(Episode(answer, "", r, False, 0) for r in rewards))


class Counting:
    """Stands for a Learner: counts its passes."""

    def __init__(self, algorithm: AlgorithmSettings) -> None:
        self.algorithm = algorithm
        self.temperature = 1.0
        self.policy = SimpleNamespace(weights=lambda version: nullcontext())
        self.forwards = self.updates = 0

    def logprobs(self, trees, temperature):
        self.forwards += 1
        return [np.full(tree.trained_tokens, -1.0, np.float32) for tree in trees]

    def values(self, trees):
        return self.logprobs(trees, 1.0)

    def reinforce(self, trees, arrays):
        self.updates += 1


def test_dynamic_sampling_draws_more_and_pairs_train_on_less() -> None:
    base = TrainConfig()
    resampled = base.with_values({"data.group_filter": "resample"})
    assert trial_seconds(resampled) > trial_seconds(base)
    pairs = base.with_values({"algorithm.name": "dpo"})
    assert trial_seconds(pairs) < trial_seconds(base.with_values({"algorithm.kl_coef": 0.1}))


def test_a_reference_model_and_a_large_model_cost() -> None:
    base = TrainConfig()
    assert trial_seconds(base.with_values({"algorithm.kl_coef": 0.1})) > trial_seconds(base)
    large = base.with_values({"model.ref": "smollm2-135m-instruct"})
    assert trial_seconds(large) > 20 * trial_seconds(base)
