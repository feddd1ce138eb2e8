"""However a file grows, each row is read once and whole."""

import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from autoresearch.execute.following import Tail


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False)), max_size=8),
    st.lists(st.integers(0, 300), max_size=8),
)
def test_rows_come_once_and_in_order(rows: list[dict], cuts: list[int]) -> None:
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.jsonl"
        tail, read, start = Tail(path), [], 0
        assert tail.read() == []
        for cut in [*sorted(cuts), len(data)]:
            with path.open("ab") as file:
                file.write(data[start:cut])
            start = max(start, cut)
            read += tail.read()
            assert read == rows[: len(read)]
        assert read == rows
        assert tail.read() == []
