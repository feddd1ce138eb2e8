"""A run's folder: what is written while it trains, how it is sealed, how it is read back.

    config.yaml      the resolved TrainConfig
    metrics.jsonl    one row a step: {"step", "wall", "metrics": {name: value}}
    rollouts.jsonl   readable samples: {"step", "prompt", "completion", "reward", "correct", ...}
    events.jsonl     {"time", "kind", "detail"}: started, resumed, checkpoint, diverged, ...
    fingerprint.json what it ran under, stretch by stretch; see swarm.train.fingerprint
    checkpoints/     see swarm.policy.checkpoint
    checkpoints.url  where they are instead, if elsewhere
    diverged/        the batch that a diverged run could not be trained on; see swarm.disk.trees
    adapter/         the final weights: in PEFT's layout, or all of them in transformers'
    result.json      {"status", "cause", "steps", "seconds", "exact"}
    manifest.json    sha256 of every file above but checkpoints, written last: the seal

`wall` counts training seconds over all attempts, so curves by wall-clock survive a resume.
A folder is written by one process at a time (`swarm.disk.ownership`). One without `manifest.json`
is unfinished. JSON has no NaN: what could not be measured is null in a file and NaN again when a
row is read. A JSONL file's lines are hashed one by one too,
so that a changed record can be named.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from swarm.disk.strict_json import strict
from swarm.errors import InfrastructureError, Refusal

METRICS, ROLLOUTS, EVENTS = "metrics.jsonl", "rollouts.jsonl", "events.jsonl"
CONFIG, RESULT, MANIFEST = "config.yaml", "result.json", "manifest.json"
CHECKPOINTS, ADAPTER, DIVERGED = "checkpoints", "adapter", "diverged"
CHECKPOINTS_URL, FINGERPRINT = "checkpoints.url", "fingerprint.json"

RunStatus = Literal["finished", "diverged", "failed"]


@dataclass(frozen=True)
class RunResult:
    """How a run ended. `seconds` is training time over all attempts. `exact`: all was under
    one fingerprint, so that it repeats an unbroken run bit for bit."""

    status: RunStatus
    steps: int
    seconds: float
    cause: str = ""
    exact: bool = True


@dataclass(frozen=True)
class Damage:
    """One difference between a sealed folder and its manifest; `record` counts from 1."""

    file: str
    problem: Literal["missing", "changed", "unlisted", "unsealed"]
    record: int | None = None

    def __str__(self) -> str:
        at = f" record {self.record}" if self.record is not None else ""
        return f"{self.file}{at}: {self.problem}"


class RunWriter:
    """Appends to the files of one run folder. Rows are flushed one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._files = {
            name: (folder / name).open("a", encoding="utf-8")
            for name in (METRICS, ROLLOUTS, EVENTS)
        }

    def metrics(self, step: int, wall: float, values: Mapping[str, float]) -> None:
        self._append(METRICS, {"step": step, "wall": round(wall, 4), "metrics": dict(values)})

    def rollout(self, row: Mapping[str, Any]) -> None:
        self._append(ROLLOUTS, dict(row))

    def event(self, kind: str, **detail: Any) -> None:
        self._append(EVENTS, {"time": round(time.time(), 3), "kind": kind, "detail": detail})

    def seal(self, result: RunResult) -> str:
        """Write result.json, then the manifest; return the manifest's sha256. Raises
        InfrastructureError, sealing nothing, where the rows of a run that finished do not lead, in
        order, to its last step."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
            file.close()
        steps = [row["step"] for row in read_rows(self.folder / METRICS)]
        in_order = steps == sorted(set(steps)) and steps[-1:] == [result.steps]
        if result.status == "finished" and not in_order:
            raise InfrastructureError(
                f"{self.folder / METRICS} does not lead in order to step {result.steps}: something "
                "else wrote there; the run is not sealed"
            )
        write_atomically(self.folder / RESULT, json.dumps(asdict(result), sort_keys=True) + "\n")
        text = json.dumps({"files": _hash_folder(self.folder)}, sort_keys=True, indent=0) + "\n"
        write_atomically(self.folder / MANIFEST, text)
        return hashlib.sha256(text.encode()).hexdigest()

    def _append(self, name: str, row: Mapping[str, Any]) -> None:
        file = self._files[name]
        file.write(_line(row))
        file.flush()


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON rows of a file; a last line cut short by a crash is left out. Raises Refusal for one
    that was damaged."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield parsed(line)
            except (ValueError, AttributeError):  # not an object
                raise _damaged(path, f" line {number}") from None


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace a JSONL file by these rows, atomically."""
    write_atomically(path, "".join(map(_line, rows)))


def parsed(line: bytes) -> dict[str, Any]:
    """A row of a JSONL file. A metric that could not be measured is NaN, which is null in the file
    (bare NaN in files of earlier versions). Raises ValueError."""
    row: dict[str, Any] = json.loads(line)
    metrics = row.get("metrics")
    if isinstance(metrics, dict):
        row["metrics"] = {k: math.nan if v is None else v for k, v in metrics.items()}
    return row


def read_series(folder: Path, metric: str) -> list[tuple[int, float, float]]:
    """(step, wall seconds, value) of one metric, in step order."""
    return [
        (row["step"], row["wall"], row["metrics"][metric])
        for row in read_rows(folder / METRICS)
        if metric in row["metrics"]
    ]


def read_result(folder: Path) -> RunResult | None:
    """The run's result, or None while it has not ended. Raises Refusal for one that was damaged."""
    path = folder / RESULT
    if not path.exists():
        return None
    try:
        return RunResult(**json.loads(path.read_bytes()))
    except (ValueError, TypeError):
        raise _damaged(path) from None


def manifest_digest(folder: Path) -> str | None:
    """sha256 of the folder's manifest, or None when the folder is not sealed."""
    path = folder / MANIFEST
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def checkpoints_of(folder: Path) -> str:
    """Where a run's checkpoints are: a path in its folder, or the URL that it was started with."""
    elsewhere = folder / CHECKPOINTS_URL
    if elsewhere.exists():
        return elsewhere.read_text(encoding="utf-8").strip()
    return str(folder / CHECKPOINTS)


def check_seal(folder: Path) -> list[Damage]:
    """Every difference between a folder and its manifest, named by file and record."""
    path = folder / MANIFEST
    if not path.exists():
        return [Damage(MANIFEST, "unsealed")]
    try:
        sealed: dict[str, Any] = json.loads(path.read_text())["files"]
    except (ValueError, KeyError, TypeError):
        return [Damage(MANIFEST, "changed")]
    found = _hash_folder(folder)
    damage = [Damage(name, "missing") for name in sorted(sealed.keys() - found.keys())]
    damage += [Damage(name, "unlisted") for name in sorted(found.keys() - sealed.keys())]
    for name in sorted(sealed.keys() & found.keys()):
        if sealed[name]["sha256"] != found[name]["sha256"]:
            damage += _changed_records(name, sealed[name], found[name])
    return damage


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part, and so that it
    survives a power cut."""
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def take_usual_modes(folder: Path) -> None:
    """Give each file in `folder` the mode that the umask gives a new one. Libraries write some by
    way of temporary files that only their owner may read."""
    probe = folder / ".mode"
    probe.touch()
    mode = probe.stat().st_mode
    probe.unlink()
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink():
            path.chmod(mode)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(strict(row), sort_keys=True, allow_nan=False) + "\n"


def _damaged(path: Path, where: str = "") -> Refusal:
    return Refusal("out", f"{path}{where} is not what a run writes", "train into a new folder")


def _changed_records(name: str, sealed: dict[str, Any], found: dict[str, Any]) -> list[Damage]:
    before, after = sealed.get("lines", []), found.get("lines", [])
    changed = [
        Damage(name, "changed", index + 1)
        for index in range(max(len(before), len(after)))
        if before[index : index + 1] != after[index : index + 1]
    ]
    return changed or [Damage(name, "changed")]


def _hash_folder(folder: Path) -> dict[str, dict[str, Any]]:
    hashes: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name == MANIFEST or name.startswith((f"{CHECKPOINTS}/", ".")):
            continue
        data = path.read_bytes()
        hashes[name] = {"sha256": hashlib.sha256(data).hexdigest()}
        if name.endswith(".jsonl"):
            hashes[name]["lines"] = [
                hashlib.sha256(line).hexdigest()[:12] for line in data.splitlines(keepends=True)
            ]
    return hashes
