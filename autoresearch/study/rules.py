"""The registered rules by which scores become verdicts.

Importing this module needs pydantic alone.
"""

from itertools import pairwise
from typing import Literal, Self

from pydantic import Field, model_validator

from swarm.config.base import Settings


class Decision(Settings):
    """The registered rules by which scores become verdicts."""

    test: Literal["welch", "paired"] = "welch"
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    power: float = Field(default=0.8, gt=0, lt=1)
    looks: tuple[int, ...] = Field(default=(5,), min_length=1, description="seeds an arm, a look")
    last_evals: int = Field(default=3, ge=1, description="a score is the mean of these evals")
    floor: float = Field(default=0.0, description="score of a diverged trial")
    exploratory: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if any(one >= other for one, other in pairwise((0, *self.looks))):
            raise ValueError(f"looks {list(self.looks)} do not rise")
        return self
