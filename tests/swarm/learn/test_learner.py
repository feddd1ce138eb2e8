"""The learner: how a batch is cut, padded or ordered cannot change its gradient."""

import copy
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support import naive
from support.forests import group_tree, token_trees
from support.scored_groups import credited_trees, episode, group, random_groups
from torch import Tensor, nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings
from swarm.learn.credit import keep_groups
from swarm.learn.forward import trained_logprobs
from swarm.learn.learner import Diverged, Learner, PerTreeArrays, micro_batches, scheduled_lr
from swarm.learn.scored import scored_tree
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy
from swarm.records import FloatArray, Group, TokenTree, action_node, context_node

MAX_TOKENS = 8
TEMPERATURE = 0.8
#: Sums in another order, in fp32, relative to the gradient's norm.
ROUNDING = 1e-5


def learner_on(
    model: nn.Module,
    algorithm: AlgorithmSettings | None = None,
    *,
    budget: int = 10**6,
    grad_clip: float = 1e9,
    lr: float = 1e-2,
) -> Learner:
    """A learner of a LoRA policy whose B is not zero, so that A has a gradient too."""
    optim = OptimSettings(lr=lr, grad_clip=grad_clip)
    policy = Policy(AdapterHost.wrap(model), PolicySettings(rank=4), optim, seed=0)
    rng = torch.Generator().manual_seed(1)
    for pair in policy.pairs.values():
        pair.b.data.normal_(0, 0.1, generator=rng)
    return Learner(model, policy, optim, algorithm or AlgorithmSettings(), TEMPERATURE, 10, budget)


def base_logprobs(model: nn.Module, trees: Sequence[TokenTree]) -> list[FloatArray]:
    """Per tree, under the base alone."""
    with torch.no_grad():
        return [trained_logprobs(model, [tree], TEMPERATURE).logprobs.numpy() for tree in trees]


def gradient(learner: Learner) -> Tensor:
    """The last update's gradient, all parameters as one vector (an absent one is zero)."""
    parameters = learner.policy.parameters.values()
    return torch.cat(
        [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters]
    )


def update(
    model: nn.Module,
    groups: Sequence[Group],
    algorithm: AlgorithmSettings,
    *,
    budget: int = 10**6,
    group_filter: str = "none",
    extra: Sequence[TokenTree] = (),
) -> Tensor:
    """The gradient of one update on `groups`, credited as a run would, on a fresh policy."""
    model = copy.deepcopy(model)
    learner = learner_on(model, algorithm, budget=budget)
    kept = keep_groups(groups, group_filter)
    k1 = None
    if algorithm.kl_placement == "reward":
        plain = [scored_tree(group).tree for group in kept]
        sampled = [np.concatenate([n.logprobs[n.mask] for n in t.nodes]) for t in plain]
        k1 = [s - r for s, r in zip(sampled, base_logprobs(model, plain), strict=True)]
    (trees,) = credited_trees(kept, algorithm, MAX_TOKENS, 1, k1)
    trees = [*extra, *trees]
    reference = base_logprobs(model, trees) if algorithm.kl_placement == "loss" else None
    learner.reinforce(trees, PerTreeArrays(reference))
    return gradient(learner)


def assert_same(found: Tensor, truth: Tensor) -> None:
    assert truth.norm() > 1e-3
    assert (found - truth).norm() <= ROUNDING * truth.norm()


ALGORITHMS = {
    "default": AlgorithmSettings(),
    "grpo": AlgorithmSettings(name="grpo"),
    "dr_grpo": AlgorithmSettings(name="dr_grpo"),
    "rloo": AlgorithmSettings(name="rloo"),
    "reinforce_pp": AlgorithmSettings(name="reinforce_pp"),
    "entropy": AlgorithmSettings(entropy_coef=0.1, kl_coef=0.1, aggregation="sequence_mean"),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
class TestTheGradientDoesNotDependOn:
    def test_the_token_budget(self, random_llama: nn.Module, algorithm: AlgorithmSettings) -> None:
        groups = random_groups(0, groups=6, unscored=0.2)
        whole = update(random_llama, groups, algorithm)
        for budget in (1, 60, 100):
            assert_same(update(random_llama, groups, algorithm, budget=budget), whole)

    def test_the_order_of_groups(
        self, random_llama: nn.Module, algorithm: AlgorithmSettings
    ) -> None:
        groups = random_groups(1, groups=5)
        backwards = update(random_llama, groups[::-1], algorithm, budget=60)
        assert_same(backwards, update(random_llama, groups, algorithm, budget=60))

    def test_an_episode_that_was_not_scored(
        self, random_llama: nn.Module, algorithm: AlgorithmSettings
    ) -> None:
        groups = random_groups(2)
        unscored = episode([5] * 8, None)
        added = [replace(g, episodes=(unscored, *g.episodes)) for g in groups]
        added.append(group([2, 3], unscored))
        truth = update(random_llama, groups, algorithm)
        assert_same(update(random_llama, added, algorithm), truth)

    def test_a_group_that_was_filtered(
        self, random_llama: nn.Module, algorithm: AlgorithmSettings
    ) -> None:
        groups = random_groups(3)
        dull = group([2, 3], *(episode([4] * 8, 0.5) for _ in range(4)))
        truth, found = (
            update(random_llama, asked, algorithm, group_filter="mixed_rewards")
            for asked in (groups, [dull, *groups])
        )
        assert_same(found, truth)

    @pytest.mark.parametrize("budget", [1, 10**6])
    def test_a_tree_without_trained_tokens(
        self, random_llama: nn.Module, algorithm: AlgorithmSettings, budget: int
    ) -> None:
        groups = random_groups(4)
        idle = [TokenTree((context_node([3] * 9),))]
        found = update(random_llama, groups, algorithm, budget=budget, extra=idle)
        assert_same(found, update(random_llama, groups, algorithm))


class TestMaskedPositions:
    """0 x NaN is NaN: what is masked must be left out, not multiplied away."""

    @pytest.mark.parametrize("junk", [np.nan, np.inf, -np.inf])
    def test_junk_there_changes_nothing(self, random_llama: nn.Module, junk: float) -> None:
        """Equal to the bit: the arrays are indexed before any arithmetic."""
        tree = TokenTree(
            (
                context_node([3, 4]),
                action_node([5, 6], 0, logprobs=[-2.0, -3.0], weight=0.5),
                context_node([7, 8], 1),
                action_node([9], 2, logprobs=[-3.0], weight=0.5, advantage=-1.0),
            )
        )
        spoilt = []
        for node in tree.nodes:
            fields = {
                name: np.where(node.mask, getattr(node, name), np.float32(junk))
                for name in ("logprobs", "weight", "advantage")
            }
            spoilt.append(replace(node, **fields))
        gradients = []
        for trees in ([tree], [TokenTree(tuple(spoilt))]):
            learner = learner_on(copy.deepcopy(random_llama))
            metrics = learner.reinforce(trees)
            figures = (*metrics.sums.values(), *metrics.maxima.values(), metrics.grad_norm)
            assert all(math.isfinite(v) for v in figures)
            gradients.append(gradient(learner))
        assert torch.isfinite(gradients[0]).all()
        assert torch.equal(*gradients)


class TestUpdate:
    def trees(self) -> list[TokenTree]:
        return credited_trees(random_groups(5), AlgorithmSettings(), MAX_TOKENS, 1)[0]

    def test_it_counts_what_it_saw(self, random_llama: nn.Module) -> None:
        trees = self.trees()
        learner = learner_on(random_llama, budget=40)
        with torch.no_grad(), learner.policy.active():
            parts = [naive.trained_tokens(random_llama, tree, TEMPERATURE) for tree in trees]
        seen = learner.reinforce(trees)
        assert seen.tokens == sum(tree.trained_tokens for tree in trees)
        entropy = sum(float(part.entropy.sum()) for part in parts)
        assert seen.sums["entropy"] == pytest.approx(entropy, rel=1e-5)
        sampled = np.concatenate([n.logprobs[n.mask] for tree in trees for n in tree.nodes])
        ratios = np.exp(np.concatenate([part.logprobs.numpy() for part in parts]) - sampled)
        assert seen.maxima["ratio"] == pytest.approx(ratios.max(), rel=1e-5)
        k3 = 1 / ratios + np.log(ratios) - 1
        assert seen.sums["mismatch"] == pytest.approx(k3.sum(), rel=1e-4)

    def test_the_clip_bounds_the_step_and_not_the_reported_norm(
        self, random_llama: nn.Module
    ) -> None:
        free, bound = (copy.deepcopy(random_llama) for _ in range(2))
        norm = learner_on(free).reinforce(self.trees()).grad_norm
        learner = learner_on(bound, grad_clip=norm / 10)
        assert learner.reinforce(self.trees()).grad_norm == pytest.approx(norm)
        assert float(gradient(learner).norm()) == pytest.approx(norm / 10, rel=1e-4)

    def test_one_update_starts_from_no_gradient(self, random_llama: nn.Module) -> None:
        """At a vanishing step size, the second update on a batch sees the first one's gradient."""
        learner = learner_on(random_llama, lr=1e-12)
        learner.reinforce(self.trees())
        first = gradient(learner)
        learner.reinforce(self.trees())
        assert_same(gradient(learner), first)

    @pytest.mark.parametrize("junk", [np.nan, np.inf])
    def test_a_divergence_leaves_weights_and_optimizer_alone(
        self, random_llama: nn.Module, junk: float
    ) -> None:
        learner = learner_on(random_llama, grad_clip=1.0)
        learner.reinforce(self.trees())
        before = copy.deepcopy(
            (learner.policy.optimizer.state_dict(), list(learner.policy.parameters.values()))
        )
        broken = group_tree([3, 4], [[5, 6]])
        answer = replace(broken.nodes[1], advantage=np.array([1.0, junk], np.float32))
        trees = [*self.trees(), TokenTree((broken.nodes[0], answer))]
        with pytest.raises(Diverged, match="gradient norm") as caught:
            learner.reinforce(trees)
        assert caught.value.trees == tuple(trees)
        assert_equal_state(learner.policy.optimizer.state_dict(), before[0])
        for now, then in zip(learner.policy.parameters.values(), before[1], strict=True):
            assert torch.equal(now, then)
            assert now.grad is None

    def test_without_a_trained_token_nothing_moves(self, random_llama: nn.Module) -> None:
        learner = learner_on(random_llama)
        before = [p.detach().clone() for p in learner.policy.parameters.values()]
        assert learner.reinforce([TokenTree((context_node([3, 4]),))]).tokens == 0
        for now, then in zip(learner.policy.parameters.values(), before, strict=True):
            assert torch.equal(now, then)

    def test_dropout_is_off(self, random_gpt2: nn.Module) -> None:
        """GPT-2 is configured with dropout 0.1; two passes agree to the bit all the same."""
        policy = Policy(
            AdapterHost(random_gpt2), PolicySettings(kind="full"), OptimSettings(lr=1e-3), 0
        )
        learner = Learner(random_gpt2, policy, OptimSettings(), AlgorithmSettings(), 1.0, 10)
        learner.reinforce(self.trees())
        first, second = (learner.logprobs(self.trees(), 1.0) for _ in range(2))
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def assert_equal_state(now: dict, then: dict) -> None:
    """Two optimizer states, to the bit."""
    assert now["param_groups"] == then["param_groups"]
    assert now["state"].keys() == then["state"].keys()
    for key, entry in now["state"].items():
        assert all(torch.equal(entry[name], then["state"][key][name]) for name in entry)


class TestSupervision:
    def test_it_is_the_mean_cross_entropy_of_the_answers(self, random_llama: nn.Module) -> None:
        rows = [([3, 4], [5, 6, 1]), ([7], [8, 1])]
        trees = [TokenTree((context_node(p), action_node(a, 0, weight=0.2))) for p, a in rows]
        learner = learner_on(random_llama, budget=1)
        with torch.no_grad(), learner.policy.active():
            truth = -torch.cat(
                [naive.trained_tokens(random_llama, tree, 1.0).logprobs for tree in trees]
            ).mean()
        assert learner.supervise(trees, 1e-2) == pytest.approx(float(truth), rel=1e-5)
        assert learner.supervise(trees, 1e-2) < float(truth)


class TestLogprobs:
    def test_they_come_tree_by_tree_and_at_the_asked_temperature(
        self, random_llama: nn.Module
    ) -> None:
        learner = learner_on(random_llama, budget=30)
        trees = [
            group_tree([3, 4], [[5, 6], [7]]),
            TokenTree((context_node([2]),)),
            group_tree([8], [[9] * 7]),
        ]
        found = learner.logprobs(trees, 0.5)
        assert [len(values) for values in found] == [3, 0, 7]
        with torch.no_grad(), learner.policy.active():
            truth = [naive.trained_tokens(random_llama, tree, 0.5).logprobs for tree in trees]
        for values, expected in zip(found, truth, strict=True):
            np.testing.assert_allclose(values, expected, atol=1e-5)


@settings(max_examples=50)
@given(trees=st.lists(token_trees(), max_size=8), budget=st.integers(1, 80))
def test_micro_batches_are_in_order_and_within_the_budget(
    trees: list[TokenTree], budget: int
) -> None:
    batches = micro_batches(trees, budget)
    trained = [i for i, tree in enumerate(trees) if tree.trained_tokens]
    assert [i for batch in batches for i in batch] == trained
    for batch in batches:
        assert len(batch) == 1 or sum(token_count(trees[i]) for i in batch) <= budget


def token_count(tree: TokenTree) -> int:
    return sum(len(node.tokens) for node in tree.nodes)


class TestSchedule:
    def rates(self, **optim: object) -> list[float]:
        return [scheduled_lr(OptimSettings(lr=1.0, **optim), step, 10) for step in range(10)]

    def test_constant(self) -> None:
        assert self.rates() == [1.0] * 10

    def test_linear_would_reach_zero_after_the_last_batch(self) -> None:
        assert self.rates(schedule="linear") == pytest.approx([1 - s / 10 for s in range(10)])

    def test_cosine_passes_one_half_half_way(self) -> None:
        rates = self.rates(schedule="cosine")
        assert rates[0] == 1.0
        assert rates[5] == pytest.approx(0.5)
        assert rates == sorted(rates, reverse=True)

    def test_warm_up_rises_to_the_full_rate_and_the_schedule_starts_there(self) -> None:
        rates = self.rates(schedule="linear", warmup_steps=4)
        assert rates[:5] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])
        assert rates[-1] == pytest.approx(1 / 6)
