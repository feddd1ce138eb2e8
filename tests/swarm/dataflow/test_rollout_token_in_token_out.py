"""Trained tokens are the sampled tokens, also where the tokenizer would write them otherwise."""

from collections.abc import Sequence

import numpy as np
from support.scored_groups import credited_trees

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import SamplingSettings
from swarm.dataflow.rollout import roll_out
from swarm.models.ends import Ends
from swarm.records import Completion, SampleRequest, StopReason
from swarm.tasks import family
from swarm.tasks.builtin import BuiltIn
from swarm.tasks.task_family import Problem


class Greedy:
    """Characters are ids; `ab` has one of its own, which encoding prefers and sampling need not."""

    AB = 1000

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        ids: list[int] = []
        while text:
            ids.append(self.AB if text.startswith("ab") else ord(text[0]))
            text = text[2 if ids[-1] == self.AB else 1 :]
        return ids

    def batch_decode(
        self, rows: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        return ["".join("ab" if i == self.AB else chr(i) for i in ids) for ids in rows]


class Scripted:
    """Answers `ab` as two tokens, then as one."""

    def sample(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        answers = [(ord("a"), ord("b")), (Greedy.AB,)]
        return [
            [
                Completion(a, tuple(-0.5 * (k + 1) for k in range(len(a))), StopReason.STOP)
                for a in answers
            ]
            for _ in requests
        ]


def test_nothing_is_encoded_again() -> None:
    tokenizer = Greedy()
    problem = Problem("R:ba>", "ab", 2)
    groups = roll_out(
        Scripted(),
        tokenizer,
        BuiltIn(family("reverse"), (2, 2)),
        [problem],
        ends=Ends(frozenset({0}), 0),
        members=2,
        sampling=SamplingSettings(),
        seed_parts=(0,),
        version=3,
    )
    assert [e.text for e in groups[0].episodes] == ["ab", "ab"]
    assert tokenizer.encode("ab") != [ord("a"), ord("b")]
    ((tree,),) = credited_trees(groups, AlgorithmSettings(baseline="none"), 8, 1)
    assert [n.tokens.tolist() for n in tree.nodes[1:]] == [[97, 98], [Greedy.AB]]
    np.testing.assert_allclose(tree.nodes[1].logprobs, [-0.5, -1.0])
    assert all(len(n.logprobs) == n.mask.sum() for n in tree.nodes[1:])
    assert tree.nodes[0].tokens.tolist() == tokenizer.encode(problem.prompt)
