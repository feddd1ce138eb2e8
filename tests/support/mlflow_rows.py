"""What tests tell MLflow: a config, and rows of metrics.jsonl."""

from typing import Any

from swarm.config.train import TrainConfig

CONFIG = TrainConfig(seed=3).model_dump(mode="json")


def rows(start: int, stop: int) -> list[dict[str, Any]]:
    return [
        {"step": step, "wall": step / 2, "metrics": {"reward/mean": step / 10, "eval/acc": 0.5}}
        for step in range(start, stop)
    ]
