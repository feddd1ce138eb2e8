"""What is wrong with an adapter on disk."""

from pathlib import Path


class BadAdapter(ValueError):
    """A folder that holds no adapter for this base model; the message says what to do next."""

    def __init__(self, folder: Path, problem: str, next_step: str) -> None:
        super().__init__(f"adapter: {folder} {problem}; {next_step}")
        self.field = "adapter"
        self.problem = f"{folder} {problem}"
        self.next_step = next_step
