"""One table says which unit a metric has."""

import pytest

from autoresearch.study.metrics import METRICS, unit_of
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import DataSettings
from swarm.dataflow.drawing import Drawn
from swarm.learn.update import UpdateMetrics
from swarm.train import metrics

ONE = UpdateMetrics(1, 0.0, 0.0, 0.0, 0, 0, 1.0, 0.0, 0.0, 1e-3, pairs=1)

#: Of each kind of algorithm, one that reports what the others do not.
ALGORITHMS = [AlgorithmSettings(name=name) for name in ("grpo", "ppo", "dpo", "sft")]


def test_every_metric_that_a_batch_logs_is_in_it() -> None:
    drawn = Drawn.nothing()
    logged = set(metrics.of_evaluation([]))
    logged |= set(metrics.of_batch(drawn, DataSettings(group_filter="resample")))
    for algorithm in ALGORITHMS:
        logged |= set(metrics.of_updates([ONE], algorithm))
    assert logged - set(METRICS) == set()


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("eval/acc", "share"),
        ("eval/length", "tokens"),
        ("policy/entropy", "nats per token"),
        ("completions/truncated_frac", "share"),
        ("time/rollout", "s"),
        ("eval/anything_else", ""),
    ],
)
def test_units(name: str, unit: str) -> None:
    assert unit_of(name) == unit
