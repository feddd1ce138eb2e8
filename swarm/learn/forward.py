"""Log-probabilities of the trained tokens of token trees, each shared prefix computed once.

Nodes are run level by level: a node's queries attend to its own tokens and, through keys and
values forked from its parent's batch row, to its whole path. Rows are right-padded and masked;
position ids count along the path. The LM head runs on the rows that predict a trained token and
on no other; the first token of a branch is predicted by its *parent's* last row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers.cache_utils import DynamicCache

from swarm.records import BoolArray, IntArray, Node, TokenTree


@dataclass(frozen=True)
class TrainedTokens:
    """Per trained token, in tree order: `logprobs` and `entropy`, both [M], fp32, and `hidden`
    [M, D], the states that predict the tokens."""

    logprobs: Tensor
    entropy: Tensor
    hidden: Tensor


@dataclass(frozen=True)
class _Level:
    """The nodes of one depth as a right-padded batch."""

    nodes: list[tuple[int, int]]
    parent_rows: list[int]
    tokens_BT: IntArray
    valid_BT: BoolArray


def trained_logprobs(
    model: nn.Module, trees: Sequence[TokenTree], temperature: float, *, with_entropy: bool = False
) -> TrainedTokens:
    """Log-probabilities at `temperature` of every masked-in token, concatenated tree by tree,
    node by node, token by token. Differentiable. `entropy` is zeros unless asked for.

    The caller has made the policy active for all rows (a span longer than the batch is cut).
    """
    device = next(model.parameters()).device
    hidden_rows: list[Tensor] = []
    order: list[tuple[int, int, int]] = []
    previous: tuple[_Level, Tensor, DynamicCache, Tensor, Tensor] | None = None
    for level in _levels(trees):
        cache = DynamicCache()
        lengths = torch.as_tensor(level.valid_BT.sum(1), device=device)
        attention = torch.as_tensor(level.valid_BT, device=device)
        start = torch.zeros(len(level.nodes), dtype=torch.long, device=device)
        if previous is not None:
            rows = torch.as_tensor(level.parent_rows, device=device)
            cache = fork(previous[2], rows)
            attention = torch.cat([previous[3][rows], attention], dim=1)
            start = previous[4][rows]
        tokens = torch.as_tensor(level.tokens_BT, device=device)
        positions = start[:, None] + torch.arange(tokens.shape[1], device=device)
        output = decoder_of(model)(
            input_ids=tokens,
            attention_mask=attention.long(),
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
        )
        hidden_BTD: Tensor = output.last_hidden_state
        _collect(trees, level, previous, hidden_BTD, hidden_rows, order)
        previous = (level, hidden_BTD, output.past_key_values, attention, start + lengths)
    return _score(model, trees, hidden_rows, order, temperature, with_entropy)


def decoder_of(model: nn.Module) -> Any:
    """The transformer body of a causal language model, without its head."""
    return model.get_decoder()  # type: ignore[operator]


def fork(cache: DynamicCache, rows: Tensor) -> DynamicCache:
    """A new cache whose row i continues row `rows[i]` of `cache`. Gradients flow through."""
    forked = DynamicCache()
    for index, layer in enumerate(cache.layers):
        forked.update(layer.keys[rows], layer.values[rows], index)
    return forked


def _levels(trees: Sequence[TokenTree]) -> list[_Level]:
    depths = [tree.depths() for tree in trees]
    levels: list[_Level] = []
    row_of: dict[tuple[int, int], int] = {}
    for depth in range(max(max(d) for d in depths) + 1):
        nodes = [(t, n) for t, ds in enumerate(depths) for n, d in enumerate(ds) if d == depth]
        width = max(len(trees[t].nodes[n].tokens) for t, n in nodes)
        tokens_BT = np.zeros((len(nodes), width), np.int64)
        valid_BT = np.zeros((len(nodes), width), bool)
        parents = []
        for row, (t, n) in enumerate(nodes):
            node = trees[t].nodes[n]
            tokens_BT[row, : len(node.tokens)] = node.tokens
            valid_BT[row, : len(node.tokens)] = True
            parents.append(0 if node.parent is None else row_of[t, node.parent])
        row_of |= {key: row for row, key in enumerate(nodes)}
        levels.append(_Level(nodes, parents, tokens_BT, valid_BT))
    return levels


def _collect(
    trees: Sequence[TokenTree],
    level: _Level,
    previous: tuple[_Level, Tensor, DynamicCache, Tensor, Tensor] | None,
    hidden_BTD: Tensor,
    hidden_rows: list[Tensor],
    order: list[tuple[int, int, int]],
) -> None:
    """Append the hidden row that predicts each trained token of this level."""
    own_rows, own_columns, own_keys = [], [], []
    up_rows, up_columns, up_keys = [], [], []
    for row, (t, n) in enumerate(level.nodes):
        node = trees[t].nodes[n]
        for i in np.flatnonzero(node.mask).tolist():
            if i > 0:
                own_rows.append(row)
                own_columns.append(i - 1)
                own_keys.append((t, n, i))
            else:
                up_rows.append(level.parent_rows[row])
                up_columns.append(len(_parent(trees[t], node).tokens) - 1)
                up_keys.append((t, n, i))
    if own_keys:
        hidden_rows.append(hidden_BTD[own_rows, own_columns])
        order += own_keys
    if up_keys and previous is not None:
        hidden_rows.append(previous[1][up_rows, up_columns])
        order += up_keys


def _parent(tree: TokenTree, node: Node) -> Node:
    assert node.parent is not None  # TokenTree refuses a trained first token of a root
    return tree.nodes[node.parent]


def _score(
    model: nn.Module,
    trees: Sequence[TokenTree],
    hidden_rows: list[Tensor],
    order: list[tuple[int, int, int]],
    temperature: float,
    with_entropy: bool,
) -> TrainedTokens:
    if not order:
        nothing = torch.zeros(0, device=next(model.parameters()).device)
        return TrainedTokens(nothing, nothing, nothing[:, None])
    hidden_MD = torch.cat(hidden_rows)
    in_tree_order = sorted(range(len(order)), key=order.__getitem__)
    targets = torch.as_tensor(
        [int(trees[t].nodes[n].tokens[i]) for t, n, i in (order[k] for k in in_tree_order)],
        device=hidden_MD.device,
    )
    hidden_MD = hidden_MD[torch.as_tensor(in_tree_order, device=hidden_MD.device)]
    logits_MV = model.get_output_embeddings()(hidden_MD).float() / temperature  # type: ignore[operator]
    logprobs_MV = torch.log_softmax(logits_MV, dim=-1)
    logprobs = logprobs_MV.gather(1, targets[:, None]).squeeze(1)
    if with_entropy:
        entropy = -(logprobs_MV.exp() * logprobs_MV).sum(-1)
    else:
        entropy = torch.zeros_like(logprobs)
    return TrainedTokens(logprobs, entropy, hidden_MD)
