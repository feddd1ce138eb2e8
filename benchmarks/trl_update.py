"""Update only, against TRL's GRPOTrainer: `python -m benchmarks.trl_update [--quick | --sweep]`.

One optimizer step on saved rollouts: SmolLM2-135M in fp32, a rank-16 LoRA on all linear layers,
8 completions, AdamW, clip 1, no KL, one update a batch, temperature 1. Variants: this trainer;
TRL at its best settings on this machine (`benchmarks.trl_sweep`); TRL as `GRPOConfig()` leaves it;
and TRL with its head on completion rows, which it has on a GPU but not on a CPU.

Keys: ratio_<case> is TRL at its best over this trainer, ratio_default TRL as it comes (p200),
ratio_<case>_completion_head that variant; each with its 95 % interval as `<key>_ci`, null below
three rounds. bound_<case> is `benchmarks.update_cases.bound`: multiply-adds of TRL's update
over those of an update without repeated prompts and padding. grad_cosine and grad_rel_err
compare the two gradients of the natural case before anything is timed.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks.agreement import Agreement, agreement
from benchmarks.harness import Payload, Sample, Worker, abba, emit, ratio, record, show, walls
from benchmarks.trl_sweep import best_settings, sweep
from benchmarks.update_cases import bound, cases

OURS, BEST, DEFAULT, COMPLETION_HEAD = "swarm", "trl best", "trl default", "trl head"
#: Without these the timings compare two different things.
MIN_COSINE, MAX_RELATIVE_ERROR = 0.9999, 1e-4


@dataclass(frozen=True)
class Plan:
    """Which variants run a case, and for how many timed rounds after one warm-up."""

    case: str
    variants: tuple[str, ...]
    rounds: int


FULL = (
    Plan("p200", (OURS, BEST, DEFAULT, COMPLETION_HEAD), 4),
    Plan("p600", (OURS, BEST, COMPLETION_HEAD), 3),
    Plan("natural", (OURS, BEST, COMPLETION_HEAD), 3),
    Plan("short", (OURS, BEST), 3),
    Plan("g2", (OURS, BEST), 3),
)
QUICK = (
    Plan("p200", (OURS, BEST, DEFAULT), 2),
    Plan("p600", (OURS, BEST), 1),
    Plan("natural", (OURS, BEST), 2),
    Plan("short", (OURS, BEST), 2),
    Plan("g2", (OURS, BEST), 1),
)


#: Settings on top of TRL's best, by case: four rows of 700 tokens take 14 GB, eight do not fit.
FITTING = {"p600": {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4}}


def start(stack: ExitStack, case: str, variants: Sequence[str]) -> dict[str, Worker]:
    """A process a variant."""
    best = best_settings() | FITTING.get(case, {})
    specs: dict[str, Payload] = {
        OURS: {"trainer": "swarm"},
        BEST: {"trainer": "trl", "settings": best},
        DEFAULT: {"trainer": "trl"},
        COMPLETION_HEAD: {"trainer": "trl", "settings": best, "head": "completion rows"},
    }
    return {
        name: stack.enter_context(Worker("benchmarks.update_worker", [json.dumps(spec)]))
        for name, spec in specs.items()
        if name in variants
    }


def compare(ours: Worker, theirs: Worker) -> Agreement:
    """The agreement of the two gradients. Raises SystemExit where they differ."""
    with tempfile.TemporaryDirectory() as folder:
        vectors = []
        for index, worker in enumerate((ours, theirs)):
            path = Path(folder) / f"{index}.npy"
            worker.ask({"do": "gradient", "case": "natural", "path": str(path)})
            vectors.append(torch.from_numpy(np.load(path)))
    found = agreement(*vectors)
    print(f"gradients: cosine {found.cosine:.8f}, relative error {found.relative_error:.2e}")
    if found.cosine < MIN_COSINE or found.relative_error > MAX_RELATIVE_ERROR:
        raise SystemExit("the two trainers do not compute one gradient; no timing would count")
    return found


def keys(samples: list[Sample]) -> Payload:
    """The ratios, their intervals and the bounds of the cases that were timed."""
    named = {
        BEST: "ratio_{}",
        COMPLETION_HEAD: "ratio_{}_completion_head",
        DEFAULT: "ratio_default",
    }
    found: Payload = {}
    for case, variant in dict.fromkeys((s.case, s.variant) for s in samples):
        if variant == OURS:
            found[f"bound_{case}"] = bound(cases()[case])
            found[f"bound_{case}_completion_head"] = bound(cases()[case], "completion rows")
            continue
        times = walls(samples, variant, case)
        key, against = named[variant].format(case), ratio(times, walls(samples, OURS, case))
        found[key] = against.value
        found[f"{key}_ci"] = [against.low, against.high] if len(times) >= 3 else None
    return found


def throughput(samples: list[Sample]) -> None:
    """Print logical tokens a second: unpadded, each row's prompt counted, whoever shares it."""
    for case, variant in dict.fromkeys((s.case, s.variant) for s in samples):
        seconds = float(np.median(walls(samples, variant, case)))
        print(f"{case:<16}{variant:<16}{cases()[case].logical_tokens / seconds:>9.0f} tokens/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, at most 5 minutes")
    parser.add_argument("--sweep", action="store_true", help="find TRL's best settings; no timings")
    options = parser.parse_args()
    if options.sweep:
        emit({"best": sweep()})
        return
    plans = QUICK if options.quick else FULL
    with ExitStack() as stack:
        workers = start(stack, "natural", (OURS, BEST))
        same = compare(workers[OURS], workers[BEST])
    samples: list[Sample] = []
    for plan in plans:
        with ExitStack() as stack:
            workers = start(stack, plan.case, plan.variants)
            samples += abba(workers, plan.case, {"do": "update"}, plan.rounds, warmup=1)
        if not options.quick:
            record("trl_update", samples)
    show(samples)
    throughput(samples)
    emit({"grad_cosine": same.cosine, "grad_rel_err": same.relative_error, **keys(samples)})


if __name__ == "__main__":
    main()
