"""What can be tested is what is logged."""

import pytest

from autoresearch.study.metrics import METRICS, unit_of
from swarm.train.metric_table import LOGGED


def test_every_logged_metric_can_be_asked_for_and_no_other() -> None:
    assert METRICS.keys() == LOGGED.keys()
    assert all(name == metric.name for name, metric in METRICS.items())
    assert METRICS["eval/acc"].title == "held-out accuracy"


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
