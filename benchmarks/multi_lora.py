"""Many policies on one base: `python -m benchmarks.multi_lora [--quick]`.

Eight LoRA policies (rank 16, all linear layers) on one SmolLM2-135M in fp32, a group of four rows
on one prompt each, 64 tokens a row: one mixed batch against the same engine's single-adapter path,
one policy after another. Both sample the same tokens from the same seeds; this is checked before
anything is timed.

Keys: ratio is one after another over mixed, with its 95 % interval ratio_ci (null below three
rounds); ratios has the other cases; routing_overhead is the mixed batch of 32 rows over 32 rows of
the bare base; max_logprob_difference is of the two ways over compared_share of all tokens, those
before a row's first differing draw.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Payload, Sample, Worker, abba, emit, ratio, record, show, walls
from benchmarks.multi_lora_worker import CASES, TOKENS

MIXED, ONE_BY_ONE = "mixed", "one by one"
MAIN, BASE = "8 policies", "base x 32 rows"
#: Batches of other shapes round differently: as far as decode logits of this model do, and that
#: tips a draw now and then, after which a row is another. A wrong adapter tips the first ones.
MAX_DIFFERENCE, MIN_COMPARED = 1e-4, 0.75


@dataclass(frozen=True)
class Plan:
    """One case; a single policy is its own mixed batch, so it runs one way."""

    case: str
    rounds: int

    @property
    def ways(self) -> tuple[str, ...]:
        return (MIXED, ONE_BY_ONE) if len(CASES[self.case].ranks) > 1 else (MIXED,)


FULL = tuple(Plan(case, 8 if case == MAIN else 2) for case in CASES)
QUICK = (Plan(MAIN, 2), Plan("2 policies", 1), Plan(BASE, 2))


class Way(Worker):
    """A worker that samples one way."""

    def __init__(self, way: str) -> None:
        super().__init__("benchmarks.multi_lora_worker")
        self.way = way

    def ask(self, payload: Payload, timeout_s: float = 600) -> Payload:
        return super().ask({"do": self.way} | payload, timeout_s)


def check(worker: Way, case: str) -> Payload:
    """The agreement of the two ways. Raises SystemExit where they differ."""
    found = worker.ask({"do": "compare", "case": case})
    print(
        f"{case}: log-probabilities differ by at most {found['difference']:.1e}; "
        f"{found['compared']:.0%} of tokens come before a draw that differs"
    )
    if found["difference"] > MAX_DIFFERENCE or found["compared"] < MIN_COMPARED:
        raise SystemExit("a mixed batch does not sample what its policies sample alone")
    return found


def throughput(samples: list[Sample]) -> None:
    """Print sampled tokens a second."""
    for name, way in dict.fromkeys((s.case, s.variant) for s in samples):
        case = CASES[name]
        rate = len(case.ranks) * case.rows * TOKENS / float(np.median(walls(samples, way, name)))
        print(f"{name:<16}{way:<16}{rate:>9.0f} tokens/s")


def keys(samples: list[Sample]) -> Payload:
    """The ratios of the cases that were timed, and what routing costs."""
    ratios = {}
    for case, way in dict.fromkeys((s.case, s.variant) for s in samples):
        if way == ONE_BY_ONE:
            ratios[case] = ratio(walls(samples, ONE_BY_ONE, case), walls(samples, MIXED, case))
    ours = np.median(walls(samples, MIXED, MAIN))
    found, enough = ratios[MAIN], len(walls(samples, MIXED, MAIN)) >= 3
    return {
        "ratio": found.value,
        "ratio_ci": [found.low, found.high] if enough else None,
        "ratios": {case: r.value for case, r in ratios.items()},
        "routing_overhead": float(ours / np.median(walls(samples, MIXED, BASE))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, at most 5 minutes")
    options = parser.parse_args()
    plans = QUICK if options.quick else FULL
    samples: list[Sample] = []
    with Way(MIXED) as together, Way(ONE_BY_ONE) as alone:
        workers = {MIXED: together, ONE_BY_ONE: alone}
        agreed = check(together, MAIN)
        for plan in plans:
            running = {way: workers[way] for way in plan.ways}
            samples += abba(running, plan.case, {}, plan.rounds, warmup=1)
    show(samples)
    throughput(samples)
    if not options.quick:
        record("multi_lora", samples)
    same = {
        "max_logprob_difference": agreed["difference"],
        "compared_share": agreed["compared"],
    }
    emit(keys(samples) | same)


if __name__ == "__main__":
    main()
