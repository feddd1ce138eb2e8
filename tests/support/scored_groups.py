"""Groups of scored episodes made by hand."""

from collections.abc import Sequence

import numpy as np

from support.models import VOCABULARY
from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.credit import advantages, credit
from swarm.learn.scored import scored_tree
from swarm.records import Completion, Episode, FloatArray, Group, StopReason, TokenTree


def episode(
    tokens: Sequence[int], reward: float | None, *, version: int = 0, seed: int = 0
) -> Episode:
    """An episode of these tokens; correct where the reward is 1."""
    logprobs = -np.random.default_rng(seed).uniform(1, 3, len(tokens))
    completion = Completion(tuple(tokens), tuple(logprobs.tolist()), StopReason.STOP)
    return Episode(completion, "", reward, reward == 1.0, version)


def group(prompt: Sequence[int], *episodes: Episode) -> Group:
    return Group(tuple(prompt), "", "", episodes)


def random_groups(
    seed: int, groups: int = 4, members: int = 4, longest: int = 6, unscored: float = 0.0
) -> list[Group]:
    """Groups of random prompts, answers of unequal length and rewards in quarters.

    Sampler log-probabilities are near -log V, as a random model's are.
    """
    rng = np.random.default_rng(seed)

    def tokens(most: int) -> list[int]:
        return rng.integers(2, VOCABULARY, rng.integers(1, most + 1)).tolist()

    def member() -> Episode:
        answer = tokens(longest)
        reward = None if rng.random() < unscored else float(rng.integers(0, 5)) / 4
        logprobs = (-np.log(VOCABULARY) + 0.3 * rng.standard_normal(len(answer))).tolist()
        return Episode(
            Completion(tuple(answer), tuple(logprobs), StopReason.STOP), "", reward, False, 0
        )

    return [group(tokens(5), *(member() for _ in range(members))) for _ in range(groups)]


def credited_trees(
    groups: Sequence[Group],
    settings: AlgorithmSettings,
    max_tokens: int,
    minibatches: int,
    k1: Sequence[FloatArray] | None = None,
) -> list[list[TokenTree]]:
    """`credit` for groups of single-turn episodes without a value baseline."""
    scored = [scored_tree(group) for group in groups]
    found = advantages(scored, settings, max_tokens, k1)
    return credit(scored, found, settings, max_tokens, minibatches)
