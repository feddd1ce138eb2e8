"""Methods that the trainer does not have are refused by name, and never turned into another."""

import pytest
from support.plans import intent_for

from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("on-policy distillation vs GRPO", "on-policy distillation"),
        ("does a teacher model help GRPO?", "teacher model"),
        ("KTO vs DPO", "KTO"),
        ("ORPO or DPO", "ORPO"),
        ("IPO vs DPO", "IPO"),
        ("SimPO against DPO", "SimPO"),
        ("expert iteration vs GRPO", "expert iteration"),
        ("rejection sampling before GRPO", "rejection sampling"),
        ("VAPO vs PPO", "VAPO"),
        ("GiGPO vs GRPO", "GiGPO"),
        ("ReMax vs RLOO", "ReMax"),
        ("SAPO vs GRPO", "SAPO"),
        ("does REINFORCE work?", "REINFORCE"),
        ("does the group size matter more than in REINFORCE?", "REINFORCE"),
        ("MCTS vs sampling in GRPO", "MCTS"),
        ("majority vote vs exact reward", "majority vote"),
        ("does a PRM help GRPO?", "PRM"),
        ("process reward vs outcome reward", "process reward"),
        ("self-play vs fixed prompts", "self-play"),
        ("does tool use help GRPO?", "tool use"),
        ("model merging after GRPO", "model merging"),
        ("4-bit quantisation with LoRA rank 8 vs 64", "quantisation"),
        ("does dropout help GRPO?", "dropout"),
        ("LoRA vs DoRA", "DoRA"),
        ("AdamW vs Muon", "Muon"),
        ("min-p sampling in GRPO", "min-p"),
        ("cosine or wsd schedule", "wsd"),
        ("KL annealing vs constant KL", "KL annealing"),
        ("TIS vs IcePop vs MIS", "MIS"),
        ("random rewards vs exact rewards", "random rewards"),
        ("length penalty 0 vs 0.5", "length penalty"),
        ("positive-only vs negative-only samples", "positive-only"),
        ("replay buffer with GRPO", "replay buffer"),
        ("adaptive KL vs fixed KL", "adaptive KL"),
        ("clip-cov vs clip-higher", "clip-cov"),
        ("double the group size", "double the"),
        ("lr 10x higher", "10x higher"),
        ("throughput of LoRA vs full weights", "throughput"),
        ("which is faster, LoRA or full?", "which is faster"),
    ],
)
def test_a_method_that_is_not_there(topic: str, name: str) -> None:
    with pytest.raises(Refusal, match=name) as refused:
        intent_for(topic)
    assert refused.value.field == "topic"
    assert refused.value.next_step


@pytest.mark.parametrize(
    "topic",
    [
        "reinforce++ or grpo",
        "is online DPO worse than GRPO?",
        "does PPO with a critic beat GRPO?",
        "TIS vs no correction at staleness 4",
        "is the reference model worth its memory?",
        "KL in the reward vs KL in the loss",
        "clip-higher or entropy bonus?",
    ],
)
def test_what_is_there_is_not_mistaken_for_one_that_is_not(topic: str) -> None:
    assert intent_for(topic).topic == topic
