"""Attention along trees: each token's softmax over its own path."""

import pytest
import torch
from hypothesis import given, settings
from support.forests import forests, group_tree
from support.models import llama
from support.naive import path
from torch import Tensor, nn

from swarm.errors import Refusal
from swarm.learn.attention import NAME, TreeAttention, along_trees, tree_attention
from swarm.learn.packing import pack
from swarm.records import TokenTree

HEADS, KEY_HEADS, WIDTH = 4, 2, 8
CPU = torch.device("cpu")


def random_states(count: int) -> tuple[Tensor, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(count)
    shapes = ((count, HEADS, WIDTH), (count, KEY_HEADS, WIDTH), (count, KEY_HEADS, WIDTH))
    q, k, v = (torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes)
    return q, k, v


def paths(trees: list[TokenTree]) -> list[list[int]]:
    """Of each token of the packed row: the places of its path up to itself."""
    found: list[list[int]] = []
    start = 0
    for tree in trees:
        places: list[list[int]] = []
        for node in tree.nodes:
            places.append(list(range(start, start + len(node.tokens))))
            start += len(node.tokens)
        for n in range(len(tree.nodes)):
            before = [p for m in path(tree, n)[:-1] for p in places[m]]
            found += [before + places[n][: i + 1] for i in range(len(places[n]))]
    return found


def slowly(q: Tensor, k: Tensor, v: Tensor, seen: list[int], token: int, scale: float) -> Tensor:
    out = []
    for head in range(HEADS):
        key_head = head * KEY_HEADS // HEADS
        scores = k[seen, key_head] @ q[token, head] * scale
        out.append(torch.softmax(scores, 0) @ v[seen, key_head])
    return torch.stack(out)


@settings(max_examples=30)
@given(forests())
def test_every_token_attends_to_its_path(trees: list[TokenTree]) -> None:
    seen = paths(trees)
    q, k, v = random_states(len(seen))
    found = TreeAttention(pack(trees), CPU).attend(q, k, v, 0.3, None)
    truth = torch.stack([slowly(q, k, v, seen[t], t, 0.3) for t in range(len(seen))])
    torch.testing.assert_close(found, truth, atol=1e-10, rtol=1e-8)


def test_a_window_ends_the_path() -> None:
    trees = [group_tree([3, 4, 5, 6], [[7, 8], [9]])]
    seen = [places[-2:] for places in paths(trees)]
    q, k, v = random_states(len(seen))
    found = TreeAttention(pack(trees), CPU).attend(q, k, v, 0.3, 2)
    truth = torch.stack([slowly(q, k, v, seen[t], t, 0.3) for t in range(len(seen))])
    torch.testing.assert_close(found, truth, atol=1e-10, rtol=1e-8)


def test_calls_are_counted() -> None:
    trees = [group_tree([3, 4], [[7]])]
    attention = TreeAttention(pack(trees), CPU)
    for _ in range(2):
        attention.attend(*random_states(3), 0.3, None)
    assert attention.calls == 2


@pytest.mark.parametrize("option", ["softcap", "s_aux", "position_bias"])
def test_attention_of_another_kind_is_refused(option: str) -> None:
    attention = TreeAttention(pack([group_tree([3, 4], [[7]])]), CPU)
    states = [x.transpose(0, 1)[None] for x in random_states(3)]
    with pytest.raises(Refusal, match=f"Identity uses {option}, which cannot be trained here"):
        tree_attention(nn.Identity(), *states, None, token_tree=attention, **{option: 1.0})


def test_the_models_own_attention_is_put_back() -> None:
    config = llama().config
    before = config._attn_implementation
    with along_trees(config):
        assert config._attn_implementation == NAME
    with pytest.raises(RuntimeError), along_trees(config):
        raise RuntimeError
    assert config._attn_implementation == before
