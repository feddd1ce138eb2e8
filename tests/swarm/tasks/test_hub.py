"""Data sets of the hub, from its cache."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import constants
from support.own_tasks import SUMS, own

from swarm.errors import BadTask

ROWS = [{"prompt": row["prompt"], "answer": str(row["answer"])} for row in SUMS]
COMMIT = "c" * 40


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An offline hub, in whose cache lies `org/sums`."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    place = tmp_path / "hub/datasets--org--sums"
    snapshot = place / "snapshots" / COMMIT / "main"
    snapshot.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs/main").write_text(COMMIT)
    pq.write_table(pa.Table.from_pylist(ROWS), snapshot / "train-00000-of-00001.parquet")
    return snapshot


@pytest.mark.usefixtures("cache")
def test_what_the_cache_holds_needs_no_network() -> None:
    task = own("hf:org/sums/main")
    assert len(task.train) + len(task.held_out) == len(ROWS)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("ref", "values", "named"),
    [
        ("hf:org/none", {}, "hub does not answer"),
        ("org/none", {}, "hub does not answer"),
        ("hf:org/sums/main", {"split": "test"}, "no Parquet or JSONL files of a split 'test'"),
        ("hf:a--b/none", {}, "is not a data set on the hub"),
    ],
)
def test_what_is_not_there_is_one_line(ref: str, values: dict[str, Any], named: str) -> None:
    with pytest.raises(BadTask, match=named):
        own(ref, **values)
