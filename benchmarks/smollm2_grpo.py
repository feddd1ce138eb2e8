"""A real run: GRPO on SmolLM2-135M-Instruct learns sums in an asked form.

    python -m benchmarks.smollm2_grpo [--quick]

Every seed is `swarm train benchmarks/configs/smollm2_grpo.yaml --set seed=N`, in a process with one
torch thread, two of them side by side. All are evaluated on the same held-out prompts with the same
draws, before the first step and after the last, sampled at temperature 1; then greedily as well.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.configs.sums import FORMAT_REWARD
from benchmarks.harness import RESULTS, emit
from benchmarks.learning_curve import draw
from benchmarks.spread import Spread, over_seeds, student_interval
from swarm.cli.config_file import read_file
from swarm.disk.folder import METRICS, read_rows
from swarm.errors import ModelUnavailable

CONFIG = Path(__file__).parent / "configs" / "smollm2_grpo.yaml"
CURVE = Path(__file__).parent.parent / "docs" / "images" / "smollm2_grpo.png"
RUNS = Path("runs") / "benchmarks"
SIDE_BY_SIDE = 2

Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is run: seeds, and settings on top of the config."""

    seeds: tuple[int, ...]
    settings: tuple[str, ...] = ()


FULL = Plan(seeds=(0, 1, 2, 3))
QUICK = Plan(seeds=(0, 1), settings=("steps=6", "evaluation.every=6", "evaluation.prompts=24"))


@dataclass(frozen=True)
class SeedRun:
    """One seed's run: its rows of metrics, seconds of training, and greedy held-out accuracy."""

    seed: int
    rows: list[Row]
    seconds: float
    greedy_accuracy: float

    def evaluations(self) -> list[Row]:
        return [row for row in self.rows if "eval/acc" in row["metrics"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="six steps of two seeds; writes nothing"
    )
    quick = parser.parse_args().quick
    try:
        read_file(CONFIG, ())
    except ModelUnavailable as error:
        parser.error(str(error))
    if quick:
        with tempfile.TemporaryDirectory() as folder:
            _measure(QUICK, Path(folder))
        return
    RUNS.mkdir(parents=True, exist_ok=True)
    runs = _measure(FULL, Path(tempfile.mkdtemp(prefix="smollm2_grpo-", dir=RUNS)))
    _record(runs, RESULTS / "smollm2_grpo.jsonl")
    draw({run.seed: run.rows for run in runs}, CURVE)


def _measure(plan: Plan, folder: Path) -> list[SeedRun]:
    """Train and evaluate all seeds into `folder`, and print what was found."""
    began = time.monotonic()
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        base = pool.submit(_greedy, plan, None)
        runs = list(pool.map(partial(_run, plan, folder), plan.seeds))
    greedy = base.result()
    result = measured(runs, greedy["n"]) | {
        "greedy_accuracy_before": greedy["accuracy"],
        "wall_s": round(time.monotonic() - began, 1),
    }
    _show(result)
    emit(result)
    return runs


def measured(runs: Sequence[SeedRun], prompts: int) -> Row:
    """The asked figures. Intervals `_ci95` are t-intervals over seeds; before training all seeds
    are the same policy answering with the same draws, so theirs is a point, and another stands
    beside it: over the held-out `prompts`."""
    first, last = ([run.evaluations()[at] for run in runs] for at in (0, -1))
    reward_before = [row["metrics"]["eval/proxy"] for row in first]
    reward_after = [row["metrics"]["eval/proxy"] for row in last]
    gains = [after - before for before, after in zip(reward_before, reward_after, strict=True)]
    parts: dict[str, Spread] = {
        "reward_before": over_seeds(reward_before),
        "reward_after": over_seeds(reward_after),
        "gain": over_seeds(gains),
        "accuracy_before": over_seeds([row["metrics"]["eval/acc"] for row in first]),
        "accuracy_after": over_seeds([row["metrics"]["eval/acc"] for row in last]),
        "format_before": over_seeds([format_share(row["metrics"]) for row in first]),
        "format_after": over_seeds([format_share(row["metrics"]) for row in last]),
        "greedy_accuracy_after": over_seeds([run.greedy_accuracy for run in runs]),
    }
    flat: Row = {}
    for name, spread in parts.items():
        flat |= {
            name: spread.mean,
            f"{name}_ci95": [spread.low, spread.high],
            f"{name}_seeds": list(spread.values),
        }
    return flat | {
        "reward_before_prompts_ci95": list(_over_prompts(first[0]["metrics"], prompts)),
        "prompts": prompts,
        "seeds": [run.seed for run in runs],
        "steps": last[0]["step"],
        "train_s_seeds": [run.seconds for run in runs],
    }


def format_share(metrics: Row) -> float:
    """The share of answers in the asked form: reward = FORMAT_REWARD · (form - right) + right."""
    reward, right = metrics["eval/proxy"], metrics["eval/acc"]
    return float(right + (reward - right) / FORMAT_REWARD)


def _over_prompts(metrics: Row, prompts: int) -> tuple[float, float]:
    """Student's interval of the mean reward; its second moment follows from the shares, since a
    reward is 0, FORMAT_REWARD or 1."""
    reward, right = metrics["eval/proxy"], metrics["eval/acc"]
    square = right + (format_share(metrics) - right) * FORMAT_REWARD**2
    return student_interval(reward, math.sqrt(max(0.0, square - reward**2)), prompts)


def _run(plan: Plan, folder: Path, seed: int) -> SeedRun:
    out = folder / f"seed{seed}"
    ended = _swarm("train", plan, f"--set=seed={seed}", f"--out={out}")
    print(f"seed {seed}: {ended['status']} after {ended['seconds']:.0f} s", flush=True)
    rows = list(read_rows(out / METRICS))
    return SeedRun(seed, rows, ended["seconds"], _greedy(plan, out)["accuracy"])


def _greedy(plan: Plan, adapter: Path | None) -> Row:
    """What `swarm eval --greedy` says of the base model, or of a run's adapter."""
    chosen = [] if adapter is None else [f"--adapter={adapter}"]
    return _swarm("eval", plan, "--greedy", *chosen)


def _swarm(command: str, plan: Plan, *options: str) -> Row:
    """What `swarm COMMAND CONFIG --json` says. Raises CalledProcessError when it fails."""
    settings = [f"--set={setting}" for setting in plan.settings]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "swarm.cli.app",
            command,
            str(CONFIG),
            "--json",
            *settings,
            *options,
        ],
        stdout=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=True,
    )
    document: Row = json.loads(done.stdout)
    return document


def _record(runs: Sequence[SeedRun], path: Path) -> None:
    """One row a seed and step: {"seed", "step", "wall", "metrics"}."""
    rows = [{"seed": run.seed, **row} for run in runs for row in run.rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _show(result: Row) -> None:
    print(f"{'':<12}{'before':>8}{'after':>8}   95 % over seeds")
    for name in ("reward", "accuracy", "format"):
        low, high = result[f"{name}_after_ci95"]
        before, after = result[f"{name}_before"], result[f"{name}_after"]
        print(f"{name:<12}{before:>8.3f}{after:>8.3f}   {low:.3f} to {high:.3f}")
    before, after = result["greedy_accuracy_before"], result["greedy_accuracy_after"]
    low, high = result["greedy_accuracy_after_ci95"]
    print(f"{'greedy acc.':<12}{before:>8.3f}{after:>8.3f}   {low:.3f} to {high:.3f}")
    low, high = result["gain_ci95"]
    print(f"reward gain {result['gain']:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    seeds, steps, seconds = len(result["seeds"]), result["steps"], result["wall_s"]
    print(f"{seeds} seeds, {steps} steps each, {seconds:.0f} s in all")


if __name__ == "__main__":
    main()
