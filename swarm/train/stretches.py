"""What a run was trained under, stretch by stretch: a run that is resumed elsewhere has several.

    fingerprint.json    {"run": id, "stretches": [{"step": first step after, "fingerprint": {...}}]}

A run of one stretch repeats an unbroken run bit for bit (on a CPU); a run of several is not exact.
The id is the run's for good: by it a run knows its own checkpoints again where they were moved.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from swarm.disk.folder import FINGERPRINT, write_atomically
from swarm.train.fingerprint import differences


@dataclass(frozen=True)
class Stretch:
    """Batches after `step` were trained under `fingerprint`; None if that is not known."""

    step: int
    fingerprint: Mapping[str, Any] | None


@dataclass(frozen=True)
class Conditions:
    """A run's id and its stretches, oldest first."""

    run: str
    stretches: tuple[Stretch, ...] = ()

    @classmethod
    def new(cls) -> "Conditions":
        return cls(uuid.uuid4().hex)

    @property
    def exact(self) -> bool:
        return len(self.stretches) == 1

    def before(self, step: int) -> "Conditions":
        """Those of the batches up to `step`, from which training goes on. A run that kept none, as
        earlier versions did, has one unknown stretch."""
        kept = tuple(stretch for stretch in self.stretches if stretch.step < step)
        return Conditions(self.run, kept or (Stretch(0, None),))

    def then(self, step: int, now: Mapping[str, Any]) -> tuple["Conditions", dict[str, list[Any]]]:
        """These, going on after `step` under `now`; and what differs from the last stretch."""
        if not self.stretches:
            return Conditions(self.run, (Stretch(step, dict(now)),)), {}
        was = self.stretches[-1].fingerprint
        unknown: dict[str, list[Any]] = {"fingerprint": [None, "known from here on"]}
        changed = unknown if was is None else differences(was, now)
        if not changed:
            return self, {}
        return Conditions(self.run, (*self.stretches, Stretch(step, dict(now)))), changed


def read_conditions(folder: Path) -> Conditions | None:
    """What a run folder says, or None where it says nothing that can be read."""
    try:
        document = json.loads((folder / FINGERPRINT).read_bytes())
        stretches = tuple(Stretch(**stretch) for stretch in document["stretches"])
        return Conditions(str(document["run"]), stretches)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def write_conditions(conditions: Conditions, folder: Path) -> None:
    text = json.dumps(asdict(conditions), indent=1, sort_keys=True)
    write_atomically(folder / FINGERPRINT, f"{text}\n")
