"""Episodes that were scored and train nothing: an empty answer, a turn of observations alone. They
count in the baseline of their group, and in no denominator."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from support.models import llama
from support.naive_losses import loss
from support.preset_updates import MAX_TOKENS, gradients, recipe_on
from support.scored_groups import episode, group, random_groups
from support.told_episodes import told, truth

from swarm.algorithms import NAMES
from swarm.config.algorithm import AlgorithmSettings, merged
from swarm.learn.credit import keep_groups
from swarm.learn.recipe import Recipe
from swarm.learn.scored import ScoredTree, scored_tree
from swarm.records import Group, StopReason, TokenTree, context_node
from swarm.train.metrics import of_updates

SAMPLING = tuple(name for name in NAMES if name != "sft")
TREES = tuple(name for name in SAMPLING if name != "dpo")
SILENT = group([2, 3], episode([], 1.0), episode([], 0.0))
ANSWERS = random_groups(2, groups=2, members=3, longest=MAX_TOKENS)

VARIANTS: dict[str, Mapping[str, Any]] = {
    **{f"mean by {kind}": {"aggregation": kind} for kind in ("sequence_mean", "fixed_length")},
    **{
        kind: {"anchor": "batch_start", "correction": {"kind": kind}}
        for kind in ("tis", "icepop", "token_mask", "decoupled")
    },
    "sequence_mask": {"correction": {"kind": "sequence_mask", "low": 0.1, "high": 10.0}},
    "dppo": {"correction": {"kind": "dppo"}},
    "ratio of a sequence": {"ratio": "sequence"},
    "overlong": {"overlong_buffer": 1.0},
    "KL in the reward": {"kl_coef": 0.1, "kl_placement": "reward"},
    "bootstrap": {"name": "ppo", "value": {"truncation": "bootstrap"}},
    "tokens without a baseline": {"baseline": "none", "returns": "token"},
}


def silent_among(groups: list[Group]) -> list[Group]:
    """An empty answer in front of each group, scored 1 and cut off; a group of nothing else."""
    empty = episode([], 1.0)
    empty = replace(empty, completion=replace(empty.completion, stop=StopReason.LENGTH))
    return [SILENT, *(replace(g, episodes=(empty, *g.episodes)) for g in groups)]


def hearing(scored: ScoredTree) -> ScoredTree:
    """The tree with one more episode, scored 0.5, that owns an observation and no trained token."""
    return ScoredTree(
        TokenTree((*scored.tree.nodes, context_node([5, 6], 0))),
        (*scored.owners, len(scored.rewards)),
        (*scored.rewards, 0.5),
        (*scored.truncated, True),
    )


def recipe_for(name: str, **settings: Any) -> Recipe:
    return recipe_on(llama(), AlgorithmSettings(**merged({"name": name}, settings)), budget=30)


@pytest.mark.parametrize("name", SAMPLING)
def test_the_gradient_is_the_papers(name: str) -> None:
    """The formula sees the empty answers' rewards, and sums over no token of theirs."""
    recipe = recipe_for(name)
    groups = silent_among(ANSWERS)
    expected = truth(recipe, loss(name, told(recipe, groups), MAX_TOKENS))
    recipe.reinforce(keep_groups(groups, "none"))
    found = gradients(recipe)[0]
    assert expected.norm() > 1e-4
    assert (found - expected).norm() <= 2e-5 * expected.norm()


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_holds_with(variant: str) -> None:
    """Finite, and a group that says nothing changes nothing."""
    settings = {"name": "default", **VARIANTS[variant]}
    found = []
    for groups in (silent_among(ANSWERS), silent_among(ANSWERS)[1:]):
        recipe = recipe_for(**settings)
        recipe.reinforce(groups)
        found.append(gradients(recipe)[0])
    assert found[0].norm() > 1e-4
    assert (found[0] - found[1]).norm() <= 2e-5 * found[1].norm()


@pytest.mark.parametrize("name", TREES)
def test_observations_alone_count_as_an_empty_answer(name: str) -> None:
    trees = [scored_tree(g) for g in ANSWERS]
    empty = [replace(g, episodes=(*g.episodes, episode([], 0.5))) for g in ANSWERS]
    found = []
    for scored in ([hearing(tree) for tree in trees], [scored_tree(g) for g in empty]):
        recipe = recipe_for(name, value={"truncation": "bootstrap"})
        recipe.reinforce_trees(scored)
        found.append(gradients(recipe)[0])
    assert found[0].norm() > 1e-4
    assert (found[0] - found[1]).norm() <= 2e-5 * found[1].norm()


@pytest.mark.parametrize("name", SAMPLING)
def test_a_batch_in_which_nothing_is_trained(name: str) -> None:
    """No update, no figure, no error; the weights stay."""
    recipe = recipe_for(name)
    before = copy.deepcopy({n: p.data for n, p in recipe.learner.policy.parameters.items()})
    updates = recipe.reinforce([SILENT, SILENT])
    assert sum(update.tokens for update in updates) == 0
    assert of_updates(updates) == {"tokens/trained": 0.0}
    for parameter, value in recipe.learner.policy.parameters.items():
        assert torch.equal(value, before[parameter])


@pytest.mark.parametrize("name", ["grpo", "ppo", "gspo"])
def test_a_minibatch_in_which_nothing_is_trained(name: str) -> None:
    """Its figures are those of the minibatch that trains."""
    algorithm = AlgorithmSettings(name=name)
    recipe = recipe_on(llama(), algorithm, minibatches=2)
    values = of_updates(recipe.reinforce([SILENT, SILENT, *ANSWERS]))
    alone = recipe_on(llama(), algorithm)
    expected = of_updates(alone.reinforce(ANSWERS))
    for metric in ("tokens/trained", "policy/entropy", "mismatch/kl"):
        assert values[metric] == pytest.approx(expected[metric], rel=1e-4)
    assert np.isfinite(list(values.values())).all()
