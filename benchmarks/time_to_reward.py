"""Wall-clock from the start of training to a held-out accuracy: swarm against TRL.

Both train the `tiny` model on `reverse` by one recipe (`benchmarks.reward.recipe`): same base, same
first adapter, same prompts in the same order, same judge, same loss, same optimizer. A run is a
fresh process; seeds are pairs, and every other pair is run in the other order. All runs go on to
the same number of steps, so that their learning curves can be compared as well.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from benchmarks.harness import RESULTS, Payload, Worker, abba_order, emit
from benchmarks.reward.curve import (
    Curve,
    mean_interval,
    paired_ratio,
    reach,
    reached_ratio,
)
from benchmarks.reward.recipe import EVERY, STEPS

NAME = "time_to_reward"
MODULES = {"swarm": "benchmarks.reward.swarm_run", "trl": "benchmarks.reward.trl_run"}

#: Held-out accuracy that a run has to reach; the base stands at 0.45.
THRESHOLD = 0.70
#: Others, shown beside it: the verdict may not hang on one choice.
OTHERS = (0.60, 0.75)

SEEDS = 5
RUN_TIMEOUT_S = 600.0

Curves = Mapping[str, Sequence[Curve]]


def measure(seeds: int, steps: int) -> list[Payload]:
    """Every run, in the order it was made: variant, case, seed, order, and its worker's reply."""
    rows = []
    for order, (seed, name) in enumerate(abba_order(list(MODULES), seeds)):
        spawned = time.monotonic()
        with Worker(MODULES[name]) as worker:
            request = {"seed": seed, "steps": steps, "spawned": spawned}
            reply = worker.ask(request, RUN_TIMEOUT_S)
        rows.append({"variant": name, "case": f"seed{seed}", "seed": seed, "order": order, **reply})
        curve = Curve.from_json(reply)
        print(
            f"{name:<6} seed {seed}: {1000 * curve.step_seconds():.0f} ms a step, "
            f"{curve.clock[-1]:.1f} s of training, last accuracy {curve.evaluated[-1][1]:.3f}",
            flush=True,
        )
    return rows


def curves_of(rows: Sequence[Payload]) -> dict[str, list[Curve]]:
    """The curves of each variant, by seed."""
    by_seed = sorted(rows, key=lambda row: int(row["seed"]))
    return {
        name: [Curve.from_json(row) for row in by_seed if row["variant"] == name]
        for name in MODULES
    }


def result(curves: Curves) -> dict[str, Any]:
    """The asked keys: ratios say how many times longer TRL takes."""
    swarm, trl = curves["swarm"], curves["trl"]
    reached = {name: [reach(c, THRESHOLD) for c in runs] for name, runs in curves.items()}
    started = {
        name: [reach(c.with_startup(), THRESHOLD) for c in runs] for name, runs in curves.items()
    }
    gap = mean_interval(
        [s.mean_accuracy() - t.mean_accuracy() for s, t in zip(swarm, trl, strict=True)]
    )
    found: dict[str, Any] = {"threshold": THRESHOLD, "seeds": len(swarm)}
    for key, ratio in {
        "ratio": reached_ratio(reached["trl"], reached["swarm"], attrgetter("seconds")),
        "ratio_with_startup": reached_ratio(
            started["trl"], started["swarm"], attrgetter("seconds")
        ),
        "step_ratio": paired_ratio(
            [c.step_seconds() for c in trl], [c.step_seconds() for c in swarm]
        ),
        "steps_ratio": reached_ratio(reached["trl"], reached["swarm"], attrgetter("step")),
    }.items():
        found[key] = None if ratio is None else round(ratio.value, 3)
        found[f"{key}_low"] = None if ratio is None else round(ratio.low, 3)
        found[f"{key}_high"] = None if ratio is None else round(ratio.high, 3)
    for name, runs in reached.items():
        found[f"{name}_reached"] = sum(not run.censored for run in runs)
        found[f"{name}_step_ms"] = round(
            1000 * float(np.median([c.step_seconds() for c in curves[name]])), 1
        )
        found[f"{name}_step_cpu_ms"] = round(
            1000 * float(np.median([np.median(c.cpu) for c in curves[name]])), 1
        )
    known = found["ratio"] is not None
    found["ratio_is_lower_bound"] = known and found["trl_reached"] < len(trl)
    found["accuracy_gap"], found["accuracy_gap_low"], found["accuracy_gap_high"] = (
        round(x, 4) for x in gap
    )
    return found


def show(curves: Curves) -> None:
    """Print seconds and steps to each threshold by seed, then the two learning curves."""
    for threshold in sorted((THRESHOLD, *OTHERS)):
        print(f"\nto a held-out accuracy of {threshold:.2f}: seconds (steps); > is not reached")
        print(f"{'seed':>4}{'swarm':>18}{'trl':>18}{'ratio':>9}")
        for seed, pair in enumerate(zip(curves["swarm"], curves["trl"], strict=True)):
            ours, theirs = (reach(curve, threshold) for curve in pair)
            cells = [
                f"{'>' if r.censored else ''}{r.seconds:.1f} ({r.step})" for r in (ours, theirs)
            ]
            times = f"{theirs.seconds / ours.seconds:.2f}"
            cells.append("-" if ours.censored else f"{'>' if theirs.censored else ''}{times}")
            print(f"{seed:>4}{cells[0]:>18}{cells[1]:>18}{cells[2]:>9}")
    print("\nheld-out accuracy by step, mean over seeds (its standard error)")
    print(f"{'step':>4}{'swarm':>18}{'trl':>18}")
    for i, (step, _) in enumerate(curves["swarm"][0].evaluated):
        cells = []
        for name in MODULES:
            values = [c.evaluated[i][1] for c in curves[name]]
            cells.append(
                f"{np.mean(values):.3f} ({np.std(values, ddof=1) / len(values) ** 0.5:.3f})"
            )
        print(f"{step:>4}{cells[0]:>18}{cells[1]:>18}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two seeds of a few steps")
    quick = parser.parse_args().quick
    seeds, steps = (2, 3 * EVERY) if quick else (SEEDS, STEPS)
    rows = measure(seeds, steps)
    if not quick:
        RESULTS.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (RESULTS / f"{NAME}.jsonl").write_text(lines)
    curves = curves_of(rows)
    show(curves)
    emit(result(curves))


if __name__ == "__main__":
    main()
