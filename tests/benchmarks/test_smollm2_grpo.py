"""The keys that the real run reports."""

import pytest
from scipy import stats
from support.seed_runs import seed_run

from benchmarks.configs import sums
from benchmarks.configs.sums import FORMAT_REWARD
from benchmarks.smollm2_grpo import format_share, measured


def test_measured() -> None:
    found = measured([seed_run(0, 0.6), seed_run(1, 0.8)], prompts=10)
    assert (found["reward_before"], found["reward_after"]) == pytest.approx((0.3, 0.7))
    assert found["reward_before_ci95"] == pytest.approx([0.3, 0.3])
    assert found["gain_seeds"] == pytest.approx([0.3, 0.5])
    assert found["gain_ci95"] == pytest.approx([0.4 - 12.706 * 0.1, 0.4 + 12.706 * 0.1], abs=1e-3)
    assert found["format_before"] == pytest.approx(0.7)
    rewards = [1.0] * 2 + [FORMAT_REWARD] * 5 + [0.0] * 3
    over_prompts = stats.ttest_1samp(rewards, 0).confidence_interval(0.95)
    assert found["reward_before_prompts_ci95"] == pytest.approx(list(over_prompts))
    assert (found["seeds"], found["steps"]) == ([0, 1], 2)


def test_the_share_in_form_follows_from_reward_and_accuracy() -> None:
    texts = ["5 + 19 = 24", "5 + 19 = 23", "no", "5 + 19 = 1", "5 + 19 = 24"]
    task = sums.make()
    n = len(texts)
    answers = [[{"role": "assistant", "content": text}] for text in texts]
    rewards = task.reward([[]] * n, answers, a=[5] * n, b=[19] * n)
    right = task.correct([[]] * n, answers, a=[5] * n, b=[19] * n)
    metrics = {"eval/proxy": sum(rewards) / n, "eval/acc": sum(right) / n}
    assert format_share(metrics) == pytest.approx(4 / n)
