"""The slow, obvious reference: every root-to-leaf branch run alone, unpadded, full logits."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from swarm.records import TokenTree


@dataclass(frozen=True)
class NaiveTokens:
    """Per trained token of a tree, in tree order: [M] each."""

    logprobs: Tensor
    entropy: Tensor


def trained_tokens(model: nn.Module, tree: TokenTree, temperature: float) -> NaiveTokens:
    """Log-probability and entropy of each masked-in token, from the logits one position before."""
    found: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
    parents = {node.parent for node in tree.nodes}
    for leaf in (n for n in range(len(tree.nodes)) if n not in parents):
        places = [(n, i) for n in path(tree, leaf) for i in range(len(tree.nodes[n].tokens))]
        tokens = [int(tree.nodes[n].tokens[i]) for n, i in places]
        logits_TV = model(torch.tensor([tokens])).logits[0]
        laws_TV = torch.log_softmax(logits_TV / temperature, dim=-1)
        for position, (n, i) in enumerate(places):
            if tree.nodes[n].mask[i]:
                law_V = laws_TV[position - 1]
                entropy = -(law_V.exp() * law_V).sum()
                found.setdefault((n, i), (law_V[tokens[position]], entropy))
    if not found:
        return NaiveTokens(torch.zeros(0), torch.zeros(0))
    logprobs, entropies = zip(*(found[place] for place in sorted(found)), strict=True)
    return NaiveTokens(torch.stack(logprobs), torch.stack(entropies))


def path(tree: TokenTree, node: int) -> list[int]:
    """The indices of the nodes from the root down to `node`."""
    indices: list[int] = []
    at: int | None = node
    while at is not None:
        indices.insert(0, at)
        at = tree.nodes[at].parent
    return indices
