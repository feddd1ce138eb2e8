"""TRL's best settings for an update on this machine: `python -m benchmarks.trl_update --sweep`.

From plain fp32 without checkpointing, one setting at a time: what is faster is kept. Each candidate
is a process of its own; the first step is dropped. The result is committed as
`results/trl_sweep.json`, from which `trl_update` takes "best".
"""

import json
from typing import Any

from benchmarks.harness import RESULTS, Worker, WorkerError, machine

RESULT = RESULTS / "trl_sweep.json"

Settings = dict[str, Any]

START: Settings = {"bf16": False, "gradient_checkpointing": False}
#: Per setting, the values tried against the best so far.
STAGES: dict[str, list[Settings]] = {
    "rows of a micro-batch": [
        {"per_device_train_batch_size": n, "gradient_accumulation_steps": 8 // n} for n in (4, 2, 1)
    ],
    "attention": [{"model_init_kwargs": {"attn_implementation": "eager"}}],
    "gradient checkpointing": [{"gradient_checkpointing": True}],
    "bf16 autocast": [{"bf16": True}],
    "torch.compile": [{"torch_compile": True}],
}
CASE = "p200"
#: A candidate whose step takes longer is recorded as failed.
STEP_TIMEOUT_S = 150.0


def sweep() -> Settings:
    """Run it, print and write all that was tried; the fastest settings in fp32."""
    tried: list[dict[str, Any]] = []
    best = START
    least = _seconds(START, "start", tried)
    for stage, options in STAGES.items():
        kept = best
        for option in options:
            seconds = _seconds(kept | option, stage, tried)
            if seconds < least and not option.get("bf16"):
                best, least = kept | option, seconds
    result = {"case": CASE, "best": best, "seconds": least, "tried": tried, "machine": machine()}
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    return best


def best_settings() -> Settings:
    """The committed result. Raises SystemExit before the first sweep."""
    if not RESULT.is_file():
        raise SystemExit(f"{RESULT} is missing; run python -m benchmarks.trl_update --sweep")
    settings: Settings = json.loads(RESULT.read_text())["best"]
    return settings


def _seconds(settings: Settings, stage: str, tried: list[dict[str, Any]]) -> float:
    """The faster of two timed steps after one; infinite where TRL fails, which is recorded."""
    spec = json.dumps({"trainer": "trl", "settings": settings})
    entry: dict[str, Any] = {"stage": stage, "settings": settings}
    try:
        with Worker("benchmarks.update_worker", [spec]) as worker:
            request = {"do": "update", "case": CASE}
            walls = [worker.ask(request, STEP_TIMEOUT_S)["wall_s"] for _ in range(3)]
        entry |= {"first_s": walls[0], "wall_s": min(walls[1:])}
    except WorkerError as error:
        entry |= {"error": str(error)[-500:]}
    tried.append(entry)
    print(f"{stage:<24}{entry.get('wall_s', float('inf')):>9.2f} s  {settings}", flush=True)
    return float(entry.get("wall_s", float("inf")))
