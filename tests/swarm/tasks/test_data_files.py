"""Files and folders of rows, each format with the same rows."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset, DatasetDict
from support.own_tasks import SUMS, own

from swarm.errors import BadTask
from swarm.tasks.data_files import read

ROWS = [{"prompt": row["prompt"], "answer": str(row["answer"])} for row in SUMS]


def csv_text() -> str:
    return "prompt,answer\r\n" + "".join(f"{r['prompt']},{r['answer']}\r\n" for r in ROWS)


def save(folder: Path, kind: str) -> Path:
    path = folder / f"data.{kind}"
    if kind == "json":
        path.write_text(json.dumps(ROWS, indent=1))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif kind == "csv":
        path.write_bytes(b"\xef\xbb\xbf" + csv_text().encode())
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=7)
    elif kind == "saved":
        Dataset.from_list(ROWS).save_to_disk(path)
    elif kind == "splits":
        parts = {"train": Dataset.from_list(ROWS), "test": Dataset.from_list(ROWS[:3])}
        DatasetDict(parts).save_to_disk(path)
    elif kind == "shards":
        (path / "data").mkdir(parents=True)
        for n in (0, 1):
            table = pa.Table.from_pylist(ROWS[n * 50 : n * 50 + 50])
            pq.write_table(table, path / f"data/train-0000{n}-of-00002.parquet")
    return path


KINDS = ["json", "jsonl", "csv", "parquet", "saved", "splits", "shards"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_rows(tmp_path: Path, kind: str) -> None:
    path = save(tmp_path, kind)
    found = read(path)
    assert found.rows == tuple(enumerate(ROWS, 1))
    task, plain = own(path), own(save(tmp_path, "jsonl"))
    assert (task.train, task.held_out) == (plain.train, plain.held_out)
    assert read(path).digest == found.digest
    assert own(path, digest=task.digest).digest == task.digest


def test_a_split_is_named(tmp_path: Path) -> None:
    path = save(tmp_path, "splits")
    assert len(read(path, "test").rows) == 3
    with pytest.raises(BadTask, match=r"task\.split: .* no split 'tests'; did you mean test"):
        read(path, "tests")
    with pytest.raises(BadTask, match=r"task\.split: data\.json is one file"):
        read(save(tmp_path, "json"), "train")


@pytest.mark.parametrize("kind", ["parquet", "json"])
def test_a_mistaken_suffix_is_named(tmp_path: Path, kind: str) -> None:
    path = save(tmp_path, kind)
    wrong = tmp_path / "rows.jsonl"
    wrong.write_bytes(path.read_bytes())
    with pytest.raises(BadTask, match=rf"rows\.jsonl is a .*; rename it to rows\.{kind}"):
        read(wrong)
    other = tmp_path / "rows.parquet"
    other.write_bytes(save(tmp_path, "jsonl").read_bytes())
    with pytest.raises(
        BadTask, match=r"rows\.parquet holds JSON objects; rename it to rows\.jsonl"
    ):
        read(other)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[{"prompt": "a"}, {"prompt": "a", "prompt": "b"}]', "row 2 is not JSON"),
        ('[{"prompt": "a"}, 3]', "row 2 is not a JSON object"),
        ('[{"prompt": "a"} {"prompt": "b"}]', "is not JSON behind row 1"),
        ('[{"prompt": "a"},]', "row 2 is not JSON"),
        ('[{"prompt": "a"}', "is not JSON behind row 1"),
    ],
)
def test_an_array_says_which_row(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(text)
    with pytest.raises(BadTask, match=named):
        read(path)
