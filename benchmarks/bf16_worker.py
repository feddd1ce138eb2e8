"""One dtype's side of `benchmarks.bf16`: `python -m benchmarks.bf16_worker DTYPE`.

Requests: {"do": "update"} times one optimizer step on a group of the asked case; {"do": "gap"}
samples completions and measures how far the learner's log-probabilities are from the sampler's.
"""

import sys

import numpy as np

from benchmarks.harness import Payload, serve, timed
from benchmarks.update_cases import cases, groups_of, trees_of
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import ModelSettings, OptimSettings, PolicySettings
from swarm.engine.torch_engine import TorchEngine
from swarm.learn.learner import Learner
from swarm.policy.base_model import load_base
from swarm.policy.policy import Policy
from swarm.records import SampleRequest, TokenTree, action_node, context_node

MODEL = "smollm2-135m-instruct"
PROMPT = "Write one sentence about the sea."
MEMBERS, MAX_TOKENS = 16, 48


class Side:
    """SmolLM2-135M with a rank-16 adapter, the base in one dtype."""

    def __init__(self, dtype: str) -> None:
        self.base = load_base(ModelSettings.model_validate({"ref": MODEL, "dtype": dtype}), "cpu")
        optim = OptimSettings(lr=1e-6)
        policy = Policy(self.base.host, PolicySettings(rank=16, alpha=32), optim, seed=0)
        self.learner = Learner(self.base.host.model, policy, optim, AlgorithmSettings(), 1.0, 1000)

    def answer(self, request: Payload) -> Payload:
        if request["do"] == "gap":
            return self.gap()
        groups = groups_of(cases()[request["case"]])
        trees = trees_of(groups, AlgorithmSettings(), MAX_TOKENS)
        return timed(lambda: self.learner.reinforce(trees))

    def gap(self) -> Payload:
        """|log pi - log mu| over sampled tokens at equal weights: its mean, its largest, tokens."""
        tokenizer = self.base.tokenizer
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": PROMPT}], add_generation_prompt=True, tokenize=False
        )
        prompt = tuple(tokenizer(text).input_ids)
        slot = self.learner.policy.adapter
        request = SampleRequest(prompt, tuple(range(MEMBERS)), MAX_TOKENS, slot=slot)
        (drawn,) = TorchEngine(self.base.host, self.base.stop_tokens).sample([request])
        answers = [action_node(c.tokens, 0, logprobs=c.logprobs) for c in drawn]
        tree = TokenTree((context_node(prompt), *answers))
        (found,) = self.learner.logprobs([tree], 1.0)
        gaps = np.abs(found - np.concatenate([c.logprobs for c in drawn]))
        return {"mean": float(gaps.mean()), "max": float(gaps.max()), "tokens": len(gaps)}


if __name__ == "__main__":
    serve(Side(sys.argv[1]).answer)
