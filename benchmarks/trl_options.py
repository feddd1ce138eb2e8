"""Which of TRL's options make the recipe of `time_to_reward` fastest: the choice of `TRL_BEST`.

Every option set trains the same few steps, each time in a fresh process; the sets are run in ABBA
order. A set that does not run is named with its error.
"""

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any

from benchmarks.harness import RESULTS, Worker, WorkerError, abba_order, emit, summary
from benchmarks.reward.curve import Curve
from benchmarks.reward.recipe import RECIPE, TRL_BEST

NAME = "trl_options"
STEPS = 16
#: A set that takes longer than this is named as failed.
TIMEOUT_S = 120.0
QUARTER = int(str(RECIPE["batch.rollouts"])) // 4

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "best": TRL_BEST,
    "defaults": {},
    "bf16": {**TRL_BEST, "bf16": True},
    "checkpointing": {**TRL_BEST, "gradient_checkpointing": True},
    "quarters": {
        **TRL_BEST,
        "per_device_train_batch_size": QUARTER,
        "gradient_accumulation_steps": 4,
        "steps_per_generation": 4,
    },
    "continuous": {**TRL_BEST, "use_transformers_continuous_batching": True},
    "static_cache": {**TRL_BEST, "cache_implementation": "static"},
    "compile": {**TRL_BEST, "torch_compile": True},
    "pad_to_16": {**TRL_BEST, "pad_to_multiple_of": 16},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of fewer steps")
    quick = parser.parse_args().quick
    rounds, steps = (1, 8) if quick else (2, STEPS)
    seconds: dict[str, list[float]] = {name: [] for name in OPTIONS}
    failed: dict[str, str] = {}
    rows = []
    for order, (seed, name) in enumerate(abba_order(list(OPTIONS), rounds)):
        request = {"seed": seed, "steps": steps, "options": dict(OPTIONS[name])}
        try:
            with Worker("benchmarks.reward.trl_run") as worker:
                reply = worker.ask({**request, "spawned": time.monotonic()}, TIMEOUT_S)
        except WorkerError as error:
            failed[name] = str(error).splitlines()[-1][:200]
            continue
        seconds[name].append(Curve.from_json(reply).step_seconds())
        rows.append({"variant": name, "case": f"seed{seed}", "order": order, **reply})
    if not quick:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{NAME}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(f"{'options':<16}{'ms a step':>10}")
    for name, values in seconds.items():
        cell = f"{1000 * summary(values).median:>10.0f}" if values else f"  {failed[name]}"
        print(f"{name:<16}{cell}", flush=True)
    steps_ms = {name: round(1000 * summary(v).median, 1) for name, v in seconds.items() if v}
    emit({"step_ms": steps_ms, "failed": failed})


if __name__ == "__main__":
    main()
