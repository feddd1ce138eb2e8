"""Each alarm is raised by what it names, and a healthy run raises none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.run_rows import STEPS, run

from swarm.config.train import TrainConfig
from swarm.train.alarms import FINITE, alarms, counted

CONFIG = TrainConfig()
TWO_UPDATES = CONFIG.with_values({"batch.minibatches": 2})

SICK = {
    "non-finite": {"loss__policy": lambda s: math.nan if s == 12 else 0.0},
    "entropy-collapse": {
        "policy__entropy": lambda s: 1.0 if s < 10 else 0.05,
        "reward__mean": lambda s: 0.4,
    },
    "kl-blow-up": {"policy__kl_ref": lambda s: 0.2 * s},
    "length-explosion": {
        "completions__mean_length": lambda s: 8.0 + 2 * s,
        "completions__truncated_frac": lambda s: s / STEPS,
    },
    "reward-flat-at-zero": {"reward__mean": lambda s: 0.0},
    "reward-constant": {"reward__mean": lambda s: 0.5, "reward__std": lambda s: 0.0},
    "ratio-blow-up": {"policy__ratio_max": lambda s: 1.2 if s < 15 else 49.0},
    "prompts-overlong": {"completions__overlong_frac": lambda s: 0.5},
    "nothing-scored": {"reward__mean": lambda s: math.nan},
    "accuracy-at-floor": {"eval__acc": lambda s: 0.0},
    "mismatch": {"mismatch__kl": lambda s: 0.2},
    "clip-never-binds": {"policy__clip_frac": lambda s: 0.0},
}

#: The row that first shows it, where that is not the last.
FIRST_SEEN = {
    "non-finite": 12,
    "entropy-collapse": 14,
    "kl-blow-up": 8,
    "length-explosion": 13,
    "reward-flat-at-zero": 9,
    "reward-constant": 9,
    "ratio-blow-up": 15,
    "prompts-overlong": 3,
    "nothing-scored": 0,
    "mismatch": 0,
}


def test_a_healthy_run_raises_nothing() -> None:
    assert alarms(run(), TWO_UPDATES, ended=True) == []
    assert alarms([], TWO_UPDATES, ended=True) == []


@pytest.mark.parametrize("kind", SICK)
def test_each_sickness_raises_its_alarm_and_no_other(kind: str) -> None:
    (alarm,) = alarms(run(**SICK[kind]), TWO_UPDATES, ended=True)
    assert alarm.kind == kind
    assert alarm.cause
    assert alarm.step == FIRST_SEEN.get(kind, STEPS - 1)


@pytest.mark.parametrize("kind", ["reward-flat-at-zero", "reward-constant", "nothing-scored"])
def test_a_short_run_is_judged_by_the_rows_it_has(kind: str) -> None:
    rows = run(**SICK[kind])[:2]
    assert [alarm.kind for alarm in alarms(rows, CONFIG, ended=True)] == [kind]


def test_prompts_that_were_not_asked_are_neither_wrong_nor_unscored() -> None:
    lost = {"eval/acc": math.nan, "eval/length": math.nan}
    evaluated = [{"step": 0, "metrics": lost}]
    assert [a.kind for a in alarms(evaluated, CONFIG, ended=True)] == ["prompts-overlong"]
    batch = {"completions/overlong_frac": 1.0, "reward/mean": math.nan, "tokens/trained": 0.0}
    rows = [*evaluated, {"step": 1, "metrics": batch}]
    assert [a.kind for a in alarms(rows, CONFIG, ended=True)] == ["prompts-overlong"]


def test_a_base_that_is_broken_is_not_blamed_on_the_learning_rate() -> None:
    (alarm,) = alarms([{"step": 0, "metrics": {"policy/kl_ref": math.nan}}], CONFIG)
    assert "the weights of tiny are damaged" in alarm.cause
    (later,) = alarms([{"step": 3, "metrics": {"policy/kl_ref": math.nan}}], CONFIG)
    assert "learning rate" in later.cause


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("sort", "the right answers of sort"),
        ("rows.jsonl", "answers that equal the row's `answer`"),
        ("my/mine.py:make", "answers that `correct` of mine.py accepts or"),
    ],
)
def test_what_accuracy_counts(ref: str, said: str) -> None:
    assert counted(CONFIG.with_values({"task.ref": ref}).task).startswith(said)


@pytest.mark.parametrize("metric", FINITE)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_every_watched_metric_must_be_finite(metric: str, value: float) -> None:
    rows = [{"step": 0, "wall": 0.0, "metrics": {metric: value}}]
    assert [alarm.kind for alarm in alarms(rows, CONFIG)] == ["non-finite"]


@given(st.integers(0, STEPS), st.sampled_from(sorted(SICK)))
def test_a_part_of_a_run_never_breaks_a_rule(length: int, kind: str) -> None:
    part = run(**SICK[kind])[:length]
    assert {alarm.kind for alarm in alarms(part, CONFIG, ended=True)} <= {kind}


def test_a_few_long_prompts_are_not_most_of_them() -> None:
    """Half of one batch of two is one prompt; of fifty it is a share."""
    few = CONFIG.with_values({"batch.rollouts": 16, "batch.group_size": 8})
    row = {"step": 1, "metrics": {"completions/overlong_frac": 0.5, "reward/mean": 0.2}}
    assert alarms([row], few) == []
    rows = [{**row, "step": step} for step in range(1, 26)]
    assert "prompts-overlong" in [a.kind for a in alarms(rows, few)]


def test_an_evaluation_without_rewards_says_so() -> None:
    row = {"step": 0, "metrics": {"eval/acc": 0.5, "eval/proxy": math.nan, "eval/length": 3.0}}
    assert [a.kind for a in alarms([row], CONFIG, ended=True)] == ["nothing-scored"]
