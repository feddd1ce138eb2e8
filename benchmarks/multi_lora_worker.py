"""Policies on one base, sampled together or one after another, in one process.

Both orders use one engine with the same weights, so that they differ in nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from benchmarks.generate_worker import encoded
from benchmarks.harness import Payload, serve, timed
from benchmarks.samplers import MODEL
from swarm.config.parts import ModelSettings
from swarm.engine.torch_engine import TorchEngine
from swarm.policy.base_model import load_base
from swarm.policy.lora import AdapterHost
from swarm.records import Completion, SampleRequest

#: Standard deviation of B's entries: adapters that are not zero and differ.
B_STD = 0.01
TOKENS = 64


@dataclass(frozen=True)
class Case:
    """Policies with these ranks (None: the bare base), each sampled in `rows` rows: `members`
    completions of each of its prompts."""

    ranks: tuple[int | None, ...]
    rows: int
    members: int = 4

    @property
    def slots(self) -> list[str | None]:
        """One adapter slot a policy."""
        return [None if rank is None else f"rank{rank}-{i}" for i, rank in enumerate(self.ranks)]


CASES: dict[str, Case] = {
    "8 policies": Case((16,) * 8, 4),
    "2 policies": Case((16,) * 2, 4),
    "1 policy": Case((16,), 4),
    "8 x 4 prompts": Case((16,) * 8, 4, members=1),
    "8 x 1 row": Case((16,) * 8, 1, members=1),
    "8 x 16 rows": Case((16,) * 8, 16),
    "8 ranks": Case((4, 8, 8, 16, 16, 32, 32, 64), 4),
    "1 x 32 rows": Case((16,), 32),
    "base x 32 rows": Case((None,), 32),
}


def requests(case: Case, prompts: Sequence[Sequence[int]]) -> list[list[SampleRequest]]:
    """By policy: its groups, each on a prompt of its own, each row with a seed of its own."""
    groups = case.rows // case.members
    found = []
    for policy, slot in enumerate(case.slots):
        numbers = range(policy * groups, (policy + 1) * groups)
        found.append(
            [
                SampleRequest(
                    tuple(prompts[n % len(prompts)]),
                    tuple(range(n * case.members, (n + 1) * case.members)),
                    TOKENS,
                    slot=slot,
                )
                for n in numbers
            ]
        )
    return found


def add_policies(host: AdapterHost) -> None:
    """Every slot of every case, B drawn from a normal law."""
    ranks = {
        slot: rank
        for case in CASES.values()
        for slot, rank in zip(case.slots, case.ranks, strict=True)
        if slot is not None and rank is not None
    }
    for seed, (slot, rank) in enumerate(ranks.items()):
        rng = torch.Generator().manual_seed(seed)
        for pair in host.create(slot, rank, 2.0 * rank, "all", seed).values():
            pair.b.data.normal_(0, B_STD, generator=rng)


def mixed(engine: TorchEngine, asked: list[list[SampleRequest]]) -> list[Completion]:
    """All policies in one batch."""
    flat = [request for policy in asked for request in policy]
    return [completion for group in engine.sample(flat) for completion in group]


def one_by_one(engine: TorchEngine, asked: list[list[SampleRequest]]) -> list[Completion]:
    """A batch of its own for each policy, in turn."""
    return [found for policy in asked for group in engine.sample(policy) for found in group]


def largest_difference(left: Sequence[Completion], right: Sequence[Completion]) -> float:
    """Between two ways to sample the same rows: the largest difference of a log-probability over
    the tokens up to a row's first differing draw. Rounding can tip a draw; then the rows part."""
    worst = 0.0
    for a, b in zip(left, right, strict=True):
        for token, other, logprob, against in zip(
            a.tokens, b.tokens, a.logprobs, b.logprobs, strict=True
        ):
            if token != other:
                break
            worst = max(worst, abs(logprob - against))
    return worst


def compared(left: Sequence[Completion], right: Sequence[Completion]) -> float:
    """The share of tokens that come before their row's first differing draw."""
    same = 0
    for a, b in zip(left, right, strict=True):
        differs = [x != y for x, y in zip(a.tokens, b.tokens, strict=True)]
        same += differs.index(True) if True in differs else len(differs)
    return same / sum(len(a.tokens) for a in left)


def main() -> None:
    """Answer {"do": "mixed" | "one by one", "case": …} with times; {"do": "compare", …} with the
    agreement of the two."""
    base = load_base(ModelSettings(ref=MODEL), "cpu")
    add_policies(base.host)
    engine = TorchEngine(base.host, frozenset(), max_rows=128)
    prompts = encoded()
    ways = {"mixed": mixed, "one by one": one_by_one}

    def step(payload: Payload) -> Payload:
        asked = requests(CASES[payload["case"]], prompts)
        if payload["do"] == "compare":
            left, right = (way(engine, asked) for way in ways.values())
            return {
                "difference": largest_difference(left, right),
                "compared": compared(left, right),
            }
        return timed(lambda: ways[payload["do"]](engine, asked))

    serve(step)


if __name__ == "__main__":
    main()
