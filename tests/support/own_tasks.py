"""Tasks of the user's own, as files in a folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swarm.config.parts import TaskSettings
from swarm.tasks import Task, load

SUMS = [{"prompt": f"{a}+{b}=", "answer": a + b} for a in range(10) for b in range(10)]

CODE = """
from dataclasses import dataclass, field

@dataclass
class Made:
    rows: list
    def reward(self, prompts, completions, gold, **columns):
        return [None if c == "" else len(c) / g for c, g in zip(completions, gold)]

def make(most=40):
    return Made([{"prompt": f"{i}>", "gold": 2} for i in range(most)])
"""


def written(folder: Path, rows: Sequence[Any], name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def code(folder: Path, text: str = CODE) -> str:
    path = folder / "mine.py"
    path.write_text(text)
    return f"{path}:make"


def own(ref: object, **values: Any) -> Task:
    return load(TaskSettings(ref=str(ref), **values))
