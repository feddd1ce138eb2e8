"""Rows of Parquet and Arrow files, as plain values of Python. pyarrow is imported when one is."""

from collections.abc import Iterator
from typing import Any

from swarm.errors import BadTask

#: Rows that are turned into Python at a time.
_CHUNK = 4096


def parquet_rows(name: str, data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a Parquet file, from 1. Raises BadTask."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data)).read()
    except Exception as error:  # pyarrow raises its own, OSError, ValueError, of what it finds
        _damaged(name, "Parquet", error)
    return _rows(name, table)


def arrow_rows(name: str, data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of an Arrow stream, which `datasets` writes, or file, from 1. Raises BadTask."""
    import pyarrow

    opened = pyarrow.ipc.open_file if data.startswith(b"ARROW1") else pyarrow.ipc.open_stream
    try:
        table = opened(pyarrow.BufferReader(data)).read_all()
        table.validate(full=True)
    except Exception as error:  # as above
        _damaged(name, "Arrow", error)
    return _rows(name, table)


def _damaged(name: str, kind: str, error: Exception) -> None:
    raise BadTask(
        f"{name} cannot be read as {kind} ({_line(error)})", "save it again, or as JSONL"
    ) from None


def _rows(name: str, table: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    names = table.column_names
    if len(set(names)) < len(names):
        raise BadTask(f"{name} names a column twice", "rename one of them")
    for start in range(0, table.num_rows, _CHUNK):
        part = table.slice(start, _CHUNK)
        try:
            rows = part.to_pylist()
        except Exception:  # of a value that Python has no form for: find it
            rows = _one_by_one(name, part, start)
        yield from enumerate(rows, start + 1)


def _one_by_one(name: str, table: Any, start: int) -> list[dict[str, Any]]:
    rows = []
    for index in range(table.num_rows):
        row = {}
        for column in table.column_names:
            try:
                row[column] = table[column][index].as_py()
            except Exception as error:  # whatever the type's conversion raises
                raise BadTask(
                    f"{name}: row {start + index + 1} holds a value in {column!r} that cannot be "
                    f"read ({_line(error)})",
                    "correct it, or leave the column out",
                ) from None
        rows.append(row)
    return rows


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
