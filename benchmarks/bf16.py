"""A bf16 base against an fp32 one on this CPU: `python -m benchmarks.bf16 [--quick]`.

Two figures for each dtype on SmolLM2-135M with a rank-16 LoRA: the time of an update (G = 8,
P = 200, R = 100), and how far the learner's log-probabilities are from the sampler's at equal
weights, over sampled completions. `speedup` is the time of fp32 over that of bf16: below 1, bf16
is slower. `--quick` takes 2 timed rounds.
"""

import argparse
from contextlib import ExitStack

from benchmarks.harness import Worker, abba, emit, ratio, record, show, walls

CASE = "p200"
DTYPES = ("float32", "bfloat16")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 timed rounds instead of 8")
    quick = parser.parse_args().quick
    with ExitStack() as stack:
        workers = {
            dtype: stack.enter_context(Worker("benchmarks.bf16_worker", [dtype]))
            for dtype in DTYPES
        }
        gaps = {dtype: worker.ask({"do": "gap"}) for dtype, worker in workers.items()}
        samples = abba(workers, CASE, {"do": "update"}, 2 if quick else 8, warmup=1)
    show(samples)
    for dtype, gap in gaps.items():
        print(
            f"{dtype:<10} |log pi - log mu|: mean {gap['mean']:.2e}, max {gap['max']:.2e} "
            f"of {gap['tokens']} tokens"
        )
    if not quick:
        record("bf16", samples)
    gain = ratio(walls(samples, "float32", CASE), walls(samples, "bfloat16", CASE))
    emit(
        {
            "speedup": gain.value,
            "speedup_interval": [gain.low, gain.high],
            **{f"gap_{key}_{d}": gaps[d][key] for d in DTYPES for key in ("mean", "max")},
        }
    )


if __name__ == "__main__":
    main()
