"""DPO: pairs of a group, and the loss of a pair."""

import math

import pytest
import torch
from support.scored_groups import episode, group

from swarm.learn.preference import pair_batches, pair_of, preference_loss


class TestPairs:
    def test_the_best_and_the_worst_and_of_equals_the_first(self) -> None:
        found = pair_of(
            group(
                [2],
                episode([3], 0.5),
                episode([4], 1.0),
                episode([5], None),
                episode([6], 0.0),
                episode([7], 1.0),
                episode([8], 0.0),
            )
        )
        assert found is not None
        assert [e.completion.tokens for e in found.episodes] == [(4,), (6,)]

    @pytest.mark.parametrize("rewards", [[1.0, 1.0], [0.5, None], [None, None], [0.3, 0.3 + 1e-9]])
    def test_a_group_without_a_difference_has_none(self, rewards: list[float | None]) -> None:
        assert pair_of(group([2], *(episode([3], r) for r in rewards))) is None

    def test_their_trees(self) -> None:
        pair = group([2, 3], episode([4, 5], 0.0), episode([6], 1.0))
        equal = group([2], episode([4], 1.0), episode([5], 1.0))
        ((first, second),) = pair_batches([pair, equal, pair], 1)
        assert [node.tokens.tolist() for node in first.nodes] == [[2, 3], [6], [4, 5]]
        assert [node.advantage.tolist() for node in first.nodes[1:]] == [[1.0], [-1.0, -1.0]]
        assert [node.weight.tolist() for node in second.nodes[1:]] == [[0.5], [0.5, 0.5]]

    def test_minibatches_weigh_by_their_own_pairs(self) -> None:
        pair = group([2], episode([4], 0.0), episode([6], 1.0))
        batches = pair_batches([pair] * 3, 2)
        assert [len(trees) for trees in batches] == [2, 1]
        assert [trees[0].nodes[1].weight.tolist() for trees in batches] == [[0.5], [1.0]]

    def test_no_pair_at_all(self) -> None:
        assert pair_batches([group([2], episode([4], 1.0), episode([5], 1.0))], 2) == []


def of(logprobs: list[float], reference: list[float], signs: list[float], pairs: list[int]):
    count = max(pairs) + 1
    leaf = torch.tensor(logprobs).requires_grad_()
    weights = torch.full((len(pairs),), 1 / count)
    loss = preference_loss(
        leaf,
        torch.full_like(leaf, 0.5),
        torch.tensor(reference),
        torch.tensor(signs),
        weights,
        torch.tensor(pairs),
        0.1,
    )
    return loss, torch.autograd.grad(loss.total, leaf)[0]


class TestLoss:
    def test_by_hand(self) -> None:
        loss, slope = of([-1.0, -2.0, -4.0], [-2.0, -2.5, -3.0], [1.0, 1.0, -1.0], [0, 0, 0])
        margin = 0.1 * ((1.0 + 0.5) - (-1.0))
        assert loss.sums["margin"].item() == pytest.approx(margin)
        assert loss.total.item() == pytest.approx(-math.log(1 / (1 + math.exp(-margin))))
        push = 0.1 / (1 + math.exp(margin))
        assert slope.tolist() == pytest.approx([-push, -push, push])
        assert (int(loss.sums["wins"]), int(loss.sums["pairs"])) == (1, 1)
        assert loss.sums["policy"].item() == loss.total.item()
        assert loss.sums["entropy"].item() == 1.5

    def test_it_is_the_mean_over_pairs(self) -> None:
        loss, _ = of(
            [-1.0, -1.0, -1.0, -1.0], [-2.0, -1.0, -1.0, -3.0], [1, -1, 1, -1], [0, 0, 1, 1]
        )
        each = [math.log(1 + math.exp(-m)) for m in (0.1, -0.2)]
        assert loss.total.item() == pytest.approx(sum(each) / 2)
        assert loss.sums["margin"].item() == pytest.approx(-0.1)
        assert int(loss.sums["wins"]) == 1

    def test_at_the_reference_it_is_log_two(self) -> None:
        loss, _ = of([-1.0, -2.0], [-1.0, -2.0], [1.0, -1.0], [0, 0])
        assert loss.total.item() == pytest.approx(math.log(2))
        assert (loss.sums["margin"].item(), int(loss.sums["wins"])) == (0.0, 0)

    def test_long_sums_keep_their_sign(self) -> None:
        """65,536 tokens of equal worth and one of 0.004 more: a sum in fp32 would lose it."""
        n = 65_536
        loss, _ = of(
            [-8.0 + 0.004, *[-8.0] * (n - 1), *[-8.0] * n],
            [*[-8.1] * n, *[-8.1] * n],
            [*[1.0] * n, *[-1.0] * n],
            [0] * (2 * n),
        )
        assert loss.sums["margin"].item() == pytest.approx(0.1 * 0.004, rel=1e-3)
