"""One run that a plan asks for, and what analysis sees of it once it has ended.

Importing this module needs pydantic alone.
"""

from typing import Literal

from pydantic import Field

from autoresearch.study.plan import Phase
from swarm.config.base import Settings, canonical_digest
from swarm.config.train import TrainConfig


class TrialSpec(Settings):
    """One run that the plan asks for. `id` depends on all that could change its outcome."""

    study: str
    phase: Phase
    round: int
    arm: str
    task: str
    seed: int
    config: TrainConfig
    registration: str
    label: str = Field(default="", description="e.g. the tuning candidate it belongs to")

    @property
    def id(self) -> str:
        """First 16 hex digits of a sha256 over all that could change the outcome."""
        asked = (self.registration, self.phase, self.round, self.arm, self.task, self.seed)
        config = self.config.model_dump(mode="json")
        return canonical_digest([*asked, config])[:16]


class TrialScore(Settings):
    """What analysis sees of one ended trial, on one metric."""

    trial: str
    metric: str
    phase: Phase
    arm: str
    task: str
    seed: int
    label: str = ""
    status: Literal["finished", "diverged", "failed"]
    value: float | None = Field(
        description="registered score; the floor if diverged; None if failed"
    )
