"""The KL to the reference, against a plain mean over tokens."""

from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from support.scored_groups import episode, group

from swarm.learn.recipe import REFERENCE
from swarm.train import drift
from swarm.train.drift import kl_to_reference


class Reference:
    """Policy and learner in one: under the reference's weights every token has the same chance."""

    LOGPROB = -2.5

    def __init__(self) -> None:
        self.under: list[str] = []
        self.trees = 0

    @contextmanager
    def weights(self, slot: Any) -> Any:
        self.under.append(str(slot))
        yield

    def logprobs(self, trees: Any, temperature: float) -> list[np.ndarray]:
        assert temperature == 0.7
        self.trees = len(trees)
        return [np.full(sum(node.trained for node in tree.nodes), self.LOGPROB) for tree in trees]


def measured(groups: Any) -> tuple[dict[str, float], Reference]:
    reference: Any = Reference()
    return kl_to_reference(groups, reference, reference, 0.7), reference


def test_the_mean_over_the_tokens_of_first_answers() -> None:
    first = [episode((2, 3, 4), 1.0, seed=1), episode((5,), 0.0, seed=2)]
    other = episode((6, 7), 1.0, seed=3)
    found, reference = measured([group((1,), each, other) for each in first])
    sampled = [p for each in first for p in each.completion.logprobs]
    assert found == {"policy/kl_ref": pytest.approx(np.mean(sampled) + 2.5)}
    assert reference.under == [str(REFERENCE)]


def test_of_many_prompts_the_first_are_taken() -> None:
    groups = [group((1,), episode((2,), 1.0, seed=n)) for n in range(drift.PROMPTS + 9)]
    found, reference = measured(groups)
    sampled = [g.episodes[0].completion.logprobs[0] for g in groups[: drift.PROMPTS]]
    assert reference.trees == drift.PROMPTS
    assert found["policy/kl_ref"] == pytest.approx(np.mean(sampled) + 2.5)


def test_nothing_where_nothing_was_scored() -> None:
    assert measured([group((1,), episode((2,), None))])[0] == {}
