"""Trees as one packed row: what is computed, counted to the token; bucketing changes no value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.forests import forests, group_tree
from support.models import VOCABULARY, llama
from support.naive import path
from torch import nn

from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings
from swarm.learn import packing
from swarm.learn.forward import trained_logprobs
from swarm.learn.learner import Learner
from swarm.learn.packing import by_shape, pack
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy
from swarm.records import TokenTree


@given(trees=forests())
def test_every_query_sees_its_path_up_to_itself(trees: list[TokenTree]) -> None:
    packed = pack(trees)
    expected: list[list[int]] = []
    for tree in trees:
        for n, node in enumerate(tree.nodes):
            above = [int(t) for p in path(tree, n)[:-1] for t in tree.nodes[p].tokens]
            own = node.tokens.tolist()
            expected += [above + own[: i + 1] for i in range(len(own))]
    flat = [
        packed.tokens_N[bucket.keys_BS[b]][visible_TS[t]].tolist()
        for bucket in packed.buckets
        for b, visible_TS in enumerate(_each(bucket))
        for t in range(bucket.queries_BT.shape[1])
    ]
    assert [flat[place] for place in packed.places_N] == expected
    assert packed.positions_N.tolist() == [len(seen) - 1 for seen in expected]


def _each(bucket: packing.Bucket) -> np.ndarray:
    rows, queries = bucket.queries_BT.shape
    return np.broadcast_to(bucket.visible(), (rows, queries, bucket.keys_BS.shape[1]))


def test_a_window_hides_what_is_further_back() -> None:
    (_, bucket) = pack([group_tree([3, 4, 5], [[6, 7]])]).buckets
    assert bucket.visible(2)[0].tolist() == [
        [False, False, True, True, False],
        [False, False, False, True, True],
    ]


@given(
    shapes=st.lists(
        st.tuples(st.integers(1, 200), st.integers(0, 400)).map(lambda s: (s[0], s[0] + s[1])),
        max_size=30,
    )
)
def test_buckets_hold_every_shape_once_and_pad_little(shapes: list[tuple[int, int]]) -> None:
    buckets = by_shape(shapes)
    assert sorted(i for bucket in buckets for i in bucket) == list(range(len(shapes)))
    for bucket in buckets:
        inside = [shapes[i] for i in bucket]
        cells = len(inside) * max(q for q, _ in inside) * max(k for _, k in inside)
        assert cells - sum(q * k for q, k in inside) <= packing.WASTE
        assert len({q == k for q, k in inside}) == 1


@settings(max_examples=15)
@given(trees=forests())
def test_bucketed_or_not_is_the_same(trees: list[TokenTree]) -> None:
    """One node a bucket, as needed, or all nodes together: rounding apart."""
    model, found = llama(), []
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        for waste in (-1, 8192, 10**9):
            patch.setattr(packing, "WASTE", waste)
            found.append(trained_logprobs(model, trees, 1.0).logprobs)
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], atol=1e-5, rtol=0)


class Rows(dict[str, int]):
    """Rows of tokens through each adapted projection of a model and its MLPs, by name."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        for name, module in model.named_modules():
            if type(module).__name__ in {"LoraLinear", "LlamaMLP"}:
                module.register_forward_hook(self._counter(name))

    def _counter(self, name: str):
        def count(_: nn.Module, args: tuple[torch.Tensor, ...], __: torch.Tensor) -> None:
            self[name] = self.get(name, 0) + args[0].shape[:-1].numel()

        return count


def work(model: nn.Module, trees: Sequence[TokenTree]) -> tuple[set[int], int, list[int]]:
    """Of one update: token rows through each trunk layer, rows through the head, and score cells
    of each attention bucket."""
    host = AdapterHost.wrap(model)
    policy = Policy(host, PolicySettings(rank=2), OptimSettings(), seed=0)
    learner = Learner(model, policy, OptimSettings(), AlgorithmSettings(), 1.0, 10)
    rows, scored = Rows(model), []
    with pytest.MonkeyPatch.context() as patch:
        plain = nn.functional.linear

        head = model.get_output_embeddings().weight.data_ptr()  # type: ignore[operator]

        def linear(x: torch.Tensor, weight: torch.Tensor, bias: Any = None) -> torch.Tensor:
            if weight.data_ptr() == head:
                scored.append(len(x))
            return plain(x, weight, bias)

        patch.setattr(nn.functional, "linear", linear)
        learner.reinforce(trees)
    cells = [b.queries_BT.size * b.keys_BS.shape[1] for b in pack(trees).buckets]
    return set(rows.values()), sum(scored), cells


class TestWorkOfAnUpdate:
    """Exact counts: P prompt tokens once, G answers of R, and no row more."""

    def test_a_group_of_equal_lengths(self, random_llama: nn.Module) -> None:
        tree = group_tree([3] * 20, [[4] * 10] * 8)
        assert work(random_llama, [tree]) == ({20 + 8 * 10}, 8 * 10, [20 * 20, 8 * 10 * 30])

    def test_a_group_of_natural_lengths_is_not_padded(self, random_llama: nn.Module) -> None:
        lengths = [2, 3, 3, 4, 5, 6, 8, 30]
        tree = group_tree([3] * 20, [[5 % VOCABULARY] * n for n in lengths])
        rows, scored, _ = work(random_llama, [tree])
        assert (rows, scored) == ({20 + sum(lengths)}, sum(lengths))
