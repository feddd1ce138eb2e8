"""Generation against transformers and vLLM: `python -m benchmarks.generate [--quick | --sweep]`.

128 fixed prompts (`benchmarks.prompts`) to their own end token, at most 128 tokens, SmolLM2-135M,
temperature 1 and nothing cut off. Variants: this engine; `generate` of transformers with prompts
sorted by length, and as they arrive; its continuous batching; vLLM where `.venv-vllm` holds it.
Each rival runs with its best settings on this machine (`benchmarks.generate_sweep`).

Each round is another seed. Draws differ between systems, so what is compared is the time a sampled
token takes, end tokens counted, padding not; mean lengths must agree within their noise.

Keys: ratio is the faster rival of transformers over this engine in fp32 at 32 slots; ratio_bf16 the
same in bf16; ratio_own_slots with each system at its own best number of slots; ratio_arrival
against prompts as they arrive; `<key>_ci` 95 % intervals, null below three rounds; `<key>_rival`
the rival; tokens_per_s by case and variant.
"""

import argparse
import json
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from benchmarks.generate_sweep import SLOTS, Best, best_settings, sweep
from benchmarks.harness import (
    Payload,
    Ratio,
    Sample,
    Worker,
    abba_order,
    emit,
    ratio,
    record,
    show,
)
from benchmarks.prompts import PROMPTS
from benchmarks.vllm_server import installed

OURS, SORTED, ARRIVAL, CONTINUOUS, VLLM = "swarm", "static sorted", "static", "continuous", "vllm"
RIVALS = (SORTED, ARRIVAL, CONTINUOUS)
SYSTEM = {
    OURS: "swarm",
    SORTED: "static",
    ARRIVAL: "static",
    CONTINUOUS: "continuous",
    VLLM: "vllm",
}
#: Standard errors by which the mean lengths of two systems may differ.
MAX_DEVIATION = 4.0


@dataclass(frozen=True)
class Plan:
    """One case: which variants run it, with how many slots (None: each its own best)."""

    case: str
    key: str
    dtype: str
    slots: int | None
    variants: tuple[str, ...]
    rounds: int


FULL = (
    Plan("fp32", "ratio", "float32", SLOTS, (OURS, SORTED, CONTINUOUS), 3),
    Plan("arrival", "ratio_arrival", "float32", SLOTS, (OURS, ARRIVAL, VLLM), 1),
    Plan("bf16", "ratio_bf16", "bfloat16", SLOTS, (OURS, CONTINUOUS), 1),
    Plan("own slots", "ratio_own_slots", "float32", None, (OURS, CONTINUOUS), 1),
)
QUICK = (Plan("fp32", "ratio", "float32", SLOTS, (OURS, SORTED, CONTINUOUS), 1),)
#: Prompts of the batch that warms a variant up.
WARMUP = 8


@dataclass(frozen=True)
class Generated(Sample):
    """A timed step and the tokens it sampled, by prompt."""

    tokens: tuple[int, ...]

    @property
    def seconds_per_token(self) -> float:
        return self.wall_s / sum(self.tokens)


def start(stack: ExitStack, plan: Plan) -> dict[str, tuple[Worker, int]]:
    """A process and a number of slots for each variant of the case."""
    best = best_settings() | {"vllm": Best({}, SLOTS)}
    running = {}
    for variant in plan.variants:
        if variant == VLLM and not installed():
            continue
        found = best[SYSTEM[variant]]
        slots = plan.slots or found.slots
        settings = found.settings
        if variant == ARRIVAL:
            settings = settings | {"order": "arrival"}
        if variant == VLLM:
            settings = settings | {"slots": slots}
        spec = {"system": SYSTEM[variant], "dtype": plan.dtype, "settings": settings}
        worker = stack.enter_context(Worker("benchmarks.generate_worker", [json.dumps(spec)]))
        running[variant] = (worker, slots)
    return running


def measure(plan: Plan) -> list[Generated]:
    """Every variant once a round, in ABBA order, after a small batch as warm-up."""
    samples = []
    with ExitStack() as stack:
        running = start(stack, plan)
        for worker, slots in running.values():
            worker.ask({"prompts": WARMUP, "slots": slots, "seed": 0})
        for order, (index, name) in enumerate(abba_order(list(running), plan.rounds)):
            worker, slots = running[name]
            reply = worker.ask({"prompts": len(PROMPTS), "slots": slots, "seed": 1 + index})
            times = {key: float(reply[key]) for key in ("wall_s", "cpu_s", "peak_rss_mb", "load")}
            tokens = tuple(int(count) for count in reply["tokens"])
            samples.append(Generated(name, plan.case, index, order, **times, tokens=tokens))
    return samples


def deviation(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Standard errors between two mean lengths; both [rounds, prompts], paired by prompt."""
    difference = ours.mean(0) - theirs.mean(0)
    return float(abs(difference.mean()) / (difference.std(ddof=1) / np.sqrt(len(difference))))


def check_lengths(samples: list[Generated]) -> None:
    """Raises SystemExit where a system's completions are longer or shorter than this engine's."""
    for case, variant in dict.fromkeys((s.case, s.variant) for s in samples):
        lengths, ours = (
            np.array([s.tokens for s in samples if (s.case, s.variant) == (case, name)])
            for name in (variant, OURS)
        )
        apart = 0.0 if variant == OURS else deviation(ours, lengths)
        print(
            f"{case:<12}{variant:<16}mean length {lengths.mean():6.1f}, longest {lengths.max()}, "
            f"{(lengths == lengths.max()).mean():.0%} there; {apart:.1f} standard errors off"
        )
        if apart > MAX_DEVIATION:
            raise SystemExit(
                f"{variant} does not sample what {OURS} samples; no timing would count"
            )


def seconds(samples: list[Generated], case: str, variant: str) -> list[float]:
    """Seconds a sampled token, by round."""
    mine = [s for s in samples if (s.case, s.variant) == (case, variant)]
    return [s.seconds_per_token for s in sorted(mine, key=lambda s: s.round)]


def faster(samples: list[Generated], plan: Plan) -> tuple[str, Ratio]:
    """The fastest of transformers' ways in a case, and its time over this engine's."""
    ours = seconds(samples, plan.case, OURS)
    ran = {s.variant for s in samples if s.case == plan.case}
    found = {v: seconds(samples, plan.case, v) for v in RIVALS if v in ran}
    rival = min(found, key=lambda name: float(np.median(found[name])))
    return rival, ratio(found[rival], ours)


def keys(samples: list[Generated], plans: tuple[Plan, ...]) -> Payload:
    """The ratios with their intervals, and sampled tokens a second."""
    found: Payload = {}
    rates: dict[str, dict[str, float]] = {}
    for plan in plans:
        rival, against = faster(samples, plan)
        enough = plan.rounds >= 3
        found |= {plan.key: against.value, f"{plan.key}_rival": rival}
        found[f"{plan.key}_ci"] = [against.low, against.high] if enough else None
    for case, variant in dict.fromkeys((s.case, s.variant) for s in samples):
        rate = 1 / float(np.median(seconds(samples, case, variant)))
        rates.setdefault(case, {})[variant] = rate
        print(f"{case:<12}{variant:<16}{rate:>9.0f} tokens/s")
    return found | {"tokens_per_s": rates}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one round, at most 5 minutes")
    parser.add_argument("--sweep", action="store_true", help="find the best settings; no timings")
    options = parser.parse_args()
    if options.sweep:
        emit({name: vars(best) for name, best in sweep().items()})
        return
    plans = QUICK if options.quick else FULL
    samples = [sample for plan in plans for sample in measure(plan)]
    show(samples)
    check_lengths(samples)
    if not options.quick:
        record("generate", samples)
    emit(keys(samples, plans))


if __name__ == "__main__":
    main()
