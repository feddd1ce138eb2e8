"""Rivals' best settings, and every system's best slots: `python -m benchmarks.generate --sweep`.

First each setting of a rival at the common number of slots, kept if faster; then the slots of each
system at its best settings. fp32, the first 48 prompts. The result is committed as
`results/generate_sweep.json`, from which `generate` takes both.
"""

import json
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import RESULTS, Payload, Worker, WorkerError, machine

RESULT = RESULTS / "generate_sweep.json"
SLOTS = 32
#: Tried beside the common number.
OTHER_SLOTS = (64,)
#: Prompts that a candidate is timed on.
PROMPTS_TRIED = 48

Settings = dict[str, Any]

#: Where the search starts.
START: dict[str, Settings] = {
    "swarm": {},
    "static": {"order": "length", "attention": "sdpa", "cache": None},
    "continuous": {
        "attention": "sdpa",
        "page_size": 32,
        "num_blocks": 1024,
        "max_batch_tokens": 1024,
    },
}
#: Per system and setting, the values tried against the best so far.
STAGES: dict[str, dict[str, list[Settings]]] = {
    "swarm": {},
    "static": {
        "attention": [{"attention": "eager"}],
        "cache": [{"cache": "static"}],
    },
    "continuous": {
        "page": [{"page_size": 16, "num_blocks": 2048}],
        "tokens of a batch": [{"max_batch_tokens": 256}],
        "attention": [{"attention": "eager"}],
        "prefix sharing": [{"allow_block_sharing": False}],
    },
}


@dataclass(frozen=True)
class Best:
    """What a system runs with: its settings, and the slots at which it is fastest."""

    settings: Settings
    slots: int


def sweep() -> dict[str, Best]:
    """Run it, print and write what was found."""
    tried: list[Payload] = []
    found = {}
    for system, settings in START.items():
        least = _seconds(system, settings, SLOTS, "start", tried)
        for stage, options in STAGES[system].items():
            kept = settings
            for option in options:
                seconds = _seconds(system, kept | option, SLOTS, stage, tried)
                if seconds < least:
                    settings, least = kept | option, seconds
        slots = SLOTS
        for other in OTHER_SLOTS:
            seconds = _seconds(system, settings, other, "slots", tried)
            if seconds < least:
                slots, least = other, seconds
        found[system] = Best(settings, slots)
    best = {name: {"settings": b.settings, "slots": b.slots} for name, b in found.items()}
    RESULT.write_text(
        json.dumps({"best": best, "tried": tried, "machine": machine()}, indent=1) + "\n"
    )
    return found


def best_settings() -> dict[str, Best]:
    """The committed result, by system. Raises SystemExit before the first sweep."""
    if not RESULT.is_file():
        raise SystemExit(f"{RESULT} is missing; run python -m benchmarks.generate --sweep")
    found: dict[str, Settings] = json.loads(RESULT.read_text())["best"]
    return {name: Best(**best) for name, best in found.items()}


def _seconds(
    system: str, settings: Settings, slots: int, stage: str, tried: list[Payload]
) -> float:
    """Seconds a sampled token after one warm-up; infinite where it fails, which is recorded."""
    spec = json.dumps({"system": system, "dtype": "float32", "settings": settings})
    entry: Payload = {"system": system, "stage": stage, "settings": settings, "slots": slots}
    try:
        with Worker("benchmarks.generate_worker", [spec]) as worker:
            worker.ask({"prompts": 8, "slots": slots, "seed": 0})
            reply = worker.ask({"prompts": PROMPTS_TRIED, "slots": slots, "seed": 1})
        entry["tokens_per_s"] = sum(reply["tokens"]) / reply["wall_s"]
    except WorkerError as error:
        entry["error"] = str(error)[-500:]
    tried.append(entry)
    rate = float(entry.get("tokens_per_s", 0))
    print(f"{system:<12}{stage:<20}{slots:>4} slots {rate:>8.0f} tokens/s  {settings}", flush=True)
    return 1 / rate if rate else float("inf")
