"""How far a policy has moved from its reference, measured on the answers of an evaluation."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swarm.learn.learner import Learner
from swarm.learn.recipe import REFERENCE
from swarm.learn.scored import scored_tree
from swarm.policy.policy import Policy
from swarm.records import Group
from swarm.train import metrics

#: Prompts on whose answers it is measured.
PROMPTS = 128


def kl_to_reference(
    groups: Sequence[Group], policy: Policy, learner: Learner, temperature: float
) -> dict[str, float]:
    """`policy/kl_ref`: the mean over tokens of log(pi/ref) at the temperature they were sampled at,
    an estimate of KL(pi || ref), on the first answer to each of the first `PROMPTS` prompts.
    Nothing where no answer was scored."""
    first = [replace(group, episodes=group.episodes[:1]) for group in groups[:PROMPTS]]
    trees = [scored_tree(group).tree for group in first]
    with policy.weights(REFERENCE):
        reference = np.concatenate(learner.logprobs(trees, temperature))
    sampled = np.concatenate([n.logprobs[n.mask] for tree in trees for n in tree.nodes])
    return {"policy/kl_ref": metrics.mean(sampled - reference)} if len(sampled) else {}
