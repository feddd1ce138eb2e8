"""Values of Parquet and Arrow files as plain ones."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.own_tasks import own

from swarm.errors import BadTask
from swarm.tasks.tables import arrow_rows, parquet_rows

TABLE = pa.table({"a": [1, None], "b": [["x"], []], "c": [{"d": 1.5}, None]})
ROWS = [(1, {"a": 1, "b": ["x"], "c": {"d": 1.5}}), (2, {"a": None, "b": [], "c": None})]


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def arrow(table: pa.Table, kind: str) -> bytes:
    sink = pa.BufferOutputStream()
    opened = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with opened(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    return sink.getvalue().to_pybytes()


def test_nested_values_and_nulls() -> None:
    assert list(parquet_rows("a.parquet", parquet(TABLE))) == ROWS
    for kind in ("file", "stream"):
        assert list(arrow_rows("a.arrow", arrow(TABLE, kind))) == ROWS


def test_rows_are_counted_over_all_parts() -> None:
    table = pa.table({"n": range(10_000)})
    assert list(parquet_rows("n.parquet", parquet(table))) == [
        (n + 1, {"n": n}) for n in range(10_000)
    ]


@pytest.mark.parametrize("cut", [4, 40, -8])
def test_a_damaged_file_is_named(cut: int) -> None:
    with pytest.raises(BadTask, match=r"a\.parquet cannot be read as Parquet"):
        list(parquet_rows("a.parquet", parquet(TABLE)[:cut]))
    with pytest.raises(BadTask, match=r"a\.arrow cannot be read as Arrow"):
        list(arrow_rows("a.arrow", arrow(TABLE, "file")[:cut]))


def test_a_column_that_is_named_twice() -> None:
    table = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(BadTask, match="names a column twice; rename one of them"):
        list(arrow_rows("a.arrow", arrow(table, "file")))


def test_a_time_is_one_of_python() -> None:
    table = pa.table({"t": pa.array([0], pa.timestamp("s"))})
    assert list(parquet_rows("t.parquet", parquet(table))) == [(1, {"t": datetime(1970, 1, 1)})]


def test_types_of_tables(tmp_path: Path) -> None:
    table = pa.table(
        {
            "prompt": pa.array([f"{n}?" for n in range(40)]).dictionary_encode(),
            "answer": pa.array([Decimal("1.50")] * 40),
            "level": pa.array([1.0, 2.0] * 20),
            "when": pa.array([1] * 40, pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "odd.parquet")
    task = own(tmp_path / "odd.parquet")
    assert {row.answer for row in task.train} == {"1.5"}
    assert task.levels == (1, 2)
    pq.write_table(
        table.append_column("ns", pa.array([2**62] * 40, pa.timestamp("ms"))),
        tmp_path / "far.parquet",
    )
    with pytest.raises(BadTask, match=r"far\.parquet: row 1 holds a value in 'ns' that cannot"):
        own(tmp_path / "far.parquet")
