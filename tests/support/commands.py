"""What a command answered, and what a view shows, as text."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any

from rich.console import Console


@dataclass(frozen=True)
class Said:
    """Exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Said]


def text_of(renderable, width: int = 80) -> str:
    console = Console(file=StringIO(), width=width, highlight=False, color_system=None)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined]
