"""What a plan costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoresearch.planner.estimate import study_seconds, trial_seconds, trials
from autoresearch.planner.offline import draft
from autoresearch.planner.options import StartOptions
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN
from swarm.config import TrainConfig

TOPIC = "does dividing by the group std matter in GRPO?"
PLAN = draft(TOPIC, StartOptions(topic=TOPIC), Library((("built-in", BUILT_IN),)))


def test_trials_by_phase() -> None:
    assert trials(PLAN) == {"pilot": 3, "tuning": 6, "confirm": 10}
    untuned = PLAN.model_copy(update={"tuning": None})
    assert trials(untuned) == {"pilot": 3, "tuning": 0, "confirm": 10}
    both = PLAN.model_copy(update={"tasks": ("reverse", "sort")})
    assert trials(both) == {"pilot": 6, "tuning": 12, "confirm": 20}


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


def test_a_reference_model_and_a_large_model_cost() -> None:
    base = TrainConfig()
    assert trial_seconds(base.with_values({"algorithm.kl_coef": 0.1})) > trial_seconds(base)
    large = base.with_values({"model.ref": "smollm2-135m-instruct"})
    assert trial_seconds(large) > 20 * trial_seconds(base)
