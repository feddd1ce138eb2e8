"""A neutral value switches its own term off and nothing else. Every preset, at the neutral value of
every setting: its gradient is the paper's with that term left out, and the limit of the gradients
at values near the neutral one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from support.models import llama
from support.naive_losses import PAPERS, Told, loss
from support.preset_updates import MAX_TOKENS, gradients, recipe_on
from support.scored_groups import random_groups
from support.told_episodes import told, truth
from torch import Tensor

from swarm.algorithms import NAMES
from swarm.config.algorithm import AlgorithmSettings, merged
from swarm.learn.recipe import Recipe
from swarm.records import Group, TokenTree, action_node, context_node

#: Sums in another order, in fp32, relative to the gradient's norm.
ROUNDING = 2e-5

NEAR = 1e-12

#: Bounds that hold nothing.
WIDE = {"low": 0.0, "high": 1e12}

SAMPLED = tuple(name for name in NAMES if name not in ("sft", "dpo"))
BOUNDED = tuple(name for name in SAMPLED if name != "cispo")
GROUPS = random_groups(11, groups=3, members=3, longest=MAX_TOKENS - 1)


@dataclass(frozen=True)
class Neutral:
    """Settings at which a term is off, what the paper's numbers are there, and settings so near to
    them that the gradient must be the same."""

    settings: Mapping[str, Any]
    paper: Mapping[str, Any]
    near: Sequence[Mapping[str, Any]]
    presets: Sequence[str] = SAMPLED


def kl(presets: Sequence[str] = SAMPLED, **where: str) -> Neutral:
    off = {"beta": 0.0, "forward": 0.0, "backward": 0.0}
    return Neutral({"kl_coef": 0.0, **where}, off, [{"kl_coef": NEAR, **where}], presets)


def correction(low: float | None, high: float | None, kind: str) -> Mapping[str, Any]:
    return {"correction": {"kind": kind, "low": low, "high": high}}


NONE = correction(None, None, "none")

NEUTRAL = {
    "kl_coef": kl(),
    "kl_coef, reverse": kl(kl_placement="loss", kl="reverse"),
    "kl_coef, forward": kl(kl_placement="loss", kl="forward"),
    # maxrl divides by the group's mean, which a KL in the reward could make negative
    "kl_coef, reward": kl([n for n in SAMPLED if n != "maxrl"], kl_placement="reward"),
    "entropy_coef": Neutral(
        {"entropy_coef": 0.0}, {}, [{"entropy_coef": NEAR}, {"entropy_coef": -NEAR}], SAMPLED
    ),
    "entropy_coef, sft": Neutral({"entropy_coef": 0.0}, {}, [{"entropy_coef": NEAR}], ["sft"]),
    "log_ratio_coef": Neutral(
        {"log_ratio_coef": 0.0}, {"squared": 0.0}, [{"log_ratio_coef": NEAR}]
    ),
    "clip": Neutral(
        {"clip_low": None, "clip_high": None},
        {"bounds": None},
        [{"clip_low": 1.0, "clip_high": 1e12}],
        BOUNDED,
    ),
    "overlong_buffer": Neutral(
        {"overlong_buffer": 0.0}, {"buffer": 0.0}, [{"overlong_buffer": NEAR}]
    ),
    "overlong_factor": Neutral(
        {"overlong_buffer": 0.5, "overlong_factor": 0.0},
        {"buffer": 0.5, "factor": 0.0},
        [{"overlong_buffer": 0.5, "overlong_factor": NEAR}],
    ),
    "correction": Neutral(
        NONE,
        {"gone": None},
        [correction(**WIDE, kind="token_mask"), correction(**WIDE, kind="sequence_mask")],
    ),
    "correction, dppo": Neutral(
        NONE, {"gone": None}, [correction(1.0, 1.0, "dppo")], [n for n in SAMPLED if n != "gspo"]
    ),
    "value.gamma": Neutral(
        {"value": {"gamma": 1.0}}, {"gamma": 1.0}, [{"value": {"gamma": 1 - NEAR}}], ["ppo"]
    ),
    "value.lam, 1": Neutral(
        {"value": {"lam": 1.0}}, {"lam": 1.0}, [{"value": {"lam": 1 - NEAR}}], ["ppo"]
    ),
    "value.lam, 0": Neutral(
        {"value": {"lam": 0.0}}, {"lam": 0.0}, [{"value": {"lam": NEAR}}], ["ppo"]
    ),
    "value.clip": Neutral({"value": {"clip": None}}, {}, [{"value": {"clip": 1e12}}], ["ppo"]),
    "none": Neutral({}, {}, [], NAMES),
}


def update(
    name: str, settings: Mapping[str, Any], groups: Sequence[Group] = GROUPS, **batch: int
) -> tuple[Tensor, Tensor]:
    """The gradients of the last update of a batch; weights and groups are the same for all."""
    algorithm = AlgorithmSettings(**merged({"name": name}, settings))
    recipe = recipe_on(llama(), algorithm, **batch)
    if name == "sft":
        recipe.imitate(
            [
                TokenTree((context_node(g.prompt), action_node(e.completion.tokens, 0)))
                for g in groups
                for e in g.episodes
            ]
        )
    else:
        recipe.reinforce(groups)
    return gradients(recipe)


@pytest.fixture(scope="module")
def world() -> Mapping[bool, tuple[Recipe, list[list[Told]]]]:
    """What the formulas are told of the groups: of demonstrations (False), of samples (True)."""
    found = {}
    for samples in (False, True):
        recipe = recipe_on(llama(), AlgorithmSettings(name="ppo" if samples else "sft"))
        found[samples] = recipe, told(recipe, GROUPS)
    return found


def assert_same(found: Tensor, expected: Tensor, most: float = ROUNDING) -> None:
    assert expected.norm() > 1e-4
    assert (found - expected).norm() <= most * expected.norm()


@pytest.mark.parametrize(
    ("setting", "name"), [(s, name) for s, neutral in NEUTRAL.items() for name in neutral.presets]
)
def test_the_gradient_is_the_papers_and_the_limit(
    world: Mapping[bool, tuple[Recipe, list[list[Told]]]], setting: str, name: str
) -> None:
    neutral = NEUTRAL[setting]
    recipe, episodes = world[name != "sft"]
    found = update(name, neutral.settings)
    assert_same(found[0], truth(recipe, loss(name, episodes, MAX_TOKENS, **neutral.paper)))
    for near in neutral.near:
        for ours, limit in zip(update(name, near), found, strict=True):
            assert (ours - limit).norm() <= 1e-6 * limit.norm()


def test_every_setting_that_can_be_neutral_is_here() -> None:
    """A new number of the algorithm's needs a row above, or a reason to stand here."""
    nowhere_neutral = {"beta", "value.head_lr"}  # both are above 0 and scale all there is
    numbers = {
        f"{prefix}{name}"
        for prefix, part in (("", AlgorithmSettings()), ("value.", AlgorithmSettings().value))
        for name, field in type(part).model_fields.items()
        if field.annotation in (float, float | None)
    }
    named = {setting.partition(",")[0] for setting in NEUTRAL} | {"clip_low", "clip_high"}
    assert numbers - nowhere_neutral <= named


def test_the_paper_has_each_term_that_is_switched_off() -> None:
    """Else a formula could agree by knowing none of them."""
    on = {"beta": 0.3, "forward": 0.3, "squared": 0.3, "gone": (1e-6, 1e-6), "entropy": 0.3}
    on |= {"bounds": (0.999, 1.001), "buffer": 1.0}
    recipe = recipe_on(llama(), AlgorithmSettings())
    episodes = told(recipe, GROUPS)
    plain = truth(recipe, loss("default", episodes, MAX_TOKENS))
    for number, value in on.items():
        other = truth(recipe, loss("default", episodes, MAX_TOKENS, **{number: value}))
        assert (other - plain).norm() > 1e-3 * plain.norm(), number


@pytest.mark.parametrize("name", [n for n in SAMPLED if n != "dppo"])
def test_without_a_gap_to_the_sampler_the_anchor_does_not_matter(name: str) -> None:
    """What was sampled from the trainer's own law: both ratios are 1. (dppo has one anchor.)"""
    recipe = recipe_on(llama(), AlgorithmSettings(name=name))
    episodes = iter([e for group in told(recipe, GROUPS) for e in group])
    own = [
        replace(
            g,
            episodes=tuple(
                replace(
                    e, completion=replace(e.completion, logprobs=tuple(next(episodes).pi.tolist()))
                )
                for e in g.episodes
            ),
        )
        for g in GROUPS
    ]
    one, other = (
        update(name, {"anchor": anchor, "clip_low": 0.2, "clip_high": 0.2}, own)
        for anchor in ("sampler", "batch_start")
    )
    assert_same(one[0], other[0])


@pytest.mark.parametrize("name", [n for n in NAMES if n != "sft"])
def test_one_group_is_one_minibatch(name: str) -> None:
    group = [g for g in GROUPS if len({e.reward for e in g.episodes}) > 1][:1]
    one, more = (update(name, {}, group, minibatches=n) for n in (1, 4))
    assert torch.equal(one[0], more[0])


@pytest.mark.parametrize("name", ["reinforce_pp", "ppo"])
@pytest.mark.parametrize("coefficient", [0.0, NEAR, 0.05])
def test_groups_of_one(name: str, coefficient: float) -> None:
    """The presets that need no group."""
    groups = random_groups(5, groups=6, members=1, longest=MAX_TOKENS)
    recipe = recipe_on(llama(), AlgorithmSettings(name="ppo"))
    expected = loss(name, told(recipe, groups), MAX_TOKENS, beta=coefficient)
    found = update(name, {"kl_coef": coefficient}, groups)
    assert_same(found[0], truth(recipe, expected))


@pytest.mark.parametrize("name", sorted(PAPERS))
def test_a_batch_whose_rewards_are_equal(name: str) -> None:
    """Nothing is divided by a std of rounding: the same gradient at 1 and at 1 + 1e-12."""
    found = [
        update(
            name,
            {} if name in ("sft", "dpo") else {"kl_coef": 0.0},
            [
                replace(
                    g,
                    episodes=tuple(
                        replace(e, reward=1 + i * step) for i, e in enumerate(g.episodes)
                    ),
                )
                for g in GROUPS
            ],
        )
        for step in (0.0, NEAR)
    ]
    assert (found[0][0] - found[1][0]).norm() <= 1e-6 * found[0][0].norm()
