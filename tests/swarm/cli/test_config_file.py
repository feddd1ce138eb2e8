"""Configs from files and settings."""

from pathlib import Path

import pytest

from swarm.cli.config_file import read_file

pytestmark = pytest.mark.usefixtures("tiny_model")


class TestFiles:
    def test_a_tasks_path_is_relative_to_the_file_in_which_it_stands(self, config: Path) -> None:
        folder = config.parent / "inner"
        folder.mkdir()
        rows = "".join(f'{{"prompt": "{i}>", "answer": {i}}}\n' for i in range(99))
        (folder / "data.jsonl").write_text(rows)
        inner = folder / "own.yaml"
        inner.write_text("task: {ref: data.jsonl}")
        found = read_file(inner, [])
        assert found.task.ref == str(folder / "data.jsonl")
        assert len(found.task.digest) == 64
        assert read_file(config, ["task.ref=inner/data.jsonl", "task.args={}"]) == read_file(
            config, [f"task.ref={folder / 'data.jsonl'}", "task.args={}"]
        )
