"""One sampler in a process of its own: `python -m benchmarks.generate_worker SPEC`.

SPEC is JSON: {"system": name, "dtype": …, "settings": {…}}.
"""

import json
import os
import sys
from contextlib import ExitStack
from typing import Any

from transformers import AutoTokenizer

from benchmarks.harness import Payload, serve, timed
from benchmarks.prompts import PROMPTS, SYSTEM
from benchmarks.samplers import MODEL, Continuous, Prompts, Sampler, Static, Swarm
from benchmarks.vllm_server import Vllm
from swarm import models


def encoded() -> list[list[int]]:
    """The prompts as the model's chat template writes them."""
    tokenizer = AutoTokenizer.from_pretrained(models.ensure(MODEL))
    system = {"role": "system", "content": SYSTEM}
    return [
        tokenizer.apply_chat_template(
            [system, {"role": "user", "content": prompt}],
            add_generation_prompt=True,
            return_dict=False,
        )
        for prompt in PROMPTS
    ]


def build(spec: dict[str, Any], stack: ExitStack) -> Sampler:
    """The sampler that `spec` asks for."""
    dtype, settings = spec["dtype"], spec.get("settings", {})
    match spec["system"]:
        case "swarm":
            return Swarm(dtype)
        case "static":
            return Static(dtype, **settings)
        case "continuous":
            return Continuous(dtype, **settings)
        case "vllm":
            return stack.enter_context(Vllm(dtype, **settings))
        case other:
            raise ValueError(f"no system {other!r}")


def measured(sampler: Sampler, prompts: Prompts, slots: int, seed: int) -> Payload:
    """Times and token counts of one call; a server's CPU seconds and memory where it samples."""
    counts: list[int] = []

    def call() -> None:
        counts.extend(sampler.sample(prompts, slots, seed))

    if not isinstance(sampler, Vllm):
        return timed(call) | {"tokens": counts}
    before, _ = sampler.usage()
    reply = timed(call)
    after, resident_mb = sampler.usage()
    return reply | {"cpu_s": after - before, "peak_rss_mb": resident_mb, "tokens": counts}


def main() -> None:
    """Answer {"prompts": n, "slots": s, "seed": r} with times and token counts."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with ExitStack() as stack:
        sampler = build(json.loads(sys.argv[1]), stack)
        prompts = encoded()

        def step(payload: Payload) -> Payload:
            asked = prompts[: payload["prompts"]]
            return measured(sampler, asked, payload["slots"], payload["seed"])

        serve(step)


if __name__ == "__main__":
    main()
